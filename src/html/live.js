// The page of a running program: reads the messages of prof_server.h, one a period, and shows the last seconds. Only the
// page that the server sends has this script. docs/internals/html.md, Live, describes the messages.

import { Decoder, Report, Reader, Level, Points, Listed, LONGEST, FRAME, LOG, TRUNCATED_BEGIN, TRUNCATED_END, damaged, joinLabels } from './decode.js';
import { finish } from './model.js';
import { Panels } from './panels.js';
import { el, select } from './dom.js';
import { States } from './states.js';
import { ns } from './text.js';

/** How much the page keeps: so many nanoseconds, and at most so many scopes. */
const KEPT = 30e9, MOST = 2e6;

/** Cuts a stream of bytes into messages. The bytes arrive in parts of any size. */
export class Messages {
    constructor() { this.rest = new Uint8Array(0); }

    /** @param {Uint8Array} more @returns {{about: Map<string, string>, report: Report | null, tracks: number[]}[]} */
    take(more) {
        const bytes = new Uint8Array(this.rest.length + more.length), done = [];
        bytes.set(this.rest);
        bytes.set(more, this.rest.length);
        let at = 0;
        for (;;) {
            const r = new Reader(bytes, at);
            let kind, size;
            try {
                kind = r.byte();
                size = r.index(LONGEST, 'block of size');
                if (r.u()) damaged('a message is packed');
            } catch (error) {
                if (bytes.length - at > 12) throw error;
                break; // the head of a block is incomplete
            }
            if (size > r.end - r.at) break;
            at = r.at + size;
            const message = this.block(String.fromCharCode(kind), bytes.subarray(r.at, at));
            if (message) done.push(message);
        }
        this.rest = bytes.slice(at);
        return done;
    }

    /** Decodes a block. @returns the message that the block completes, or null */
    block(kind, bytes) {
        const r = new Reader(bytes, 0);
        if (kind === 'L') {
            r.u();
            this.about = new Map();
            while (!r.done) this.about.set(r.text(), r.text());
            this.decoder = new Decoder();
            this.tracks = [];
            return this.about.has('from_ns') ? null : { about: this.about, report: null };
        }
        if (!this.decoder) damaged('the data do not begin as they should');
        if (kind === 'I') {
            r.u();
            while (!r.done) this.tracks.push(r.u());
            return null;
        }
        this.decoder.take({ kind }, bytes);
        if (kind !== 'Z') return null;
        const report = this.decoder.close();
        this.decoder = null; // the next block begins a message, with L
        return { about: this.about, report, tracks: this.tracks };
    }
}

/** Appends the arguments of a part's events from number `skip` on. Adds `by` to the numbers of the events. */
function addArgs(to, from, by, skip, part) {
    for (let i = 0; i < from.count; i++) {
        const index = from.index[i] + by;
        if (from.index[i] < skip) continue;
        if (!to.count || to.index.items[to.count - 1] !== index) to.index.put(to.count++, index);
        to.place.put(to.count - 1, from.place[i] + part.block * LONGEST); // of a scope that a period's end cut, the later part has all arguments
    }
}

/** Joins a level of a track over all periods. The parts of a scope that the ends of periods have cut become one scope. */
function levelOf(parts, depth) {
    const level = new Level(), mine = parts.filter(({ track }) => track.levels[depth]);
    level.grow(mine.reduce((sum, { track }) => sum + track.levels[depth].count, 8));
    for (const part of mine) {
        const from = part.track.levels[depth], n = level.count, flags = from.flags.get(0) || 0, rest = flags & TRUNCATED_BEGIN && from.start[0] <= part.from;
        const same = rest && part.joins && n && level.endOf(n - 1) >= part.before && level.node[n - 1] === part.nodes[from.node[0]];
        const skip = same || (rest && !from.durationOf(0)) ? 1 : 0, by = n - skip;
        if (same) {
            const whole = from.endOf(0) - level.start[n - 1], cut = (level.flags.get(n - 1) || 0) & TRUNCATED_BEGIN | flags & TRUNCATED_END;
            level.duration[n - 1] = Math.min(whole, 0xFFFFFFFF);
            level.long.set(n - 1, whole);
            if (cut) level.flags.set(n - 1, cut); else level.flags.delete(n - 1);
        }
        level.start.set(from.start.subarray(skip), n);
        level.duration.set(from.duration.subarray(skip), n);
        for (let i = skip; i < from.count; i++) level.node[by + i] = part.nodes[from.node[i]];
        for (const column of ['long', 'flags']) for (const [i, value] of from[column]) if (i >= skip) level[column].set(by + i, value);
        addArgs(level.args, from.args, by, same ? 0 : skip, part);
        level.count = by + from.count;
    }
    level.close();
    return level;
}

