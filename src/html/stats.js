// Statistics of a range of time: for each call path, for each scope, and for one scope.

import { entryOf, firstIndex, touches } from './columns.js';
import { GROUP, scopeLabel } from './decode.js';
import { STATE_NAMES } from './states.js';
import { ceil, floor, max, min } from './text.js';

const BUCKETS = 64 + 58 * 32;
/** How many calls of a scope have a list of buckets. See tally(). */
export const FEW = 30;

/** Returns the bucket of a duration. Each ns below 64 is a bucket; above, a power of two has 32. */
export function bucketOf(duration) {
    if (duration < 64) return floor(duration);
    if (duration < 0x80000000) {
        const e = 31 - Math.clz32(duration);
        return 64 + (e - 6) * 32 + (duration >>> e - 5 & 31);
    }
    const e = floor(Math.log2(duration));
    return min(BUCKETS - 1, 64 + (e - 6) * 32 + floor(duration / 2 ** (e - 5)) % 32);
}

/** Returns the duration in the middle of a bucket. */
export function bucketValue(bucket) {
    if (bucket < 64) return bucket;
    const e = floor((bucket - 64) / 32) + 6;
    return (32 + (bucket - 64) % 32 + 0.5) * 2 ** (e - 5);
}

/** Returns which scopes of a level lie in a range, as touches() defines it: from index [0] up to, but not including, [1]. */
export function indexRange(level, from, to) {
    const { start, count, duration } = level;
    let first = firstIndex(count, k => start[k] >= from);
    if (first && touches(start[first - 1], level.endOf(first - 1), from, to)) first--;
    return [first, firstIndex(count, k => start[k] > to || (start[k] === to && duration[k] > 0 && from < to))];
}

/**
 * Counts the calls and the time of each node in a range, and makes a row for each scope. Percentiles are of the calls that lie
 * in the range as a whole. As in prof summary, the times of a row leave out calls whose begin or end was not recorded; `known`
 * counts the others.
 * @param {import('./decode.js').Report} report @param {number} from @param {number} to
 * @param {(track: object) => boolean} [wanted]
 */
export function rangeStats(report, from, to, wanted) {
    return allSteps(statsSteps(report, from, to, wanted));
}

/** Takes all steps of a count. Returns its result. */
export function allSteps(steps) {
    for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
    }
}

/** Does the work of rangeStats() in small steps. Yields how many scopes a step has counted. Returns the statistics. */
export function* statsSteps(report, from, to, wanted) {
    if (report.all && !wanted && from <= report.from && to >= report.to) return allStats(report);
    const { nodes, labels } = report, column = n => new Float64Array(n), calls = column(nodes.count), total = column(nodes.count), self = column(nodes.count), share = column(nodes.count);
    const sums = { labelOf: nodes.label, calls, total, share, outer: outermost(report), whole: column(labels.length), longest: column(labels.length), threads: column(labels.length),
        cut: column(labels.length), lost: column(labels.length), lostSum: column(labels.length), lostShare: column(labels.length), lostSelf: column(labels.length),
        shortest: column(labels.length).fill(Infinity), histograms: new Array(labels.length).fill(null), met: column(nodes.count).fill(-1), seen: column(labels.length).fill(-1), track: 0, scale: 0 };
    for (const track of report.tracks) {
        if (wanted && !wanted(track)) continue;
        sums.track = track.id;
        sums.scale = to > max(from, track.kept) ? 1 / (to - max(from, track.kept)) : 0;
        for (const [depth, level] of track.levels.entries()) {
            const [first, end] = indexRange(level, from, to), { start, node, flags, groups } = level;
            let i = first;
            for (const odd of Uint32Array.from(new Set([first, ...flags.keys(), end - 1])).sort()) { // the few scopes that the range or the recording may have cut, and groups
                if (odd < first || odd >= end) continue;
                yield* addWhole(sums, level, i, odd);
                i = odd + 1;
                const n = node[odd], long = level.durationOf(odd);
                if (groups && groups.has(odd)) {
                    addTime(sums, n, groups.get(odd).calls, groups.get(odd).busy);
                } else if (start[odd] < from || start[odd] + long > to || flags.has(odd)) {
                    addTime(sums, n, 1, max(0, min(start[odd] + long, to) - max(start[odd], from)));
                    if (flags.has(odd) && start[odd] >= from && start[odd] + long <= to) leaveOut(sums, n, track.levels[depth + 1], start[odd], long);
                } else {
                    yield* addWhole(sums, level, odd, i);
                }
            }
            yield* addWhole(sums, level, i, end);
        }
    }
    sums.split = yield* splitSteps(report, from, to, wanted);
    for (let n = 1; n < nodes.count; n++) self[n] = total[n];
    for (let n = 1; n < nodes.count; n++) self[nodes.parent[n]] -= total[n];
    return byLabels(report, { from, to, calls, total, self }, sums);
}

