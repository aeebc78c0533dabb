// Saves what the page shows as a file: PNG or SVG.

import { el } from './dom.js';
import { floor, max, min, round } from './text.js';

const XML = 'http://www.w3.org/2000/svg';

/** Stands in for the context of a canvas: has the functions that view.js, frames.js and app.js call, and makes SVG elements. */
export class Svg {
    /** @param {number} width @param {number} height @param {CanvasRenderingContext2D} measure */
    constructor(width, height, measure) {
        this.root = this.add(null, 'svg', { xmlns: XML, width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': 'system-ui, sans-serif' });
        this.measure = measure;
        this.place = this.root;
        this.saved = [];
        this.clips = 0;
        this.globalAlpha = 1;
        this.textAlign = 'left';
        this.textBaseline = 'alphabetic';
        this.font = '11px sans-serif';
    }
    add(parent, tag, properties, text) {
        const element = document.createElementNS(XML, tag);
        for (const [key, value] of Object.entries(properties)) element.setAttribute(key, typeof value === 'number' ? String(round(value * 100) / 100) : value);
        if (text !== undefined) element.textContent = text;
        if (parent) parent.append(element);
        return element;
    }
    /** @param {string} tag @param {object} properties @param {string} [text] @param {string} [paint] fill or stroke */
    put(tag, properties, text, paint = 'fill') {
        const more = paint === 'fill' ? { fill: this.fillStyle } : { fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth };
        if (this.globalAlpha < 1) more.opacity = this.globalAlpha;
        return this.add(this.place, tag, { ...properties, ...more }, text);
    }
    setTransform() {}
    putImageData() {}
    measureText(text) {
        this.measure.font = this.font;
        return this.measure.measureText(text);
    }
    fillRect(x, y, width, height) { if (width > 0 && height > 0) this.put('rect', { x, y, width, height }); }
    strokeRect(x, y, width, height) { this.put('rect', { x, y, width, height }, undefined, 'stroke'); }
    fillText(text, x, y) {
        const [, weight, size] = /^(bold )?(\d+)px/.exec(this.font);
        this.put('text', { x, y: y + Number(size) * { middle: 0.35, top: 0.9 }[this.textBaseline] || y, 'font-size': size, 'font-weight': weight ? 'bold' : 'normal',
            'text-anchor': this.textAlign === 'right' ? 'end' : 'start' }, text);
    }
    beginPath() { this.path = ''; }
    moveTo(x, y) { this.path += `M${x.toFixed(1)} ${y.toFixed(1)}`; }
    lineTo(x, y) { this.path += `L${x.toFixed(1)} ${y.toFixed(1)}`; }
    bezierCurveTo(...at) { this.path += 'C' + at.map(v => v.toFixed(1)).join(' '); }
    rect(x, y, width, height) { this.area = { x, y, width, height }; }
    fill() { this.put('path', { d: this.path }); }
    stroke() { this.put('path', { d: this.path }, undefined, 'stroke'); }
    save() { this.saved.push(this.place); }
    clip() {
        const id = 'c' + this.clips++;
        this.add(this.add(this.root, 'clipPath', { id }), 'rect', this.area);
        this.place = this.add(this.root, 'g', { 'clip-path': `url(#${id})` });
    }
    restore() { this.place = this.saved.pop(); }
    /** Draws a line of pixels as one rectangle for each run of a colour. @param {Uint32Array} line of the image @param {number} ratio pixels of the image per unit of the picture */
    run(line, from, y, height, ratio, background) {
        for (let x = from, end; x < line.length; x = end) {
            for (end = x + 1; end < line.length && line[end] === line[x]; end++);
            if (line[x] === background) continue;
            this.fillStyle = '#' + (line[x] & 255 | 256).toString(16).slice(1) + (line[x] >> 8 & 255 | 256).toString(16).slice(1) + (line[x] >> 16 & 255 | 256).toString(16).slice(1);
            this.fillRect(x / ratio, y, (end - x) / ratio, height);
        }
    }
    text() { return new XMLSerializer().serializeToString(this.root).replace(/[\0-\x1f\ufffe\uffff]/g, ' '); } // what XML does not allow is not left out by browsers
}

/** Makes the browser save a file. @param {Blob} blob @param {string} name */
export function download(blob, name) {
    const address = URL.createObjectURL(blob), link = el('a', { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** The flame graph that is shown as SVG; null if none is shown. @param {HTMLElement | null} box @param {CanvasRenderingContext2D} measure @param {{ink: string, background: string}} style */
export function flamePicture(box, measure, style) {
    if (!box) return null;
    const { width, height } = box.getBoundingClientRect(), svg = new Svg(width, height, measure);
    svg.fillStyle = style.bg;
    svg.fillRect(0, 0, width, height);
    svg.textBaseline = 'middle';
    for (const frame of box.querySelectorAll('button')) {
        const look = getComputedStyle(frame), left = frame.offsetLeft, top = frame.offsetTop, wide = frame.offsetWidth, name = frame.textContent;
        svg.fillStyle = look.backgroundColor;
        svg.add(svg.put('rect', { x: left, y: top, width: max(0.5, wide - 1), height: 19 }), 'title', {}, frame.getAttribute('aria-label'));
        const fits = min(name.length, floor(name.length * (wide - 6) / svg.measureText(name).width));
        svg.fillStyle = look.color;
        if (fits > 1) svg.fillText(fits < name.length ? name.slice(0, fits - 1) + '\u2026' : name, left + 3, top + 10);
    }
    return svg.text();
}
