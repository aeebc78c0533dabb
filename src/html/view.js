// The time line: rows of processes, tracks, counters, spans and locks, drawn on a canvas.

import { TRUNCATED_BEGIN, TRUNCATED_END } from './decode.js';
import { firstIndex } from './columns.js';
import { levelLine, putLine } from './raster.js';
import { scopeAt, scopeOf, busyOf } from './model.js';
import { STATES_HEIGHT, statesLines } from './states.js';
import { abs, ceil, floor, max, min, round, ns, measured, niceStep, axisTime, visible, grouped } from './text.js';

export const LINE = 18, RULER = 26, COUNTER_HEIGHT = 34, FONT = 'px system-ui, sans-serif', MAP = 18, BAR = 10;

/** The width of the names at the left: narrow on a phone, or if the reader folds them. */
export let GUTTER = 190;
export function foldGutter(folded = GUTTER > 99) { GUTTER = folded ? 64 : 190; }

/** Of all arrows in view, so many are drawn, the longest; of more than MANY of them, those of the first. */
const ARROWS = 300, MANY = 10000;

/** @typedef {{key: string, kind: string, title: string, height: number, [more: string]: any}} Row */


export class TimeLine {
    /** @param {HTMLCanvasElement} canvas @param {object} app what the page shows: see app.js */
    constructor(canvas, app) {
        this.canvas = canvas;
        this.app = app;
        this.scroll = 0;
        this.widths = new Map();
        this.places = this.flags = [];
        this.waiting = false;
    }

    /** Draws when the browser next draws a frame. */
    redraw() {
        if (this.waiting) return;
        this.waiting = true;
        requestAnimationFrame(() => {
            this.waiting = false;
            this.draw();
        });
    }

    /** @returns {Row[]} */
    rows() {
        const { app } = this, { report } = app, rows = [];
        const closed = key => app.closed.has(key);
        const add = row => rows.push(row);
        for (const process of report.processes) {
            const key = 'p' + process.id;
            if (report.processes.length > 1 || process.tracks.some(t => t.device)) add({ key, kind: 'head', title: process.name, height: 22, fold: true, tracks: process.tracks });
            if (closed(key)) continue;
            this.groupRows(rows, process, 'Counters', process.counters.map((series, i) =>
                ({ key: `${key}c${i}`, kind: 'counter', title: series.name, height: COUNTER_HEIGHT, series })));
            let device = '';
            const inOrder = tracks => app.order ? [...tracks].sort(app.order === 'name' ? (a, b) => a.title.localeCompare(b.title, 'en', { numeric: true }) : (a, b) => busyOf(b) - busyOf(a)) : tracks;
            for (const track of [...inOrder(process.threads), ...process.tracks.filter(t => t.device)]) {
                if (track.device && track.device !== device) {
                    device = track.device;
                    add({ key: `${key}d${device}`, kind: 'head', title: device + (track.alignment === 3 ? ' (clock not aligned)' : ''), height: 22, fold: true });
                }
                if (track.device && closed(`${key}d${device}`)) continue;
                for (const row of this.threadRows(track)) add(row);
            }
            for (const { key, title, tracks, lanes } of process.threadGroups)
                this.groupRows(rows, process, title, lanes ? lanes.map((lane, i) => this.trackRow(lane, lane[1] ? `${key}L${i}` : undefined)) : inOrder(tracks).flatMap(track => this.threadRows(track)), key, tracks);
            this.groupRows(rows, process, 'Tasks', inOrder(process.tracks.filter(t => t.owner === t)).map(track => this.trackRow([track])));
            this.groupRows(rows, process, 'Spans', process.spanGroups.map((group, i) => ({ key: `${key}s${i}`, kind: 'spans',
                title: group.lanes.length > 32 ? `${group.name} (${grouped(group.lanes.length)}${group.crowded ? '+' : ''} lanes)` : group.name, group, height: (closed(`${key}s${i}`) ? 1 : group.lanes.length) * LINE + 4, fold: group.lanes.length > 1 })));
            this.groupRows(rows, process, 'Locks', process.locks ? [...process.locks.rows.values()].map((lock, i) =>
                ({ key: `${key}l${i}`, kind: 'lock', title: lock.label.name, lock, height: LINE + 4 })) : []);
        }
        return rows;
    }

    /** The rows of a thread: what the system did with it, if a recording of the kernel says so, and its own. */
    threadRows(track) {
        return [track.states && track.states.owner === track && track.states, (track.levels.length || track.marks || track.system) && track].filter(Boolean).map(each => this.trackRow([each]));
    }