function pointsOfAll(parts, kinds) {
    const points = new Points(), frames = new Map(), whole = new Map();
    for (const { track, ...part } of parts) {
        const from = track.points, by = points.count;
        for (let i = 0; i < from.count; i++) {
            let kind = from.kind[i] + part.kind, a = from.a[i];
            const { type, label } = kinds[kind], time = from.time[i];
            if (type === FRAME) { // a frame that the begin of the period cut began at the end of the previous frame
                if (part.joins && time - a <= part.from && frames.has(label)) {
                    a = time - frames.get(label);
                    if (!whole.has(kind)) whole.set(kind, kinds.push({ ...kinds[kind], flags: 0 }) - 1);
                    kind = whole.get(kind);
                }
                frames.set(label, time);
            }
            points.time.put(by + i, time);
            points.kind.put(by + i, kind);
            points.a.put(by + i, a);
            points.b.put(by + i, from.b[i] + (type === LOG ? part.string : 0));
        }
        for (const [i, number] of from.numbers) points.numbers.set(by + i, number);
        addArgs(points.args, from.args, by, 0, part);
        points.count += from.count;
    }
    points.close();
    return points;
}

/** Joins what the system did with a thread. @returns {States | null} */
function systemOfAll(parts) {
    const states = new States();
    for (const { track: { system } } of parts) if (system && system.count) states.append(system);
    if (!states.count) return null;
    states.close();
    return states;
}

/**
 * Makes one report of the reports of consecutive periods. Does not change those.
 * @param {{about: Map<string, string>, report: Report, tracks: number[]}[]} periods @returns {Report}
 */
export function merged(periods) {
    const report = new Report(), { nodes, labels, kinds, strings, argBlocks } = report, known = new Map(), childOf = new Map(), tracks = new Map(), open = new Map();
    const process = { ...periods[periods.length - 1].report.processes[0], tracks: [] };
    let before = 0;
    report.complete = true;
    report.processes.push(process);
    for (const { about, report: r, tracks: ids } of periods) {
        const part = { kind: kinds.length, string: strings.length, block: argBlocks.length, nodes: new Uint32Array(r.nodes.count),
            from: Number(about.get('from_ns')), joins: before && about.get('joins') === '1', before };
        const labelOf = joinLabels(labels, known, r.labels);
        for (let n = 1; n < r.nodes.count; n++) {
            const parent = part.nodes[r.nodes.parent[n]], label = labelOf[r.nodes.label[n]], key = parent * 0x4000000 + label;
            if (!childOf.has(key)) {
                nodes.label.put(nodes.count, label);
                nodes.parent.put(nodes.count, parent);
                childOf.set(key, nodes.count++);
            }
            part.nodes[n] = childOf.get(key);
        }
        for (const kind of r.kinds) kinds.push({ ...kind, label: labelOf[kind.label] });
        for (const text of r.strings) strings.push(text);
        argBlocks.push(...r.argBlocks);
        const trackOf = i => {
            const track = r.tracks[i], key = ids[i] || track.device + '\0' + track.name;
            if (!tracks.has(key)) tracks.set(key, { id: tracks.size, parts: [] });
            return Object.assign(tracks.get(key), { ...track, id: tracks.get(key).id, process });
        };
        r.tracks.forEach((track, i) => { if (track.levels.length || track.points.count || track.system) trackOf(i).parts.push({ ...part, track }); });
        for (const span of r.spans) {
            const key = [labelOf[span.label], span.id, span.number].join(), begun = open.get(key);
            if (begun && span.flags & TRUNCATED_BEGIN) {
                Object.assign(begun, { duration: span.start + span.duration - begun.start, endTrack: trackOf(span.endTrack).id, args: span.args,
                    flags: begun.flags & TRUNCATED_BEGIN | span.flags & TRUNCATED_END });
            } else {
                open.set(key, { ...span, label: labelOf[span.label], track: trackOf(span.track).id, endTrack: trackOf(span.endTrack).id });
                report.spans.push(open.get(key));
            }
            if (!(span.flags & TRUNCATED_END)) open.delete(key);
        }
        before = Number(r.processes[0].about.get('to_ns'));
    }
    for (const { parts, ...track } of tracks.values()) {
        track.levels = [];
        while (parts.some(part => part.track.levels.length > track.levels.length)) track.levels.push(levelOf(parts, track.levels.length));
        track.points = pointsOfAll(parts, kinds);
        track.system = systemOfAll(parts);
        process.tracks.push(track);
        report.tracks.push(track);
        report.scopes += track.levels.reduce((sum, level) => sum + level.count, 0);
        report.points += track.points.count;
    }
    nodes.label = nodes.label.close(nodes.count);
    nodes.parent = nodes.parent.close(nodes.count);
    report.spanCount = report.spans.length;
    return report;
}

