// A request, which is a span or a step, on all threads: what prof request says, of what the report has; and the panel that shows it.

import { ROLE_WAIT, ROLE_STEP } from './decode.js';
import { entryOf, firstIndex } from './columns.js';
import { indexRange } from './stats.js';
import { labelAt, waitsOf, waitWords } from './waits.js';
import { scopeAt, scopeOf, stepNumber, truncatedText } from './model.js';
import { compared } from './why.js';
import { css } from './theme.js';
import { el, select, table, tools, times, linkTo, by } from './dom.js';
import { max, min, ns, moment, grouped } from './text.js';

const PARTS = 500; // scopes shorter than such a part of the request have no row

/** All spans and steps by process and name: {name, step, list, ids, usual}, those with the most first. Kept until the report changes. */
export function requestSeries(report) {
    if (report.requests) return report.requests;
    const all = [];
    const put = (process, name, step, list) => {
        const sorted = list.filter(({ flags }) => !flags).map(({ start, end }) => end - start).sort((a, b) => a - b);
        if (list.length) all.push({ process, name, step, list, ids: new Set(list.map(({ id }) => id)), whole: sorted.length, usual: sorted[sorted.length - 1 >> 1] });
    };
    for (const process of report.processes) {
        for (const { name, spans } of process.spanGroups)
            put(process, name, false, spans.map(span => ({ id: Number(span.id), start: span.start, end: span.start + span.duration, flags: span.flags, args: span.args, track: report.tracks[span.track], endTrack: report.tracks[span.endTrack] })));
    }
    for (const { noun, name, start, duration, at, number, track: { process } } of report.bars)
        if (noun === 'step') put(process, name, true, at.map((place, i) => ({ id: Number(number[i]), start: start[i], end: start[i] + duration[i], flags: place.track.levels[place.depth].flags.get(place.i) || 0, track: place.track, endTrack: place.track, place })));
    return report.requests = all.sort((a, b) => a.step - b.step || b.list.length - a.list.length);
}

/** The steps of the process with a number. */
const stepsWith = (report, process, id) => requestSeries(report).filter(each => each.step && each.process === process).flatMap(({ name, list }) => list.filter(each => each.id === id).map(each => ({ ...each, name })));

/** Where requests of a series, and steps, are: for each track, times in order, and whose they are. */
function marksOf(report, series) {
    if (series.marks) return series.marks;
    const marks = new Map(), put = (track, time, id) => entryOf(marks, track, () => []).push([time, id]);
    for (const { id, start, end, track, endTrack } of series.step ? [] : series.list) { put(track, start, id); put(endTrack, end, id); }
    for (const { step, list } of requestSeries(report)) if (step) for (const { id, start, track } of list) put(track, start, id);
    for (const { id, from, to, fromTrack, toTrack } of report.flows) if (series.ids.has(Number(id))) { put(fromTrack, from, Number(id)); put(toTrack, to, Number(id)); }
    for (const list of marks.values()) list.sort(([a], [b]) => a - b);
    return series.marks = marks;
}

/** The innermost scope of a track at a time, which is no wait; null: none. */
function innermost(report, track, time) {
    for (let depth = track.levels.length - 1; depth >= 0; depth--) {
        const place = { track, depth, i: scopeAt(track.levels[depth], time) };
        if (place.i >= 0 && labelAt(report, place).role !== ROLE_WAIT) return place;
    }
    return null;
}

const placeAround = ({ track, depth, i }) => depth ? { track, depth: depth - 1, i: scopeAt(track.levels[depth - 1], track.levels[depth].start[i]) } : null;
const timesOfPlace = ({ track, depth, i }) => [track.levels[depth].start[i], track.levels[depth].endOf(i)];

