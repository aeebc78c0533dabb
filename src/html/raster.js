// Draws levels of scopes as lines of pixels. Scopes shorter than a pixel are summed up beforehand, in a pyramid.

import { firstIndex } from './columns.js';
import { ceil, floor, max, min, round } from './text.js';

/**
 * Builds the pyramid of a level. Its tiers are the scopes, and then groups of 16, 256 and so on scopes. A group has its start,
 * its longest duration, the node of the scope with that, and the sum of the durations. To draw a row, a few columns are read
 * from left to right.
 * @param {import('./decode.js').Level} level
 * @returns {{start: Float64Array, longest: Uint32Array, node: Uint32Array, busy: Uint32Array | Float32Array}[]}
 */
export function buildPyramid(level) {
    const { start, duration, node, groups, long, count } = level, tiers = [{ start, longest: duration, node, busy: duration }];
    if (groups || long.size) {
        const busy = tiers[0].busy = new Float32Array(duration);
        for (const [i, whole] of long) busy[i] = whole;
        for (const [i, group] of groups || []) busy[i] = group.busy;
    }
    for (let below = tiers[0], size = count; size > 16;) {
        const n = ceil(size / 16), tier = { start: new Float64Array(n + 1), longest: new Uint32Array(n), node: new Uint32Array(n), busy: new Float32Array(n) };
        for (let g = 0, i = 0; g < n; g++) {
            const end = min(size, i + 16);
            let best = i, most = 0, sum = 0;
            tier.start[g] = below.start[i];
            for (; i < end; i++) {
                sum += below.busy[i];
                if (below.longest[i] > most) most = below.longest[best = i];
            }
            tier.longest[g] = most;
            tier.node[g] = below.node[best];
            tier.busy[g] = sum;
        }
        tier.start[n] = Infinity; // the end of the last group is not known, so that group is never taken as a whole
        tiers.push(below = tier);
        size = n;
    }
    return tiers;
}

/** Mixes two colours, ABGR. @param {number} color @param {number} under @param {number} share of color: 0 to 1 */
export function mix(color, under, share) {
    const part = round(share * 256), rest = 256 - part; // red and blue are mixed in one multiplication
    const outer = (color & 0xFF00FF) * part + (under & 0xFF00FF) * rest, inner = (color >>> 8 & 255) * part + (under >>> 8 & 255) * rest;
    return (0xFF000000 | outer / 256 & 0xFF00FF | inner & 0xFF00) >>> 0;
}

/**
 * How a level is drawn.
 * @typedef {{width: number, left: number, from: number, scale: number,
 *     background: number, colors: Uint32Array, least: number, dimmed: Uint32Array}} Canvas
 *     left: the column of the time `from`; scale: pixels per nanosecond; colors: of nodes; least: shorter scopes are dimmed
 */

/** Draws a column of pixels, for the scopes in it that are shorter than a pixel. */
function putColumn({ left, width, least, dimmed, colors, background, scale }, line, x, longest, node, busy) {
    if (x >= left && x < width) line[x] = mix((longest < min(least, 0xFFFFFFFF) ? dimmed : colors)[node], background, min(1, 0.3 + 0.7 * busy * scale));
}

/**
 * Draws a level as a line of pixels, with 0 where there is no scope. Returns [x0, x1, i] of each scope that has space for text.
 * Scopes shorter than a pixel are summed up for each column, in groups as large as possible. A group may end up to a quarter
 * of a pixel after the column.
 * @param {Canvas} c @param {import('./decode.js').Level} level @returns {{line: Uint32Array, labels: [number, number, number][]}}
 */
export function levelLine(c, level) {
    const { start, duration, node, count, groups, pyramid } = level, { from, scale, left, width } = c, to = from + (width - left) / scale;
    const line = new Uint32Array(width), labels = [];
    let i = firstIndex(count, k => start[k] >= from), bits = 0; // a group has 2^bits scopes
    if (i && level.endOf(i - 1) > from) i--;
    let column = 0, until = -Infinity, late = 0, busy = 0, most = -1, who = 0; // of a column: the time of its scopes, the longest duration, the node of that scope
    for (;;) {
        let tier = pyramid[bits >> 2], g = i >> bits;
        const at = i < count ? tier.start[g] : Infinity;
        if (!(at < until && at < to)) {
            if (most >= 0) putColumn(c, line, column, most, who, busy);
            if (!(at < to)) return { line, labels };
            column = floor(left + (at - from) * scale);
            until = from + (column + 1 - left) / scale;
            late = until + 0.25 / scale;
            busy = 0;
            most = -1;
        }
        while ((i & (16 << bits) - 1) === 0 && bits + 4 < pyramid.length * 4 && pyramid[(bits >> 2) + 1].start[(g >> 4) + 1] <= late) {
            tier = pyramid[(bits += 4) >> 2];
            g >>= 4;
        }
        while (bits && tier.start[g + 1] > late) {
            tier = pyramid[(bits -= 4) >> 2];
            g <<= 4;
        }
        let long = tier.longest[g];
        if (!bits && long === 0xFFFFFFFF) long = level.durationOf(i);
        if (bits || long * scale < 1) {
            busy += tier.busy[g];
            if (long > most) {
                most = long;
                who = tier.node[g];
            }
            i += 1 << bits;
            continue;
        }
        if (most >= 0) putColumn(c, line, column, most, who, busy);
        until = -Infinity;
        most = -1;
        const x = left + (at - from) * scale, x0 = max(left, floor(x)), x1 = min(width, max(x0 + 1, floor(x + long * scale)));
        let color = (long < c.least ? c.dimmed : c.colors)[node[i]];
        if (groups && groups.has(i)) color = mix(color, c.background, 0.2 + 0.6 * groups.get(i).busy / long);
        if (x1 - x0 < 8) for (let k = x0; k < x1; k++) line[k] = color; else line.fill(color, x0, x1);
        if (x1 - x0 > 3 && x1 < width) line[x1 - 1] = c.background;
        if (x1 - x0 > 24) labels.push([x0, x1, i]);
        i++;
    }
}

/** Copies a line, or its pixels from x0 to x1, to the rows y0 to y1 of an image. @param {Uint32Array} pixels @param {Uint32Array} line */
export function putLine(pixels, line, y0, y1, x0 = 0, x1 = line.length) {
    const width = line.length, first = y0 * width;
    for (let x = x0; x < x1; x++) if (line[x]) pixels[first + x] = line[x];
    for (let y = y0 + 1; y < y1; y++) pixels.copyWithin(y * width + x0, first + x0, first + x1);
}
