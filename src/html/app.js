// The application: what the page shows at present, and how it answers to the user's input.

import { readReport, unpack, piecesIn, joined } from './decode.js';
import { finish, warnings, scopeAt, scopeOf, truncatedText, barAt } from './model.js';
import { firstIndex } from './columns.js';
import { STATE_NAMES, RUNNING, WAITING } from './states.js';
import { waitLines } from './waits.js';
import { colorLabels, nodeColors, abgr } from './theme.js';
import { parseQuery, labelMatches, findScopes, findOthers } from './search.js';
import { TimeLine, GUTTER, foldGutter } from './view.js';
import { drawBars } from './frames.js';
import { requestSeries } from './request.js';
import { Panels, statesText } from './panels.js';
import { $, el, copy, tell, forget } from './dom.js';
import { Svg, download, flamePicture } from './picture.js';
import { abs, floor, max, min, round, ns, moment, grouped, shown, measured, where } from './text.js';

const root = globalThis.document?.documentElement; // undefined in a worker thread, which only unpacks

/** Settings that the browser keeps. It may refuse to keep any for a page from disk. */
const kept = {
    get(key) { try { return localStorage.getItem('prof.' + key); } catch { return null; } },
    set(key, text) { try { localStorage.setItem('prof.' + key, text); } catch { /* the setting ends with the page */ } }
};

const decoded = text => { try { return decodeURIComponent(text); } catch { return ''; } };

const hideTip = () => { $('tip').hidden = true; };

const ORDERS = { '': 'as recorded', name: 'by name', busy: 'by time in scopes' };

const systemTheme = () => matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';

class App {
    constructor(report) {
        this.wheelZooms = kept.get('wheel') === 'zoom';
        foldGutter(innerWidth <= 600);
        this.time = new TimeLine($('time'), this);
        this.take(report);
        this.listen();
        this.readFragment();
        this.panels.render();
        this.drawFrames();
    }

    /** Shows a report. Forgets selection, focus and search of the previous one. */
    take(report) {
        this.report = report;
        this.view = { from: report.from, to: report.to };
        /** @type {{from: number, to: number} | null} */ this.selection = null;
        this.focus = null;
        this.bar = -1; // the frame or step that was chosen last, unless another thing was chosen since
        this.mark = null;
        this.label = null;
        this.request = null;
        this.flowAt = -1;
        this.query = '';
        this.hits = [];
        this.others = null;
        this.found = new Set();
        this.least = 0;
        this.dim = null;
        this.closed = new Set();
        this.pinned = new Set();
        this.series = report.bars[0];
        this.order = '';
        this.notes = this.notes || [];
        this.flows = this.fewFlows = report.flows.length <= 300; // whether arrows are drawn of all flows, or only of the selection
        $('flows').hidden = !report.flows.length;
        for (const process of report.processes) {
            if (process.counters.length > 6) this.closed.add(`p${process.id}Counters`);
            if (process.spanGroups.length > 8) this.closed.add(`p${process.id}Spans`);
            if (process.tracks.filter(track => track.owner === track).length > 8) this.closed.add(`p${process.id}Tasks`);
            for (const { key, title, tracks, lanes } of process.threadGroups) if (title === 'Idle threads' || (lanes || tracks).length > 32) this.closed.add(key);
            this.closed.add(`p${process.id}Locks`);
        }
        this.folded = this.foldedText();
        this.theme(kept.get('theme'));
        if (this.panels) this.panels.close();
        forget();
        this.panels = new Panels(this, $('tabs'), $('panel'));
        this.head();
    }

    // ---- another report, to compare

    /** Adds the recordings of another report's file, to compare them. If the file cannot be read, nothing changes. @param {File} file */
    async against(file) {
        if (this.reading) return;
        this.reading = true;
        this.say(`Reading ${file.name}\u2026`);
        try {
            const name = file.name.replace(/\.[^.]*$/, ''), head = await file.slice(0, 100).text(), pieces = /^<!doctype html>/i.test(head) ? piecesIn(await file.text()) : [];
            if (!pieces.length) throw new Error(`it is no report of prof. Make a report of a recording first: prof export ${name}.prof -o ${name}.html`);
            const other = finish(await readReport(pieces)), first = this.report.processes.length;
            if (other.damage || !other.processes.length) throw new Error(`it is damaged: ${other.damage || 'it has no recording'}`);
            for (const process of other.processes) process.file = file.name;
            this.take(finish(joined(this.report, other)));
            $('search').value = $('hits').textContent = '';
            this.panels.comparison.pair = [0, first];
            this.panels.open('compare');
            this.drawFrames();
            $('said').hidden = true;
            tell(`Compared with ${file.name}`);
        } catch (error) {
            this.say(`${file.name} cannot be compared: ${error.message}`);
        }
        this.reading = false;
    }

    say(text) {
        $('said').hidden = false;
        $('said').replaceChildren(text + ' ', el('button', { onclick: () => { $('said').hidden = true; } }, 'Close'));
        tell(text);
    }

