// Compares two recordings as prof compare does: pairs their scopes, takes samples of the calls, and estimates how far a
// typical call has shifted, with an interval. The arithmetic is that of tools/compare_stats.c, which explains it.

import { scopeLabel } from './decode.js';
import { indexRange } from './stats.js';
import { ceil, floor, max, min } from './text.js';

/** How many standard deviations an interval reaches to each side: it contains the true value with 99 % probability. */
const DEVIATIONS = 2.5758;
/** At most so many calls of a scope are compared. */
const SAMPLE = 10000;
const TENTHS = 10, TENTHS_FROM = 100;

/** @typedef {{ratio: number, low: number, high: number}} Change the ratio of a figure of 2 to that of 1, with its interval; high: Infinity if unknown */
/** @typedef {{seen: number, start: number[], ns: number[]}} Sample calls of a scope; seen: also those that are not in it */

/** @param {Change} change @param {number} threshold 0.05: 5 % @returns {'slower' | 'faster' | 'same' | 'unsure'} */
export function judge(change, threshold) {
    if (change.low > 1 + threshold) return 'slower';
    if (change.high < 1 - threshold) return 'faster';
    return change.high - change.low <= 2 * threshold ? 'same' : 'unsure';
}

function unknown(a, b) { return { ratio: a > 0 ? b / a : 1, low: 0, high: Infinity }; }

// ---- which scopes belong together

/** Returns the labels under which statistics count the scopes of a process. @returns {Set<number>} */
export function labelsOf(report, process) {
    const { label } = report.nodes, seen = new Set();
    for (const track of process.tracks)
        for (const level of track.levels) for (let i = 0; i < level.count; i++) seen.add(label[level.node[i]]);
    return new Set(Array.from(seen, id => scopeLabel(report.labels[id]).id));
}

/**
 * Pairs by name, category and function; several of these in the order of their lines, which an edit of the source moves.
 * @param {object[]} labels @param {[Set<number>, Set<number>]} used the labels of each side
 * @returns {{pairs: {a: number, b: number}[], of: [Int32Array, Int32Array]}} -1: not in that side; of: the pair of a label
 */
export function pairLabels(labels, used) {
    const groups = new Map(), pairs = [], of = used.map(() => new Int32Array(labels.length).fill(-1));
    used.forEach((ids, side) => {
        for (const id of ids) {
            const key = [labels[id].name, labels[id].category, labels[id].function].join('\0');
            if (!groups.has(key)) groups.set(key, [[], []]);
            groups.get(key)[side].push(id);
        }
    });
    for (const group of groups.values()) {
        for (const ids of group) ids.sort((x, y) => labels[x].line - labels[y].line || x - y);
        for (let i = 0; i < max(group[0].length, group[1].length); i++) {
            group.forEach((ids, side) => { if (i < ids.length) of[side][ids[i]] = pairs.length; });
            pairs.push({ a: i < group[0].length ? group[0][i] : -1, b: i < group[1].length ? group[1][i] : -1 });
        }
    }
    return { pairs, of };
}

// ---- samples

/** Returns the upper 32 bits of a product of two 32-bit numbers. */
function productHigh(a, b) {
    const low = (a & 0xFFFF) * (b & 0xFFFF), middle = (a >>> 16) * (b & 0xFFFF) + floor(low / 65536);
    const other = (a & 0xFFFF) * (b >>> 16) + middle % 65536;
    return (a >>> 16) * (b >>> 16) + floor(middle / 65536) + floor(other / 65536);
}

/** The random numbers by which prof compare takes its samples: SplitMix64, with 64 bits. */
export class Chooser {
    constructor() { this.high = this.low = 0; }
    /** The next number modulo `limit`. @param {number} limit at most 2^26 */
    below(limit) {
        const sum = this.low + 0x7F4A7C15;
        this.low = sum >>> 0;
        this.high = this.high + 0x9E3779B9 + (sum > 0xFFFFFFFF ? 1 : 0) >>> 0;
        let { high, low } = this;
        const mix = (shift, timesHigh, timesLow) => {
            low = (low ^ (low >>> shift | high << 32 - shift)) >>> 0;
            high = (high ^ high >>> shift) >>> 0;
            if (!timesLow) return;
            const carried = productHigh(low, timesLow) + Math.imul(high, timesLow) + Math.imul(low, timesHigh);
            low = Math.imul(low, timesLow) >>> 0;
            high = carried >>> 0;
        };
        mix(30, 0xBF58476D, 0x1CE4E5B9);
        mix(27, 0x94D049BB, 0x133111EB);
        mix(31, 0, 0);
        return (high % limit * (4294967296 % limit) + low % limit) % limit;
    }
}

