// The colours of scopes. Those of the page itself are in style.css.

import { abs, max, min, round } from './text.js';

/** @param {string} text @returns {number} */
function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619) >>> 0;
    return (value ^ value >>> 15) >>> 0;
}

/** @returns {[number, number, number]} 0 to 255 */
function fromHsl(hue, saturation, light) {
    const a = saturation * min(light, 1 - light);
    const part = n => {
        const k = (n + hue / 30) % 12;
        return round(255 * (light - a * max(-1, min(k - 3, 9 - k, 1))));
    };
    return [part(0), part(8), part(4)];
}

export const abgr = ([r, g, b]) => (0xFF000000 | b << 16 | g << 8 | r) >>> 0;
export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;

/** Gives each label a colour, and the colour of text on it. They depend on nothing but the label's name, or the format that made that. */
export function colorLabels(labels, dark) {
    for (const label of labels) {
        const { base, name } = label.format || label, bits = hash(base || name);
        let light = dark ? 0.69 : 0.72;
        do label.rgb = label.color ? [label.color >> 16 & 255, label.color >> 8 & 255, label.color & 255] : fromHsl(bits % 360, dark ? 0.42 : 0.58, (light -= 0.01) - (bits >>> 12) % 7 / 100);
        while (!dark && !label.color && luminance(label.rgb) > 0.295); // 3 : 1 on white
        if (dark && min(...label.rgb) > 220) label.rgb = [70, 76, 86]; // nearly white: a quiet colour on a white page, but not on a dark one
        label.ink = inkOn(label.rgb);
    }
}

/** How bright a colour is, from 0 to 1, as WCAG computes it. */
export function luminance(rgb) {
    const [r, g, b] = rgb.map(c => c > 10 ? ((c / 255 + 0.055) / 1.055) ** 2.4 : c / 3295);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns black or white: whichever is easier to read on a colour. */
const inkOn = rgb => luminance(rgb) > 0.179 ? '#000' : '#fff';

/** Returns blue for faster, grey for equal, red for slower. People who confuse red and green can tell red from blue. @param {number} by -1 to 1 */
export function differenceStyle(by, dark) {
    const grey = dark ? [104, 110, 120] : [140, 146, 156], full = by > 0 ? dark ? [224, 92, 60] : [232, 96, 64] : dark ? [80, 150, 240] : [70, 140, 235];
    const share = by ? 0.25 + 0.75 * min(1, abs(by)) : 0, rgb = grey.map((c, i) => round(c + (full[i] - c) * share));
    return { backgroundColor: css(rgb), color: inkOn(rgb) };
}

/** Colours of nodes for raster.js, over a background; those of labels for which `dim` returns true are dimmed. */
export function nodeColors(report, background, dim) {
    const { nodes, labels } = report, colors = new Uint32Array(nodes.count), dimmed = new Uint32Array(nodes.count);
    for (let n = 1; n < nodes.count; n++) {
        const label = labels[nodes.label[n]];
        const faint = label.rgb.map((c, i) => round(c * 0.18 + background[i] * 0.82));
        dimmed[n] = abgr(faint);
        colors[n] = dim && dim(label) ? dimmed[n] : abgr(label.rgb);
    }
    return { colors, dimmed };
}