const STATES = { none: 'The program records nothing.', stopped: 'The recording was stopped: this is its end. The next one will be shown here.', ended: 'The recording has ended: this is its end.',
    waiting: 'The recording has not begun yet.', paused: 'The recording is paused.', stats: 'The program records in mode stats, which keeps no events: see Summary.',
    over: 'The server has stopped: the program ended, or called prof_server_stop().' };

const STYLE = '.menu{margin:0;position:relative}.menu label{display:block;white-space:nowrap}' +
    '.menu div{position:absolute;right:0;z-index:8;background:var(--bg);border:1px solid var(--line);border-radius:4px;padding:6px 10px;max-height:60vh;overflow:auto}';

/** Watches a program: the connection to the server, the controls, and the report of the last seconds. */
class Live {
    /** @param {object} app see app.js */
    constructor(app) {
        this.app = app;
        this.periods = [];
        this.about = new Map();
        this.seconds = 5;
        this.lines = null;
        this.shape = '';
        this.drawn = 0;
        this.pauses = el('button', { onclick: () => this.pause(!this.paused) });
        this.state = el('span', { id: 'state', role: 'status' });
        this.again = el('button', { hidden: true, onclick: () => this.connect() });
        this.level = el('input', { type: 'number', min: 0, max: 255, style: { width: '5em' }, onchange: () => fetch(`/level?level=${this.level.value}`, { method: 'POST' }).then(async answer => {
            if (!answer.ok) app.say(await answer.text());
        }) });
        this.categories = el('div');
        this.switched = '';
        this.chosen = new Map();
        document.head.append(el('style', {}, STYLE));
        const save = format => el('a', { href: `/save?last=5&format=${format}`, download: '' }, format === 'html' ? 'Save the last 5 s' : 'as .prof');
        document.querySelector('header').after(el('div.bar-of-tools', { id: 'watch' }, this.pauses,
            el('label', {}, 'Shows ', select('Shows', [1, 2, 5, 10, 30].map(s => [s, `${s} s`]), this.seconds, s => { this.seconds = Number(s); this.show(); })),
            this.state, this.again, el('span.grow'), el('label', {}, 'Level ', this.level), el('details.menu', {}, el('summary', {}, 'Categories'), this.categories), save('html'), save('prof'),
            el('a', { href: '/summary', target: '_blank' }, 'Summary')));
        for (const name of ['pointerdown', 'wheel', 'keydown']) // pauses when the user looks at something
            for (const id of ['time', 'frames']) document.getElementById(id).addEventListener(name, event => {
                if (!event.ctrlKey || name === 'wheel') this.pause(true);
            }, true);
        this.pause(false);
        this.connect();
    }

    async connect() {
        const messages = new Messages();
        this.again.hidden = true;
        this.gone = '';
        if (this.reading) this.reading.abort();
        const reading = this.reading = new AbortController();
        try {
            const answer = await fetch('/live' + location.search, { signal: reading.signal });
            if (!answer.ok) throw new Error(await answer.text());
            for (const reader = answer.body.getReader();;) {
                const { done, value } = await reader.read();
                if (done) break;
                for (const message of messages.take(value)) this.take(message);
            }
            if (this.about.get('state') !== 'over') throw new Error('The connection broke: the program was killed, or crashed.');
        } catch (error) {
            if (this.reading !== reading) return;
            this.gone = error instanceof TypeError ? 'The connection broke: the program was killed, or crashed, or cannot be reached.' : error.message;
        }
        this.later();
    }

    take(message) {
        const { about, report } = message;
        if (about.get('session') !== this.about.get('session')) {
            this.periods = [];
            this.chosen.clear();
        }
        this.about = about;
        if (report) this.periods.push(message);
        const { periods } = this, ends = periods.map(period => Number(period.about.get('from_ns'))), scopes = periods.reduce((sum, period) => sum + period.report.scopes, 0);
        for (let n = scopes; periods.length > 1 && (ends[ends.length - 1] - ends[1] > KEPT || n > MOST);) {
            n -= periods.shift().report.scopes;
            ends.shift();
        }
        this.later();
    }

    later() {
        if (!this.waits) this.waits = requestAnimationFrame(() => { this.waits = 0; this.say(); if (!this.paused) this.show(); });
    }

    pause(on) {
        if (on === this.paused) return;
        this.paused = on;
        this.pauses.textContent = on ? 'Go on' : 'Pause';
        this.pauses.setAttribute('aria-pressed', String(on));
        if (!on) this.later();
    }