    /** The row of a track, or of several tracks that do not overlap in time. */
    trackRow(tracks, key = 't' + tracks[0].id) {
        const [track] = tracks, all = max(...tracks.map(({ levels }) => levels.length)), depth = this.app.closed.has(key) ? min(1, all) : all, marks = tracks.some(each => each.marks) ? 12 : 0, system = tracks.some(each => each.system);
        return { key, kind: 'track', title: tracks[1] ? `${track.title} and ${grouped(tracks.length - 1)} more` : track.title, track, tracks, depth, marks, system, fold: all > 1, height: max(22, depth * LINE + marks + 6) + (system ? STATES_HEIGHT + 2 : 0) };
    }

    groupRows(rows, process, title, more, key = `p${process.id}${title}`, tracks = []) {
        if (!more.length) return;
        rows.push({ key, kind: 'group', title: title.startsWith(grouped(tracks.length)) ? title : `${title} (${grouped(tracks.length || more.length)})`, height: 20, fold: true, tracks });
        if (!this.app.closed.has(key)) for (const row of more) rows.push(row);
    }

    /** The lower end of the rows. */
    get bottom() { return this.canvas.clientHeight - MAP; }

    /** Gives the rows their positions. Pinned rows come first, and do not scroll. Returns the rows that are in view; the head that others have left is above them. */
    layout() {
        const { app, bottom } = this, rows = this.rows(), placed = [], places = this.places = [];
        let y = RULER, stuck = null;
        for (const row of rows) {
            if (!app.pinned.has(row.key)) continue;
            places.push({ row, y, top: RULER, bottom, pinned: true });
            y += row.height;
        }
        placed.push(...places);
        const top = y, others = rows.filter(each => !app.pinned.has(each.key));
        const all = others.reduce((sum, row) => sum + row.height, 0);
        this.scroll = max(0, min(this.scroll, all - (bottom - top)));
        y -= this.scroll;
        for (const row of others) {
            const place = { row, y, top, bottom };
            if (row.kind === 'head') {
                if (y < top) stuck = { ...place, y: top };
                else if (stuck && y < top + stuck.row.height) stuck.y = y - stuck.row.height;
            }
            places.push(place);
            if (y + row.height > top && y < bottom) placed.push(place);
            y += row.height;
        }
        this.all = all;
        this.top = top;
        this.byTrack = null;
        return stuck ? [stuck, ...placed] : placed;
    }

    /** The place of a track's row, which may be out of view. If the row is folded away, that of the group or the head. */
    placeOf(track) {
        if (!this.byTrack) this.byTrack = new Map(this.places.flatMap(place => (place.row.tracks || []).map(each => [each, place])));
        return this.byTrack.get(track);
    }

    /** The track of a row at a time. */
    trackAt({ tracks }, time) { return tracks.find(({ life }) => life && life.end >= time) || tracks.at(-1); }

    /** Scrolls until a track's depth is in view. Unfolds what it is in. Another track: pins its row if both are not in view then. */
    reveal(track, depth, other) {
        const { app } = this, { process } = track.owner || track, group = process.threadGroups.find(({ tracks }) => tracks.includes(track));
        app.closed.delete('p' + process.id);
        if (track.owner === track) app.closed.delete(`p${track.process.id}Tasks`);
        if (group) app.closed.delete(group.key);
        if (track.device) app.closed.delete(`p${process.id}d${track.device}`);
        this.layout();
        const place = this.placeOf(track);
        if (!place) return;
        if (depth > 0 && app.closed.delete(place.row.key)) return this.reveal(track, depth, other);
        const at = place.y + place.row.marks + depth * LINE;
        if (!place.pinned) this.scroll += at < this.top ? at - this.top - 10 : max(0, at + LINE + 10 - this.bottom);
        if (!other || other === track) return;
        this.reveal(other, 0);
        this.layout();
        const { y, row, pinned } = this.placeOf(track);
        if (!pinned && (y + row.height < this.top || y > this.bottom)) app.pinned.add(row.key);
    }

    x(time) { return GUTTER + (time - this.app.view.from) * this.scale; }
    time(x) { return this.app.view.from + (x - GUTTER) / this.scale; }

