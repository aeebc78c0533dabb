// Draws levels of scopes into pixels. What is smaller than a pixel is looked up in a pyramid.

import { firstIndex } from './columns.js';

const FACTOR = 16;

/**
 * Tiers over a level: of each 16, 256, ... scopes, which is the longest, and the time of all.
 * @param {import('./decode.js').Level} level @returns {{longest: Uint32Array, busy: Float32Array}[]}
 */
export function buildPyramid(level) {
    const tiers = [], { duration } = level;
    for (let n = Math.ceil(level.count / FACTOR), below = null; n > 1; n = Math.ceil(n / FACTOR)) {
        const longest = new Uint32Array(n), busy = new Float32Array(n), size = below ? below.longest.length : level.count;
        for (let g = 0; g < n; g++) {
            const end = Math.min(size, (g + 1) * FACTOR);
            let best = below ? below.longest[g * FACTOR] : g * FACTOR, sum = 0;
            for (let i = g * FACTOR; i < end; i++) {
                const at = below ? below.longest[i] : i;
                sum += below ? below.busy[i] : duration[i];
                if (duration[at] > duration[best]) best = at;
            }
            longest[g] = best;
            busy[g] = sum;
        }
        tiers.push(below = { longest, busy });
    }
    return tiers;
}

const found = { longest: 0, busy: 0 };

/** The longest of the scopes from i to j, and the time of all of them, into `found`. */
function aggregate(level, i, j) {
    const { duration, pyramid } = level;
    found.longest = i;
    found.busy = 0;
    while (i < j) {
        let tier = -1, size = 1;
        while (tier + 1 < pyramid.length && i % (size * FACTOR) === 0 && i + size * FACTOR <= j) {
            size *= FACTOR;
            tier++;
        }
        const at = tier < 0 ? i : pyramid[tier].longest[i / size];
        found.busy += tier < 0 ? duration[i] : pyramid[tier].busy[i / size];
        if (duration[at] > duration[found.longest]) found.longest = at;
        i += size;
    }
}

/** The first scope from i on that begins at `time` or later. */
function gallop(start, i, n, time) {
    let step = 1;
    while (i + step < n && start[i + step] < time) step *= 2;
    const low = i + (step >> 1), high = Math.min(n, i + step);
    return low + firstIndex(high - low, k => start[low + k] >= time);
}

/** @param {number} color ABGR @param {number} under @param {number} share of color */
export function mix(color, under, share) {
    const part = shift => {
        const a = color >>> shift & 255, b = under >>> shift & 255;
        return Math.round(b + (a - b) * share) << shift;
    };
    return (0xFF000000 | part(16) | part(8) | part(0)) >>> 0;
}

/**
 * Where levels are drawn.
 * @typedef {{pixels: Uint32Array, width: number, height: number, left: number, from: number, scale: number,
 *     background: number, colors: Uint32Array, least: number, dimmed: Uint32Array}} Canvas
 *     left: of the time `from`; scale: pixels of a nanosecond; colors: of nodes; least: shorter scopes are dimmed
 */

/** @param {Canvas} c */
function fill(c, x0, x1, y0, y1, color) {
    for (let y = y0; y < y1; y++) c.pixels.fill(color, y * c.width + x0, y * c.width + x1);
}

/**
 * Draws a level into the lines y0 to y1. Calls label(x0, x1, i) for each scope that has room for a text.
 * @param {Canvas} c @param {import('./decode.js').Level} level
 */
export function drawLevel(c, level, y0, y1, label) {
    const { start, duration, node, count } = level, { from, scale, left, width } = c, to = from + (width - left) / scale;
    y0 = Math.max(0, y0);
    y1 = Math.min(c.height, y1);
    if (y0 >= y1 || !count || start[0] >= to) return;
    let i = firstIndex(count, k => start[k] >= from);
    if (i && level.endOf(i - 1) > from) i--;
    while (i < count && start[i] < to) {
        const x = (start[i] - from) * scale;
        let long = duration[i];
        if (long * scale >= 1) {
            if (long === 0xFFFFFFFF) long = level.durationOf(i);
            const x0 = Math.max(left, Math.floor(left + x)), x1 = Math.min(width, Math.max(x0 + 1, Math.floor(left + x + long * scale)));
            const color = long < c.least ? c.dimmed[node[i]] : c.colors[node[i]];
            fill(c, x0, x1, y0, y1, color);
            if (x1 - x0 > 3 && x1 < width) fill(c, x1 - 1, x1, y0, y1, c.background);
            if (x1 - x0 > 24) label(x0, x1, i);
            i++;
            continue;
        }
        const column = Math.floor(left + x), next = gallop(start, i, count, from + (column + 1 - left) / scale);
        const last = duration[next - 1] * scale >= 1 ? next - 1 : next; // a long one may begin in this pixel
        aggregate(level, i, last);
        if (column >= left && column < width) {
            const longest = found.longest, color = duration[longest] < c.least ? c.dimmed[node[longest]] : c.colors[node[longest]];
            fill(c, column, column + 1, y0, y1, mix(color, c.background, Math.min(1, 0.3 + 0.7 * found.busy * scale)));
        }
        i = Math.max(last, i + 1);
    }
}
