// What the page's own modules read out of reports is what the CSV of the same recordings says; damaged reports are found out.
//   node tests/html/check.mjs PAIR PREFIX...     of PREFIX.html and PREFIX.csv; PAIR.html and PAIR.json, of prof compare
import fs from 'node:fs';
import path from 'node:path';
import { check, same, total } from './count.mjs';
import { open, piecesOf, pieceOf, textOfBytes, changed, eventsOf, eventsOfCsv } from './report.mjs';
import { readReport, Level, scopeLabel, blocksOf, fromText, piecesIn, joined, Damage } from '../../src/html/decode.js';
import { closeSeries, finish, warnings, busyOf, cost, scopeOf } from '../../src/html/model.js';
import { allSteps, rangeStats, percentile, bucketOf, bucketValue, flameTree, callsOf, byFormat } from '../../src/html/stats.js';
import { grownText } from '../../src/html/states.js';
import { compared, usualSteps, whyOf } from '../../src/html/why.js';
import { requestOf, requestSeries } from '../../src/html/request.js';
import { balanceGroups, balanceSteps } from '../../src/html/balance.js';
import { endings } from '../../src/html/ending.js';
import { labelAt } from '../../src/html/waits.js';
import { flameBoxes, along, zoomed, countRest, levelsOf } from '../../src/html/flame.js';
import { buildPyramid, levelLine } from '../../src/html/raster.js';
import { mergeOrder, firstIndex, touches } from '../../src/html/columns.js';
import { ns, moment, measured, parseTime, axisTime, niceStep, visible } from '../../src/html/text.js';
import { parseQuery, findScopes, findOthers } from '../../src/html/search.js';
import { judge, labelsOf, pairLabels, samplesOf, shiftOf, medianOf, sumChange, Chooser } from '../../src/html/compare.js';
import { measures, selfTimes, differenceTree } from '../../src/html/difference.js';
import { colorLabels, differenceStyle, luminance } from '../../src/html/theme.js';