/**
 * Sums up what threads did in the calls of each node: by kind of state; [0] is all the time. Leaves out calls as leaveOut() does, groups,
 * and threads of which it was not recorded. Returns null if it was of none.
 */
function* splitSteps({ nodes, tracks }, from, to, wanted) {
    const known = tracks.filter(track => track.system && (!wanted || wanted(track))), sums = known.length ? STATE_NAMES.map(() => new Float64Array(nodes.count)) : null;
    for (const { system, levels } of known) {
        for (const level of levels) {
            const [first, end] = indexRange(level, from, to), add = system.walker();
            for (let i = first; i < end; i++) {
                const n = level.node[i], start = level.start[i], stop = level.endOf(i), flags = level.flags.size ? level.flags.get(i) : 0;
                if ((i - first) % 4000 === 3999) yield 4000;
                if (flags & GROUP || (flags && start >= from && stop <= to)) continue;
                sums[0][n] += min(stop, to) - max(start, from);
                add(max(start, from), sums, n, -1);
                add(min(stop, to), sums, n, 1);
            }
        }
    }
    return sums;
}

/** Returns 1 for each node that is not inside a node of its row. In a recursion, the outermost call has the time of all. */
function outermost({ nodes, labels }) {
    const rows = labels.map(label => scopeLabel(label).id), outer = new Uint8Array(nodes.count);
    for (let n = 1; n < nodes.count; n++) {
        let up = nodes.parent[n];
        while (up && rows[nodes.label[up]] !== rows[nodes.label[n]]) up = nodes.parent[up];
        outer[n] = up ? 0 : 1;
    }
    return outer;
}

/** Marks a node as met on a track. */
function meet({ labelOf, met, seen, threads, track }, n) {
    const label = labelOf[n];
    met[n] = track;
    if (seen[label] !== track) threads[label]++;
    seen[label] = track;
}

function addTime(sums, n, calls, time) {
    if (sums.met[n] !== sums.track) meet(sums, n);
    sums.calls[n] += calls;
    sums.total[n] += time;
    sums.share[n] += time * sums.scale;
}

function leaveOut({ labelOf, outer, cut, lost, lostSum, lostShare, lostSelf, scale }, n, inner, start, long) {
    const label = labelOf[n];
    cut[label]++;
    if (outer[n]) lost[label] += long;
    if (outer[n]) lostShare[label] += long * scale;
    lostSum[label] += long;
    lostSelf[label] += long;
    const [first, end] = inner ? indexRange(inner, start, start + long) : [0, 0];
    for (let i = first; i < end; i++) lostSelf[label] -= inner.durationOf(i);
}

function* addWhole(sums, level, first, end) {
    while (first < end) { // in parts, for the reason that someLetters() in decode.js gives
        const next = min(end, first + 4000);
        addSome(sums, level, first, next);
        yield next - first;
        first = next;
    }
}

function addSome(sums, level, first, end) {
    const { labelOf, calls, total, whole, longest, shortest, histograms } = sums;
    const { duration, node } = level, { met, track, share, scale } = sums;
    for (let i = first; i < end; i++) {
        const n = node[i], long = duration[i] === 0xFFFFFFFF ? level.durationOf(i) : duration[i], label = labelOf[n];
        if (met[n] !== track) meet(sums, n);
        calls[n]++;
        total[n] += long;
        share[n] += long * scale;
        if (long > longest[label]) longest[label] = long;
        if (long < shortest[label]) shortest[label] = long;
        if (whole[label]++ > FEW) histograms[label][bucketOf(long)]++; else tally(histograms, label, bucketOf(long), 1);
    }
}

/** Counts calls of a scope, or of another key. Keeps a list of up to FEW buckets; beyond, an array of all buckets, which would take 2 GB for 300,000 names. */
export function tally(histograms, label, bucket, calls) {
    const list = histograms[label] || (histograms[label] = []);
    let all = list;
    if (all.length < BUCKETS && all.length + calls > FEW) {
        all = histograms[label] = new Uint32Array(BUCKETS);
        for (const each of list) all[each]++;
    }
    if (all.length === BUCKETS) all[bucket] += calls; else while (calls--) all.push(bucket);
}