    /** Draws. @param {import('./picture.js').Svg} [svg] into this, instead of the canvas */
    draw(svg) {
        const { canvas, app } = this, ratio = devicePixelRatio || 1;
        const width = canvas.clientWidth, height = canvas.clientHeight;
        if (!width || !height) return;
        const w = round(width * ratio), h = round(height * ratio);
        if (canvas.width !== w || canvas.height !== h || !this.image) {
            canvas.width = w;
            canvas.height = h;
            this.ctx = canvas.getContext('2d', { alpha: false });
            this.image = this.ctx.createImageData(w, h);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        const { pixels } = this, { from, to } = app.view, ctx = svg || this.ctx;
        this.scale = (width - GUTTER) / (to - from);
        this.placed = this.layout();
        pixels.fill(app.colors.background);
        this.drawGrid(pixels, w, h, ratio, width);
        const labels = [];
        for (const place of this.placed) {
            if (place.row.kind !== 'track') continue;
            for (const track of place.row.tracks) { // of a row that many tracks share, only the pixels of each
                const { start, end } = track.life || app.view, alone = !place.row.tracks[1], x0 = alone ? 0 : max(0, floor(this.x(start) * ratio)), x1 = alone ? w : min(w, ceil(this.x(end) * ratio) + 2);
                if (x0 >= x1) continue;
                this.drawScopes(place, track, ratio, w, h, labels, x0, x1);
                if (track.system) this.drawStates(place, track, ratio, w, h, x0, x1);
            }
        }
        if (!svg) this.drawMap(w, h, ratio);
        if (svg) this.drawPixels(svg, w, h, ratio);
        ctx.setTransform(1, 0, 0, 1, 0, 0);
        ctx.putImageData(this.image, 0, 0);
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.drawLabels(ctx, labels, ratio);
        const upwards = [...this.placed].reverse(); // so that a head that sticks is above the others
        for (const place of upwards) this.drawRow(ctx, place, width);
        this.drawFlows(ctx, width);
        this.drawFocus(ctx);
        this.drawSelection(ctx, width, height);
        for (const place of upwards) this.drawGutter(ctx, place);
        this.drawRuler(ctx, width);
        this.drawNotes(ctx, width);
        if (!svg) this.drawBars(ctx, width, height);
    }

    /** Draws the scopes of the image as SVG. All lines of pixels of a depth are equal, so one of them is enough. */
    drawPixels(svg, w, h, ratio) {
        const { background } = this.app.colors, left = round(GUTTER * ratio), grid = this.app.colors.grid, line = y => this.pixels.subarray(y * w, y * w + w).map(c => c === grid ? background : c);
        svg.fillStyle = this.app.style.bg;
        svg.fillRect(0, 0, w / ratio, h / ratio);
        svg.fillStyle = this.app.style.grid;
        for (let x = left; x < w; x++) if (this.pixels[(h - 1) * w + x] === grid) svg.fillRect(x / ratio, RULER, 1, h / ratio);
        for (const place of this.placed) {
            const { row, y, top } = place, states = row.system ? STATES_HEIGHT : 0;
            for (let n = 0, y0 = this.statesTop(place); n < states; n++, y0++)
                if (y0 >= top && y0 * ratio < h - 1) svg.run(line(round(y0 * ratio)), left, y0, 1, ratio, background);
            for (let depth = 0; row.kind === 'track' && depth < row.depth; depth++) {
                const y0 = max(y + 3 + row.marks + depth * LINE, top), y1 = y + 2 + row.marks + (depth + 1) * LINE;
                if (y1 > y0 && y0 * ratio < h - 1) svg.run(line(round(y0 * ratio)), left, y0, y1 - y0, ratio, background);
            }
        }
    }

    /** Draws a line of pixels for each depth. Keeps it until the view moves, or paint() changes colours. */
    drawScopes({ row, y, top }, track, ratio, w, h, labels, x0, x1) {
        const { app } = this, { from } = app.view, scale = this.scale * ratio, left = round(GUTTER * ratio), shows = [from, scale, w].join();
        for (let depth = 0; depth < min(row.depth, track.levels.length); depth++) {
            const level = track.levels[depth], y0 = y + 3 + row.marks + depth * LINE, first = round(max(y0, top) * ratio);
            const last = min(h, round((y0 + LINE - 1) * ratio));
            if (first >= last) continue;
            let { drawn } = level;
            if (!drawn || drawn.shows !== shows || drawn.colors !== app.colors)
                drawn = level.drawn = { shows, ...levelLine({ ...app.colors, width: w, left, from, scale, least: app.least }, level), colors: app.colors };
            putLine(this.pixels, drawn.line, first, last, x0, x1);
            if (y0 >= top - 4) for (const [left, right, i] of drawn.labels) labels.push([left / ratio, right / ratio, y0, level, i]);
        }
    }

    /** Where the line of a thread's states begins. */
    statesTop({ row, y }) { return y + row.height - STATES_HEIGHT - 3; }

    /** Draws the thread's states. Keeps their lines of pixels, as drawScopes() does. */
    drawStates(place, track, ratio, w, h, x0, x1) {
        const { app } = this, { system } = track, { from } = app.view, scale = this.scale * ratio, left = round(GUTTER * ratio), shows = [from, scale, w].join();
        if (!system.drawn || system.drawn.shows !== shows || system.drawn.colors !== app.colors)
            system.drawn = { shows, colors: app.colors, lines: statesLines({ width: w, left, from, scale, ratio, paint: app.colors.states }, system) };
        system.drawn.lines.forEach((line, n) => {
            const y = this.statesTop(place) + n, first = round(max(y, place.top) * ratio), last = min(h, round((y + 1) * ratio));
            if (first < last) putLine(this.pixels, line, first, last, x0, x1);
        });
    }

    textWidth(ctx, text) {
        let width = this.widths.get(text);
        if (width === undefined) {
            if (this.widths.size > 20000) this.widths.clear();
            this.widths.set(text, width = ctx.measureText(text).width);
        }
        return width;
    }

    /** Writes a text. Shortens it if it is longer than `width`. */
    fit(ctx, text, x, y, width) {
        text = visible(text.length > 200 ? text.slice(0, 200) : text);
        const whole = this.textWidth(ctx, text);
        if (whole > width) {
            const letters = floor(text.length * (width - 9) / whole); // 9 pixels for the dots
            if (letters < 2) return;
            text = text.slice(0, letters) + '\u2026';
        }
        ctx.fillText(text, x, y);
    }

    drawLabels(ctx, list, ratio) {
        const { report } = this.app;
        ctx.font = 11 + FONT;
        ctx.textBaseline = 'middle';
        ctx.textAlign = 'left';
        for (const [x0, x1, y, level, i] of list) {
            const label = report.labels[report.nodes.label[level.node[i]]];
            const room = x1 - x0 - 8;
            ctx.fillStyle = this.app.dim && this.app.dim(label) ? this.app.style.faint : label.ink;
            const width = this.textWidth(ctx, label.name);
            this.fit(ctx, label.name, x0 + 4, y + LINE / 2, room);
            if (room - width > 60) {
                ctx.fillText(ns(level.durationOf(i)), x0 + 4 + width + 8, y + LINE / 2);
            }
            const flags = level.flags.size ? level.flags.get(i) : 0;
            if (flags) this.drawTorn(ctx, x0, x1, y, flags);
        }
    }

    /** Draws a zigzag where the begin or the end of a scope is not known. */
    drawTorn(ctx, x0, x1, y, flags) {
        ctx.fillStyle = this.app.style.bg;
        for (const [bit, x, sign] of [[TRUNCATED_BEGIN, x0, 1], [TRUNCATED_END, x1, -1]]) {
            if (!(flags & bit)) continue;
            ctx.beginPath();
            for (let n = 0; n < 3; n++) {
                ctx.moveTo(x, y + n * 6);
                ctx.lineTo(x + 4 * sign, y + n * 6 + 3);
                ctx.lineTo(x, y + n * 6 + 6);
            }
            ctx.fill();
        }
    }

    /** Draws lines at the steps of the axis, below everything else. */
    drawGrid(pixels, w, h, ratio, width) {
        const { from, to } = this.app.view, step = niceStep((to - from) / max(2, (width - GUTTER) / 120));
        this.step = step;
        for (let t = ceil(from / step) * step; t < to; t += step) {
            const x = round(this.x(t) * ratio);
            if (x < w) for (let at = x; at < w * h; at += w) pixels[at] = this.app.colors.grid;
        }
    }

    drawRow(ctx, { row, y, top, bottom }, width) {
        ctx.save();
        ctx.beginPath();
        ctx.rect(GUTTER, top, width - GUTTER, bottom - top);
        ctx.clip();
        ctx.fillStyle = this.app.style.line;
        ctx.fillRect(GUTTER, y + row.height - 1, width, 1);
        if (row.kind === 'head' || row.kind === 'group') {
            ctx.fillStyle = row.kind === 'head' ? this.app.style.head : this.app.style.group;
            ctx.fillRect(GUTTER, y, width, row.height - 1);
        }
        if (row.marks) for (const { marks } of row.tracks) if (marks) this.drawMarks(ctx, marks, y + 2);
        if (row.kind === 'counter') this.drawCounter(ctx, row, y, width);
        if (row.kind === 'spans') this.drawSpans(ctx, row, y);
        if (row.kind === 'lock') this.drawHolds(ctx, row, y);
        ctx.restore();
    }

    drawMarks(ctx, marks, y) {
        const { from, to } = this.app.view;
        let last = -10;
        for (let i = firstIndex(marks.length, k => marks[k].time >= from); i < marks.length && marks[i].time <= to; i++) {
            const x = this.x(marks[i].time);
            if (x - last < 2) continue;
            last = x;
            ctx.fillStyle = marks[i].severity >= 3 ? this.app.style.bad : marks[i].severity === 2 ? this.app.style.warn : this.app.style.mark;
            ctx.beginPath();
            ctx.moveTo(x - 4, y);
            ctx.lineTo(x + 4, y);
            ctx.lineTo(x, y + 9);
            ctx.fill();
        }
    }

    drawCounter(ctx, row, y, width) {
        const { series } = row, { time, value } = series, { low } = series, high = max(series.high, low + 1e-12);
        const bottom = y + row.height - 4, tall = row.height - 8, place = v => bottom - (v - low) / (high - low) * tall;
        let i = max(0, firstIndex(time.length, k => time[k] >= this.app.view.from) - 1);
        ctx.fillStyle = this.app.style.counter;
        for (let x = max(GUTTER, floor(this.x(time[i]))); x < width && i < time.length;) {
            const next = i + 1 < time.length ? floor(this.x(time[i + 1])) : width, end = min(width, max(next, x + 1));
            let top = value[i];
            if (next < x + 1) { // several samples in one pixel: draws the highest
                const until = this.time(x + 1);
                while (i + 1 < time.length && time[i + 1] < until) top = max(top, value[++i]);
            } else {
                i++;
            }
            const zero = place(0), at = place(max(low, min(high, top)));
            if (Number.isFinite(at)) ctx.fillRect(x, min(at, zero), end - x, max(1, abs(zero - at)));
            if (next >= width) break;
            x = end;
            if (next < x && i + 1 >= time.length) break;
        }
        ctx.fillStyle = this.app.style.ink;
        ctx.font = 10 + FONT;
        ctx.textAlign = 'right';
        ctx.fillText(measured(series.max, series.unit), width - 4, y + 9);
        ctx.textAlign = 'left';
    }

    drawBox(ctx, x0, x1, y, rgb, ink, text) {
        x0 = max(x0, GUTTER - 2);
        ctx.fillStyle = `rgb(${rgb.join()})`;
        ctx.fillRect(x0, y, max(1, x1 - x0), LINE - 3);
        if (x1 - x0 < 24) return;
        ctx.font = 11 + FONT;
        ctx.textBaseline = 'middle';
        ctx.fillStyle = ink;
        this.fit(ctx, text, x0 + 4, y + LINE / 2 - 1, min(x1, this.canvas.clientWidth) - x0 - 8);
    }

    drawSpans(ctx, row, y) {
        const { from, to } = this.app.view, { labels } = this.app.report, dims = row.group.spans.some(span => this.app.found.has(span));
        row.group.lanes.forEach((lane, n) => {
            if ((this.app.closed.has(row.key) && n) || y + n * LINE > this.bottom || y + (n + 1) * LINE < 0) return;
            let last = -1;
            for (const span of lane) {
                if (span.start > to) break;
                if (span.start + span.duration < from) continue;
                const x0 = this.x(span.start), x1 = this.x(span.start + span.duration);
                if (x1 < last + 1) continue;
                last = x1;
                ctx.globalAlpha = dims && !this.app.found.has(span) ? 0.25 : 1;
                this.drawBox(ctx, x0, x1, y + 2 + n * LINE, labels[span.label].rgb, labels[span.label].ink, labels[span.label].name);
            }
        });
        ctx.globalAlpha = 1;
    }

    drawHolds(ctx, row, y) {
        const { from, to } = this.app.view, { holds, label } = row.lock;
        let last = -1;
        for (const hold of holds) {
            if (hold.start > to) break;
            if (hold.start + hold.duration < from) continue;
            const x0 = this.x(hold.start), x1 = this.x(hold.start + hold.duration);
            if (x1 < last + 1) continue;
            last = x1;
            this.drawBox(ctx, x0, x1, y + 2, label.rgb, label.ink, hold.track.title);
            ctx.fillStyle = this.app.style.bad;
            if (hold.waiters.length) ctx.fillRect(max(x0, GUTTER), y + LINE - 2, max(1, x1 - max(x0, GUTTER)), 2);
        }
    }

    /** The arrows of the scope that has the focus, or of the selected range; of all of them if the reader wants that. */
    arrows() {
        const { flows, focus, selection, report } = this.app, key = [focus, selection, flows, report.flows];
        if (flows) return report.flows;
        if (!this.chosen || key.some((each, i) => each !== this.chosen.key[i])) {
            const { from, to } = focus ? { from: scopeOf(report, focus).start, to: scopeOf(report, focus).end } : selection || {}, on = (track, time) => time >= from && time <= to && (!focus || track === focus.track);
            this.chosen = { key, list: report.flows.filter(flow => on(flow.fromTrack, flow.from) || on(flow.toTrack, flow.to)) };
        }
        return this.chosen.list;
    }

    /** Draws the arrows of flows. Says on the button how many are left out. */
    drawFlows(ctx, width) {
        const { app } = this, { from, to } = app.view, shownFlows = [];
        for (const flow of this.arrows()) {
            if (flow.to < from || flow.from > to) continue;
            if (shownFlows.push(flow) >= MANY) break;
        }
        const n = shownFlows.length;
        app.sayFlows(n > ARROWS ? `${ARROWS} of ${n < MANY ? '' : 'more than '}${grouped(n)} flows` : 'Flows');
        if (n > ARROWS) shownFlows.sort((a, b) => (b.to - b.from) - (a.to - a.from)).length = ARROWS;
        ctx.save();
        ctx.beginPath();
        ctx.rect(GUTTER, RULER, width - GUTTER, this.bottom - RULER);
        ctx.clip();
        ctx.strokeStyle = ctx.fillStyle = app.style.flow;
        ctx.lineWidth = 1.5;
        for (const flow of shownFlows) {
            let a = this.yOf(flow.fromTrack, flow.from);
            const b = this.yOf(flow.toTrack, flow.to);
            if (a === null || b === null) continue;
            a += Math.sign(b - a) * (LINE / 2 - 2); // begins at the edge of the scope, so that the name stays readable
            const x0 = this.x(flow.from), x1 = this.x(flow.to), bend = max(6, min(80, abs(x1 - x0) / 2));
            ctx.beginPath();
            ctx.moveTo(x0, a);
            ctx.bezierCurveTo(x0 + bend, a, x1 - bend, b, x1, b);
            ctx.stroke();
            ctx.beginPath();
            ctx.moveTo(x1, b);
            ctx.lineTo(x1 - 7, b - 4);
            ctx.lineTo(x1 - 7, b + 4);
            ctx.fill();
        }
        ctx.restore();
    }

    /** Returns the y of the innermost scope of a track at a time, or of what the track is folded in. Returns null if it has no row. */
    yOf(track, time) {
        const place = this.placeOf(track);
        if (!place || place.row.kind !== 'track') return place ? place.y + place.row.height / 2 : null;
        let depth = 0;
        while (depth + 1 < min(place.row.depth, track.levels.length) && scopeAt(track.levels[depth + 1], time) >= 0) depth++;
        return place.y + 3 + place.row.marks + depth * LINE + LINE / 2;
    }

    drawFocus(ctx) {
        const { focus } = this.app;
        if (!focus) return;
        const place = this.placeOf(focus.track);
        if (!place || !(focus.depth < place.row.depth)) return;
        const { start, end } = scopeOf(this.app.report, focus);
        const x0 = max(GUTTER - 3, this.x(start)), x1 = min(this.canvas.clientWidth + 3, this.x(end));
        if (x1 < GUTTER) return;
        ctx.strokeStyle = this.app.style.ink;
        ctx.lineWidth = 2;
        ctx.strokeRect(x0 - 0.5, place.y + 3 + place.row.marks + focus.depth * LINE - 0.5, max(3, x1 - x0), LINE);
    }

    drawSelection(ctx, width, height) {
        const { selection, mark } = this.app;
        if (selection) {
            const x0 = max(GUTTER, this.x(selection.from)), x1 = min(width, this.x(selection.to));
            ctx.fillStyle = this.app.style.shade;
            ctx.fillRect(GUTTER, RULER, max(0, x0 - GUTTER), height);
            ctx.fillRect(max(GUTTER, x1), RULER, width, height);
        }
        if (mark !== null && this.x(mark) >= GUTTER) {
            ctx.fillStyle = this.app.style.accent;
            ctx.fillRect(this.x(mark), RULER - 8, 2, height);
        }
    }

    drawGutter(ctx, { row, y, top, bottom, pinned }) {
        const { style, closed } = this.app, { kind } = row;
        ctx.save();
        ctx.beginPath();
        ctx.rect(0, top, kind === 'head' ? this.canvas.clientWidth : GUTTER, bottom - top); // the name of a head may reach beyond the gutter
        ctx.clip();
        ctx.fillStyle = kind === 'head' ? style.head : kind === 'group' ? style.group : style.gutter;
        ctx.fillRect(0, y, GUTTER - 1, row.height - 1);
        ctx.fillStyle = style.line;
        ctx.fillRect(0, y + row.height - 1, GUTTER, 1);
        if (kind !== 'head') ctx.fillRect(GUTTER - 1, y, 1, row.height);
        ctx.fillStyle = style.ink;
        ctx.textBaseline = 'middle';
        ctx.font = (kind === 'head' ? 'bold 12' : 12) + FONT;
        const middle = max(y, min(top - 2, y + row.height - 22)) + (kind === 'track' ? row.depth ? row.marks + 12 : 11 : min(row.height / 2, 17)); // stays in view while the row is
        if (row.fold) {
            ctx.fillStyle = style.faint;
            ctx.fillText(closed.has(row.key) ? '\u25b8' : '\u25be', 5, middle);
            ctx.fillStyle = style.ink;
        }
        if (kind === 'track' ? row.tracks.some(track => this.app.found.has(track)) : this.app.found.has(row.series)) ctx.fillStyle = style.accent;
        this.fit(ctx, row.title, kind === 'head' || kind === 'group' ? 18 : 22, middle, kind === 'head' ? 900 : GUTTER - (GUTTER > 99 ? 46 : 26));
        if (this.canPin(row)) {
            ctx.fillStyle = pinned ? style.accent : style.faint;
            ctx.fillText(pinned ? '\u25c6' : '\u25c7', GUTTER - 16, middle);
        }
        ctx.restore();
    }

    drawRuler(ctx, width) {
        const { style, view, selection } = this.app, { step } = this;
        ctx.fillStyle = style.gutter;
        ctx.fillRect(0, 0, width, RULER - 1);
        ctx.fillStyle = style.line;
        ctx.fillRect(0, RULER - 1, width, 1);
        ctx.font = 11 + FONT;
        ctx.textBaseline = 'middle';
        ctx.fillStyle = style.faint;
        this.fit(ctx, `${GUTTER > 99 ? '\u25c2' : '\u25b8'} ${ns(view.to - view.from)}${GUTTER > 99 ? ' shown' : ''}`, 6, RULER / 2, GUTTER - 8);
        const { from, to } = selection || { from: 0, to: 0 }, x0 = max(GUTTER, this.x(from)), x1 = min(width, this.x(to));
        const length = ns(to - from), wide = this.textWidth(ctx, length) + 10, at = x1 > x0 ? max(GUTTER, min(width - wide, (x0 + x1 - wide) / 2)) : width;
        for (let t = ceil(view.from / step) * step; t < view.to; t += step) {
            const x = round(this.x(t));
            ctx.fillStyle = style.line;
            ctx.fillRect(x, RULER - 7, 1, 6);
            ctx.fillStyle = style.faint;
            const text = axisTime(t, step), end = x + 4 + this.textWidth(ctx, text);
            if (end < at || (x > at + wide && end < width)) ctx.fillText(text, x + 4, RULER / 2 - 1);
        }
        ctx.fillStyle = style.good;
        for (const { from, to } of this.app.report.windows) { // marks the windows of large recordings, in which every scope is there
            const left = max(GUTTER, this.x(from));
            ctx.fillRect(left, RULER - 3, min(width, this.x(to)) - left, 2);
        }
        if (at === width) return;
        ctx.fillStyle = style.accent;
        ctx.fillRect(x0, RULER - 4, x1 - x0, 3);
        ctx.fillRect(at, 2, wide, RULER - 6);
        ctx.fillStyle = style.onaccent;
        ctx.fillText(length, at + 5, RULER / 2 - 1);
    }

    canPin(row) { return GUTTER > 99 && row.kind !== 'head' && row.kind !== 'group'; }

    /** Draws the map into the pixels: the outermost scopes of each track, or group of threads, in the whole recording, which is kept. */
    drawMap(w, h, ratio) {
        const { app, pixels } = this, { report, colors } = app, tall = floor(MAP * ratio) - 2, left = round(GUTTER * ratio), key = [report, colors, w, tall, left];
        if (!this.map || key.some((each, i) => each !== this.map.key[i])) {
            const stripes = report.processes.flatMap(({ threads, threadGroups, tracks }) => [...[...threads, ...tracks.filter(track => track.device)].map(track => [track]), ...threadGroups.map(group => group.tracks)]), map = new Uint32Array(w * tall).fill(colors.background), scale = (w - left) / (report.to - report.from);
            stripes.forEach((tracks, n) => {
                const y = floor(n * tall / stripes.length), last = max(y + 1, floor((n + 1) * tall / stripes.length) - (stripes.length < 5));
                for (const { levels: [level] } of tracks) if (level) putLine(map, levelLine({ ...colors, width: w, left, from: report.from, scale, least: app.least }, level).line, y, last);
            });
            this.map = { key, map };
        }
        pixels.set(this.map.map, w * (h - tall));
    }

    /** Draws the bar that scrolls, and what the view is of the map. */
    drawBars(ctx, width, height) {
        const { app, top, bottom, all } = this, { report, view, style } = app, part = (bottom - top) / all, x = time => GUTTER + max(0, min(1, (time - report.from) / (report.to - report.from))) * (width - GUTTER);
        ctx.fillStyle = style.faint;
        if (part < 1) ctx.fillRect(width - BAR + 2, top + this.scroll * part, BAR - 4, max(12, (bottom - top) * part));
        ctx.fillStyle = style.gutter;
        ctx.fillRect(0, bottom, GUTTER - 1, MAP);
        ctx.fillStyle = style.line;
        ctx.fillRect(0, bottom, width, 1);
        ctx.fillStyle = style.shade;
        const x0 = x(view.from), x1 = max(x0 + 3, x(view.to));
        ctx.fillRect(GUTTER, bottom + 1, x0 - GUTTER, MAP);
        ctx.fillRect(x1, bottom + 1, width, MAP);
        ctx.strokeStyle = style.accent;
        ctx.lineWidth = 2;
        ctx.strokeRect(x0 + 1, bottom + 2, x1 - x0 - 2, height - bottom - 3);
        ctx.font = 11 + FONT;
        ctx.fillStyle = style.faint;
        this.fit(ctx, `${ns(report.to - report.from)}${GUTTER > 99 ? ' in all' : ''}`, 6, bottom + MAP / 2 + 1, GUTTER - 8);
    }

    /** Draws the reader's notes: lines at begin and end, and the text above the map. */
    drawNotes(ctx, width) {
        const { app: { notes, style }, bottom } = this;
        ctx.font = 11 + FONT;
        this.flags = notes.map((note, i) => {
            const x0 = max(GUTTER, this.x(note.from)), right = this.x(note.to), y = bottom - 18 - i % 3 * 18, wide = min(260, this.textWidth(ctx, note.text) + 10);
            if (right < GUTTER || x0 > width) return {};
            ctx.fillStyle = style.mark;
            for (const x of [this.x(note.from), right]) if (x >= GUTTER) ctx.fillRect(x, RULER, 1, bottom - RULER);
            ctx.fillRect(x0, y, wide, 16);
            ctx.fillStyle = style.onaccent;
            this.fit(ctx, note.text, x0 + 5, y + 8, wide - 8);
            return { note, x0, y, wide };
        });
    }

    /** Scrolls, or moves the view, to a point of the bar or of the map. @param {string} area 'bar' or 'map' */
    drag(area, x, y) {
        const { app, top, bottom, all } = this, { report, view } = app, length = view.to - view.from;
        if (area === 'bar') {
            this.scroll = (y - top) / (bottom - top) * all - (bottom - top) / 2;
            return this.redraw();
        }
        const from = report.from + (x - GUTTER) / (this.canvas.clientWidth - GUTTER) * (report.to - report.from) - length / 2;
        app.setView(from, from + length);
    }

    /** Returns what is at a point of the canvas. */
    at(x, y) {
        if (y >= this.bottom) return { area: x < GUTTER ? 'none' : 'map' };
        if (y > this.top && x > this.canvas.clientWidth - BAR && this.all > this.bottom - this.top) return { area: 'bar' };
        const flag = this.flags.find(each => x >= each.x0 && x < each.x0 + each.wide && y >= each.y && y < each.y + 16);
        if (flag) return flag;
        const place = y >= RULER && this.placed ? this.placed.find(each => y >= max(each.y, each.top) && y < each.y + each.row.height) : null;
        if (!place) return { area: y >= RULER ? 'none' : x < GUTTER ? 'fold' : 'ruler' };
        const { row } = place, time = this.time(x);
        if (x < GUTTER) return { area: 'gutter', row, pin: this.canPin(row) && x > GUTTER - 24 };
        const found = { area: 'row', row, time };
        if (row.kind === 'track') {
            const track = this.trackAt(row, time), { system, marks, levels } = track, inside = y - place.y - 3 - row.marks, depth = floor(inside / LINE);
            if (inside < 0 && marks) found.mark = this.near(marks, time, mark => mark.time);
            if (system && y >= this.statesTop(place)) {
                const i = system.at(time);
                if (i >= 0) found.state = { track, i };
            } else if (inside >= 0 && depth < min(row.depth, levels.length)) {
                const i = this.scopeNear(levels[depth], time);
                if (i >= 0) found.scope = { track, depth, i };
            }
        } else if (row.kind === 'spans') {
            const lane = row.group.lanes[floor((y - place.y - 2) / LINE)];
            found.span = lane && this.around(lane, time);
        } else if (row.kind === 'lock') {
            found.hold = this.around(row.lock.holds, time);
        } else if (row.kind === 'counter') {
            const i = firstIndex(row.series.time.length, k => row.series.time[k] > time) - 1;
            if (i >= 0) found.sample = { time: row.series.time[i], value: row.series.value[i] };
        }
        return found;
    }

    around(list, time) {
        const slack = 2 / this.scale;
        return list.find(each => each.start - slack <= time && each.start + each.duration + slack >= time);
    }

    near(list, time, get) {
        const i = firstIndex(list.length, k => get(list[k]) >= time);
        const best = [list[i - 1], list[i]].filter(Boolean).sort((a, b) => abs(get(a) - time) - abs(get(b) - time))[0];
        return best && abs(get(best) - time) * this.scale < 8 ? best : null;
    }

    /** Returns the scope at a time, or the longest one within a pixel or two of it. */
    scopeNear(level, time) {
        const i = scopeAt(level, time), slack = 1.5 / this.scale;
        if (i >= 0 && level.durationOf(i) * this.scale > 3) return i;
        const first = firstIndex(level.count, k => level.start[k] >= time - slack);
        let best = i;
        for (let k = first; k < min(level.count, first + 2000) && level.start[k] <= time + slack; k++)
            if (best < 0 || level.durationOf(k) > level.durationOf(best)) best = k;
        return best;
    }
}