/** Texts have a contrast of 4.5 to what is behind them, borders of controls and what is drawn one of 3, in both themes. */
function contrasts() {
    const css = fs.readFileSync(new URL('../../src/html/style.css', import.meta.url), 'utf8'), [, light] = /:root \{([^}]*)\}/.exec(css), [, dark] = /:root\[data-theme=dark\] \{([^}]*)\}/.exec(css);
    const ratio = (a, b) => { const [low, high] = [a, b].map(luminance).sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
    for (const [theme, text] of [['light', light], ['dark', dark]]) {
        const of = Object.fromEntries([...text.matchAll(/--(\w+): #(..)(..)(..);/g)].map(([, key, ...parts]) => [key, parts.map(part => parseInt(part, 16))])), bad = [];
        const need = (least, fore, back) => { if (!(ratio(of[fore], of[back]) >= least)) bad.push(`${fore} on ${back}: ${ratio(of[fore], of[back]).toFixed(2)}`); };
        for (const back of ['bg', 'gutter', 'head', 'group']) {
            for (const fore of ['ink', 'faint', 'accent']) need(4.5, fore, back);
            need(3, 'edge', back);
        }
        for (const back of ['bg', 'group']) for (const fore of ['bad', 'slower']) need(4.5, fore, back);
        for (const [fore, back] of [['onaccent', 'accent'], ['onaccent', 'mark'], ['ink', 'note'], ['bg', 'ink']]) need(4.5, fore, back);
        for (const fill of ['accent', 'counter', 'mark', 'warn', 'bad', 'good', 'flow', 'running', 'ready', 'waiting', 'unknown', 'slower']) need(3, fill, 'bg');
        same(`contrast, ${theme}`, bad, []);
        const labels = Array.from({ length: 3000 }, (_, i) => ({ name: `scope ${i}` })), ink = each => each.ink === '#000' ? [0, 0, 0] : [255, 255, 255];
        colorLabels(labels, theme === 'dark');
        same(`contrast, ${theme}: scopes`, labels.filter(each => ratio(each.rgb, of.bg) < 3 || ratio(each.rgb, ink(each)) < 4.5).map(each => each.rgb).slice(0, 3), []);
        const steps = Array.from({ length: 41 }, (_, i) => differenceStyle(i / 20 - 1, theme === 'dark')).map(({ backgroundColor, color }) => [backgroundColor.match(/\d+/g).map(Number), ink({ ink: color })]);
        same(`contrast, ${theme}: differences`, steps.filter(([rgb, text_]) => ratio(rgb, of.bg) < 3 || ratio(rgb, text_) < 4.5).map(([rgb]) => rgb), []);
    }
}

function firstDifference(got, wanted) {
    const i = firstIndex(Math.max(got.length, wanted.length), k => got[k] !== wanted[k] || got.slice(0, k + 1).join('\n') !== wanted.slice(0, k + 1).join('\n'));
    return `${got.length} instead of ${wanted.length} events; at ${i}: ${JSON.stringify(got[i])} instead of ${JSON.stringify(wanted[i])}`;
}

async function account(prefix) {
    const name = path.basename(prefix), report = await open(prefix + '.html');
    const { tracks, spans } = eventsOfCsv(fs.readFileSync(prefix + '.csv', 'utf8'));
    same(`${name}: nothing is damaged`, report.damage, '');
    const mine = new Map(); // ids are in the order in which tracks began, which is not always theirs in the report
    for (const [id, wanted] of tracks) {
        const own = each => each && !mine.has(each) && (each.device ? '0' : String(each.thread)) === wanted.thread, first = report.tracks[Number(id) - 1];
        const track = own(first) && report.tracks.filter(own).length === 1 ? first
            : report.tracks.find(each => own(each) && eventsOf(report, each).join('\n') === wanted.events.join('\n')) || first;
        mine.set(track, id);
        const got = track ? eventsOf(report, track) : [];
        check(`${name}: events of track ${id}`, got.join('\n') === wanted.events.join('\n'), firstDifference(got, wanted.events));
        if (track && !track.device) same(`${name}: thread of track ${id}`, [String(track.thread), track.name], [wanted.thread, wanted.name]);
    }
    const cut = [...tracks.values()].flatMap(({ events }) => events).map(line => JSON.parse(line)).filter(fields => fields[0] === 'scope' && fields[6] !== '0').length, note = warnings(report).find(line => / lacks? begin or end/.test(line));
    same(`${name}: the page says how many scopes are cut`, note ? parseInt(note.replace(/,/g, ''), 10) : 0, cut);
    const titles = report.tracks.filter(track => !track.device && track.name && !track.fiber).map(track => `${track.process.id} ${track.title}`);
    same(`${name}: no two threads have one title`, titles.length - new Set(titles).size, 0);
    const others = report.tracks.filter(track => !mine.has(track) && (track.levels.length || track.points.count));
    same(`${name}: no other track has events`, others.length, 0);
    const whole = report.spans.filter(span => !span.mark);
    same(`${name}: spans`, [whole.filter(s => !(s.flags & 1)).length, whole.filter(s => !(s.flags & 2)).length, report.spans.length - whole.length],
        [spans.begin, spans.end, spans.mark]);
    statistics(name, report);
    splits(name, report, fs.readFileSync(prefix + '.csv', 'utf8'));
    drawing(name, report);
    addsUp(name, report);
    return report;
}

/** Sums by another way than the page's. */
function statistics(name, report) {
    const stats = rangeStats(report, report.from, report.to), sums = new Map();
    const { nodes, labels } = report, idAt = n => scopeLabel(labels[nodes.label[n]]).id, isInside = new Uint8Array(nodes.count); // a scope of the same row
    for (let n = 1; n < nodes.count; n++)
        for (let up = nodes.parent[n]; up && !isInside[n]; up = nodes.parent[up]) isInside[n] = idAt(up) === idAt(n) ? 1 : 0;
    let unknown = 0; // self time of scopes whose begin or end is missing
    for (const track of report.tracks)
        track.levels.forEach((level, depth) => {
            for (let i = 0; i < level.count; i++) {
                const id = report.nodes.label[level.node[i]], sum = sums.get(id) || { calls: 0, total: 0, sum: 0, known: 0, all: [], threads: new Set() };
                const duration = level.durationOf(i), inner = track.levels[depth + 1];
                sum.calls++;
                sum.threads.add(track);
                sums.set(id, sum);
                if (!level.flags.has(i)) {
                    sum.known++;
                    sum.sum += duration;
                    if (!isInside[level.node[i]]) sum.total += duration;
                    sum.all.push(duration);
                    continue;
                }
                unknown += duration;
                for (let k = 0; inner && k < inner.count; k++) if (inner.start[k] >= level.start[i] && inner.endOf(k) <= level.endOf(i)) unknown -= inner.durationOf(k);
            }
        });
    const wanted = [...sums].sort(([a], [b]) => a - b).map(([id, s]) => [id, s.calls, s.known, s.total, s.sum, s.threads.size]);
    same(`${name}: calls and total of scopes, as prof summary counts them`, stats.rows.map(row => [row.id, row.calls, row.known, row.total, row.sum, row.threads]), wanted);
    const span = report.to - report.from;
    if (span > 0 && report.tracks.every(track => track.kept <= report.from))
        same(`${name}: shares are totals by time`, stats.rows.filter(row => Math.abs(row.share - row.total / span) > 1e-9).map(row => row.label.name), []);
    else
        same(`${name}: a thread whose older events are gone has had less time`, stats.rows.filter(row => row.share < row.total / span - 1e-9).map(row => row.label.name), []);
    const scopes = byFormat(stats.rows), one = (row, key) => (row.inner || [row]).reduce((sum, each) => sum + each[key], 0);
    same(`${name}: names by a format are one row`, [scopes.filter(row => row.label.format).length, ...['calls', 'total', 'sum', 'self', 'whole'].map(key => stats.rows.reduce((sum, row) => sum + row[key], 0))],
        [0, ...['calls', 'total', 'sum', 'self', 'whole'].map(key => scopes.reduce((sum, row) => sum + row[key], 0))]);
    same(`${name}: with all calls of its names`, scopes.filter(row => ['calls', 'known', 'total', 'sum', 'share', 'self', 'whole'].some(key => row[key] !== one(row, key)) ||
        (row.inner && (row.min !== row.inner.reduce((least, each) => Math.min(least, each.min), Infinity) || (row.histogram || []).reduce((sum, each) => sum + (row.histogram.length > 100 ? each : 1), 0) !== row.whole))).map(row => row.label.name), []);
    const bad = stats.rows.filter(row => {
        const all = sums.get(row.id).all.sort((a, b) => a - b), exact = all[Math.max(0, Math.ceil(all.length * 0.9) - 1)];
        return all.length && Math.abs(percentile(row, 0.9) - exact) > exact * 0.02 + 1;
    });
    same(`${name}: percentiles to 2 %`, bad.map(row => row.label.name), []);
    const outer = report.tracks.reduce((sum, track) => track.levels[0] ? sum + track.levels[0].duration.reduce((a, b) => a + b, 0) : sum, 0);
    same(`${name}: the flame graph from the top`, flameTree(report, stats, false).total, outer);
    same(`${name}: self times`, stats.rows.reduce((sum, row) => sum + row.self, 0), outer - unknown);
    const down = flameTree(report, stats, false), boxes = flameBoxes(down, node => node.total), inside = new Map();
    for (const { node } of boxes) inside.set(node.up, (inside.get(node.up) || 0) + (node.rest === undefined ? node.total : node.width));
    same(`${name}: each box of the flame graph is what is in it, what is left out, and its own`, boxes.filter(({ node }) => node.rest === undefined &&
        Math.abs((inside.get(node) || 0) + node.self - node.total) > 1e-9 * node.total).map(({ node }) => [report.labels[node.label].name, node.total]), []);
    same(`${name}: and so is the whole`, Math.round((inside.get(down) || 0) - down.total), 0);
    const up = flameTree(report, stats, true), self = stats.self.reduce((sum, time, n) => sum + (n ? Math.max(0, time) : 0), 0);
    check(`${name}: and from the bottom`, Math.abs(up.total - self) <= 1 + self * 1e-9, `${up.total} instead of ${self}`);
}

/** What threads did in scopes is what the CSV says; of all calls of a scope, one pass over the states finds the same. */
function splits(name, report, csv) {
    if (!csv.slice(0, csv.indexOf('\r\n')).endsWith(',running_ns,ready_ns,waiting_ns')) {
        check(`${name}: has no states`, report.tracks.every(track => !track.system) && rangeStats(report, report.from, report.to).rows.every(row => !row.states), 'it has some');
        return;
    }
    const lines = csv.split('\r\n').map(line => line.split(',')).filter(fields => fields[3] === 'scope' && fields.at(-1) !== ''), sums = new Map(), got = [];
    const wanted = lines.map(fields => [fields[2], fields[4], ...[6, 7].map(i => Number(fields[i])), ...fields.slice(-3).map(Number)].join());
    for (const track of report.tracks) {
        for (const level of track.system ? track.levels : []) {
            for (let i = 0; i < level.count; i++) {
                const label = report.nodes.label[level.node[i]], [unknown, ...parts] = track.system.split(level.start[i], level.endOf(i)), all = [level.durationOf(i), ...parts];
                got.push([track.name, report.labels[label].name, level.start[i], all[0], ...parts].join());
                if (unknown !== all[0] - parts[0] - parts[1] - parts[2] || unknown < 0) got.push('parts that do not add up');
                if (level.flags.get(i)) continue; // a call that the recording has cut is in no statistics
                sums.set(label, all.map((time, k) => time + (sums.has(label) ? sums.get(label)[k] : 0)));
            }
        }
    }
    same(`${name}: what threads did`, got.sort(), wanted.sort());
    same(`${name}: and in all calls of a scope`, rangeStats(report, report.from, report.to).rows.map(row => row.states), rangeStats(report, report.from, report.to).rows.map(row => sums.get(row.id)));
    const [from, to] = [report.from + (report.to - report.from) * 0.3, report.from + (report.to - report.from) * 0.7].map(Math.round);
    for (const row of rangeStats(report, from, to).rows) {
        const all = [0, 0, 0, 0];
        for (const { track, start, duration } of callsOf(report, row.id, from, to)) {
            const [a, b] = [Math.max(from, start), Math.min(to, start + duration)], parts = track.system.split(a, b);
            [b - a, ...parts.slice(1)].forEach((time, k) => { all[k] += time; });
        }
        same(`${name}: and in a range: ${row.label.name}`, row.states, all);
    }
}

/** The states in the window of an outline, and what grew in a scope that became slower. */
async function growth(folder) {
    const outline = await open(path.join(folder, 'states.window.html')), { tracks } = outline;
    const partsOf = report => rangeStats(report, report.from, report.to).rows.map(row => [row.label.name, row.states]).sort();
    same('all calls of an outline: what threads did', [outline.all !== null, partsOf(outline)], [true, partsOf(await open(path.join(folder, 'states.html')))]);
    same('states in a window', tracks.map(({ system: { count, start, kind } }) => Array.from({ length: count }, (_, i) => `${'?RrW'[kind[i]]}${start[i] / 1000}-${start[i + 1] / 1000}`).join(' ')), ['W120-150 R150-250 r250-280', 'R120-280']);
    const [calm, late] = (await Promise.all(['calm', 'late'].map(each => open(path.join(folder, each + '.html'))))).map(report => rangeStats(report, report.from, report.to).rows[0]);
    same('what grew', [grownText(calm, late), grownText(late, calm), grownText(calm, calm), grownText(calm, undefined), grownText(calm, { ...late, states: null })],
        ['waiting +90.00 \u00b5s, ready +10.00 \u00b5s', 'waiting \u221290.00 \u00b5s, ready \u221210.00 \u00b5s', '', '', '']);
}

/** Whatever is recorded: what explains a call adds up to it. */
function addsUp(name, report) {
    const wrong = [], sum = rows => rows.reduce((all, { time }) => all + time, 0);
    for (const process of report.processes) {
        const usual = allSteps(usualSteps(report, process));
        for (const track of process.tracks) {
            track.levels.forEach((level, depth) => {
                const longest = level.duration.reduce((best, each, i) => each > level.duration[best] ? i : best, 0);
                for (const i of new Set([0, longest, level.count - 1])) {
                    const why = whyOf(report, usual, scopeOf(report, { track, depth, i })), times = [...why.parts, ...why.waits.map(row => row.time), ...why.inner.map(row => row.time)];
                    if (sum(why.inner) !== why.wall || why.parts.reduce((a, b) => a + b) !== why.wall || sum(why.waits) !== why.parts[3] || sum(why.ran) > why.parts[2] || times.some(time => !(time >= 0))) wrong.push([track.title, depth, i, why.wall, why.parts, sum(why.inner)]);
                }
            });
        }
    }
    same(`${name}: what explains a call adds up`, wrong.slice(0, 3), []);
}

/** Why calls took so long is what prof why says of the same recordings. */
async function reasons(folder) {
    const files = fs.readdirSync(folder).filter(file => /^why\..*\.json$/.test(file)), kinds = { fd: 'io', fds: 'io', pid: 'process', '': 'sleep' }, seen = new Set();
    for (const file of files) {
        const [, recording, scope] = file.split('.'), { calls, median_ns: median, frames, name: wanted } = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'));
        const report = await open(path.join(folder, recording + '.html')), name = `why, ${recording}: ${scope}`, threadOf = track => track ? track.name || String(track.thread) : null, [process] = report.processes;
        const usual = allSteps(usualSteps(report, process)), half = row => row.usual ? percentile(row.usual, 0.5) : 0, sorted = list => list.map(each => JSON.stringify(each)).sort(), mine = new Map(), nameAt = place => place ? labelAt(report, place).name : null, near = (got, expected) => expected === got || Math.abs(got - expected) <= 1 + 0.03 * expected;
        if (frames) {
            for (const { track, start, duration, number } of report.frames) start.forEach((at, i) => mine.set(`${track.thread} ${at}`, { track, start: at, end: at + duration[i], number: number[i], flags: 0 }));
        } else {
            check(`${name}: the median of all calls`, near(percentile(usual.get(wanted).wall, 0.5), median), `${percentile(usual.get(wanted).wall, 0.5)} instead of ${median}`);
            for (const label of report.labels.filter(each => scopeLabel(each) === each && each.name === wanted)) for (const call of callsOf(report, label.id, report.from, report.to)) mine.set(`${call.track.thread} ${call.start}`, scopeOf(report, call));
        }
        for (const call of calls) {
            const own = mine.get(`${call.thread_id} ${call.start_ns}`), at = `${name} at ${call.start_ns}`;
            if (!own) { check(at, false, 'it is not on the page'); continue; }
            const why = whyOf(report, usual, own), parts = ['unknown', 'running', 'ready', 'waiting'].map(part => call[part + '_ns']);
            same(`${at}: parts`, [own.number, why.wall, ...why.parts], [call.frame, call.wall_ns, ...parts]);
            same(`${at}: and add up`, why.parts.reduce((sum, part) => sum + part, 0), call.wall_ns);
            same(`${at}: waits`, sorted(why.waits.map(wait => [wait.call || '', kinds[wait.what] || wait.what, wait.name || String(wait.object ?? ''), wait.time, wait.count || 0, threadOf(wait.holder), nameAt(wait.held), nameAt(wait.scope), threadOf(wait.waker), nameAt(wait.woke)])),
                sorted(call.waits.map(wait => [wait.call || '', wait.kind, wait.object || '', wait.ns, wait.count, wait.holder_thread, wait.holder_scope, wait.scope, wait.waker_thread, wait.waker_scope])));
            same(`${at}: scopes inside`, sorted(why.inner.map(row => [row.name, row.time, row.calls, row.longest, row.usual ? row.usual.whole : 0])), sorted(call.inner.map(row => [row.name, row.self_ns, row.calls, row.longest_ns, row.calls_in_all])));
            same(`${at}: beside their medians`, why.inner.filter(row => !near(half(row), call.inner.find(each => each.name === row.name).median_ns)).map(row => [row.name, half(row)]), []);
            const did = rows => sorted(rows.map(({ name, time, place: { track } }) => [name, track.device, track.title, time]));
            same(`${at}: devices meanwhile`, did(why.devices), sorted(call.devices.map(each => [each.name, each.device, each.row, each.ns])));
            same(`${at}: devices that it waited for`, did(why.waits.flatMap(wait => wait.did || [])), sorted(call.devices.filter(each => each.waited_ns).map(each => [each.name, each.device, each.row, each.waited_ns])));
            same(`${at}: who ran instead`, sorted(why.ran.map(row => [threadOf(row.track), row.time])), sorted(call.ran_instead.map(row => [row.thread, row.ns])));
            same(`${at}: counters`, sorted(why.counters.map(({ series, from, to, around }) => [series.name, from, to, around])), sorted(call.counters.map(each => [each.name, each.first, each.last, each.around])));
            same(`${at}: memory`, why.memory, call.allocations);
            same(`${at}: messages`, [why.messages.map(each => [each.time, each.text]), why.lost], [call.messages.map(each => [each.at_ns, each.text]), call.lost]);
            for (const who of ['holder', 'waker']) if (call.waits.some(wait => wait[who + '_scope'])) seen.add(who);
            for (const [what, has] of Object.entries({ ready: call.ran_instead.length, timed: call.running_ns && recording === 'marked', counters: call.counters.length, memory: call.allocations.count, messages: call.messages.length, devices: call.devices.some(each => each.waited_ns), frames })) if (has) seen.add(what);
        }
    }
    same('why: of each kind there was some', [...seen].sort(), ['counters', 'devices', 'frames', 'holder', 'memory', 'messages', 'ready', 'timed', 'waker']);
    same('why: beside a median', [[6100e3, 430e3], [430e3, 430e3], [100, 430e3], [900, 200], [100, NaN]].map(([time, median]) => compared(time, median, 'its median')),
        ['14 times its median (430.0 \u00b5s)', 'about its median (430.0 \u00b5s)', 'its median is 430.0 \u00b5s', '4.5 times its median (200 ns)', 'its median is -']);
}

/** A level drawn with its pyramid has a pixel wherever a scope is, and none where there is none. */
function drawing(name, report) {
    const width = 301, colors = new Uint32Array(report.nodes.count).fill(0xFF0000FF);
    let wrong = 0;
    for (const track of report.tracks)
        for (const level of track.levels)
            for (const [from, to] of [[report.from, report.to], [report.to / 3, report.to / 2], [level.start[0], level.start[0] + 100]]) {
                const scale = width / (to - from), covered = new Uint8Array(width);
                const { line } = levelLine({ width, left: 0, from, scale, colors, dimmed: colors, background: 0xFFFFFFFF, least: 0 }, level);
                for (let i = 0; i < level.count; i++) {
                    const x0 = Math.floor((level.start[i] - from) * scale), x1 = Math.max(x0 + 1, Math.floor((level.endOf(i) - from) * scale));
                    for (let x = Math.max(0, x0); x < Math.min(width, x1); x++) covered[x] = 1;
                }
                const empty = x => !line[x] || line[x] === 0xFFFFFFFF;
                for (let x = 1; x + 1 < width; x++) {
                    if (covered[x] && empty(x) && covered[x + 1] && covered[x - 1] && empty(x - 1)) wrong++;
                    if (!covered[x] && !empty(x) && !covered[x - 1] && !covered[x + 1]) wrong++;
                }
            }
    same(`${name}: pixels`, wrong, 0);
    pyramids(name, report);
}

/** Each group of a pyramid has what its scopes have. */
function pyramids(name, report) {
    const wrong = [];
    for (const track of report.tracks)
        track.levels.forEach((level, depth) => {
            const { start, duration, node, count, pyramid, groups } = level;
            for (let tier = 0, size = 1; tier < pyramid.length; tier++, size *= 16) {
                for (let g = 0; g * size < count; g++) {
                    let longest = g * size, busy = 0;
                    for (let i = longest; i < Math.min(count, (g + 1) * size); i++) {
                        busy += groups && groups.has(i) ? groups.get(i).busy : level.durationOf(i);
                        if (duration[i] > duration[longest]) longest = i;
                    }
                    const has = pyramid[tier], good = has.start[g] === start[g * size] && has.longest[g] === duration[longest] && has.node[g] === node[longest];
                    if (!good || Math.abs(has.busy[g] - busy) > 1e-5 * busy) wrong.push([track.id, depth, tier, g]);
                }
            }
            if (count > 16 !== pyramid.length > 1) wrong.push([track.id, depth]);
        });
    same(`${name}: pyramids`, wrong.slice(0, 3), []);
}

/** Whatever is done to the bytes, the reader ends, and says so or shows what it could read. */
async function damaged(prefix) {
    const pieces = piecesOf(fs.readFileSync(prefix + '.html', 'latin1')), name = path.basename(prefix);
    let seed = 12345, unexpected = '', found = 0;
    const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 150 && !unexpected; round++) {
        const bytes = fromText(pieces[0]).slice(), how = round % 4;
        let part = bytes;
        if (how === 0) part = bytes.subarray(0, random(bytes.length));
        for (let k = how === 1 ? 1 : how === 2 ? 20 : 0; k > 0; k--) bytes[random(bytes.length)] = random(256);
        if (how === 3) bytes.copyWithin(random(bytes.length), random(bytes.length), random(bytes.length));
        try {
            const report = finish(await readReport([textOfBytes(part)]));
            if (report.damage) found++;
            rangeStats(report, report.from, report.to);
            for (const track of report.tracks) for (const level of track.levels) buildPyramid(level);
        } catch (error) {
            unexpected = `round ${round}: ${error.stack}`;
        }
    }
    same(`${name}: damage stops nothing`, unexpected, '');
    check(`${name}: and is found`, found > 100, `${found} of 150 times only`);
}

/** Blocks as one who wants harm would write them: after a good beginning. */
async function hostile() {
    const u = n => {
        const out = [];
        for (; n >= 128; n = Math.floor(n / 128)) out.push(n % 128 | 128);
        return [...out, n];
    };
    const block = (kind, ...columns) => {
        const content = [...columns.flatMap(column => u(column.length)), ...columns.flat()];
        return [kind.charCodeAt(0), ...u(content.length), 0, ...content];
    };
    const text = s => [...u(Buffer.byteLength(s)), ...Buffer.from(s)], head = block('H', [2, 1, 0]);
    const process = block('P', [...text('program'), ...text('<img src=x onerror=alert(1)>')]), track = block('T', [...text('t'), 0, 1, 0, 0, 0, 0, 0]);
    const strings = block('S', text('s')), kind = block('K', [0, 0, 0, 0, 0, 0, 0, 0, 0]);
    const cases = {
        'no head': strings, 'another version': block('H', [9, 1, 0]), 'a text beyond its block': [...head, ...block('S', [100, 1])],
        'a kind of no string': [...head, ...kind], 'a track without a process': [...head, ...track],
        'scopes of no track': [...head, ...block('E', [0, 1], [], [1], [], [0])], 'scopes of no kind': [...head, ...process, ...track, ...block('E', [0, 1], [], [1], [], [0])],
        'columns of different lengths': [...head, ...strings, ...kind, ...process, ...track, ...block('E', [0, 1, 1], [], [1], [], [0])],
        'an end of no scope': [...head, ...strings, ...kind, ...process, ...track, ...block('E', [0], [], [1], [], [])],
        'the rest of a number is missing': [...head, ...strings, ...kind, ...process, ...track, ...block('E', [0, 200], [], [1], [], [0])],
        'a column beyond its block': [...head, 83, 2, 0, 50, 1], 'a block beyond its piece': [...head, 83, 100, 0, 1],
        'a block of 1 GB': [...head, 83, ...u(2 ** 30), 0, 1], 'no deflate': [...head, 83, 50, 4, 255, 255, 255, 255],
        'an endless number': [...head, ...block('S', new Array(20).fill(255))], 'arguments of a scope that is not there, at 2^40': [...head, ...process, ...track, ...block('A', [0, ...u(2 ** 40), 1, 0])],
        'a million arguments': [...head, ...process, ...track, ...block('A', [0, 0, 0, ...u(1e6)])], 'an end that counts wrong': [...head, ...block('Z', [1, 0, 0])],
        'a line of source of no file': [...head, ...strings, ...block('X', [7, 1, 0])], 'a line of source beyond its block': [...head, ...strings, ...block('X', [0, 1, 9])],
        'states of no track': [...head, ...block('W', [9, 0], [1], [5], [])], 'a state of no kind': [...head, ...process, ...track, ...block('W', [0, 0], [9], [5], [])],
        'states without times': [...head, ...process, ...track, ...block('W', [0, 0], [1, 2], [5], [])], 'more times than states': [...head, ...process, ...track, ...block('W', [0, 0], [1], [5, 5], [])],
        'times of states without statistics': [...head, ...process, ...block('R', [1, 2, 3])],
        'a processor too many': [...head, ...process, ...track, ...block('W', [0, 0, 3], [1], [5], [])],
        'spans of no track': [...head, ...strings, ...kind, ...block('N', [0, 0, 0, 7, 7, 0, 0, 0])]
    };
    for (const [name, bytes] of Object.entries(cases)) {
        let said = '';
        try { said = finish(await readReport([textOfBytes(bytes)])).damage; } catch (error) { said = `threw ${error.stack}`; }
        check(`hostile: ${name}`, said && !said.startsWith('threw') && said !== 'the end of the report is missing', said || 'nothing was said');
    }
    // deflate that unpacks to more than it says
    const bomb = (await import('node:zlib')).deflateRawSync(Buffer.alloc(1 << 24));
    const { damage } = await readReport([textOfBytes([...head, 83, ...u(100), ...u(bomb.length), ...bomb])]);
    same('hostile: a block that unpacks to more than it says', damage, 'a block is larger than it says');
    same('hostile: characters that no writer wrote', (await readReport(['$\u00e9'])).damage, 'a piece has characters that no writer wrote');
    same('hostile: a report of the first version', (await readReport(['SAQDAQEA'])).damage, 'this page reads version 2, not 1');
    same('hostile: nothing', (await readReport([])).damage, 'the end of the report is missing');
    const good = await readReport([textOfBytes([...head, ...block('Y', [1, 2, 3]), ...block('Z', [0, 0, 0]), 0, 0])]);
    same('a block of a later version is skipped', [good.damage, good.complete], ['', true]);
}

/** What a flame graph leaves out is a box, and a click on it shows it: whatever is in the tree can be reached. */
function flames() {
    let id = 0;
    const make = (total, children = []) => {
        const node = { label: ++id, total, children: children.sort((a, b) => b.total - a.total) };
        for (const child of children) child.up = node;
        return node;
    };
    const many = make(1000, Array.from({ length: 3000 }, () => make(1 / 3))), some = make(2000, [make(1500), ...Array.from({ length: 500 }, (_, i) => make(i < 100 ? 0 : 1))]);
    let deep = make(3000);
    for (let i = 1; i < 500; i++) deep = make(3000, [deep]);
    const root = make(6000, [many, some, deep]), widthOf = node => node.total, seen = new Set(), shown = new Set(), waiting = [[]];
    delete root.up;
    for (let path; (path = waiting.pop());) {
        const boxes = flameBoxes(along(root, path, 'label', widthOf), widthOf);
        for (const { node, deep: tooDeep } of boxes) {
            if (node.rest === undefined) seen.add(node.label);
            const next = node.rest === undefined ? null : zoomed(tooDeep ? node.up : node, path, 'label');
            if (!next || shown.has(next.join())) continue;
            shown.add(next.join());
            waiting.push(next);
        }
    }
    const all = [root];
    for (const node of all) all.push(...node.children);
    same('flame graph: all that has time can be reached', all.filter(node => node.total && node.up && !seen.has(node.label)).length, 0);
    const first = flameBoxes(root, widthOf), rests = first.filter(({ node }) => node.rest !== undefined);
    same('flame graph: what is left out', rests.map(({ node, deep: tooDeep }) => [node.up === many ? 'many' : node.up === some ? 'some' : 'deep', countRest(node), Math.round(node.width), Boolean(tooDeep)]).sort(),
        [['deep', { count: 440, levels: 440, more: false }, 3000, true], ['many', { count: 3000, levels: 1, more: false }, 1000, false], ['some', { count: 500, levels: 1, more: false }, 400, false]]);
    check('flame graph: boxes lie beside each other', first.every(({ left, width, node }) => left >= 0 && left + width <= 1 + 1e-9 && width > 0 && node), JSON.stringify(first.length));
    same('flame graph: levels above', [levelsOf(undefined), levelsOf([3, '7-9', 4])], [0, 2]);
}

function small() {
    same('times', [0, 999, 1000, 1234567, 59.9e9, 0.5, 12.34, 99.97e6, 4321e9, -2500].map(ns), ['0 ns', '999 ns', '1.000 \u00b5s', '1.235 ms', '59.90 s', '0.500 ns', '12.34 ns', '99.97 ms', '4,321 s', '-2.500 \u00b5s']);
    same('counters', [[40, ''], [40, '%'], [1400.5, 'MHz'], [1048576, 'B'], [-2048, 'bytes'], [1, 'byte'], [1048576, 'memory'], [12.5, 'ms'], [0, 's'],
        [1.5, '\u03bcs'], [2, 'us'], [1e-13, 's'], [NaN, 'B'], [NaN, 'ms'], [Infinity, '%'], [-1234567.25, ''], [1e-5, ''], [2 ** 60, ''], [-Infinity, '']].map(each => measured(...each)),
    ['40', '40 %', '1,400.5 MHz', '1.049 MB', '-2.048 kB', '1 B', '1,048,576 memory', '12.50 ms', '0 ns', '1.500 \u00b5s', '2.000 \u00b5s', '1e-13 s', 'nan B', 'nan ms', 'inf %', '-1,234,567', '1e-5', '1.15292e+18', '-inf']);
    const { min: least, max: most, low, high } = closeSeries({ time: [0, 1, 2, 3, 4], value: [1, Infinity, 2, -3, NaN] });
    same('the scale of a counter leaves infinities out', [least, most, low, high], [-3, Infinity, -3, 2]);
    same('signs that turn texts around are escapes', visible('a\u202egpj.exe \u2067b \u05d0'), 'a\\u202egpj.exe \\u2067b \u05d0');
    same('times that are typed', ['2ms', '1.5us', '100', '3s', '2x', ''].map(parseTime).map(String), ['2000000', '1500', '100', '3000000000', 'NaN', 'NaN']);
    same('steps of the axis', [0.7, 3, 12, 900].map(niceStep), [1, 5, 20, 1000]);
    same('the axis', [axisTime(1500000, 500000), axisTime(2e9, 1000)], ['1.5 ms', '2.000000 s']);
    let off = 0;
    for (let d = 0; d < 1e12; d = Math.ceil(d * 1.37) + 1) if (Math.abs(bucketValue(bucketOf(d)) - d) > d / 32) off++;
    same('buckets', off, 0);
    const order = mergeOrder([[1, 4, 9], [], [2, 4], [0]]);
    same('lists by time', [[...order.list], [...order.index]], [[3, 0, 2, 0, 2, 0], [0, 0, 0, 1, 1, 2]]);
    same('what is in a range', [[5, 9], [0, 5], [9, 12], [5, 5], [9, 9], [4, 6], [0, 20], [10, 10]].map(([start, end]) => touches(start, end, 5, 9)), [true, false, false, true, true, true, true, false]);
    same('what is at a moment', [[5, 9], [0, 5], [6, 9], [5, 5]].map(([start, end]) => touches(start, end, 5, 5)), [true, true, false, true]);
    flames();
    const long = new Level();
    for (const end of [9e9, 10e9]) {
        long.start[long.count++] = long.lastEnd;
        long.closeLast(end);
    }
    same('time in scopes of more than 4 s', busyOf({ levels: [long] }), 10e9);
    const lines = [1, 1024].map(times => { // scopes of 8 ms, or 8 s; some are as wide as a pixel
        const level = new Level();
        level.grow(400);
        for (; level.count < 400; level.closeLast(level.start[level.count - 1] + times * (level.count % 50 ? 8e6 : 40e6))) level.start[level.count++] = level.count * 50e6 * times;
        level.pyramid = buildPyramid(level);
        return [31, 307, 701].map(width => [0, 6e6].map(least => [...levelLine({ width, left: 0, from: 0, scale: width / (20e9 * times), colors: [0xFF0000FF], dimmed: [0xFF00FF00], background: 0xFFFFFFFF, least: least * times }, level).line]));
    });
    same('scopes of more than 4 s look like shorter ones', lines[1], lines[0]);
    const query = parseQuery('draw cat:gfx size=3 >2ms <1s');
    const one = { nodes: { count: 2, label: [0, 0] }, labels: [{ name: 'a', category: '' }], argsAt: () => [['Size', 1234567]],
        tracks: [{ levels: [{ count: 1, start: [0], node: [1], durationOf: () => 5, args: { index: [0], place: [0] } }] }] };
    same('a search for an argument, as it is and as it is shown', ['size=1234567', 'size=1,234,567', 'size=1', 'Size=1234567 >6ns'].map(text => findScopes(one, parseQuery(text)).length), [1, 1, 0, 0]);
    same('a search compares values, in decimal and hex', ['size>1000000', 'size<1000', 'size>=1234567', 'size=0x12d687', 'size<0x10'].map(text => findScopes(one, parseQuery(text)).length), [1, 0, 1, 1, 0]);
    same('a search: words, quotes, times, bounds', ['"two words" x', 'vector<int>', '"a=b"', '>=2ms <=1s', '"open'].map(parseQuery).map(({ names, args, least, most }) => [names, args, least, most]),
        [[['two words', 'x'], [], 0, Infinity], [['vector<int>'], [], 0, Infinity], [['a=b'], [], 0, Infinity], [[], [], 2e6, 1e9], [['open'], [], 0, Infinity]]);
    same('a search', [query.names, query.categories, query.args, query.least, query.most], [['draw'], ['gfx'], [['size', '3']], 2e6, 1e9]);
}

/** Verdicts, shifts and intervals of the page are those that prof compare prints for the same two recordings. */
async function comparing(prefix) {
    const report = await open(prefix + '.html'), wanted = JSON.parse(fs.readFileSync(prefix + '.json', 'utf8')).scopes;
    const { labels, processes, from, to } = report, { pairs, of } = pairLabels(labels, processes.map(process => labelsOf(report, process)));
    const samples = processes.map(process => samplesOf(report, process, from, to)), stats = processes.map(process => rangeStats(report, from, to, track => track.process === process));
    const bounds = change => [change.ratio, change.low > 0 ? change.low : undefined, change.high < 1e30 ? change.high : undefined];
    const near = (got, expected, tolerance) => got === expected || Math.abs(got - expected) <= tolerance * Math.abs(expected);
    const sums = processes.map((process, i) => selfTimes(report, process, stats[i])), tree = differenceTree(report, { of }, stats, sums, [1, 1], 1), nodes = [];
    for (const waiting = [tree]; waiting.length;) nodes.push(...waiting.splice(0, 1).flatMap(node => { waiting.push(...node.children); return node.up ? [node] : []; }));
    let most = 0;
    for (const row of wanted) {
        if (row.name.includes('%')) continue; // prof compare takes the names of a format as one scope
        const line = row.line, sides = ['a', 'b'], name = `compare: ${row.name} of line ${line}`;
        const at = pairs.findIndex(pair => { const label = labels[pair.b >= 0 ? pair.b : pair.a]; return label.name === row.name && label.line === line; });
        const pair = pairs[at], of2 = pair && sides.map((side, i) => samples[i].get(pair[side]));
        if (!pair) { check(name, false, 'not on the page'); continue; }
        const verdict = pair.a < 0 ? 'new' : pair.b < 0 ? 'gone' : judge(shiftOf(...of2), 0.05);
        same(name, [verdict, ...of2.map(sample => sample ? sample.seen : 0)], [row.call.verdict, row.a.calls, row.b.calls]);
        sides.forEach((side, i) => { if (of2[i] && of2[i].seen <= 10000) check(`${name}: p50 ${side}`, Math.abs(medianOf(of2[i]) - row[side].p50_ns) <= 1 + 0.04 * row[side].p50_ns, `${medianOf(of2[i])} instead of ${row[side].p50_ns}`); });
        if (pair.a < 0 || pair.b < 0) continue;
        const got = bounds(shiftOf(...of2)), expected = [row.call.ratio, row.call.low, row.call.high]; // which are printed with 6 digits
        check(`${name}: shift`, got.every((value, i) => near(value, expected[i], 3e-5)), `${got} instead of ${expected}`);
        most = Math.max(most, of2[0].seen);
        // where nothing is inside, and one path leads there, the self time of the flame graph is the total time
        const node = nodes.filter(each => each.pair === at);
        if (node.length !== 1 || node[0].children.length || of2.some(sample => sample.seen > 10000)) continue;
        const total = bounds(node[0].change), printed = [row.total.ratio, row.total.low, row.total.high];
        check(`${name}: change of the self time`, total.every((value, i) => near(value, printed[i], 1e-3)), `${total} instead of ${printed}`);
        check(`${name}: is in the flame graph`, node[0].of[1].total === row.b.total_ns, `${node[0].of[1].total}`);
    }
    check('compare: a scope had more calls than are compared', most > 10000, `${most}`);
    const own = nodes.reduce((sum, { of: both }) => sum + (both[1] || both[0]).self, 0);
    check('differences: as wide as the self times', Math.abs(tree.width - own) <= own * 1e-9, `${tree.width} instead of ${own}`);
    check('differences: inner ones are no wider', nodes.every(node => node.children.reduce((sum, each) => sum + each.width, 0) <= node.width * (1 + 1e-9) + 1), 'one is');
    const only = side => [...new Set(nodes.filter(node => !node.of[1 - side]).map(node => labels[pairs[node.pair]['ab'[side]]].name))].sort();
    same('differences: what only one has', [only(0), only(1)], [['moved', 'sanitize'], ['checksum']]);
    same('differences: what times may be divided by', measures(report, processes, stats).map(each => each.id), ['frame', 'second', 'run']);
    const halved = differenceTree(report, { of }, stats, sums, [2, 4], 0);
    check('differences: divided', near(halved.children[0].of[0].total * 2, stats[0].rows.find(row => row.label.name === 'program').total, 1e-12), 'not so');
}

/** A report to which another one was added has the events of both; and is what prof writes of both. */
async function joining(pair, prefixes) {
    const names = prefixes.filter(prefix => path.basename(prefix) === 'names'), others = prefixes.filter(prefix => !names.includes(prefix)); // of which one is large: once
    for (const [a, b] of [[pair + '.1', pair + '.2'], [others[0], others[others.length - 1]], ...others.slice(1).map((prefix, i) => [prefix, others[i]]), ...names.map(prefix => [prefix, others[0]])]) {
        const apart = [await open(a + '.html'), await open(b + '.html')], name = `added: ${path.basename(a)}, ${path.basename(b)}`;
        const wanted = apart.flatMap(report => report.tracks.map(track => eventsOf(report, track).join('\n')));
        const spans = apart.flatMap(report => report.spans.map(span => [report.labels[span.label].name, span.start, report.tracks[span.track].title, span.args.join()].join()));
        const sums = apart.map(report => [report.scopes, report.messages.length, report.frames.reduce((sum, each) => sum + each.start.length, 0), report.flows.length, report.counters.length]);
        const report = finish(joined(...apart));
        check(`${name}: events`, report.tracks.map(track => eventsOf(report, track).join('\n')).join() === wanted.join(), firstDifference(report.tracks.map(track => eventsOf(report, track).join('\n')), wanted));
        same(`${name}: spans`, report.spans.map(span => [report.labels[span.label].name, span.start, report.tracks[span.track].title, span.args.join()].join()), spans);
        same(`${name}: numbers`, [report.scopes, report.messages.length, report.frames.reduce((sum, each) => sum + each.start.length, 0), report.flows.length, report.counters.length],
            sums[0].map((value, i) => value + sums[1][i]));
        same(`${name}: each has its number`, [report.tracks.map(t => t.id), report.processes.map(p => p.id), report.labels.map(l => l.id)].map(ids => ids.every((id, i) => id === i)), [true, true, true]);
        pyramids(name, report);
        same(`${name}: marks once`, report.tracks.reduce((sum, track) => sum + (track.marks ? track.marks.length : 0), 0), report.messages.length);
    }
    const written = await open(pair + '.html'), report = finish(joined(await open(pair + '.1.html'), await open(pair + '.2.html')));
    const figures = each => rangeStats(each, 0, each.to).rows.map(row => [row.label.name, row.label.line, row.calls, row.total, row.self]).sort();
    same('added: as prof writes both', [figures(report), report.nodes.count, report.to], [figures(written), written.nodes.count, written.to]);
    const html = fs.readFileSync(pair + '.1.html', 'latin1');
    same('added: the pieces of a file', piecesIn(html), piecesOf(html.slice(html.indexOf('</script>'))));
    same('added: no piece', piecesIn('<!doctype html><script>alert(1)</script>'), []);
    let why = '';
    try { piecesIn(html.slice(0, html.lastIndexOf('</script>'))); } catch (error) { why = error instanceof Damage && error.message; }
    same('added: a file that was cut', why, 'its end is missing');
}

/** Arithmetic of comparisons with known results. */
async function comparisons() {
    const made = finish(await readReport([pieceOf(changed())])), used = made.processes.map(process => labelsOf(made, process));
    const stats = made.processes.map(process => rangeStats(made, 0, made.to, track => track.process === process));
    const list = measures(made, made.processes, stats), sums = made.processes.map((process, i) => selfTimes(made, process, stats[i])), pairing = pairLabels(made.labels, used);
    same('recordings that a test makes', [made.damage, made.scopes, list.map(each => each.id), list[0].of], ['', 2250, ['frame', 'second', 'run'], [150, 300]]);
    const [update] = differenceTree(made, pairing, stats, sums, list[0].of, 1).children;
    const told = Object.fromEntries(update.children.map(node => [made.labels[pairing.pairs[node.pair].b < 0 ? pairing.pairs[node.pair].a : pairing.pairs[node.pair].b].name,
        node.change ? judge(node.change, 0.05) : node.of.indexOf(null)]));
    same('what a change did', Object.entries(told).sort(), Object.entries({ steady: 'same', slow: 'slower', fast: 'faster', removed: 1, added: 0 }).sort());
    same('self times are those of statistics', sums.map(sum => [...sum.values()].reduce((all, each) => all + each.sum, 0)), stats.map(each => each.rows.reduce((all, row) => all + row.self, 0)));

    const even = n => new Array(n).fill(0).map((_, i) => 1000 + i * 7919 % 100), sample = ns => ({ seen: ns.length, start: ns.map((_, i) => i), ns });
    const double = shiftOf(sample(even(400)), sample(even(400).map(v => 2 * v)));
    check('a shift by 2', double.low < 2 && double.high > 2 && double.high - double.low < 0.05 && judge(double, 0.05) === 'slower', JSON.stringify(double));
    same('the same', judge(shiftOf(sample(even(400)), sample(even(400))), 0.05), 'same');
    same('too few', judge(shiftOf(sample([5]), sample([50])), 0.05), 'unsure');
    same('no call', [shiftOf(undefined, sample([1])).high, shiftOf(sample([]), sample([1])).low], [Infinity, 0]);
    const chooser = new Chooser(), state = { value: 0n };
    const reference = limit => { // SplitMix64
        const bits = n => BigInt.asUintN(64, n);
        let z = state.value = bits(state.value + 0x9E3779B97F4A7C15n);
        z = bits((z ^ z >> 30n) * 0xBF58476D1CE4E5B9n);
        z = bits((z ^ z >> 27n) * 0x94D049BB133111EBn);
        return Number((z ^ z >> 31n) % BigInt(limit));
    };
    let off = 0;
    for (let i = 0; i < 2000; i++) if (chooser.below(10001 + i * 31337 % 60000000) !== reference(10001 + i * 31337 % 60000000)) off++;
    same('the sequence by which calls are chosen', off, 0);
    const label = (name, line, category = '') => ({ name, line, category, function: 'f' });
    const { pairs } = pairLabels([label('x', 9), label('x', 5), label('x', 7), label('y', 1), label('x', 7, 'c')], [new Set([0, 1]), new Set([2, 3, 4])]);
    same('pairs in the order of their lines', pairs.map(pair => [pair.a, pair.b]), [[1, 2], [0, -1], [-1, 3], [-1, 4]]);
    const sum = (n, each) => ({ n, sum: n * each, squares: n * each * each * 1.01, tenths: new Array(10).fill(n * each / 10) });
    const change = sumChange(sum(1000, 10), sum(1000, 12), [1, 1]), scaled = sumChange(sum(1000, 10), sum(1000, 12), [1, 0.5]);
    check('a sum that grew by a fifth', Math.abs(change.ratio - 1.2) < 1e-9 && change.low > 1.18 && change.high < 1.22 && judge(change, 0.05) === 'slower', JSON.stringify(change));
    same('and that of a recording twice as long', [Math.round(scaled.ratio * 1000), judge(scaled, 0.05)], [600, 'faster']);
    const parts = style => /rgb\((\d+),(\d+),(\d+)\)/.exec(style.backgroundColor).slice(1).map(Number);
    for (const dark of [false, true]) {
        const [slower, faster, none] = [1, -1, 0].map(by => parts(differenceStyle(by, dark)));
        same(`grey is ${dark ? 'dark' : 'light'}, as the theme`, none[0] < 128, dark);
        check(`red, blue and grey${dark ? ', dark' : ''}`, slower[0] > slower[2] + 80 && faster[2] > faster[0] + 80 && Math.max(...none) - Math.min(...none) < 20, `${slower} ${faster} ${none}`);
    }
}

/** Lines of source are those of the file, in a report that was told to have them, and in no other. */
async function sources(prefix) {
    const file = 'tests/html/make_pair.c', all = fs.readFileSync(file, 'utf8').split('\n'), report = await open(prefix + '.sources.html');
    const own = await open(prefix + '.1.html'), lines = report.sources.get(file) || new Map();
    same('sources: nothing is damaged', report.damage, '');
    same('sources: none unless they were asked for', [own.sources.size, own.processes[0].about.has('sources_missing')], [0, false]);
    same('sources: of one file', [[...report.sources.keys()], report.processes[0].about.get('sources_missing')], [[file], '0']);
    same('sources: lines of the file', [...lines].filter(([n, text]) => text !== all[n - 1]), []);
    const wanted = new Set(report.labels.filter(label => label.file === file && report.kinds.some(kind => kind.type === 0 && kind.label === label.id))
        .flatMap(label => Array.from({ length: 13 }, (_, i) => label.line - 4 + i)).filter(n => n < all.length));
    same('sources: around each scope, and no others', [...lines.keys()].sort((a, b) => a - b), [...wanted].sort((a, b) => a - b));
    check('sources: there are some', wanted.size > 20, `${wanted.size}`);
    same('sources: of a report that is added', joined(own, report).sources.get(file).size, wanted.size);
}

/** Outlines of a large recording, against the report of all of it. @param {string} prefix of the pair */
async function large(prefix) {
    const all = await open(prefix + '.long.all.html'), whole = rangeStats(all, all.from, all.to);
    const labelOf = (report, node) => report.labels[report.nodes.label[node]], baseOf = (report, level, i) => labelOf(report, level.node[i]).base.replace(/ [%\d].*/, '');
    check('large: one that is small enough is written as ever', !all.all && !all.windows.length && all.scopes > 300000, `${all.scopes} scopes`);
    for (const what of ['last', 'first', 'few']) {
        const name = `large, ${what}`, report = await open(`${prefix}.long.${what}.html`), [window] = report.windows, part = Number(report.processes[0].about.get('part_ns'));
        same(`${name}: nothing is damaged`, report.damage, '');
        const count = report.scopes + report.points + report.spanCount;
        check(`${name}: it is small`, count < (what === 'few' ? 1000 : what === 'last' ? 20000 : 60000), `${count} events`);
        const said = warnings(report).join();
        check(`${name}: the note says so`, said.includes(moment(window.from)) && said.includes('Statistics of everything count all scopes'), said);
        if (what === 'last') check(`${name}: the window is at the end and has some 10,000 events`, window.to === report.to && count > 8000, JSON.stringify(window));
        if (what === 'first') same(`${name}: the window is the one that was asked for`, window, { from: 0, to: 5e6 });
        const sums = rows => [...rows.reduce((map, row) => {
            const key = row.label.name.replace(/ [%\d].*/, ''), sum = map.get(key) || [0, 0, 0];
            return map.set(key, [sum[0] + row.calls, sum[1] + row.total, sum[2] + row.self]);
        }, new Map())].map(([key, sum]) => [key, ...sum]).sort();
        const every = rangeStats(report, report.from, report.to, () => true), known = selfTimes(report, report.processes[0], every);
        same(`${name}: self times by call, of groups as well`, [...known].filter(([n, sum]) => sum.n !== every.calls[n] || Math.abs(sum.sum - Math.max(0, every.self[n])) > 1 + 0.01 * sum.sum).map(([n, sum]) => [report.labels[report.nodes.label[n]].name, sum.n, every.calls[n], sum.sum, every.self[n]]).slice(0, 3), []);
        same(`${name}: statistics of everything`, sums(rangeStats(report, report.from, report.to).rows), sums(whole.rows));
        const tops = r => flameTree(r, rangeStats(r, r.from, r.to), false).children.map(node => [r.labels[node.label].name, node.total, node.calls]);
        same(`${name}: the flame graph of everything`, tops(report), tops(all));
        const parse = rows => rows.find(row => row.label.name === 'parse'), exact = callsOf(all, parse(whole.rows).id, all.from, all.to).map(call => call.duration).sort((a, b) => a - b);
        for (const share of [0.5, 0.9, 0.99]) {
            const got = percentile(parse(rangeStats(report, report.from, report.to).rows), share), wanted = exact[Math.ceil(share * exact.length) - 1];
            check(`${name}: percentile ${share} of all`, Math.abs(got - wanted) <= wanted * 0.02 + 1, `${got} instead of ${wanted}`);
        }
        const wrong = [];
        report.tracks.forEach((track, t) => track.levels.forEach((level, depth) => {
            const other = all.tracks[t].levels[depth], mine = new Map(), inWindow = [];
            let calls = 0, busy = 0, wanted = 0;
            for (let i = 0; i < level.count; i++) {
                const group = level.groups && level.groups.get(i);
                calls += group ? group.calls : 1;
                busy += group ? group.busy : level.durationOf(i);
                if (!group) mine.set(level.start[i], i);
                else if (level.durationOf(i) > 2 * part) wrong.push(`${depth}: a group of ${level.durationOf(i)} ns`);
            }
            for (let i = 0; i < other.count; i++) {
                const at = other.start[i], i2 = mine.get(at), near = at < window.to && other.endOf(i) >= window.from;
                wanted += other.durationOf(i);
                if (i2 === undefined && (near || other.durationOf(i) >= part)) wrong.push(`${depth}: none at ${at}`);
                if (i2 === undefined) continue;
                inWindow.push(i);
                if (level.durationOf(i2) !== other.durationOf(i) || baseOf(report, level, i2) !== baseOf(all, other, i)) wrong.push(`${depth}: another at ${at}`);
                if (near && JSON.stringify(report.argsOf(level.args, i2)) !== JSON.stringify(all.argsOf(other.args, i))) wrong.push(`${depth}: arguments at ${at}`);
            }
            if (inWindow.length !== mine.size) wrong.push(`${depth}: ${mine.size - inWindow.length} that are not in the recording`);
            if (calls !== other.count || busy !== wanted) wrong.push(`${depth}: ${calls} calls of ${busy} ns instead of ${other.count} of ${wanted}`);
            for (let i = 1; i < level.count; i++) if (level.start[i] < level.endOf(i - 1)) wrong.push(`${depth}: overlap at ${level.start[i]}`);
        }));
        same(`${name}: each scope of the window, each long one, and groups of the others`, wrong.slice(0, 5), []);
        const inside = r => r.messages.filter(m => m.time >= window.from && m.time < window.to).map(m => [m.time, m.text]);
        same(`${name}: messages of the window`, inside(report), inside(all));
        check(`${name}: and samples of the others`, report.messages.length >= inside(report).length + 20 && report.counters[0].time.length > 10, `${report.messages.length} messages`);
        const spans = r => r.spans.filter(s => s.start < window.to && s.start + s.duration >= window.from).map(s => [s.start, s.duration]);
        same(`${name}: spans of the window`, spans(report), spans(all));
        const range = rangeStats(report, report.from + 1, report.to), sum = rows => rows.reduce((n, row) => n + row.calls, 0);
        check(`${name}: a range counts the calls of groups`, Math.abs(sum(range.rows) - sum(whole.rows)) <= 2, `${sum(range.rows)} calls instead of ${sum(whole.rows)}`);
        same(`${name}: recording cost of all scopes`, cost(report.processes[0], 1e9).text.replace(/^.*? for/, ''), cost(all.processes[0], 1e9).text.replace(/^.*? for/, ''));
        same(`${name}: time of tracks in scopes`, report.tracks.map(busyOf), all.tracks.map(busyOf));
        drawing(name, report);
        addsUp(name, report);
        if (what === 'last') same(`${name}: beside another, there are no statistics of all`, joined(report, await open(prefix + '.1.html')).all, null);
    }
}

/** All modules are one script in the page. */
function script(prefix) {
    const html = fs.readFileSync(prefix + '.html', 'utf8'), page = html.slice(0, html.indexOf('<script type="application/octet-stream">'));
    const code = /<script nonce=prof>\n([\s\S]*)<\/script>/.exec(page);
    let why = '';
    try { new Function(code[1]); } catch (error) { why = error.message; }
    same('the script of the page', why, '');
    check('the page is at most 220 KiB', page.length <= 225280, `${page.length} bytes`);
    const live = fs.readFileSync(new URL('../../src/html/live.js', import.meta.url), 'utf8').split('\n').map(line => line.trim()).filter(line => line && !/^(\/\/|import |\/?\*)/.test(line)).join('\n');
    check('the live part is at most 16 KB', live.length > 4000 && live.length <= 16000, `${live.length} bytes`);
    check('it is not in a report', !page.includes("fetch('/live'"), 'it is');
    check('it loads nothing', !/\b(https?:|\/\/[a-z]|src=|href=|@import|url\()/i.test(page.replace(/'http:\/\/www\.w3\.org\/2000\/svg'|url\(#/g, '')), 'it has an address');
    check('it sets no markup', !/innerHTML|outerHTML *=|insertAdjacentHTML|document\.write|\beval\b/.test(page), 'it does');
}

/** Requests are what prof request says: rows, gaps, waits, relatives and the critical path, to the nanosecond. */
async function requests(folder) {
    for (const file of fs.readdirSync(folder).filter(each => each.startsWith('request.'))) {
        const [, recording] = file.split('.'), wanted = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')), report = finish(await open(path.join(folder, recording + '.html')));
        const series = requestSeries(report).find(each => each.name === wanted.name && each.step === (wanted.kind === 'step')), one = series.list.find(each => each.id === wanted.id && each.start === wanted.start_ns);
        const got = requestOf(report, series, one), label = place => labelAt(report, place), name = row => row.kind === 'gap' ? row.name : row.kind === 'wait' ? '' : label(row.place).name;
        same(`${file}: begin, duration, how many`, [one.start, one.end - one.start, series.whole], [wanted.start_ns, wanted.wall_ns, wanted.count]);
        same(`${file}: rows`, got.rows.map(row => [row.kind, name(row), row.track.title, row.start, row.end - row.start, row.depth, Boolean(row.critical)]),
            wanted.rows.map(row => [row.kind, row.kind === 'wait' ? '' : row.name.replace(/^(turn|other turn) -?\d+$/, '$1'), row.thread, row.start_ns, row.wall_ns, row.depth, row.critical]));
        same(`${file}: gaps`, got.rows.filter(row => row.kind === 'gap').map(row => `thread ${row.why[1].title}${row.why[2]}`), wanted.rows.filter(row => row.kind === 'gap').map(row => row.why.replace(/ us/g, ' \u00b5s')));
        same(`${file}: too short for a row`, got.left, wanted.left_out);
        same(`${file}: the critical path`, got.path.map(part => [part.start, part.end - part.start]), wanted.critical_path.map(part => [part.start_ns, part.wall_ns]));
        same(`${file}: adds up`, got.path.reduce((sum, part) => sum + part.end - part.start, 0), wanted.wall_ns);
        for (const who of ['parents', 'children']) same(`${file}: ${who}`, got[who].map(each => [each.series.name, each.id, each.start]), wanted[who].map(each => [each.name, each.id, each.start_ns]));
    }
    const report = finish(await open(path.join(folder, 'requests.html'))), counts = text => Object.entries(findOthers(report, parseQuery(text))).map(([, list]) => list.length);
    same('a search finds scopes by values, threads, spans, messages, counters', ['helper', '8', '0x63', 'parent=8', 'parent>8', 'quer', 'nothing', ''].map(counts),
        [[0, 1, 0, 0, 0], [0, 0, 2, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]);
    same('a recording that was stopped has no end of its own', endings(report), []);
    const crashed = finish(await open(path.join(folder, 'crashed.html')));
    same('one that was not has', endings(crashed).length, 1);
    const ranks = finish(await open(path.join(folder, 'ranks.html'))), by = JSON.parse(fs.readFileSync(path.join(folder, 'ranks.json'), 'utf8')), [[title, , groups]] = balanceGroups(ranks);
    same('ranks: each scope is what prof summary --by rank says', allSteps(balanceSteps(ranks, ranks.from, ranks.to, groups, true)).map(row => [row.label.name, row.calls, row.total, row.ratio.toFixed(4), [...row.each]]).sort(),
        by.scopes.map(row => [row.name, row.calls, row.total_ns, row.max_mean.toFixed(4), row.each.map(each => each.total_ns)]).sort());
    same('ranks: are called so', [title, by.by, groups.length], ['Ranks', 'rank', by.groups.length]);
    same('an empty one says so', warnings(finish(await open(path.join(folder, 'empty.html')))).filter(line => line.startsWith('Nothing was recorded. No macro ran')).length, 1);
}

/** Values of counters are the same texts on the page as in prof summary, but for the sign of microseconds. */
async function numbers(prefix) {
    const { counters, flows } = finish(await open(prefix + '.html')), lines = new Set(fs.readFileSync(prefix + '.txt', 'utf8').split('\n').map(line => line.replace(/ +/g, ' ')));
    const rows = counters.map(({ name, unit, value: [value] }) => `${name} 1${` ${measured(value, unit).replace('\u00b5', 'u')}`.repeat(4)}`);
    same('numbers: the page and prof summary', [rows.length, rows.filter(row => !lines.has(row)).slice(0, 5)], [1056, []]);
    const ids = flows.map(({ id }) => String(id)).sort(), starts = flows.map(({ from }) => from).sort((a, b) => a - b);
    same('numbers: flows that a double cannot tell apart', [ids, new Set(starts).size], [[0n, 1n, 2n].map(i => String((1n << 63n) + i)), 3]);
}

const [pair, ...prefixes] = process.argv.slice(2);
small();
await comparisons();
await comparing(pair);
await joining(pair, prefixes);
await hostile();
await sources(pair);
await large(pair);
await damaged(pair + '.long.last');
script(prefixes[0]);
for (const prefix of prefixes) {
    const report = await account(prefix);
    if (path.basename(prefix) === 'notes') {
        const query = parseQuery('bytes=0'), hits = findScopes(report, query);
        check('notes: a search for an argument', hits.length > 0 && hits.every(hit => report.argsOf(hit.track.levels[hit.depth].args, hit.i).some(([k, v]) => k === 'bytes' && v === 0)), `${hits.length} hits`);
    }
}
for (const prefix of [...prefixes.slice(0, 3), ...prefixes.filter(each => path.basename(each) === 'states')]) await damaged(prefix);
await growth(path.dirname(pair));
await reasons(path.dirname(pair));
await requests(path.dirname(pair));
await numbers(path.join(path.dirname(pair), 'views.numbers'));
contrasts();
total();
