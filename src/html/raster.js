// Draws levels of scopes into pixels. What is smaller than a pixel is looked up in a pyramid.

import { firstIndex } from './columns.js';

const FACTOR = 16;

/**
 * Tiers over a level: of each 16, 256, ... scopes, which is the longest, and the time of all.
 * @param {import('./decode.js').Level} level @returns {{longest: Uint32Array, busy: Float32Array}[]}
 */
export function buildPyramid(level) {
    const tiers = [], { duration, groups } = level;
    for (let n = Math.ceil(level.count / FACTOR), below = null; n > 1; n = Math.ceil(n / FACTOR)) {
        const longest = new Uint32Array(n), busy = new Float32Array(n), size = below ? below.longest.length : level.count;
        for (let g = 0; g < n; g++) {
            const end = Math.min(size, (g + 1) * FACTOR);
            let best = below ? below.longest[g * FACTOR] : g * FACTOR, sum = 0;
            for (let i = g * FACTOR; i < end; i++) {
                const at = below ? below.longest[i] : i;
                sum += below ? below.busy[i] : groups && groups.has(i) ? groups.get(i).busy : duration[i];
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

/**
 * What begins before `until`, from scope i on: the longest, and the time of all, into `found`. As many groups as possible
 * are taken as a whole, also if they end a little later, by `slack`. Returns the first scope that begins later.
 */
function aggregate(level, i, until, slack) {
    const { start, duration, pyramid, count, groups } = level, top = pyramid.length * 4, late = until + slack;
    let bits = 0, longest = i, most = duration[i], busy = 0; // a group has 2 ^ bits scopes
    for (;;) {
        while (bits < top && (i & (16 << bits) - 1) === 0 && i + (16 << bits) < count && start[i + (16 << bits)] <= late) bits += 4;
        const tier = bits ? pyramid[(bits >> 2) - 1] : null, at = tier ? tier.longest[i >> bits] : i;
        busy += tier ? tier.busy[i >> bits] : groups && groups.has(i) ? groups.get(i).busy : duration[i];
        if (duration[at] > most) most = duration[longest = at];
        i += 1 << bits;
        if (i >= count || start[i] >= until) break;
        while (bits && ((i & (1 << bits) - 1) !== 0 || i + (1 << bits) >= count || start[i + (1 << bits)] > late)) bits -= 4;
    }
    found.longest = longest;
    found.busy = busy;
    return i;
}

/** @param {number} color ABGR @param {number} under @param {number} share of color */
export function mix(color, under, share) {
    const part = Math.round(share * 256), rest = 256 - part; // red and blue at once
    const outer = (color & 0xFF00FF) * part + (under & 0xFF00FF) * rest, inner = (color >>> 8 & 255) * part + (under >>> 8 & 255) * rest;
    return (0xFF000000 | outer / 256 & 0xFF00FF | inner & 0xFF00) >>> 0;
}

/**
 * Where levels are drawn.
 * @typedef {{pixels: Uint32Array, width: number, height: number, left: number, from: number, scale: number,
 *     background: number, colors: Uint32Array, least: number, dimmed: Uint32Array}} Canvas
 *     left: of the time `from`; scale: pixels of a nanosecond; colors: of nodes; least: shorter scopes are dimmed
 */

/**
 * Draws a level into the lines y0 to y1. Calls label(x0, x1, i) for each scope that has room for a text.
 * @param {Canvas} c @param {import('./decode.js').Level} level
 */
export function drawLevel(c, level, y0, y1, label) {
    const { start, duration, node, count, groups } = level, { from, scale, left, width } = c, to = from + (width - left) / scale;
    y0 = Math.max(0, y0);
    y1 = Math.min(c.height, y1);
    if (y0 >= y1 || !count || start[0] >= to) return;
    const line = c.pixels.subarray(y0 * width, (y0 + 1) * width); // the first line; the others are copies of it
    let i = firstIndex(count, k => start[k] >= from);
    if (i && level.endOf(i - 1) > from) i--;
    while (i < count && start[i] < to) {
        const x = (start[i] - from) * scale;
        let long = duration[i];
        if (long * scale >= 1) {
            if (long === 0xFFFFFFFF) long = level.durationOf(i);
            const x0 = Math.max(left, Math.floor(left + x)), x1 = Math.min(width, Math.max(x0 + 1, Math.floor(left + x + long * scale)));
            let color = long < c.least ? c.dimmed[node[i]] : c.colors[node[i]];
            if (groups && groups.has(i)) color = mix(color, c.background, 0.2 + 0.6 * groups.get(i).busy / long);
            if (x1 - x0 < 8) for (let k = x0; k < x1; k++) line[k] = color; else line.fill(color, x0, x1);
            if (x1 - x0 > 3 && x1 < width) line[x1 - 1] = c.background;
            if (x1 - x0 > 24) label(x0, x1, i);
            i++;
            continue;
        }
        const column = Math.floor(left + x), next = aggregate(level, i, from + (column + 1 - left) / scale, 0.25 / scale);
        const last = duration[next - 1] * scale >= 1 ? next - 1 : next; // a long one may begin in this pixel
        if (column >= left && column < width) {
            const longest = found.longest, color = duration[longest] < c.least ? c.dimmed[node[longest]] : c.colors[node[longest]];
            line[column] = mix(color, c.background, Math.min(1, 0.3 + 0.7 * found.busy * scale));
        }
        i = Math.max(last, i + 1);
    }
    for (let y = y0 + 1; y < y1; y++) c.pixels.copyWithin(y * width + left, y0 * width + left, (y0 + 1) * width);
}