/** Finds the parts of a request: the outermost scopes that are its own. */
function requestParts(report, series, request) {
    const { id, start, end, track, endTrack } = request, marks = marksOf(report, series), own = new Map(), names = [series.name];
    const within = time => time >= start && time <= end, inside = flow => within(flow.from) && within(flow.to) && !(series.ids.has(Number(flow.id)) && Number(flow.id) !== id);
    const shared = place => {
        const list = marks.get(place.track) || [], [from, to] = timesOfPlace(place);
        for (let k = firstIndex(list.length, at => list[at][0] >= from); k < list.length && list[k][0] <= to; k++) if (list[k][1] !== id) return true;
        return false;
    };
    const fits = place => {
        const [from, to] = timesOfPlace(place), common = min(to, end) - max(from, start);
        return common >= 0 && (common * 2 >= to - from || to - from <= end - start);
    };
    const add = place => {
        if (!place || !fits(place)) return;
        for (let up = placeAround(place); up && up.i >= 0 && fits(up) && !shared(up); up = placeAround(up)) place = up;
        own.set(`${place.track.id}.${place.depth}.${place.i}`, place);
    };
    if (!series.step) { add(innermost(report, track, start)); add(innermost(report, endTrack, end)); }
    for (const span of report.spans) if (span.mark && Number(span.id) === id && report.labels[span.label].name === series.name) add(innermost(report, report.tracks[span.track], span.start));
    for (const { place, name, start: from, end: to } of stepsWith(report, series.process, id)) if (from <= end && to >= start) { add(place); names.push(name); }
    const keys = new Set(names.flatMap(name => [name, `${name}_id`]));
    let left = 20000; // lists of arguments that are looked at
    for (const each of series.process.tracks) each.levels.forEach((level, depth) => {
        const { index, place } = level.args, [first, last] = indexRange(level, start, end);
        for (let k = firstIndex(index.length, at => index[at] >= first); k < index.length && index[k] < last && left-- > 0; k++)
            if (report.argsAt(place[k]).some(([key, v]) => keys.has(key) && Number(v) === id)) add({ track: each, depth, i: index[k] });
    });
    const flows = report.flows.filter(inside);
    for (const flow of flows) if (Number(flow.id) === id) { add(innermost(report, flow.fromTrack, flow.from)); add(innermost(report, flow.toTrack, flow.to)); }
    const contains = (at, time) => [...own.values()].some(place => place.track === at && timesOfPlace(place)[0] <= time && timesOfPlace(place)[1] >= time);
    for (let before = -1; before !== own.size;) {
        before = own.size;
        for (const flow of flows) if (contains(flow.fromTrack, flow.from)) add(innermost(report, flow.toTrack, flow.to));
    }
    const parts = [...own.values()].map(place => ({ place, track: place.track, depth: place.depth, start: timesOfPlace(place)[0], end: timesOfPlace(place)[1] }));
    return { flows, parts: parts.filter(a => !parts.some(b => b !== a && b.track === a.track && b.depth < a.depth && b.start <= a.start && b.end >= a.end)).sort((a, b) => a.start - b.start || b.end - a.end) };
}

/** "request 370", if it is known for what a thread worked at a time; else "". */
function whose(report, series, track, time) {
    for (let place = innermost(report, track, time); place && place.i >= 0; place = placeAround(place)) {
        const label = labelAt(report, place);
        if (label.role === ROLE_STEP) return `${label.name} ${stepNumber(report, place)}`;
        const list = marksOf(report, series).get(track) || [], [from, to] = timesOfPlace(place), k = firstIndex(list.length, at => list[at][0] >= from);
        if (k < list.length && list[k][0] <= to) return `${series.name} ${list[k][1]}`;
    }
    return '';
}

/** What the thread of the next part did in a gap: [text, time], the longest first. */
function busyIn(report, series, { track, depth }, from, to) {
    const sums = new Map();
    for (let d = 0; d <= depth; d++) {
        const level = track.levels[d], [first, last] = level ? indexRange(level, from, to) : [0, 0];
        for (let i = first; i < last; i++) {
            const place = { track, depth: d, i }, label = labelAt(report, place), end = level.endOf(i), of = label.role === ROLE_STEP ? '' : whose(report, series, track, max(from, level.start[i]));
            const text = label.role === ROLE_STEP ? `${label.name} ${stepNumber(report, place)}` : label.name + (of && ` of ${of}`);
            if (label.role !== ROLE_WAIT && !(d < depth && end >= to)) sums.set(text, (sums.get(text) || 0) + min(end, to) - max(level.start[i], from));
        }
    }
    return [...sums].sort(([, a], [, b]) => b - a);
}