/** Calls visit(level, i) for the scopes of a track in a range, in order of time. An outer scope comes before inner ones. */
function eachScope(track, from, to, visit) {
    const { levels } = track, next = [], ends = [], heads = new Float64Array(levels.length); // heads: starts of those that are next
    const look = depth => { heads[depth] = next[depth] < ends[depth] ? levels[depth].start[next[depth]] : Infinity; };
    levels.forEach((level, depth) => {
        [next[depth], ends[depth]] = indexRange(level, from, to);
        look(depth);
    });
    for (;;) {
        let best = 0;
        for (let depth = 1; depth < heads.length; depth++) if (heads[depth] < heads[best]) best = depth;
        if (!(heads[best] < Infinity)) return;
        visit(levels[best], next[best]++);
        look(best);
    }
}

/**
 * Of each label the calls that lie in the range as a whole, or, if there are many, some of them: each with the same chance.
 * @returns {Map<number, Sample>}
 */
export function samplesOf(report, process, from, to) {
    const label = Array.from(report.nodes.label, id => scopeLabel(report.labels[id]).id), samples = new Map(), chooser = new Chooser();
    for (const track of process.tracks) {
        eachScope(track, from, to, (level, i) => {
            const start = level.start[i], ns = level.durationOf(i), id = label[level.node[i]];
            if (start < from || start + ns > to || level.flags.has(i)) return;
            let sample = samples.get(id);
            if (!sample) samples.set(id, sample = { seen: 0, start: [], ns: [] });
            let at = sample.seen++;
            if (at >= SAMPLE) at = chooser.below(sample.seen);
            if (at >= SAMPLE) return;
            sample.start[at] = start;
            sample.ns[at] = ns;
        });
    }
    for (const sample of samples.values()) byTime(sample);
    return samples;
}

/** @param {Sample} sample */
export function byTime(sample) {
    const { start, ns } = sample;
    if (start.every((time, i) => !i || time > start[i - 1])) return;
    const order = Uint32Array.from(start, (_, i) => i).sort((x, y) => start[x] - start[y] || ns[x] - ns[y]);
    sample.start = Array.from(order, i => start[i]);
    sample.ns = Array.from(order, i => ns[i]);
}

/** The median; exact if the sample has all calls. @param {Sample} sample */
export function medianOf(sample) { return Float64Array.from(sample.ns).sort()[ceil(sample.ns.length / 2) - 1]; }

// ---- ranks

/** Returns how many pairs have b <= ratio * a. */
function pairsBelow(a, b, ratio) {
    let pairs = 0;
    for (let i = 0, j = 0; i < a.length; i++) {
        while (j < b.length && b[j] <= ratio * a[i]) j++;
        pairs += j;
    }
    return pairs;
}

/** Returns the ratio b / a with this rank among all pairs, exact to 1e-6 of it. Both lists are sorted and above 0. */
function ratioAt(a, b, rank) {
    const middle = b[b.length >> 1] / a[a.length >> 1];
    let low = middle, high = middle;
    while (low > 1e-30 && pairsBelow(a, b, low) >= rank) low /= 1.1;
    while (high < 1e30 && pairsBelow(a, b, high) < rank) high *= 1.1;
    while (high - low > 1e-6 * low) {
        const half = low + (high - low) / 2;
        if (pairsBelow(a, b, half) >= rank) high = half; else low = half;
    }
    return high;
}

function hodgesLehmann(a, b) { return ratioAt(a, b, (a.length * b.length + 1) / 2); }

/** Returns the estimate. Its interval is the ratios that the test of Mann and Whitney does not reject. @returns {Change} */
function rankChange(a, b) {
    const pairs = a.length * b.length, spread = Math.sqrt(pairs * (a.length + b.length + 1) / 12);
    const change = unknown(1, hodgesLehmann(a, b)), out = floor(pairs / 2 - DEVIATIONS * spread);
    if (pairs / 2 < DEVIATIONS * spread) return change;
    change.low = ratioAt(a, b, out + 1);
    change.high = ratioAt(a, b, pairs - out);
    return change;
}