    /** Shows the state of the program and of the connection. */
    say() {
        const { about } = this, get = key => Number(about.get(key) || 0), state = about.get('state');
        const took = get('took_ns') / get('period_ns'), ended = this.gone || state === 'over';
        this.state.textContent = this.gone || STATES[state] || (state ? `Recording${get('on_demand') ? ', because you watch' : ''}; watching takes ${(100 * took).toFixed(1)} % of a core.` : 'Connecting\u2026');
        this.again.hidden = !ended && state !== 'stopped';
        this.again.textContent = ended ? 'Connect again' : 'Record';
        this.level.disabled = ended || get('read_only') === 1 || !get('level');
        if (document.activeElement !== this.level) this.level.value = get('level');
        this.switches();
    }

    /** Makes a checkbox for each category. It shows a dash if the page has seen no scope of the category and has not switched it. */
    switches() {
        const names = (this.about.get('categories') || '').split('\n').filter(Boolean).sort(), seen = new Set(this.app.report.labels.map(label => label.category));
        const off = this.level.disabled, shape = JSON.stringify([names, off]);
        if (shape !== this.switched) {
            this.categories.replaceChildren(...names.map(name => el('label', {}, el('input', { type: 'checkbox', value: name, disabled: off, onchange: event => this.category(event.target) }), ' ' + name)));
            if (!names.length) this.categories.textContent = 'No scope with a category has run yet.';
        }
        this.switched = shape;
        for (const box of this.categories.querySelectorAll('input')) {
            const chosen = this.chosen.get(box.value);
            box.checked = chosen !== false;
            box.indeterminate = chosen === undefined && !seen.has(box.value);
        }
    }

    async category({ value, checked }) {
        this.chosen.set(value, checked);
        const answer = await fetch(`/categories?${checked ? 'on' : 'off'}=${encodeURIComponent(value)}`, { method: 'POST' });
        if (answer.ok) return;
        this.chosen.delete(value);
        this.app.say(await answer.text());
    }

    /** Lines that say what is missing, and why. */
    losses() {
        const get = key => Number(this.about.get(key) || 0), lines = [];
        if (get('skipped_ns')) lines.push(`${ns(get('skipped_ns'))} are missing: this page, or the server, was too slow to follow.`);
        if (get('overwritten_ns')) lines.push(`${ns(get('overwritten_ns'))} are missing: they were overwritten before they were read; the program needs a larger buffer.`);
        if (get('streamed')) lines.push('The program streams to a file: of scopes that began long ago, only what is in them may be here.');
        return lines;
    }

    /** Shows the last seconds. */
    show() {
        const { app, periods } = this;
        if (!periods.length) return;
        const report = merged(periods), [process] = report.processes;
        process.losses = [...process.losses, ...this.losses()];
        process.about.set('complete', '1');
        process.live = true; // shows no warning about open scopes
        finish(report);
        const shape = [report.bars.length > 0, report.messages.length, report.spans.length > 0, report.counters.length > 0, process.memory !== null, process.locks !== null].join();
        const first = !this.shape, lines = process.losses.join('\n'), now = performance.now(), to = report.to;
        if (first) app.take(report);
        app.report = report;
        app.focus = null;
        app.bar = -1;
        app.hits = [];
        app.series = report.bars[0];
        app.view = { from: to - this.seconds * 1e9, to };
        app.theme(document.documentElement.dataset.theme);
        app.drawFramesSoon();
        app.facts();
        if (lines !== this.lines || (now - this.drawn > 1000 && !document.querySelector('#warnings details[open]'))) app.head();
        if (shape !== this.shape || now - this.drawn > 1000) this.panels(shape, now);
        this.lines = lines;
    }

    /** Draws the panels. Keeps the tab and how far it is scrolled. */
    panels(shape, now) {
        const { app } = this, place = document.querySelector('#panel .scroll'), top = place ? place.scrollTop : 0, { tab } = app.panels;
        if (shape !== this.shape) {
            app.panels.close();
            app.panels = Object.assign(new Panels(app, document.getElementById('tabs'), document.getElementById('panel')), { step: Infinity });
            app.panels.tab = app.panels.list.some(([id]) => id === tab) ? tab : 'scopes';
        }
        app.panels.key = null;
        app.panels.render();
        if (document.querySelector('#panel .scroll')) document.querySelector('#panel .scroll').scrollTop = top;
        this.shape = shape;
        this.drawn = now;
    }
}

/** Starts when the page shows its report. */
async function watch() {
    while (!globalThis.prof) await new Promise(done => setTimeout(done, 20));
    globalThis.prof.live = new Live(globalThis.prof);
}

if (typeof document !== 'undefined') watch();