    listenToFiles() {
        const mark = event => {
            const files = event.type === 'dragover' && event.dataTransfer.types.includes('Files');
            if (files) event.preventDefault();
            document.body.classList.toggle('dropping', files);
        };
        document.ondragover = document.ondragleave = mark;
        document.ondrop = event => {
            mark(event);
            const [file] = event.dataTransfer.files;
            if (!file) return;
            event.preventDefault();
            this.against(file);
        };
        $('against').onclick = () => $('file').click();
        $('file').onchange = () => {
            const [file] = $('file').files;
            if (file) this.against(file);
            $('file').value = '';
        };
    }

    // ---- above the time line

    head() {
        const { report } = this, names = [...new Set(report.processes.map(process => process.about.get('program')))].join(', ');
        document.title = `${report.title || names || 'report'} - prof`;
        $('title').textContent = report.title || names;
        this.facts();
        const lines = warnings(report);
        $('warnings').hidden = !lines.length;
        $('warnings').replaceChildren(el('strong', {}, lines.length === 1 ? 'Note: ' : `${lines.length} notes: `), lines[0] || '',
            lines.length > 1 ? el('details', {}, el('summary', {}, `${lines.length - 1} more`), ...lines.slice(1).map(line => el('p', {}, line))) : '');
        for (const { from, to } of report.windows.slice(0, 1)) $('warnings').append(' ', el('button', { onclick: () => this.setView(from, to) }, 'Show this window'));
        $('frames').hidden = !this.series;
    }

