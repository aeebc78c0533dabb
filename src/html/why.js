// Why a call of a scope, or a frame, took as long as it did: what prof_why() says, of what the report has; and the panel that shows it.

import { ALLOC, FREE, ROLE_WAIT, scopeLabel } from './decode.js';
import { entryOf, firstIndex } from './columns.js';
import { allSteps, bucketOf, FEW, indexRange, percentile, selfSteps, tally } from './stats.js';
import { READY, RUNNING, STATE_NAMES, WAITING } from './states.js';
import { labelAt, waitsOf, waitWords } from './waits.js';
import { scopeOf, truncatedText } from './model.js';
import { el, table, times, linkTo, by } from './dom.js';
import { max, min, ns, moment, grouped, bytes, measured } from './text.js';

/** Returns a function that makes functions which say how long a scope of a track took in a range. The time of a wait is that of the scope that waited. */
function timesIn({ labels, nodes }) {
    const waits = Uint8Array.from({ length: nodes.count }, (_, n) => n && labels[nodes.label[n]].role === ROLE_WAIT);
    const timeOf = (levels, depth, i, begin, end) => {
        const level = levels[depth], a = max(begin, level.start[i]), b = max(a, min(end, level.endOf(i)));
        if (!waits[level.node[i]]) return b - a;
        const [first, last] = levels[depth + 1] ? indexRange(levels[depth + 1], a, b) : [0, 0];
        let sum = 0;
        for (let k = first; k < last; k++) sum += timeOf(levels, depth + 1, k, a, b);
        return sum;
    };
    return ({ levels }, from, to) => (depth, i) => timeOf(levels, depth, i, from, to);
}

/**
 * Finds how long the scopes of each name of a process take as a rule. Leaves out waits, calls that are cut, and groups. Yields how many
 * scopes a step has counted. Returns, of each name, times for percentile(): self and wall.
 */
export function* usualSteps(report, process) {
    const { labels, nodes } = report, ids = new Map(), idOf = labels.map(label => label.role === ROLE_WAIT ? -2 : 2 * entryOf(ids, scopeLabel(label).name, () => ids.size)), room = 2 * ids.size;
    const whole = new Float64Array(room), least = new Float64Array(room).fill(Infinity), most = new Float64Array(room), histograms = new Array(room).fill(null);
    const put = (at, time) => {
        if (time < least[at]) least[at] = time;
        if (time > most[at]) most[at] = time;
        if (whole[at]++ > FEW) histograms[at][bucketOf(time)]++; else tally(histograms, at, bucketOf(time), 1);
    };
    const timeIn = timesIn(report);
    for (const track of process.tracks) {
        const timeOf = timeIn(track, -Infinity, Infinity);
        for (const [depth, level] of track.levels.entries()) {
            yield* selfSteps(track.levels, depth, 0, level.count, timeOf, (i, self) => {
                const at = idOf[nodes.label[level.node[i]]];
                if (at < 0 || level.flags.has(i)) return;
                put(at, max(0, self));
                put(at + 1, level.durationOf(i));
            });
        }
    }
    const rowOf = at => ({ whole: whole[at], min: least[at], max: most[at], histogram: histograms[at] });
    return new Map([...ids].map(([name, id]) => [name, { self: rowOf(2 * id), wall: rowOf(2 * id + 1) }]));
}

/** The parts of a call, by kind of state: by the states of its thread or, where they leave something unknown, by its own arguments. */
function partsOf({ track, start, end, args, flags }) {
    const wall = end - start, parts = track.system ? track.system.split(start, end) : [wall, 0, 0, 0];
    const own = new Map(args), [running, ready, waiting] = ['running', 'ready', 'waiting'].map(key => Number(own.get(`prof.${key}_ns`))); // see PROFILE_SCOPE_TIMED
    if (!parts[0] || flags || !(running >= 0)) return parts;
    const all = ready >= 0 && waiting >= 0, b = all ? min(ready, wall) : 0, c = all ? min(waiting, wall - b) : 0, a = all ? wall - b - c : min(running, wall);
    return [wall - a - b - c, a, b, c];
}