/** The rows of the waterfall: parts, what is in them, waits and gaps; and how many scopes are too short for a row. */
function requestRows(report, series, request, parts) {
    const rows = [], { start, end } = request;
    let covered = start, before = request.track, left = 0;
    const gap = (to, next, part) => {
        if (to <= covered || covered >= end) return;
        const busy = busyIn(report, series, next, covered, to), idle = busy.reduce((sum, [, time]) => sum - time, to - covered);
        rows.push({ kind: 'gap', name: next.track === before ? 'between its scopes' : 'in queue', track: next.track, start: covered, end: to, depth: 0, part,
            why: [': thread ', next.track, busy.length ? ' was busy with ' + busy.slice(0, 3).map(([text, time]) => `${text} for ${ns(time)}`).join(', ') + (idle > 0 ? `, and in no other scope for ${ns(idle)}` : '') : ' was in no scope'] });
    };
    parts.forEach((part, n) => {
        const { track } = part;
        gap(min(part.start, end), part, n);
        rows.push({ kind: 'scope', ...part, depth: 0, part: n });
        const waits = waitsOf(report, track, part.start, part.end).filter(wait => (wait.end - wait.start) * PARTS >= end - start), inner = [];
        for (let depth = part.depth + 1; depth < track.levels.length; depth++) {
            const level = track.levels[depth], [first, last] = indexRange(level, part.start, part.end);
            for (let i = first; i < last; i++) {
                const place = { track, depth, i }, from = level.start[i], to = level.endOf(i);
                if (labelAt(report, place).role === ROLE_WAIT) continue;
                if ((to - from) * PARTS < end - start) left++;
                else inner.push({ kind: 'inner', place, track, start: from, end: to, depth: depth - part.depth, part: n });
            }
        }
        for (const wait of waits) {
            const around = inner.filter(row => row.start <= wait.start && row.end >= wait.end).sort((a, b) => b.depth - a.depth)[0], long = wait.end - wait.start;
            const same = around && !around.wait && (around.end - around.start - long) * 100 < long ? around : null; // the scope is the wait
            const row = { kind: 'wait', wait, track, start: wait.start, end: wait.end, depth: around ? around.depth + 1 : 1, part: n };
            if (same) Object.assign(same, row, { place: null, depth: same.depth, start: same.start, end: same.end }); else inner.push(row);
            (same || row).for = wait.holder ? whose(report, series, wait.holder, wait.start) : '';
        }
        rows.push(...inner.sort((a, b) => a.start - b.start || a.depth - b.depth));
        if (part.end >= covered) [covered, before] = [part.end, track];
    });
    gap(end, { track: request.endTrack, depth: 0 }, parts.length);
    return { rows, left };
}

/** The critical path: back from the end, from each part to the one by whose flow it began, or that it waited for. In order of time. */
function criticalPath(report, request, parts, flows) {
    const path = [], at = (track, time) => parts.findIndex(part => part.track === track && part.start <= time && part.end >= time);
    const arrivals = flows.map(flow => ({ ...flow, part: at(flow.toTrack, flow.to), made: at(flow.fromTrack, flow.from) })).filter(({ part, made }) => part >= 0 && made >= 0 && part !== made);
    const waited = ({ toTrack, from, to, made }) => (to - from) * 20 < from - parts[made].start || waitsOf(report, toTrack, from, to).length > 0;
    const before = (not, time) => parts.reduce((best, part, i) => i !== not && part.start < time && (best < 0 || part.end > parts[best].end) ? i : best, -1);
    const put = (part, from, to) => { if (to > max(from, request.start)) path.unshift({ part, start: max(from, request.start), end: to }); };
    let time = request.end, part = before(-1, time);
    if (part >= 0 && parts[part].end < time) { put(-1, parts[part].end, time); time = parts[part].end; }
    while (part >= 0 && time > request.start) {
        const led = arrivals.filter(flow => flow.part === part && flow.to <= time && flow.from < time && waited(flow)).sort((a, b) => b.to - a.to)[0], late = led && led.from > parts[part].start;
        const begin = late ? led.to : parts[part].start;
        put(part, begin, time);
        const flow = late ? led : arrivals.filter(each => each.part === part && each.from <= begin).sort((a, b) => a.to - b.to)[0], next = flow ? flow.made : before(part, begin);
        time = begin;
        if (next < 0) break;
        const reached = parts[next].end > time ? flow ? flow.from : time : parts[next].end;
        put(-1, reached, time);
        [part, time] = [next, reached];
    }
    if (time > request.start) put(-1, request.start, time);
    return path;
}