    facts() {
        const { report } = this, tracks = report.tracks.filter(track => track.levels.length).length;
        const many = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`, scopes = report.all ? report.all.reduce((sum, row) => sum + row.calls, 0) : report.scopes;
        $('facts').textContent = `${ns(report.to - report.from)}, ${many(scopes, 'scope')} on ${many(tracks, 'track')}`;
    }

    theme(name) {
        root.dataset.theme = name || systemTheme();
        const computed = getComputedStyle(root), get = key => computed.getPropertyValue('--' + key).trim();
        this.style = Object.fromEntries(['bg', 'gutter', 'head', 'group', 'line', 'grid', 'ink', 'faint', 'shade', 'accent', 'onaccent',
            'counter', 'mark', 'warn', 'bad', 'good', 'flow', ...STATE_NAMES].map(key => [key, get(key)]));
        this.dark = root.dataset.theme === 'dark';
        colorLabels(this.report.labels, this.dark);
        this.paint();
    }

    /** Chooses the colours of scopes. A search dims those that it does not find. */
    paint() {
        const rgb = key => /^#(..)(..)(..)$/.exec(this.style[key]).slice(1).map(part => parseInt(part, 16));
        this.colors = { ...nodeColors(this.report, rgb('bg'), this.dim), background: abgr(rgb('bg')), grid: abgr(rgb('grid')), states: STATE_NAMES.map(name => abgr(rgb(name))) };
        this.time.redraw();
    }

    setSeries(i) {
        this.series = this.report.bars[i];
        this.bar = -1;
        this.drawFrames();
    }

    drawFrames(svg) { if (this.series) this.frameBar = drawBars($('frames'), this, svg); }

    frameAt(x) {
        const i = floor((x - GUTTER) / this.frameBar);
        return i >= 0 && i < this.series.start.length ? i : -1;
    }

    /** The lines about a frame or step: its number, its duration, and its thread if several threads have some. */
    barLines(i) {
        const { noun, number, duration, at, tracks } = this.series;
        return [`${noun} ${number[i]}`, ns(duration[i]), ...tracks && tracks.size > 1 ? [`on ${at[i].track.title}`] : []];
    }

    /** Selects the time of a frame or step, and scrolls to its thread. */
    showBar(i) {
        const { start, duration, at, track } = this.series, place = at ? at[i] : { track, depth: 0 };
        this.time.reveal(place.track, place.depth);
        this.zoomTo(start[i], start[i] + duration[i], true);
        this.bar = i;
    }

    // ---- the time that is shown, and the scope that has the focus

    setView(from, to) {
        const { report } = this, all = report.to - report.from, length = max(10, min(to - from, all * 1.1));
        const middle = (from + to) / 2, edge = all * 0.05;
        from = max(report.from - edge, min(middle - length / 2, report.to + edge - length));
        this.time.scale *= (this.view.to - this.view.from) / length; // code that runs before the next drawing needs it
        this.view = { from, to: from + length };
        this.time.redraw();
        if (this.series) this.drawFramesSoon();
        this.share();
    }

    drawFramesSoon() {
        if (this.framesWait) return;
        this.framesWait = requestAnimationFrame(() => {
            this.framesWait = 0;
            this.drawFrames();
        });
    }

    zoom(factor, at = (this.view.from + this.view.to) / 2) {
        const { from, to } = this.view;
        this.setView(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(share) {
        const by = (this.view.to - this.view.from) * share;
        this.setView(this.view.from + by, this.view.to + by);
    }

    /** Shows a range with a margin on both sides. If `select` is true, selects it, too. */
    zoomTo(from, to, select) {
        const margin = max(20, (to - from) * 0.06);
        this.setView(from - margin, to + margin);
        if (select) this.select(from, to);
    }

    /** Selects a range of time, which may have no length. Called without a range, ends the selection. */
    select(from, to) {
        this.selection = to >= from ? { from, to } : null;
        this.bar = -1;
        this.panels.refresh();
        this.changed();
    }

    /** Marks a time, and moves the view there. Zooms in if the view shows more than a twentieth of the recording. */
    goTo(time, track) {
        const length = min(this.view.to - this.view.from, (this.report.to - this.report.from) / 20);
        this.mark = time;
        if (track) this.time.reveal(track, 0);
        this.setView(time - length / 2, time + length / 2);
    }

    /** Gives a scope the focus, and tells screen readers about it. */
    setFocus(scope) {
        this.focus = scope;
        this.bar = -1;
        if (scope) {
            const { label: own, start, duration } = scopeOf(this.report, scope);
            if (!this.counts(scope)) this.label = own;
            this.panels.bucket = null;
            tell(`${own.name}, ${ns(duration)}, at ${moment(start)}, ${scope.track.title}, depth ${scope.depth + 1}`);
            if (this.panels.shown.includes('scope')) this.panels.refresh();
        }
        if (this.panels.shown.includes('why')) this.panels.refresh();
        this.changed();
    }

    /** Opens the panel of a request of a series; without one, of its slowest. */
    openRequest(series, one) {
        this.request = { series, one };
        this.flowAt = -1;
        this.panels.open('request');
    }

    /** Shows the time of a span, and opens its panel, if it is a request. */
    openSpan(span) {
        const { report } = this, { name } = report.labels[span.label], { process } = report.tracks[span.track];
        const series = requestSeries(report).find(each => !each.step && each.process === process && each.name === name), one = series && series.list.find(each => each.start === span.start && each.id === Number(span.id));
        this.zoomTo(span.start, span.start + span.duration, true);
        if (one) this.openRequest(series, one);
    }

    /** Goes to the next end of the request's flows. */
    followFlow() {
        const { flowList } = this;
        if (!flowList || !flowList.length) return;
        const { from, to, fromTrack, toTrack, name } = flowList[(this.flowAt = (this.flowAt + 1) % (2 * flowList.length)) >> 1], end = this.flowAt & 1;
        this.goTo(end ? to : from, end ? toTrack : fromTrack);
        tell(`Flow ${name} ${end ? 'arrives at' : 'leaves'} ${(end ? toTrack : fromTrack).title}`);
    }

    labelOf(scope) { return scopeOf(this.report, scope).label; }

    /** Whether a scope is one of those that the panel "one scope" is about: has its label, or a label that its format made. */
    counts(scope) {
        const label = this.labelOf(scope);
        return this.label !== null && (label === this.label || label.format === this.label);
    }

    /** Zooms to a scope. */
    fit(scope) {
        const { start, end } = scopeOf(this.report, scope);
        this.zoomTo(start, end);
    }

    /** Gives a scope the focus, and scrolls to it. Zooms if it is shorter than 1/60 of the view, or longer than the view. */
    show(scope) {
        const { start, duration } = scopeOf(this.report, scope), length = this.view.to - this.view.from;
        this.setFocus(scope);
        if (duration < length / 60 || duration > length) {
            const wide = max(duration * 8, 100);
            this.setView(start + duration / 2 - wide / 2, start + duration / 2 + wide / 2);
        } else if (start < this.view.from || start + duration > this.view.to) {
            this.setView(start + duration / 2 - length / 2, start + duration / 2 + length / 2);
        }
        this.time.reveal(scope.track, scope.depth);
        this.time.redraw();
    }

    // ---- pictures

    /** Draws the time line, with the bars of the frames above it, as SVG. */
    svg() {
        const time = $('time'), frames = $('frames'), above = this.series ? frames.clientHeight : 0, measure = document.createElement('canvas').getContext('2d');
        const svg = new Svg(time.clientWidth, time.clientHeight + above, measure), { root } = svg;
        svg.fillStyle = this.style.bg;
        svg.fillRect(0, 0, time.clientWidth, time.clientHeight + above);
        if (above) this.drawFrames(svg);
        svg.root = svg.place = svg.add(root, 'g', { transform: `translate(0 ${above})` });
        this.time.draw(svg);
        svg.root = root;
        return svg.text();
    }

    png() {
        const time = $('time'), frames = $('frames'), above = this.series ? frames.height : 0, canvas = el('canvas', { width: time.width, height: time.height + above });
        const ctx = canvas.getContext('2d');
        this.time.draw();
        ctx.fillStyle = this.style.bg;
        ctx.fillRect(0, 0, canvas.width, above);
        if (above) ctx.drawImage(frames, 0, 0);
        ctx.drawImage(time, 0, above);
        return new Promise(done => canvas.toBlob(done));
    }

    listenToPictures() {
        const name = () => document.title.replace(/ - prof$/, '').replace(/[^\w.-]+/g, '_') || 'report', save = (text, what) => download(new Blob([text], { type: 'image/svg+xml' }), `${name()}${what}.svg`);
        const flame = () => document.querySelector('.flame');
        $('picture').onclick = () => {
            $('save-flame').disabled = !flame();
            $('save-page').disabled = !copies.length;
            $('pictures').showModal();
        };
        $('save-png').onclick = async () => download(await this.png(), name() + '.png');
        $('save-svg').onclick = () => save(this.svg(), '');
        $('save-flame').onclick = () => save(flamePicture(flame(), document.createElement('canvas').getContext('2d'), this.style), '-flame');
        $('save-page').onclick = () => download(this.copyOfPage(), name() + '.html');
        $('copy-address').onclick = event => copy(event.target, location.href);
    }

    // ---- from scope to scope

    step(direction) {
        const { focus } = this;
        if (!focus) return this.first();
        const { track, depth, i } = focus, level = track.levels[depth], last = depth + 1 < track.levels.length ? track.levels[depth + 1] : null;
        if (direction === 'ArrowRight' && i + 1 < level.count) this.show({ track, depth, i: i + 1 });
        if (direction === 'ArrowLeft' && i > 0) this.show({ track, depth, i: i - 1 });
        if (direction === 'ArrowUp' && depth > 0) {
            const up = scopeAt(track.levels[depth - 1], level.start[i]);
            if (up >= 0) this.show({ track, depth: depth - 1, i: up });
        }
        if (direction === 'ArrowDown' && last) {
            const child = firstIndex(last.count, k => last.start[k] >= level.start[i]);
            if (child < last.count && last.start[child] < level.endOf(i)) this.show({ track, depth: depth + 1, i: child });
        }
    }

    first() {
        const track = this.report.tracks.find(each => each.levels.length);
        if (!track) return;
        const level = track.levels[0], i = min(level.count - 1, firstIndex(level.count, k => level.start[k] >= this.view.from));
        this.setFocus({ track, depth: 0, i });
    }

    /** Goes to the next or the previous call of the scope on its track. */
    sameName(step) {
        const { focus, report } = this;
        if (!focus) return this.first();
        const own = this.labelOf(focus), wanted = this.counts(focus) ? this.label : own, mine = report.labels.map(label => label === wanted || label.format === wanted), { track } = focus, now = track.levels[focus.depth].start[focus.i];
        let best = null;
        track.levels.forEach((level, depth) => {
            for (let i = depth === focus.depth ? focus.i + step : step > 0 ? firstIndex(level.count, k => level.start[k] > now) : firstIndex(level.count, k => level.start[k] >= now) - 1;
                i >= 0 && i < level.count; i += step) {
                if (!mine[report.nodes.label[level.node[i]]]) continue;
                if (!best || (level.start[i] - best.start) * step < 0) best = { track, depth, i, start: level.start[i] };
                break;
            }
        });
        if (best) this.show(best);
    }

    // ---- search

    search(text) {
        const query = parseQuery(text);
        this.query = query.empty ? '' : text.trim();
        const byLabel = query.names.length + query.categories.length > 0;
        this.dim = byLabel ? label => !labelMatches(query, label) : null;
        this.least = query.least;
        this.hits = query.empty ? [] : findScopes(this.report, query);
        this.others = findOthers(this.report, query);
        const { values, threads, spans, messages, counters } = this.others;
        this.found = new Set([...threads, ...spans, ...counters]);
        $('hits').textContent = query.empty ? '' : `${grouped(this.hits.length)}${this.hits.more ? '+' : ''}${this.hits.length || !query.names.length ? '' : ` + ${grouped(values.length + this.found.size + messages.length)}`}`;
        this.hit = -1;
        this.paint();
        if (!query.empty && (this.panels.tab !== 'scopes' || !this.hits.length)) this.panels.open('found'); else this.panels.refresh();
        if (query.empty && this.panels.tab === 'found') this.panels.open('scopes');
        this.share();
    }

    nextHit(step) {
        const all = this.hits.length ? this.hits : this.others ? this.others.values : [];
        if (!all.length) return;
        this.hit = (this.hit + step + all.length) % all.length;
        this.show(all[this.hit]);
    }

    // ---- the address of the page, which says what the page shows

    changed() {
        this.time.redraw();
        this.share();
    }

    share() {
        clearTimeout(this.shareTimer);
        this.shareTimer = setTimeout(() => this.write(), 250);
    }

    /** Writes the address. A change after a second is a new entry of the browser's history, so that Back undoes it. */
    write() {
        const { view, selection, focus, bar, series, report, panels } = this, range = ({ from, to }) => `${round(from)}-${round(to)}`, parts = range(view) === range(report) ? [] : ['v=' + range(view)];
        if (selection) parts.push('s=' + range(selection));
        if (focus) parts.push(`f=${focus.track.id}.${focus.depth}.${focus.i}`);
        if (bar >= 0 && series === report.bars[0]) parts.push('b=' + bar);
        if (this.query) parts.push('q=' + encodeURIComponent(this.query));
        if (this.order) parts.push('o=' + this.order);
        if (this.flows !== this.fewFlows) parts.push('x=' + Number(this.flows));
        if (this.label) parts.push('l=' + this.label.id);
        if (this.pinned.size) parts.push('p=' + [...this.pinned].map(encodeURIComponent).join());
        if (this.foldedText() !== this.folded) parts.push('c=' + this.foldedText());
        if (panels.only !== undefined) parts.push('k=' + panels.only);
        if (panels.tab !== panels.first) parts.push('t=' + panels.tab);
        if (this.notesText() !== savedNotes) parts.push('n=' + this.notesText());
        this.fragment = parts.length ? '#' + parts.join('&') : '';
        const now = performance.now(), replaces = this.returning || now - this.pushed < 1000 || report.processes[0]?.live;
        this.returning = false;
        if (this.fragment === location.hash) return;
        try { history[replaces ? 'replaceState' : 'pushState'](null, '', this.fragment || location.pathname + location.search); } catch { /* the browser does not allow it */ }
        if (!replaces) this.pushed = now;
    }

    /** The keys of the rows that are folded, for the address. */
    foldedText() { return [...this.closed].map(encodeURIComponent).join(); }

    readFragment() {
        const parts = Object.fromEntries(location.hash.slice(1).split('&').map(part => part.split('=')).filter(pair => pair.length === 2));
        const range = text => {
            const match = /^(-?\d+)-(\d+)$/.exec(text || '');
            return match && Number(match[2]) >= Number(match[1]) ? [Number(match[1]), Number(match[2])] : null;
        };
        const view = range(parts.v), selection = range(parts.s), focus = /^(\d+)\.(\d+)\.(\d+)$/.exec(parts.f || '');
        const [track, depth, i] = focus ? focus.slice(1).map(Number) : [], { report, panels } = this, level = report.tracks[track] && report.tracks[track].levels[depth], list = text => (text || '').split(',').filter(Boolean).map(decoded);
        this.returning = true;
        if (level && i < level.count) this.setFocus({ track: report.tracks[track], depth, i });
        else if (this.focus) this.setFocus(null);
        if (decoded(parts.q || '') !== this.query) this.search($('search').value = decoded(parts.q || ''));
        this.order = /^(name|busy)$/.test(parts.o) ? parts.o : '';
        this.flows = /^[01]$/.test(parts.x) ? parts.x === '1' : this.fewFlows;
        this.label = report.labels[Number(parts.l)] || this.label;
        this.pinned = new Set(list(parts.p));
        this.closed = new Set(list(parts.c === undefined ? this.folded : parts.c));
        this.readNotes(parts.n === undefined ? savedNotes : parts.n);
        if (report.tracks[Number(parts.k)]) panels.only = Number(parts.k);
        if (panels.tab !== (parts.t || panels.first)) panels.open(parts.t || panels.first);
        if (selection || this.selection) this.select(...selection || []);
        if (/^\d+$/.test(parts.b) && this.series && parts.b < this.series.start.length) this.bar = Number(parts.b);
        this.setView(...view && view[1] > view[0] ? view : [report.from, report.to]);
    }

    // ---- notes

    notesText() { return this.notes.map(({ from, to, text }) => `${round(from)}-${round(to)}-${encodeURIComponent(text)}`).join(); }

    readNotes(text) {
        this.notes = [...text.matchAll(/(-?\d+)-(-?\d+)-([^,]*)/g)].map(([, from, to, words]) => ({ from: Number(from), to: Number(to), text: decoded(words) }));
    }

    /** Asks for the text of a note: of one that is there, or of a new one at the selection, the scope, or the middle of the view. */
    writeNote(note) {
        const { selection, focus, view, report } = this, middle = (view.from + view.to) / 2, { from, to, text = '' } = note || selection || (focus ? { from: scopeOf(report, focus).start, to: scopeOf(report, focus).end } : { from: middle, to: middle });
        $('note-at').textContent = `Note at ${moment(from)}`;
        $('note-text').value = text;
        $('noting').returnValue = '';
        $('noting').onclose = () => {
            const what = $('noting').returnValue;
            if (!what) return;
            this.notes = this.notes.filter(each => each !== note);
            if (what === 'Keep' && $('note-text').value) this.notes.push({ from, to, text: $('note-text').value });
            this.changed();
        };
        $('noting').showModal();
    }

    /** The page as a file, with its notes. */
    copyOfPage() {
        const tag = 'script'; // the whole tag would end this one
        return new Blob([head.replace('<html', `<html data-notes="${this.notesText()}"`), ...copies.map(text => `<${tag} type="application/octet-stream">${text}</${tag}>\n`)]);
    }

    // ---- input

    listen() {
        const canvas = $('time');
        new ResizeObserver(() => { this.time.redraw(); this.drawFrames(); }).observe(document.querySelector('main'));
        canvas.onwheel = event => this.wheel(event);
        let pinched = 1;
        for (const name of ['gesturestart', 'gesturechange']) canvas.addEventListener(name, event => { // a pinch on a trackpad: Safari's event; other browsers send wheel events
            event.preventDefault();
            if (name === 'gesturechange') this.zoom(pinched / event.scale, this.time.time(max(GUTTER, event.clientX)));
            pinched = event.scale;
        });
        canvas.onpointerdown = event => this.press(event);
        canvas.onpointermove = event => this.hover(event);
        canvas.ondblclick = event => {
            const { scope, span } = this.time.at(event.offsetX, event.offsetY);
            if (scope) this.fit(scope);
            else if (span) this.zoomTo(span.start, span.start + span.duration);
        };
        const frames = $('frames');
        frames.onpointermove = event => {
            const i = this.frameAt(event.offsetX);
            if (i < 0) hideTip(); else this.tip(event, this.barLines(i));
        };
        canvas.onpointerleave = frames.onpointerleave = hideTip;
        frames.onclick = event => {
            const i = this.frameAt(event.offsetX);
            if (i >= 0) this.showBar(i);
        };
        frames.onkeydown = event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            event.stopPropagation();
            const { start, duration } = this.series, { selection } = this, chosen = selection ? start.findIndex((at, k) => at === selection.from && at + duration[k] === selection.to) : -1;
            const now = chosen < 0 ? barAt(this.series, (this.view.from + this.view.to) / 2) : chosen, i = max(0, min(start.length - 1, now < 0 ? 0 : now + step));
            this.showBar(i);
            tell(this.barLines(i).join(', '));
        };
        $('search').oninput = () => { clearTimeout(this.searchTimer); this.searchTimer = setTimeout(() => this.search($('search').value), 150); };
        $('search').onkeydown = event => {
            if (event.key === 'Enter') this.nextHit(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') { $('search').value = ''; this.search(''); canvas.focus(); }
            event.stopPropagation();
        };
        const recolor = name => {
            this.theme(name);
            this.panels.render();
            this.drawFrames();
        };
        $('theme').onclick = () => {
            const next = this.dark ? 'light' : 'dark';
            kept.set('theme', next);
            recolor(next);
        };
        $('order').onclick = () => this.nextOrder();
        $('groups').onclick = () => this.toggleGroups();
        $('pin').onclick = () => this.toggle(this.pinned);
        $('flows').onclick = () => this.allFlows();
        $('note').onclick = () => this.writeNote();
        $('help').onclick = () => $('keys').showModal();
        $('wheel').checked = this.wheelZooms;
        $('wheel').onchange = () => { this.wheelZooms = $('wheel').checked; kept.set('wheel', this.wheelZooms ? 'zoom' : 'scroll'); };
        this.listenToBar();
        this.listenToFiles();
        this.listenToPictures();
        onbeforeprint = () => { recolor('light'); this.time.draw(); };
        onafterprint = () => recolor(kept.get('theme'));
        matchMedia('(min-width: 1700px)').onchange = () => this.panels.render();
        matchMedia('(prefers-color-scheme: dark)').onchange = () => { if (!kept.get('theme')) recolor(null); };
        onhashchange = () => { if (location.hash !== this.fragment) this.readFragment(); };
        document.onkeydown = event => this.key(event);
    }

    /** Handles the bar between time line and panel, which the pointer and the arrow keys move. */
    listenToBar() {
        const bar = $('bar'), lower = $('lower');
        const resize = height => {
            const most = document.body.clientHeight - 180;
            lower.style.height = `${max(60, min(most, height))}px`;
        };
        bar.onpointerdown = event => {
            bar.setPointerCapture(event.pointerId);
            const from = event.clientY, height = lower.clientHeight;
            bar.onpointermove = move => resize(height + from - move.clientY);
            bar.onpointerup = () => { bar.onpointermove = null; };
        };
        bar.onkeydown = event => {
            const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
            if (!step) return;
            event.stopPropagation();
            event.preventDefault();
            resize(lower.clientHeight + step);
        };
    }

    wheel(event) {
        event.preventDefault();
        const line = event.deltaMode === 1 ? 18 : 1, dy = event.deltaY * line, dx = event.deltaX * line;
        const zooms = event.ctrlKey || event.metaKey ? !this.wheelZooms || event.ctrlKey : this.wheelZooms && !event.shiftKey;
        if (zooms) {
            this.zoom(Math.exp(max(-60, min(60, dy)) * 0.008), this.time.time(max(GUTTER, event.offsetX)));
        } else if (event.shiftKey || abs(dx) > abs(dy)) {
            this.pan((abs(dx) > abs(dy) ? dx : dy) / (event.target.clientWidth - GUTTER));
        } else {
            this.time.scroll += dy;
            this.time.redraw();
        }
    }

    press(event) {
        const canvas = $('time'), x = event.offsetX, y = event.offsetY, place = this.time.at(x, y);
        canvas.focus();
        if ((event.button !== 0 && event.button !== 1) || event.ctrlKey) return; // on a Mac, a click with Control opens a menu
        if (place.area === 'gutter') return this.pressGutter(place);
        if (place.area === 'fold') {
            foldGutter();
            this.drawFrames();
            return this.time.redraw();
        }
        const began = { view: { ...this.view }, scroll: this.time.scroll, time: this.time.time(x) }, pan = event.shiftKey || event.button === 1;
        let moved = false;
        canvas.setPointerCapture(event.pointerId);
        hideTip();
        const drags = /bar|map/.test(place.area) && (to => this.time.drag(place.area, to.offsetX, to.offsetY));
        if (drags) drags(event);
        canvas.onpointermove = drags || (move => {
            if (!moved && Math.hypot(move.offsetX - x, move.offsetY - y) < 4) return;
            moved = true;
            if (pan) {
                const by = (x - move.offsetX) / this.time.scale;
                this.time.scroll = began.scroll + y - move.offsetY;
                this.setView(began.view.from + by, began.view.to + by);
            } else {
                const now = this.time.time(max(GUTTER, move.offsetX));
                if (now !== began.time) this.select(min(now, began.time), max(now, began.time));
            }
        });
        canvas.onpointerup = () => {
            canvas.onpointermove = hover => this.hover(hover);
            canvas.onpointerup = null;
            if (!moved && !drags) this.click(place);
        };
    }

    pressGutter({ row, pin }) {
        const set = pin ? this.pinned : this.closed;
        if (!pin && !row.fold) return;
        if (set.has(row.key)) set.delete(row.key); else set.add(row.key);
        this.changed();
    }

    /** Puts the row of the focused scope into a set, or takes it out. @param {Set<string>} set closed or pinned */
    toggle(set) {
        const place = this.focus && this.time.placeOf(this.focus.track);
        if (!place) {
            if (set === this.pinned) set.clear();
            return this.changed();
        }
        const { key, title } = place.row, on = !set.delete(key);
        if (on) set.add(key);
        tell(`${title}: ${set === this.pinned ? on ? 'pinned' : 'no longer pinned' : on ? 'folded' : 'unfolded'}`);
        this.changed();
    }

    /** Unfolds all groups of rows. If all are unfolded, folds them. */
    toggleGroups() {
        const keys = this.time.rows().filter(row => row.kind === 'group').map(row => row.key), open = keys.some(key => this.closed.has(key));
        for (const key of keys) if (open) this.closed.delete(key); else this.closed.add(key);
        tell(`Groups of rows: ${open ? 'un' : ''}folded`);
        this.changed();
    }

    nextOrder() {
        const ids = Object.keys(ORDERS);
        this.order = ids[(ids.indexOf(this.order) + 1) % ids.length];
        tell(`Rows: ${ORDERS[this.order]}`);
        this.changed();
    }

    allFlows() {
        this.flows = !this.flows;
        this.changed();
    }

    /** Shows on the button whether all flows are drawn, and how many are left out. */
    sayFlows(text) {
        const button = $('flows');
        if (button.textContent !== text) button.textContent = text;
        button.setAttribute('aria-pressed', this.flows);
        button.title = `X: arrows of ${this.flows ? 'all' : 'the selection'}`;
    }

    click({ area, scope, mark, span, hold, note, time }) {
        if (note) return this.writeNote(note);
        if (scope) {
            this.setFocus(scope);
            if (!/^(scope|why)$/.test(this.panels.tab)) this.panels.open('scope');
        } else if (mark) {
            this.goTo(mark.time);
        } else if (span || hold) {
            this.select((span || hold).start, (span || hold).start + (span || hold).duration);
            if (hold) this.time.reveal(hold.track, 0);
            if (span && this.panels.shown.includes('request')) this.openSpan(span);
        } else if (area === 'ruler') {
            this.mark = time === undefined ? null : time;
        } else {
            this.setFocus(null);
            if (this.selection) this.select();
        }
    }

    hover(event) {
        const lines = this.describe(this.time.at(event.offsetX, event.offsetY));
        if (lines) this.tip(event, lines); else hideTip();
    }

    /** The lines of the tip for what is under the pointer. @returns {string[] | null} */
    describe({ area, row, scope, state, mark, span, hold, sample, note, pin }) {
        const { report } = this;
        if (note) return [note.text, ns(note.to - note.from), `at ${moment(note.from)}`];
        if (area === 'gutter') return pin ? ['Pin this row to the top'] : row.track ? row.tracks.slice(0, 12).flatMap(track => [track.title, `thread ${track.thread}`]) : null;
        if (scope) {
            const all = scopeOf(report, scope), { label } = all;
            return [label.name, ns(all.duration), `at ${moment(all.start)}`, [label.category, where(label)].filter(Boolean).join(' \u00b7 '), statesText(report, [all]), row.tracks[1] && `on ${scope.track.title}`,
                ...all.args.slice(0, 12).map(([k, v]) => `${k} = ${shown(v)}`), truncatedText(all.flags)];
        }
        if (state) return this.stateLines(state);
        if (mark) return [mark.text || mark.label.name, `at ${moment(mark.time)}`, where(mark.label)];
        if (span) return [report.labels[span.label].name, ns(span.duration), `at ${moment(span.start)}`, `id 0x${span.id.toString(16)}`, ...span.args.slice(0, 12).map(([k, v]) => `${k} = ${shown(v)}`)];
        if (hold) return [row.title, `held for ${ns(hold.duration)}`, `by ${hold.track.title}`, hold.waiters.length ? `${hold.waiters.length} waited: ${[...new Set(hold.waiters.map(track => track.title))].slice(0, 8).join(', ')}` : ''];
        if (sample) return [row.title, measured(sample.value, row.series.unit), `at ${moment(sample.time)}`];
        return null;
    }

    /** The lines of the tip for a state of a thread. */
    stateLines({ track, i }) {
        const { start, kind, processor } = track.system, from = start[i], to = start[i + 1], what = kind[i];
        return [STATE_NAMES[what] + (what === RUNNING && processor[i] ? ` on processor ${processor[i] - 1}` : ''), ns(to - from), `at ${moment(from)}`, ...what === WAITING ? waitLines(this.report, track, from, to) : []];
    }

    tip(event, lines) {
        const tip = $('tip'), [title, second, ...more] = lines;
        tip.replaceChildren(el('b', {}, title), el('span', {}, second || ''), ...more.filter(Boolean).map(line => el('div', {}, line)));
        tip.hidden = false;
        const box = tip.getBoundingClientRect();
        tip.style.left = `${max(4, min(event.clientX + 14, innerWidth - box.width - 6))}px`;
        tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
        if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
        const inPanel = event.target.closest('#lower, button, summary'), { view, selection } = this;
        const whole = () => this.setView(this.report.from, this.report.to), actions = {
            w: () => this.zoom(0.8), s: () => this.zoom(1.25), a: () => this.pan(-0.12), d: () => this.pan(0.12),
            f: () => {
                if (selection) this.zoomTo(selection.from, selection.to);
                else if (this.focus) this.fit(this.focus);
            },
            0: whole, Home: whole,
            m: () => {
                if (!this.focus) return this.select(view.from, view.to);
                const { start, end } = scopeOf(this.report, this.focus);
                this.select(start, end);
            },
            '/': () => $('search').focus(), '?': () => $('keys').showModal(), '[': () => this.sameName(-1), ']': () => this.sameName(1),
            c: () => this.toggle(this.closed), o: () => this.toggle(this.pinned), t: () => this.nextOrder(), g: () => this.toggleGroups(), p: () => $('picture').click(), y: () => this.panels.open('why'), r: () => this.panels.open('request'), l: () => this.followFlow(), b: () => this.writeNote(), x: () => this.allFlows(),
            n: () => this.nextHit(1), N: () => this.nextHit(-1),
            Escape: () => { if (this.selection) this.select(); else this.setFocus(null); },
            Enter: () => { if (this.focus) this.panels.open('scope'); }
        };
        for (const arrow of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) actions[arrow] = () => this.step(arrow);
        const action = actions[event.key] || actions[event.key.toLowerCase()];
        if (!action || (inPanel && /^(Arrow|Enter|Home)/.test(event.key))) return;
        event.preventDefault();
        action();
    }
}

/** The page before its data, the data, and the notes that were saved with it: for a copy with other notes. */
let head = '', copies = [], size = 0, savedNotes = '';

/** Yields the pieces of the report while the rest of the page is still loading. Removes each piece from the page. */
async function* pieces() {
    for (;;) {
        const all = document.readyState !== 'loading', piece = document.querySelector('script[type="application/octet-stream"]');
        if (piece && (all || piece.nextSibling)) { // an element with a successor has been loaded whole
            piece.remove();
            const { textContent } = piece;
            if (size < 1e8) copies.push(textContent);
            if ((size += textContent.length) >= 1e8) copies = []; // such a page is not saved anew
            yield textContent;
        } else if (all) return;
        else await new Promise(done => setTimeout(done, 4));
    }
}

async function start() {
    savedNotes = root.dataset.notes || '';
    delete root.dataset.notes;
    head = `<!doctype html>\n${root.outerHTML.replace(/<\/body>[^]*$/, '')}`;
    root.dataset.theme = kept.get('theme') || systemTheme(); // before any data are read, so that the page does not flash
    try {
        if (!globalThis.DecompressionStream) throw new Error('This browser is too old: it needs Chrome 103, Firefox 113 or Safari 16.4.');
        const app = new App(finish(await readReport(pieces())));
        $('loading').hidden = true;
        app.time.draw();
        root.dataset.ready = String(round(performance.now()));
        globalThis.prof = app; // for the console, for live.js, and for tests
    } catch (error) {
        $('loading').textContent = `This report cannot be shown. ${error.message}`;
        root.dataset.ready = 'failed';
        throw error;
    }
}

if (root) start();
else onmessage = async ({ data }) => { // this is a worker thread: see unpacker()
    const made = await unpack(data);
    postMessage(made, made.blocks.map(({ bytes }) => bytes.buffer));
};