/** When a thread was in a state, and which of its states each is. */
function spellsOf({ system }, kind, from, to) {
    const list = [];
    for (let i = max(0, system?.at(from)); i < system?.count && system.start[i] < to; i++)
        if (system.kind[i] === kind && system.start[i + 1] > from) list.push([max(from, system.start[i]), min(to, system.start[i + 1]), i]);
    return list;
}

/** What devices did in these times, by the time without scopes inside them. CUDA and NVTX are what threads of the host did: see prof_cuda.h. */
function devicesIn(report, usual, { track }, spans) {
    const rows = new Map();
    for (const device of track.device ? [] : track.process.tracks.filter(each => /^(?!(CUDA|NVTX)?$)/.test(each.device)))
        for (const [start, end] of spans)
            for (const { name, time, place } of innerRows(report, usual, { track: device, start, end }))
                if (name && time) entryOf(rows, name + '\0' + device.id, () => ({ name, time: 0, place })).time += time;
    return [...rows.values()].sort((a, b) => b.time - a.time);
}

/** Splits what a call waited by what it was for. Waiting of which the system said nothing counts from here on. Changes the parts. */
function waitRows(report, usual, { track, start, end }, parts) {
    const rows = new Map(), alone = [];
    let until = start, sum = 0;
    for (const wait of waitsOf(report, track, start, end)) {
        const from = max(until, wait.start), to = min(end, wait.end);
        if (to <= from) continue;
        alone.push(...spellsOf(track, WAITING, until, from));
        const [unknown, , , waiting] = track.system ? track.system.split(from, until = to) : [(until = to) - from, 0, 0, 0], moved = min(unknown, parts[0]);
        parts[WAITING] += moved;
        parts[0] -= moved;
        const time = min(waiting + unknown, parts[WAITING] - sum), row = entryOf(rows, waitWords(report, { ...wait, waker: null }).join('') + wait.object, () => ({ ...wait, time: 0, count: 0 }));
        sum += time;
        row.time += time;
        row.count++;
        if (wait.waker) Object.assign(row, { waker: wait.waker, woke: wait.woke });
    }
    if (parts[WAITING] > sum) rows.set('', { what: 'unknown', time: parts[WAITING] - sum, did: devicesIn(report, usual, { track }, [...alone, ...spellsOf(track, WAITING, until, end)]) });
    return [...rows.values()].filter(row => row.time);
}

/** Which threads ran while a call's thread was ready, on the processor that it waited for: where it ran before or, if it did not, runs next. */
function ranInstead({ track, start, end }) {
    const rows = new Map();
    for (const [from, to, i] of spellsOf(track, READY, start, end)) {
        const [on] = [i - 1, i + 1].filter(k => track.system.kind[k] === RUNNING).map(k => track.system.processor[k]).filter(Boolean);
        for (const other of track.process.tracks)
            for (const [a, b, k] of other !== track && on ? spellsOf(other, RUNNING, from, to) : [])
                if (other.system.processor[k] === on) rows.set(other, (rows.get(other) || 0) + b - a);
    }
    return [...rows].map(([other, time]) => ({ track: other, time }));
}

/** The scopes in a call by the time that they took themselves, beside their own medians. Without a name: the time outside of scopes. */
function innerRows(report, usual, { track, start, end }) {
    const rows = new Map(), timeOf = timesIn(report)(track, start, end), rowOf = (label, place) => entryOf(rows, label.name, () => ({ name: label.name, time: 0, calls: 0, longest: 0, usual: (usual.get(label.name) || {}).self, place }));
    let rest = end - start;
    track.levels.forEach((level, depth) => {
        allSteps(selfSteps(track.levels, depth, ...indexRange(level, start, end), timeOf, (i, self) => {
            const place = { track, depth, i }, label = labelAt(report, place), time = max(0, self);
            if (label.role === ROLE_WAIT) return;
            const row = rowOf(scopeLabel(label), place);
            row.time += time;
            rest -= time;
            if (level.start[i] < start || level.endOf(i) > end) return;
            row.calls += level.groups?.get(i)?.calls || 1;
            if (time > row.longest) Object.assign(row, { longest: time, place });
        }));
    });
    rowOf({ name: '' }).time = rest;
    return [...rows.values()].filter(row => row.time || row.calls);
}