/** Returns a value within half a nanosecond of a duration, so that equal durations are no ties. Depends on nothing but the call's number. */
function withinStep(ns, number) {
    const share = (number * 2654435761 % 65536 + 0.5) / 65536;
    return ns >= 1 ? ns + share - 0.5 : share / 2;
}

/** The times of a part of a sample, sorted. @param {Sample} sample */
function timesOf(sample, from, to) {
    const times = new Float64Array(to - from);
    for (let i = from; i < to; i++) times[i - from] = withinStep(sample.ns[i], i);
    return times.sort();
}

/** Makes the interval at least as wide as that of the median of ten changes: each tenth of recording 1 to that tenth of 2. */
function widenByTenths(a, b, change) {
    const parts = [], averages = [], part = (sample, i) => {
        const n = sample.ns.length;
        return timesOf(sample, floor(n * i / TENTHS), floor(n * (i + 1) / TENTHS));
    };
    for (let i = 0; i < TENTHS; i++) {
        parts.push(hodgesLehmann(part(a, i), part(b, i)));
        for (const each of parts) averages.push((parts[i] + each) / 2);
    }
    averages.sort((x, y) => x - y);
    change.low = min(change.low, averages[3]);
    change.high = max(change.high, averages[averages.length - 4]);
}

/** How far a typical call has shifted. @param {Sample} a @param {Sample} b in order of time @returns {Change} */
export function shiftOf(a, b) {
    if (!a || !b || !a.ns.length || !b.ns.length) return unknown(0, 0);
    const change = rankChange(timesOf(a, 0, a.ns.length), timesOf(b, 0, b.ns.length));
    if (a.ns.length >= TENTHS_FROM && b.ns.length >= TENTHS_FROM) widenByTenths(a, b, change);
    return change;
}

// ---- sums

/** Student's t for 99 %, two-sided, by degrees of freedom. Between two entries, the larger t is taken. */
const STUDENT = [[1, 63.657], [2, 9.925], [3, 5.841], [4, 4.604], [5, 4.032], [6, 3.707], [7, 3.499], [8, 3.355], [9, 3.25],
    [10, 3.169], [12, 3.055], [15, 2.947], [20, 2.845], [30, 2.75], [60, 2.66], [120, 2.617], [1e9, DEVIATIONS]];

/** Returns how much more the values of tenths vary than `expected`, a variance. At least 1. */
function dispersionOf(tenths, expected) {
    const mean = tenths.reduce((sum, value) => sum + value, 0) / TENTHS;
    const variance = tenths.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (TENTHS - 1);
    return expected > 0 && variance > expected ? variance / expected : 1;
}

/**
 * A sum of times: how many there are, their sum, and the sum of their squares. tenths: the sums of tenths of them, in order.
 * @typedef {{n: number, sum: number, squares: number, tenths: number[]}} Sum
 */

/** The variance of a time. @param {Sum} s */
function varianceOf(s) { return max(0, s.squares / s.n - (s.sum / s.n) ** 2); }

/** Returns how much more the mean varies than it would by chance. @param {Sum} s */
function meanDispersion(s) {
    if (s.n < TENTHS_FROM) return 1;
    const size = i => floor(s.n * (i + 1) / TENTHS) - floor(s.n * i / TENTHS);
    return dispersionOf(s.tenths.map((sum, i) => sum / size(i)), varianceOf(s) * TENTHS / s.n);
}

/** Welch's interval of the change of a sum. @param {Sum} a @param {Sum} b @param {[number, number]} scale what each is multiplied by */
export function sumChange(a, b, scale) {
    const x = a.sum * scale[0], y = b.sum * scale[1], change = unknown(x, y);
    if (a.n < 2 || b.n < 2 || !(x > 0)) return change;
    const dispersion = max(meanDispersion(a), meanDispersion(b));
    const [va, vb] = [a, b].map((s, i) => dispersion * varianceOf(s) * s.n * s.n / (s.n - 1) * scale[i] ** 2), both = va + vb;
    const freedom = both > 0 ? both * both / (va * va / (a.n - 1) + vb * vb / (b.n - 1)) : 1e9;
    const margin = STUDENT.filter(([n], i) => !i || n <= freedom).pop()[1] * Math.sqrt(both);
    change.low = (y - margin) / x;
    change.high = (y + margin) / x;
    return change;
}