/** Makes the rows of labels. total: time of outermost calls; sum: of all calls; share: the total as a part of the range, added over threads. */
function byLabels({ nodes, labels }, stats, { outer, share, threads, cut, lost, lostSum, lostShare, lostSelf, whole, shortest, longest, histograms, split }) {
    const { calls, total, self } = stats, byLabel = labels.map((label, id) => ({ label, id, calls: 0, known: -cut[id], total: -lost[id], sum: -lostSum[id], share: -lostShare[id], self: -lostSelf[id], states: null,
        threads: threads ? threads[id] : 0, whole: whole[id], min: shortest[id], max: longest[id], histogram: histograms[id] }));
    for (let n = 1; n < nodes.count; n++) {
        const row = byLabel[nodes.label[n]];
        row.calls += calls[n];
        row.known += calls[n];
        row.sum += total[n];
        row.self += self[n];
        if (!outer[n]) continue;
        row.total += total[n];
        row.share += share[n];
        if (split && split[0][n]) addStates(row, split.map(sums => sums[n]));
    }
    return { ...stats, rows: byLabel.filter(row => row.calls > 0) };
}

function addStates(row, states) { row.states = states.map((time, kind) => time + (row.states ? row.states[kind] : 0)); }

/** Returns the statistics of all scopes that the writer put into the report, which may have left out some of the scopes. */
function allStats(report) {
    const { nodes, labels, from, to } = report, column = n => new Float64Array(n), calls = column(nodes.count), total = column(nodes.count), self = column(nodes.count);
    const share = column(nodes.count), none = column(labels.length), cut = column(labels.length), whole = column(labels.length), longest = column(labels.length), shortest = column(labels.length).fill(Infinity), histograms = new Array(labels.length).fill(null), split = STATE_NAMES.map(() => column(nodes.count));
    for (const row of report.all) {
        const n = row.node, label = nodes.label[n];
        calls[n] += row.calls;
        cut[label] += row.truncated;
        total[n] += row.total;
        self[n] += row.self;
        share[n] += row.share;
        if (row.states) row.states.forEach((time, kind) => { split[kind][n] += time; });
        longest[label] = max(longest[label], row.max);
        if (row.calls > row.truncated) shortest[label] = min(shortest[label], row.min);
        for (const [at, count] of row.buckets) {
            whole[label] += count;
            tally(histograms, label, bucketOf(at), count);
        }
    }
    return byLabels(report, { from, to, calls, total, self, every: true }, { outer: outermost(report), share, cut, lost: none, lostSum: none, lostShare: none, lostSelf: none, whole, shortest, longest, histograms, split });
}

/** Makes one row of all names that a format has made, and puts their rows into its `inner`. */
export function byFormat(rows) {
    const groups = new Map();
    for (const row of rows) entryOf(groups, scopeLabel(row.label), () => []).push(row);
    return [...groups].map(([label, inner]) => inner.some(row => row.label.format) ? joinedRow(label, inner) : inner[0]);
}

function joinedRow(label, inner) {
    const row = { label, id: label.id, calls: 0, known: 0, total: 0, sum: 0, share: 0, self: 0, states: null, threads: 0, whole: 0, min: Infinity, max: 0, inner }, histograms = [];
    for (const each of inner) {
        for (const sum of ['calls', 'known', 'total', 'sum', 'share', 'self', 'whole']) row[sum] += each[sum];
        if (each.states) addStates(row, each.states);
        row.threads = max(row.threads, each.threads); // a lower bound
        row.min = min(row.min, each.min);
        row.max = max(row.max, each.max);
        for (const [i, count] of (each.histogram || []).entries()) {
            if (each.histogram.length < BUCKETS) tally(histograms, 0, count, 1); // it is a list of buckets, not an array of counts
            else if (count) tally(histograms, 0, i, count);
        }
    }
    return { ...row, histogram: histograms[0] };
}

/** Returns the least duration that the given share of the calls does not exceed. */
export function percentile({ histogram, whole, min: least, max: most }, share) {
    if (!whole) return NaN;
    let bucket = 0, left = max(1, ceil(share * whole));
    if (histogram.length < BUCKETS) bucket = histogram.sort((a, b) => a - b)[left - 1];
    else for (left -= histogram[0]; left > 0;) left -= histogram[++bucket];
    return max(least, min(most, bucketValue(bucket)));
}

/** Returns the calls of a label, or of all labels of a format, that reach into a range, track by track. */
export function callsOf(report, label, from, to, wanted = () => true) {
    const { nodes, labels } = report, calls = [], fits = labels.map(each => each.id === label || scopeLabel(each).id === label);
    const mine = new Uint8Array(nodes.count);
    for (let n = 1; n < nodes.count; n++) mine[n] = fits[nodes.label[n]] ? 1 : 0;
    for (const track of report.tracks) {
        if (!wanted(track)) continue;
        track.levels.forEach((level, depth) => {
            const [first, end] = indexRange(level, from, to);
            for (let i = first; i < end; i++)
                if (mine[level.node[i]]) calls.push({ track, depth, i, start: level.start[i], duration: level.durationOf(i) });
        });
    }
    return calls;
}