/** The counters that moved in a call. What prof_system.h samples may have moved at any time between two samples. */
function movedIn({ process }, start, end) {
    return process.counters.map(series => {
        const { time, value, category, pool } = series, first = firstIndex(time.length, k => time[k] >= start), last = firstIndex(time.length, k => time[k] > end), inside = last > first;
        const around = !inside && category === 'system', to = value[inside || !around ? last - 1 : last], from = value[first ? first - 1 : first];
        return { series, from, to, around, moved: !pool && (inside || (around && first && last < time.length)) && !Object.is(from, to) };
    }).filter(({ moved }) => moved);
}

/**
 * Explains a call: {track, start, end, args, flags}, or a frame, as prof_why() does. usual: of usualSteps().
 * parts: by kind of state; they add up to the call.
 */
export function whyOf(report, usual, call) {
    const { track, start, end } = call, { points } = track, parts = partsOf(call), known = parts[0] < end - start, memory = { count: 0, bytes: 0, frees: 0 };
    for (let k = firstIndex(points.count, at => points.time[at] >= start); k < points.count && points.time[k] <= end; k++) {
        const { type } = report.kinds[points.kind[k]];
        if (type === ALLOC) { memory.count++; memory.bytes += points.b[k]; }
        if (type === FREE) memory.frees++;
    }
    const within = each => each.track === track && each.time >= start && each.time <= end;
    return { wall: end - start, waits: waitRows(report, usual, call, parts), parts, known, ran: ranInstead(call), inner: innerRows(report, usual, call), devices: devicesIn(report, usual, call, [[start, end]]), counters: movedIn(track, start, end), memory,
        messages: report.messages.filter(each => each.severity >= 0 && within(each)).slice(0, 20), lost: report.losses.filter(within).reduce((sum, { lost }) => sum + lost, 0) };
}

// ---- the panel

/** Says how a time compares with its median: "14 times its median (430 us)". */
export function compared(time, median, whose) {
    const ratio = median > 0 ? time / median : 0, about = `(${ns(median)})`;
    return ratio >= 1.15 ? `${ratio < 10 ? ratio.toFixed(1) : grouped(ratio)} times ${whose} ${about}` : ratio > 0.85 ? `about ${whose} ${about}` : `${whose} is ${ns(median)}`;
}

/** What the page explains: the frame or step that was chosen last, the scope that has the focus or, if there is neither, the slowest frame or step. */
function chosenCall({ report, series, focus, bar }) {
    const i = bar >= 0 || focus ? bar : series.duration.reduce((best, each, k) => each > series.duration[best] ? k : best, 0), place = i < 0 ? focus : series.at && series.at[i], number = i < 0 ? '' : ` ${series.number[i]}`;
    if (place) {
        const call = scopeOf(report, place), key = scopeLabel(call.label).name;
        return { ...call, name: call.label.name + number, key, noun: 'calls' };
    }
    const all = report.frames.filter(({ name, track: { process } }) => name === series.name && process === series.track.process).flatMap(({ duration }) => [...duration]).sort((a, b) => a - b);
    return { track: series.track, start: series.start[i], end: series.start[i] + series.duration[i], name: series.name + number, noun: 'frames', median: all[all.length - 1 >> 1], count: all.length };
}

