// The flame graph of differences between two recordings: makes one tree of the call paths of both.

import { ROLE_STEP, scopeLabel } from './decode.js';
import { firstIndex } from './columns.js';
import { allSteps, indexRange, selfSteps } from './stats.js';
import { sumChange } from './compare.js';
import { floor, max, min } from './text.js';

/** Returns the times of the first and the last event of a process. @returns {[number, number]} */
function extentOf(process) {
    let from = Infinity, to = 0;
    for (const { levels, points } of process.tracks) {
        for (const level of levels) {
            from = min(from, level.start[0]);
            to = max(to, level.endOf(level.count - 1));
        }
        if (points.count) {
            from = min(from, points.time[0]);
            to = max(to, points.time[points.count - 1]);
        }
    }
    return [from, to];
}

/** Given two maps from names to counts, returns the counts of the name that is most frequent in both. */
function mostOfBoth([a, b]) {
    let best = null;
    for (const [name, n] of a)
        if (b.get(name) > 0 && n > 0 && (!best || min(n, b.get(name)) > min(...best.of))) best = { name, of: [n, b.get(name)] };
    return best;
}

/**
 * Returns what the times of two recordings can be divided by, so that recordings of different length can be compared.
 * of[side] is the divisor of a recording.
 * @param {object} report @param {object[]} processes two @param {object[]} stats of rangeStats(), of each
 * @returns {{id: string, title: string, of: number[]}[]} the best first
 */
export function measures(report, processes, stats) {
    const { from, to } = stats[0], list = [];
    const frames = mostOfBoth(processes.map(process => new Map(report.frames.filter(series => series.track.process === process).map(({ name, start }) =>
        [name, firstIndex(start.length, i => start[i] >= to) - firstIndex(start.length, i => start[i] >= from)]))));
    const steps = mostOfBoth(stats.map(({ rows }) => new Map(rows.filter(row => row.label.role === ROLE_STEP).map(row => [row.label.name, row.calls]))));
    if (frames) list.push({ id: 'frame', title: `per frame (${frames.name})`, of: frames.of });
    if (steps) list.push({ id: 'step', title: `per step (${steps.name})`, of: steps.of });
    const seconds = processes.map(process => {
        const [first, last] = extentOf(process);
        return max(0, min(to, last) - max(from, first)) / 1e9;
    });
    if (min(...seconds) > 0) list.push({ id: 'second', title: 'per second recorded', of: seconds });
    list.push({ id: 'run', title: 'per recording', of: [1, 1] });
    return list;
}

/**
 * Sums up the self times of each node, call by call. How much they vary tells noise from a change.
 * @param {object} report @param {object} process @param {object} stats of rangeStats(), of the process
 * @returns {Map<number, import('./compare.js').Sum>}
 */
export function selfTimes(report, process, stats) {
    const { from, to } = stats, sums = new Map();
    for (const { levels } of process.tracks) {
        const inRange = (depth, i) => levels[depth].groups?.get(i)?.busy ?? max(0, min(levels[depth].endOf(i), to) - max(levels[depth].start[i], from));
        levels.forEach((level, depth) => {
            allSteps(selfSteps(levels, depth, ...indexRange(level, from, to), inRange, (i, self) => {
                const n = level.node[i], time = max(0, self), calls = level.groups?.get(i)?.calls || 1;
                let sum = sums.get(n);
                if (!sum) sums.set(n, sum = { n: 0, sum: 0, squares: 0, tenths: new Array(10).fill(0) });
                sum.n += calls;
                sum.tenths[floor((10 * sum.n - 1) / stats.calls[n])] += time;
                sum.sum += time;
                sum.squares += time * time / calls; // calls of a group count as equally long
            }));
        });
    }
    return sums;
}

/**
 * @typedef {object} Both a call path of one recording or both
 * @property {number} pair of labels; -1: the root
 * @property {({total: number, self: number, calls: number, sum: import('./compare.js').Sum} | null)[]} of each recording; null: not in it
 * @property {import('./compare.js').Change | null} change of the self time; null: only one has it
 * @property {number} width
 * @property {Both[]} children
 * @property {Both} [up]
 */

/**
 * Makes the tree of both recordings. A box is as wide as its time in recording `side`. A path that only the other recording
 * has is as wide as its time there. So an outer box is as wide as its self time and the boxes inside it.
 * @param {object} report @param {{of: Int32Array[]}} pairing of pairLabels() @param {object[]} stats of rangeStats(), of each
 * @param {Map<number, object>[]} sums of selfTimes(), of each @param {number[]} per what times are divided by @param {number} side 0 or 1
 * @returns {Both}
 */
export function differenceTree(report, pairing, stats, sums, per, side) {
    const { nodes, labels } = report, all = [], make = (pair, up) => {
        const node = { pair, of: [null, null], change: null, width: 0, children: [], inner: new Map(), up };
        all.push(node);
        return node;
    };
    const root = make(-1);
    stats.forEach(({ calls, total, self }, which) => {
        const made = new Array(nodes.count), needed = new Uint8Array(nodes.count);
        for (let n = nodes.count - 1; n > 0; n--) if (needed[n] || calls[n]) needed[n] = needed[nodes.parent[n]] = 1;
        made[0] = root;
        for (let n = 1; n < nodes.count; n++) { // a parent has a smaller number than its children
            if (!needed[n]) continue;
            const up = made[nodes.parent[n]], pair = pairing.of[which][scopeLabel(labels[nodes.label[n]]).id];
            if (!up.inner.has(pair)) {
                up.inner.set(pair, make(pair, up));
                up.children.push(up.inner.get(pair));
            }
            made[n] = up.inner.get(pair);
            if (calls[n]) made[n].of[which] = { total: total[n] / per[which], self: max(0, self[n]) / per[which], calls: calls[n] / per[which], sum: sums[which].get(n) };
        }
    });
    for (const node of all) {
        const [a, b] = node.of;
        if (a && b) node.change = sumChange(a.sum, b.sum, [1 / per[0], 1 / per[1]]);
    }
    for (let i = all.length - 1; i > 0; i--) { // children come after their parents
        const node = all[i], own = node.of[side] || node.of[1 - side];
        node.width += own ? own.self : 0;
        node.up.width += node.width;
        node.children.sort((x, y) => y.width - x.width);
    }
    root.children.sort((x, y) => y.width - x.width);
    return root;
}