/** Returns how long threads ran, waited and so on during some scopes, if that was recorded: a map from states to times. */
export function statesIn({ labels, nodes }, parts) {
    const sums = new Map(), add = (name, time) => sums.set(name, (sums.get(name) || 0) + time);
    const kinds = [0, 0, 0, 0];
    let known = 0;
    for (const { track: { system, states }, start, duration } of parts) {
        const end = start + duration;
        if (system) {
            known += duration;
            system.addBefore(end, kinds, 1);
            system.addBefore(start, kinds, -1);
        } else if (states) { // a row that the program recorded
            const [level] = states.levels, [first, last] = indexRange(level, start, end);
            for (let i = first; i < last; i++) add(labels[nodes.label[level.node[i]]].name, min(level.endOf(i), end) - max(level.start[i], start));
        }
    }
    kinds[0] = known - kinds[1] - kinds[2] - kinds[3];
    for (const kind of known ? [1, 2, 3, 0] : []) add(STATE_NAMES[kind], kinds[kind]);
    return sums;
}

/**
 * Calls take(i, self) for some scopes of a level, from index first up to, but not including, end. self: their time without that of scopes
 * inside them. timeOf(depth, i) says the time of one. Yields how many scopes a step has done.
 */
export function* selfSteps(levels, depth, first, end, timeOf, take) {
    const level = levels[depth], { start, count } = levels[depth + 1] || { count: 0 };
    let k = first < end ? firstIndex(count, at => start[at] >= level.start[first]) : 0;
    for (let i = first; i < end; i++) {
        const stop = level.endOf(i);
        let self = timeOf(depth, i);
        for (; k < count && levels[depth + 1].endOf(k) <= stop; k++) if (start[k] >= level.start[i]) self -= timeOf(depth + 1, k);
        take(i, self);
        if ((i - first) % 4000 === 3999) yield 4000;
    }
}

/**
 * Returns the root of the flame graph. A node is {label, total, self, calls, children, up}; the longest child comes first. A
 * bottom-up graph has 128 levels below the first `above`; `deeper` of a node is the time of what would be below.
 */
export function flameTree(report, stats, bottomUp, above = 0) {
    return bottomUp ? inverted(report, stats, above + 128) : topDown(report, stats);
}

function topDown(report, stats) {
    const { nodes, labels } = report, made = new Array(nodes.count);
    const root = made[0] = { label: -1, total: 0, self: 0, calls: 0, children: [], map: new Map() };
    for (let n = 1; n < nodes.count; n++) {
        const up = made[nodes.parent[n]], label = scopeLabel(labels[nodes.label[n]]).id, node = made[n] = entryOf(up.map, label, () => ({ label, total: 0, self: 0, calls: 0, children: [], map: new Map(), up }));
        if (!stats.calls[n]) continue;
        if (!node.calls) up.children.push(node);
        node.total += stats.total[n];
        node.self += stats.self[n];
        node.calls += stats.calls[n];
        if (!nodes.parent[n]) root.total += stats.total[n];
    }
    return sorted(root);
}

/** Returns the bottom-up tree, by self time: the children of a node are its callers. */
function inverted(report, stats, levels) {
    const { nodes, labels } = report, root = { label: -1, total: 0, self: 0, calls: 0, children: [], map: new Map() };
    for (let n = 1; n < nodes.count; n++) {
        const time = stats.self[n];
        if (!stats.calls[n] || time <= 0) continue;
        root.total += time;
        let at = root;
        for (let up = n, depth = 0; up; up = nodes.parent[up], depth++) {
            if (depth === levels) {
                at.deeper = (at.deeper || 0) + time;
                break;
            }
            const label = scopeLabel(labels[nodes.label[up]]).id;
            let next = at.map.get(label);
            if (!next) {
                next = { label, total: 0, self: 0, calls: 0, children: [], map: new Map(), up: at };
                at.map.set(label, next);
                at.children.push(next);
            }
            next.total += time;
            next.self += up === n ? time : 0;
            next.calls += up === n ? stats.calls[n] : 0;
            at = next;
        }
    }
    return sorted(root);
}

function sorted(root) {
    const waiting = [root];
    while (waiting.length) {
        const node = waiting.pop();
        node.children.sort((a, b) => b.total - a.total);
        for (const child of node.children) waiting.push(child);
    }
    return root;
}