/** The panel's content; null: the medians are still to come. @param {import('./panels.js').Panels} panels */
export function whyPanel(panels) {
    const { app } = panels, { report } = app, chosen = app.focus || app.bar >= 0;
    if (!chosen && !app.series) return el('p.note', {}, 'Click a scope in the time line: here is why that call took so long.');
    const call = chosenCall(app), usual = panels.usual(call.track.process);
    if (!usual) return null;
    const { key, track, start } = call, { wall = { whole: 0 } } = usual.get(key) || {}, { median = percentile(wall, 0.5), count = wall.whole } = call, cut = truncatedText(call.flags);
    const { wall: took, waits, parts, known, ran, inner, devices, counters, memory, messages, lost } = whyOf(report, usual, call);
    const thread = (each, time) => linkTo(each.title, () => app.goTo(time, each)), scope = place => linkTo(labelAt(report, place).name, () => app.show(place));
    const doing = rows => rows.map(({ time, place }) => ({ time, what: [scope(place), `, on ${place.track.title} of ${place.track.device}`] }));
    const list = (caption, rows) => table([times('time', row => row.time), by('%', row => row.time, row => (100 * row.time / took || 0).toFixed(1)),
        { title: 'what', text: true, get: row => row.time, show: row => el('span', {}, ...row.what) }], rows, { caption, memory: caption, inner: row => row.more, open: true, limit: 60 });
    const about = [known ? ': what the system did was not recorded then' : ': prof_system.h records whether threads run, on Linux', '', ', but not running', ''];
    const rest = ran.reduce((left, { time }) => left - time, parts[READY]), ready = ran.map(row => ({ ...row, what: ['thread ', thread(row.track, start), ' ran on its processor'] }));
    if (rest > 0) ready.push({ time: rest, what: ['programs, or threads that recorded nothing, ran; or a quota was used up'] });
    const more = [, , ready,
        waits.map(wait => ({ ...wait, what: wait.did ? wait.did.reduce((left, { time }) => left - time, 0.75 * wait.time) > 0 ? ['for what no record names'] : ['as it seems for ', ...doing(wait.did)[0].what] : [...waitWords(report, wait, scope, thread), wait.count > 1 ? `, ${grouped(wait.count)} times` : ''] }))];
    const rows = parts.map((time, kind) => ({ id: kind, time, what: [el('b', {}, STATE_NAMES[kind]), about[kind]], more: more[kind] })).filter(({ time }) => time);
    const others = [memory.count || memory.frees ? `allocations: ${grouped(memory.count)}, of ${bytes(memory.bytes)}; frees: ${grouped(memory.frees)}` : '',
        ...counters.map(({ series, from, to, around }) => `${series.name}: from ${measured(from, series.unit)} to ${measured(to, series.unit)}${around ? ', sampled before and after it' : ''}`),
        ...messages.map(({ time, text }) => `${ns(time - start)} after its begin: ${text}`), lost ? `${grouped(lost)} events of its thread in it were lost` : ''].filter(Boolean);
    return el('div.why', { tabindex: 0 }, el('h2', {}, `${call.name} took ${ns(took)}${cut ? ` at least: ${cut}` : count > 1 ? `, ${compared(took, median, `the median of ${grouped(count)} ${call.noun}`)}` : ''}`),
        el('p.note', {}, `at ${moment(start)} on thread `, thread(track, start), chosen ? '' : '. Nothing is selected, so this is the slowest.'),
        list('Its time', rows), list('Its scopes, by the time without scopes inside them', inner.map(({ time, name, place, calls, longest, usual: row }) => ({ time, what: name ? [scope(place),
            calls > 1 ? ` in ${grouped(calls)} calls; the longest took ${ns(longest)}` : name === key ? ' itself' : ` took ${ns(time)}`, calls && row && row.whole > 1 ? `, ${compared(longest, percentile(row, 0.5), 'its median')}` : ''] : ['outside of scopes'] }))),
        devices[0] && list('Devices meanwhile', doing(devices)),
        el('ul', { 'aria-label': 'What else happened' }, ...others.map(text => el('li', {}, text))));
}