const parentKey = /^parent(_span)?(_id)?$/;
const parentOfSpan = ({ args }) => { const pair = (args || []).find(([key]) => parentKey.test(key)); return pair ? Number(pair[1]) : null; };

/** Parent and children of a span: those that name it in an argument, or share its id. */
function relativesOf(report, series, request) {
    const all = requestSeries(report).filter(each => !each.step && each.process === series.process && !series.step).flatMap(each => each.list.map(one => ({ ...one, series: each })));
    const parent = parentOfSpan(request), within = each => each.start >= request.start && each.end <= request.end;
    const names = each => parentOfSpan(each) === request.id || (each.args || []).some(([key, v]) => (key === series.name || key === series.name + '_id') && Number(v) === request.id);
    return { parents: all.filter(each => each.id === parent && each.start <= request.end && each.end >= request.start && each.start !== request.start),
        children: all.filter(each => !(each.series === series && each.id === request.id) && (names(each) || (each.id === request.id && within(each)))) };
}

/** All of a request, as prof request has it. */
export function requestOf(report, series, request) {
    const { parts, flows } = requestParts(report, series, request), { rows, left } = requestRows(report, series, request, parts), path = criticalPath(report, request, parts, flows);
    for (const row of rows) row.critical = path.some(({ part, start, end }) => row.kind === 'scope' ? part === row.part : row.kind === 'gap' && part < 0 && row.start <= start && row.end >= end);
    return { rows, left, path, parts, flows: flows.filter(flow => parts.some(({ track, start, end }) => track === flow.fromTrack && start <= flow.from && end >= flow.from)), ...relativesOf(report, series, request) };
}

// ---- the panel

/** The request that was chosen last or, without one, the slowest. */
function chosenRequest({ report, request }) {
    const all = requestSeries(report), series = all.find(each => request && each === request.series) || all[0];
    const one = request && request.series === series && request.one;
    return [series, one || series.list.reduce((best, each) => each.end - each.start > best.end - best.start ? each : best)];
}

/** Its name: "request 371". */
export const requestName = (series, one) => `${series.name} ${one.id}`;

/** The panel's content. @param {import('./panels.js').Panels} panels */
export function requestPanel(panels) {
    const { app } = panels, { report } = app, all = requestSeries(report), [series, one] = chosenRequest(app), { rows, left, path, flows, parents, children } = requestOf(report, series, one);
    const wall = one.end - one.start || 1, go = (next, each) => app.openRequest(next, each);
    const thread = (track, time) => linkTo(track.title, () => app.goTo(time, track)), scope = place => linkTo(labelAt(report, place).name || '(unnamed)', () => app.show(place));
    const number = el('input', { type: 'search', size: 10, placeholder: 'Number', 'aria-label': 'Number of the request', onchange: () => {
        const found = series.list.find(({ id }) => id === Number(number.value)), [other] = all.filter(each => each.ids.has(Number(number.value)));
        if (number.value && (found || other)) go(found ? series : other, found || other.list.find(({ id }) => id === Number(number.value)));
        else number.setCustomValidity(`No span or step has the number ${number.value}`), number.reportValidity();
    }, oninput: () => number.setCustomValidity('') });
    const slowest = [...series.list].sort((a, b) => b.end - b.start - a.end + a.start).slice(0, 50);
    const picture = row => {
        const from = max(0, min(1, (row.start - one.start) / wall)), to = max(from, min(1, (row.end - one.start) / wall));
        return el('span.fall', {}, el('i', { class: row.kind, style: { left: `${100 * from}%`, width: `${100 * (to - from)}%`, background: row.place ? css(labelAt(report, row.place).rgb) : '' } }));
    };
    const what = row => {
        const name = row.place && labelAt(report, row.place);
        if (row.kind === 'gap') return [el('b', {}, row.name), row.why[0], thread(row.why[1], row.start), row.why[2]];
        if (row.kind === 'wait') return ['waited ', ...waitWords(report, row.wait, scope, thread), row.for ? `, which worked for ${row.for}` : ''];
        return [...row.kind === 'scope' ? [thread(row.track, row.start), ': '] : [], scope(row.place), name.role === ROLE_STEP ? ` ${stepNumber(report, row.place)}` : ''];
    };
    const columns = [by('from', row => row.order, row => ns(row.start - one.start)), times('took', row => row.end - row.start), by('when', row => row.start, picture),
        { title: 'what', text: true, get: row => row.order, show: row => el('span', { style: { paddingLeft: `${min(row.depth, 20) * 14}px` }, class: row.critical ? 'critical' : null }, ...what(row)) }];
    rows.forEach((row, order) => { row.order = order; });
    const partName = ({ part, start, end }) => {
        const row = rows.find(each => part < 0 ? each.kind === 'gap' && each.start <= start && each.end >= end : each.kind === 'scope' && each.part === part);
        return row && row.kind === 'scope' ? what(row) : [row ? row.name : 'on its way'];
    };
    const longest = ({ part, start, end }) => rows.filter(row => row.kind === 'wait' && row.part === part && row.start >= start && row.end <= end).sort((a, b) => b.end - b.start - a.end + a.start)[0];
    const relatives = (title, list) => list.length ? el('p', {}, title, ...list.slice(0, 20).flatMap((each, i) => [i ? ', ' : '', linkTo(requestName(each.series, each), () => go(each.series, each)), ` (${ns(each.end - each.start)})`]), list.length > 20 ? ` and ${grouped(list.length - 20)} more` : '') : null;
    const cut = truncatedText(one.flags);
    app.flowList = flows;
    return [tools(all.length > 1 ? select('Which requests', all.map((each, i) => [i, `${each.name} (${grouped(each.list.length)} ${each.step ? 'steps' : 'spans'})`]), all.indexOf(series), i => go(all[i])) : null,
        select('The slowest', slowest.map((each, i) => [i, `${requestName(series, each)}: ${ns(each.end - each.start)}`]), slowest.indexOf(one), i => go(series, slowest[i])), number,
        el('button', { onclick: () => app.zoomTo(one.start, one.end, true) }, 'Show its time')),
    el('div.why.request', { tabindex: 0 }, el('h2', {}, `${requestName(series, one)} took ${ns(one.end - one.start)}${cut ? ` at least: ${cut}` : series.whole > 1 ? `, ${compared(one.end - one.start, series.usual, `the median of ${grouped(series.whole)}`)}` : ''}`),
        el('p.note', {}, `at ${moment(one.start)}, begun on thread `, thread(one.track, one.start), series.step ? '' : ', ended on thread ', series.step ? '' : thread(one.endTrack, one.end), left ? `; left out, because shorter than 1/${PARTS} of it: ${grouped(left)}` : ''),
        relatives('Parent: ', parents), relatives('Children: ', children),
        rows.length ? table(columns, rows, { caption: 'Its scopes, waits and gaps; bold: the critical path', up: true, memory: 'request', limit: 200 })
            : el('p', {}, `No scope is known to be a part of it: give its number to PROFILE_FLOW_OUT and PROFILE_FLOW_IN, to PROFILE_STEP, or to an argument "${series.name}" of a scope.`),
        table([times('time', part => part.end - part.start), by('%', part => part.end - part.start, part => (100 * (part.end - part.start) / wall).toFixed(1)),
            { title: 'what', text: true, get: part => part.start, show: part => { const wait = longest(part); return el('span', {}, ...partName(part), ...wait ? [': ', ...what(wait)] : []); } }], path,
        { caption: 'The critical path, in order', sort: 2, up: true, memory: 'path' }),
        flows.length ? table([by('at', flow => flow.from, flow => ns(flow.from - one.start)), times('took', flow => flow.to - flow.from), { title: 'flow (key L: the next)', text: true, get: flow => flow.name, show: flow =>
            el('span', {}, `${flow.name} ${flow.id}: `, thread(flow.fromTrack, flow.from), ' to ', thread(flow.toTrack, flow.to)) }], flows, { caption: 'Its flows', up: true, memory: 'flows', limit: 60 }) : null)];
}
