// The panels below the time line: tables, the flame graph, and one scope.

import { firstIndex, touches } from './columns.js';
import { statsSteps, percentile, callsOf, flameTree, statesIn, byFormat } from './stats.js';
import { cost, scopesOf, truncatedText, objectsIn, scopeOf, frameAround, stepAround } from './model.js';
import { css } from './theme.js';
import { $, el, select, table, tools, words, links, times, moments, counts, sizes, by } from './dom.js';
import { Comparison } from './comparison.js';
import { RUNNING } from './states.js';
import { usualSteps, whyPanel } from './why.js';
import { balanceGroups, balanceSteps, balancePanel } from './balance.js';
import { endings, endPanel } from './ending.js';
import { requestPanel, requestSeries } from './request.js';
import { flameBox, along, zoomed, levelsOf } from './flame.js';
import { ceil, floor, max, min, ns, moment, grouped, shown, measured, where } from './text.js';

const PLACE = words('where', row => where(row.label));
const SEVERITIES = ['debug', 'info', 'warning', 'error', 'fatal'];
const severityOf = message => message.severity < 0 ? 'mark' : SEVERITIES[message.severity] || String(message.severity);

/** Returns the number of a frame or step for sorting. It may be a BigInt, or missing. */
const numberOf = number => number === '' ? -Infinity : Number(number);

const argsText = args => args.map(([key, v]) => `${key}=${shown(v)}`).join(', ');

/** Panels of details, which a wide screen shows beside another one. */
const SIDES = /^(flame|scope|why|request|difference)$/, WIDE = globalThis.matchMedia && matchMedia('(min-width: 1700px)');

export class Panels {
    /** @param {object} app see app.js @param {HTMLElement} tabs @param {HTMLElement} body */
    constructor(app, tabs, body) {
        this.app = app;
        this.tabs = tabs;
        this.body = body;
        this.step = 5e5; // how many scopes count() counts in one call
        this.bottomUp = false;
        const { report } = app, spans = report.spans.length > 0;
        this.comparison = report.processes.length > 1 ? new Comparison(this) : null;
        const ended = endings(report).length > 0;
        this.tab = this.first = ended ? 'end' : 'scopes'; // first: the tab that the page opens on
        this.list = [
            ended ? ['end', 'At the end', () => endPanel(this)] : null,
            ['scopes', 'Scopes', () => this.scopes()],
            ['flame', 'Flame graph', () => this.flame()],
            ['scope', 'One scope', () => this.scope()],
            ['why', 'Why', () => whyPanel(this)],
            requestSeries(report).length ? ['request', 'Request', () => requestPanel(this)] : null,
            balanceGroups(report).length ? ['balance', balanceGroups(report)[0][0], () => balancePanel(this)] : null,
            ['found', 'Found', () => this.found()],
            this.comparison ? ['compare', 'Compare', () => this.comparison.table()] : null,
            this.comparison ? ['difference', 'Flame graph of differences', () => this.comparison.flame()] : null,
            report.bars.length ? ['frames', report.frames.length ? 'Frames' : 'Steps', () => this.frames()] : null,
            report.messages.length ? ['messages', `Messages (${grouped(report.messages.length)})`, () => this.messages()] : null,
            spans ? ['spans', 'Spans', () => this.spans()] : null,
            report.counters.length ? ['counters', 'Counters', () => this.counters()] : null,
            report.processes.some(p => p.memory) ? ['memory', 'Memory', () => this.memory()] : null,
            report.processes.some(p => p.locks) ? ['locks', 'Locks', () => this.locks()] : null,
            ['about', 'Recording', () => this.about()]
        ].filter(Boolean);
        tabs.replaceChildren(...this.list.map(([id, title]) => el('button', { role: 'tab', id: 'tab-' + id, 'aria-controls': 'panel',
            onclick: () => this.open(id), onkeydown: event => this.turn(event) }, title)));
    }

    /** Ends these panels, which others replace. */
    close() {
        clearTimeout(this.timer);
        if (this.comparison) this.comparison.kept = null;
    }

    /** Moves from tab to tab with the arrow keys. */
    turn(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const i = this.list.findIndex(([id]) => id === this.tab), [id] = this.list[(i + step + this.list.length) % this.list.length];
        event.stopPropagation();
        this.open(id);
        $('tab-' + id).focus();
    }

    open(id) {
        this.tab = this.list.some(([each]) => each === id) ? id : 'scopes';
        this.render();
        this.app.share();
    }

    /** Draws the tab again after a short wait. */
    refresh(wait = 60) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.render(), wait);
    }

    render() {
        for (const [id] of this.list) {
            const tab = $('tab-' + id), on = id === this.tab;
            tab.setAttribute('aria-selected', String(on));
            tab.classList.toggle('shown', this.shown.includes(id));
            tab.tabIndex = on ? 0 : -1;
        }
        this.body.setAttribute('aria-labelledby', 'tab-' + this.tab);
        const content = id => /^(scopes?|flame)$/.test(id) && !this.count() ? this.coming() : this.list.find(([each]) => each === id)[2]() || this.coming();
        const parts = this.shown.map(id => content(id)), [first] = parts, wide = parts.length > 1;
        this.body.classList.toggle('two', wide);
        if (wide) this.body.replaceChildren(...parts.map(part => el('div.half', {}, ...[part].flat())));
        else if (first !== this.body.firstChild) this.body.replaceChildren(...[first].flat());
    }

    /** The panels that are shown: on a wide screen two, one of them about details. */
    get shown() {
        if (SIDES.test(this.tab)) this.right = this.tab; else this.left = this.tab;
        return WIDE && WIDE.matches ? [this.left || this.first, this.right || 'flame'] : [this.tab];
    }

    /** Returns a note that stands in for the statistics until they are there. */
    coming() {
        this.refresh(1);
        return this.soon = this.soon && !this.body.matches('.two') ? this.soon : el('p.note', { role: 'status' }, 'Statistics are coming\u2026'); // one element, so that a screen reader reads it once
    }

    /** Statistics of the selection or of everything, kept until the selection changes. rows: of scopes. names: one for each name that a format has made. */
    stats() {
        while (!this.count());
        return this.kept;
    }

    /** Counts some scopes, for less time than a frame takes. Returns the statistics; null if scopes are left to count. */
    count() {
        const { selection, report } = this.app, { from, to } = selection || report, key = [from, to, this.only].join();
        if (this.key !== key) {
            this.key = key;
            this.kept = null;
            this.steps = statsSteps(report, from, to, this.only === undefined ? null : this.ofTrack());
        }
        const value = this.kept ? null : someSteps(this.steps, this.step);
        if (value) this.kept = { ...value, names: value.rows, rows: byFormat(value.rows) };
        return this.kept;
    }

    /** How long the scopes of a process take as a rule, by name. Undefined: some are left to count. */
    usual(process) {
        if (!this.usually || this.usually.process !== process) this.usually = { process, steps: usualSteps(this.app.report, process) };
        return this.usually.names = this.usually.names || someSteps(this.usually.steps, this.step / 4); // each takes some four times as long as in count()
    }

    /** Each scope in each of some groups of tracks. Undefined: some are left to count. */
    balance(title, from, to, groups, all) {
        const key = [title, from, to].join();
        if (!this.balanced || this.balanced.key !== key) this.balanced = { key, steps: balanceSteps(this.app.report, from, to, groups, all) };
        return this.balanced.rows = this.balanced.rows || someSteps(this.balanced.steps, this.step);
    }

    /** Returns a function that says whether a track counts. All do, unless one is chosen. */
    ofTrack() { return track => this.only === undefined || track.id === this.only; }

    /** A list to choose a track from. Null if there is only one track. */
    chooser() {
        const tracks = this.app.report.tracks.filter(track => track.levels.length).slice(0, 500);
        return tracks.length < 2 ? null : select('Scopes of which track', [['', 'all tracks'], ...tracks.map(({ id, full }) => [id, full])], this.only, id => {
            this.only = id === '' ? undefined : Number(id);
            this.path = [];
            this.render();
            this.app.share();
        });
    }

    rangeText() {
        const { selection, report } = this.app;
        return selection ? `${ns(selection.to - selection.from)} selected, from ${moment(selection.from)} on` : `the whole recording, ${ns(report.to - report.from)}`;
    }

    scopes() {
        const stats = this.stats(), span = stats.to - stats.from;
        const { dim } = this.app, found = row => !dim || !dim(row.label), rows = stats.rows.filter(row => found(row) || (row.inner && row.inner.some(found)));
        const ran = rows.some(row => row.states) ? [times('running', row => row.states ? row.states[RUNNING] : NaN, 'of the total, threads ran; else they were ready, or waited')] : [];
        const chooser = this.chooser();
        return [chooser ? tools(chooser) : '', table([
            words('scope', row => row.label.name),
            counts('calls', row => row.calls),
            times('total', row => row.known ? row.total : NaN, 'without calls that are cut'),
            ...ran,
            by('self', row => row.self, row => row.known ? this.bar(row.self, stats) : '-'),
            { title: '% of range', get: row => row.share, show: row => row.known && span ? (100 * row.share).toFixed(1) : '-',
                note: 'of a thread whose older events were overwritten, of the time since then; threads add up' },
            ...rows.some(row => row.threads > 1) ? [counts('threads', row => row.threads)] : [],
            times('mean', row => row.sum / row.known),
            times('min', row => row.min),
            ...[50, 90, 99].map(n => times('p' + n, row => percentile(row, n / 100), 'percentiles are exact to 2 %; click a scope for exact ones')),
            by('max', row => row.max, row => ns(row.whole ? row.max : NaN)),
            words('category', row => row.label.category),
            PLACE
        ], rows, { caption: `${rows.length ? 'S' : 'No s'}copes: ${this.rangeText()}`, sort: 3 + ran.length, memory: 'scopes',
            onpick: row => this.pick(row.label), picked: row => this.app.label === row.label,
            inner: row => row.inner && row.inner.filter(found), open: Boolean(dim) })];
    }

    /** A time with a bar that shows its share. */
    bar(self, stats) {
        const most = stats.most = stats.most || stats.rows.reduce((most, row) => max(most, row.self), 1);
        return el('span.bar', {}, el('i', { style: { width: `${max(0, 60 * self / most)}px` } }), ns(self));
    }

    pick(label) {
        this.app.label = label;
        this.bucket = null;
        this.open('scope');
    }

    // ---- flame graph

    flame() {
        const tree = flameTree(this.app.report, this.stats(), this.bottomUp, levelsOf(this.path)), { labels } = this.app.report;
        const root = along(tree, this.path, 'label', node => node.total), share = time => `${ns(time)}, ${(100 * time / tree.total || 0).toFixed(1)} %`;
        const box = flameBox('Flame graph', root, node => node.total, node => {
            const label = labels[node.label];
            const text = `${label.name}: ${share(node.total)}, self ${ns(max(0, node.self))}, ${grouped(node.calls)} calls`;
            return { name: label.name, text, style: { background: css(label.rgb), color: label.ink }, onclick: () => this.zoomFlame(node), ondblclick: () => this.pick(label) };
        }, { text: share, zoom: node => this.zoomFlame(node) });
        const mode = (on, title) => el('button', { 'aria-pressed': String(this.bottomUp === on), onclick: () => {
            this.bottomUp = on;
            this.path = [];
            this.render();
        } }, title);
        return [tools(this.chooser(), mode(false, 'From the top'), mode(true, 'From the bottom'),
            el('button', { disabled: !(this.path && this.path.length), onclick: () => { this.path = []; this.render(); } }, 'Zoom out'),
            el('span.note', {}, `${this.rangeText()}; ${this.bottomUp ? 'by self time, callers below' : 'calls below their callers'}; click zooms, double click opens the scope`)),
        el('div.scroll', { tabindex: 0 }, box)];
    }

    zoomFlame(node) {
        this.path = zoomed(node, this.path, 'label');
        this.render();
    }

    // ---- one scope

    scope() {
        const { app } = this, { label, report, selection } = app;
        if (!label) return el('p.note', {}, 'Click a scope in the time line or a name in a table.');
        const stats = this.stats(), calls = callsOf(report, label.id, stats.from, stats.to, this.ofTrack());
        const whole = calls.filter(call => !call.track.levels[call.depth].flags.has(call.i));
        const durations = Float64Array.from(whole, call => call.duration).sort();
        const row = [...stats.rows, ...stats.names].find(each => each.id === label.id), inner = row && row.inner, every = stats.every && row;
        const at = share => every ? percentile(row, share) : durations.length ? durations[max(0, ceil(share * durations.length) - 1)] : NaN;
        const { known, total, self } = row && row.known ? row : { known: 0, total: NaN, self: NaN }, count = every ? row.calls : calls.length;
        const facts = label.group ? [['groups', grouped(calls.length)]] : [['calls', grouped(count)], ['total', ns(total)], ['self', ns(self)], ['mean', ns(total / known)],
            ['min', ns(at(0))], ['p50', ns(at(0.5))], ['p90', ns(at(0.9))], ['p99', ns(at(0.99))], ['p99.9', ns(at(0.999))], ['max', ns(at(1))]];
        const states = statesText(report, calls), one = app.focus && app.counts(app.focus) && statesIn(report, [scopeOf(report, app.focus)]);
        const chosen = this.bucket ? whole.filter(call => call.duration >= this.bucket[0] && call.duration < this.bucket[1]) : calls;
        const left = el('div.side', {}, el('h2', {}, el('i.swatch', { style: { background: css(label.rgb) } }), label.name),
            el('p.note', {}, [label.category, label.function, where(label)].filter(Boolean).join(' \u00b7 ') || '\u00a0'),
            el('dl', {}, ...facts.flatMap(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])),
            label.format && tools(el('button', { onclick: () => this.pick(label.format) }, `All of ${label.format.name}`)),
            app.focus && app.counts(app.focus) && tools(el('button', { title: 'Y', onclick: () => this.open('why') }, 'Why did the selected call take so long?')),
            states && el('p.note', {}, `Of this time, threads were: ${states}`),
            one && one.size > 0 && el('dl.call', { 'aria-label': 'The selected call' }, ...[['selected call', scopeOf(report, app.focus).duration], ...one].flatMap(([name, time]) => [el('dt', {}, name), el('dd', {}, ns(time))])),
            every && count > calls.length ? el('p.note', {}, `These figures are of all calls. ${grouped(calls.length)} are here one by one:`) : '',
            this.histogram(this.sidesOf(label) || [{ durations }]), tools(...[['Previous', -1], ['Next', 1]].map(([title, step]) =>
                el('button', { disabled: !calls.length, title: step < 0 ? '[' : ']', onclick: () => this.turnTo(calls, step) }, `${title} call`)), this.chooser()), this.source(label), inner ? this.names(inner) : '', ...label.group ? [] : this.argumentTables(calls));
        const list = this.callTable(chosen, this.bucket
            ? `Calls of ${ns(this.bucket[0])} to ${ns(this.bucket[1])}`
            : `Calls: ${selection ? this.rangeText() : 'all'}`, Boolean(inner));
        return el('div.split', {}, left, list);
    }

    /** Goes to the next call of the scope on its track. If another scope has the focus, goes to the first call. */
    turnTo([first], step) {
        const { app } = this;
        if (app.focus && app.counts(app.focus)) app.sameName(step); else app.show(first);
    }

    /** A table of the names that a format has made. */
    names(rows) {
        return el('details', { open: true }, el('summary', {}, `by name (${grouped(rows.length)})`), table([words('name', row => row.label.name), counts('calls', row => row.calls),
            times('total', row => row.known ? row.total : NaN), times('mean', row => row.sum / row.known), by('max', row => row.max, row => ns(row.whole ? row.max : NaN))], rows,
        { caption: 'By name', sort: 2, memory: 'names', limit: 40, onpick: row => this.pick(row.label) }));
    }

    /** The lines of source around a call site. Null if the report has none. */
    source(label) {
        const lines = this.app.report.sources.get(label.file), rows = [];
        for (let n = label.line - 4; lines && n <= label.line + 8; n++) {
            const here = n === label.line;
            if (lines.has(n)) rows.push(el(here ? 'mark' : 'span', { 'data-n': n, 'aria-current': here ? 'true' : null }, lines.get(n) + '\n'));
        }
        return rows.length ? el('details', { open: true }, el('summary', {}, 'source'),
            el('pre.source', { tabindex: 0, role: 'region', 'aria-label': `Source at ${where(label)}` }, ...rows)) : null;
    }

    /** The calls of a scope in the two recordings that are compared. Null if only one has the scope. */
    sidesOf(label) {
        const sides = this.comparison && this.comparison.callsOf(label);
        return sides && sides.every(({ durations }) => durations.length) ? sides : null;
    }

    /** A histogram of durations; of two recordings, that of the second as outlines in front of the first. @param {{name?: string, durations: Float64Array}[]} sides */
    histogram(sides) {
        const box = el('div.histogram', { role: 'group', 'aria-label': 'Distribution of durations; a bar lists its calls' }), lists = sides.map(side => side.durations);
        if (!lists[0].length) return box;
        const first = min(...lists.map(list => list[0])), last = max(...lists.map(list => list.at(-1)));
        const low = max(1, first), high = max(low * 1.01, last), bars = 48;
        const edge = i => i === 0 ? 0 : i === bars ? Infinity : low * (high / low) ** (i / bars);
        const below = (list, i) => firstIndex(list.length, at => list[at] >= edge(i)), all = lists.map(list => Array.from({ length: bars }, (_, i) => below(list, i + 1) - below(list, i)));
        const share = (k, i) => all[k][i] / lists[k].length, most = max(...all.map((each, k) => max(...each) / lists[k].length));
        for (let i = 0; i < bars; i++) {
            const calls = sides.map(({ name }, k) => `${name || ''}${grouped(all[k][i])} calls${name ? `, ${(100 * share(k, i)).toFixed(1)} %` : ''}`).join('; ');
            const text = `${ns(max(i ? edge(i) : first, 0))} to ${ns(i + 1 === bars ? last : edge(i + 1))}: ${calls}`, picked = this.bucket && this.bucket[0] === edge(i);
            box.append(el('button', { title: text, 'aria-label': text, disabled: all.every(each => !each[i]), class: picked ? 'picked' : null,
                onclick: () => { this.bucket = picked ? null : [edge(i), edge(i + 1)]; this.render(); } },
            ...all.map((each, k) => each[i] ? el('i', { class: k ? 'after' : null, style: { height: `${max(2, 100 * share(k, i) / most)}%` } }) : null)));
        }
        return el('div', {}, box, el('div.ends', {}, el('span', {}, ns(first)), el('span', {}, 'durations, logarithmic'), el('span', {}, ns(last))),
            ...sides[1] ? sides.map(({ name, about, durations }, k) => el('div.note', {}, el('i', { class: `swatch ${k ? 'after' : 'before'}` }),
                `${name}${about}: ${grouped(durations.length)} calls, p50 ${ns(durations[durations.length - 1 >> 1])}`)) : []);
    }

    /** Tables of calls, total, mean and max, by the values of each argument. */
    argumentTables(calls) {
        const { report } = this.app, keys = new Map();
        let seen = 0;
        for (const call of calls) {
            for (const [key, v] of scopeOf(report, call).args) {
                if (!keys.has(key)) keys.set(key, new Map());
                const text = shown(v), values = keys.get(key);
                let row = values.get(text);
                if (!row) {
                    if (values.size >= 10000) continue;
                    values.set(text, row = { text, calls: 0, total: 0, max: 0 });
                }
                row.calls++;
                row.total += call.duration;
                row.max = max(row.max, call.duration);
            }
            if (++seen > 500000) break;
        }
        return [...keys].slice(0, 8).map(([key, values]) => el('details', { open: keys.size < 3 }, el('summary', {}, `by ${key} (${grouped(values.size)} values)`),
            table([{ title: key, text: true, get: row => row.text }, counts('calls', row => row.calls),
                times('total', row => row.total), times('mean', row => row.total / row.calls),
                times('max', row => row.max)], [...values.values()],
            { caption: `By ${key}`, sort: 2, memory: 'arg ' + key, limit: 40 })));
    }

    callTable(calls, caption, named = false) {
        const { app } = this, { report } = app, keys = [];
        for (const call of calls.slice(0, 2000)) for (const [key] of scopeOf(report, call).args) if (!keys.includes(key) && keys.length < 8) keys.push(key);
        const argument = (call, key) => {
            const pair = scopeOf(report, call).args.reverse().find(([each]) => each === key);
            return pair ? pair[1] : '';
        };
        const around = (noun, find) => report.bars.some(each => each.noun === noun) ? by(noun, call => numberOf(find(report, call)), call => String(find(report, call))) : null;
        const ran = call => statesIn(report, [call]).get('running') || 0, columns = [
            named ? words('scope', call => app.labelOf(call).name) : null,
            moments('start', call => call.start),
            times('duration', call => call.duration),
            report.tracks.some(track => track.states || track.system) ? { title: 'running', note: 'of this time, its thread ran', get: ran, show: call => call.track.states || call.track.system ? ns(ran(call)) : '' } : null,
            report.tracks.length > 1 ? words('thread', call => call.track.full) : null,
            around('frame', frameAround), around('step', stepAround),
            ...keys.map(key => ({ title: key, text: calls.slice(0, 50).some(call => typeof argument(call, key) === 'string' && argument(call, key) !== ''),
                get: call => { const v = argument(call, key); return typeof v === 'bigint' ? Number(v) : v; }, show: call => shown(argument(call, key)) })),
            words('', call => truncatedText(scopeOf(report, call).flags))
        ].filter(Boolean);
        return table(columns, calls, { caption, sort: named ? 2 : 1, memory: named ? 'named calls' : 'calls', limit: 200, onpick: call => app.show(call),
            picked: call => app.focus && app.focus.track === call.track && app.focus.depth === call.depth && app.focus.i === call.i });
    }

    found() {
        const { app } = this, { query, hits, report } = app, { values = [], threads = [], spans = [], messages = [], counters = [] } = app.others || {};
        if (!query) return el('p.note', {}, 'Type into the field above; the key / goes there, and ? says what it finds.');
        const counted = [[hits, 'scope'], [values, 'scope by an argument', 'scopes by an argument'], [threads, 'thread'], [spans, 'span'], [messages, 'message'], [counters, 'counter']].filter(([list]) => list.length || list.more);
        const says = counted.map(([list, one, many]) => `${grouped(list.length)}${list.more ? ' and more, the limit,' : ''} ${list.length === 1 ? one : many || one + 's'}`).join(', ');
        if (!says) return el('p.note', { role: 'status' }, `Nothing matches ${query}: no scope, argument, thread, span, message or counter. Every word has to match; quotes keep words together.`);
        return [el('p.note', { role: 'status' }, `${says} for ${query}`), spans.length ? this.spanTable(spans, `${grouped(spans.length)} spans for ${query}`) : '',
            hits.length || !values.length ? '' : this.callTable(values, `${grouped(values.length)} scopes by an argument, for ${query}`, true),
            hits.length || says.startsWith('0') ? this.callTable(hits, `${grouped(hits.length)}${hits.more ? ' and more' : ''} scopes for ${query}`, true) : '',
            hits.length && values.length ? this.callTable(values, `${grouped(values.length)} scopes by an argument, for ${query}`, true) : '',
            threads.length ? table([links('thread', row => row.full, row => app.goTo(row.levels[0] ? row.levels[0].start[0] : report.from, row)), by('id', row => Number(row.thread))], threads, { caption: 'Threads', up: true, memory: 'found threads' }) : '',
            messages.length ? table([moments('time', row => row.time), links('message', row => row.text, row => app.goTo(row.time, row.track)), words('thread', row => row.track.title)], messages, { caption: 'Messages', up: true, memory: 'found messages' }) : '',
            counters.length ? table([links('counter', row => row.name, row => app.goTo(row.time[row.value.indexOf(row.max)] || report.from)), by('max', row => row.max, row => measured(row.max, row.unit))], counters, { caption: 'Counters', up: true, memory: 'found counters' }) : ''].filter(Boolean);
    }

    // ---- tables

    frames() {
        const { app } = this, { report } = app, series = app.series;
        const place = each => each.tracks && each.tracks.size > 1 ? `${grouped(each.tracks.size)} threads` : each.track.title;
        const which = select('Which frames', report.bars.map((each, i) => [i, `${each.name} on ${place(each)} (${grouped(each.start.length)})`]), report.bars.indexOf(series),
            i => { app.setSeries(Number(i)); this.render(); }), hertz = el('button', { onclick: () => { series.hertz = !series.hertz; app.drawFrames(); } }, '60 Hz');
        const { number, at } = series, rows = series.start.map((start, i) => ({ i, start, duration: series.duration[i], number: number[i], track: at ? at[i].track : series.track }));
        const sorted = Float64Array.from(series.duration).sort(), n = sorted.length, most = share => sorted[max(0, ceil(share * n) - 1)];
        const low = sorted.slice(floor(n * 0.99)), mean = rows.reduce((sum, row) => sum + row.duration, 0) / n;
        const text = `${grouped(n)} ${series.noun}${n === 1 ? '' : 's'}, mean ${ns(mean)} (${(1e9 / mean).toFixed(1)} a second), p50 ${ns(most(0.5))}, p99 ${ns(most(0.99))}, longest ${ns(most(1))}; ` +
            `the slowest 1 %: ${(1e9 / (low.reduce((sum, d) => sum + d, 0) / low.length)).toFixed(1)} a second`;
        return [tools(which, hertz, el('span.note', {}, text)),
            table([by(series.noun, row => numberOf(row.number), row => String(row.number)), moments('start', row => row.start),
                times('duration', row => row.duration), at && series.tracks.size > 1 ? words('thread', row => row.track.title) : null].filter(Boolean), rows,
            { caption: `${series.noun}s: ${series.name}`, sort: 2, memory: 'frames', onpick: row => app.showBar(row.i) })];
    }

    messages() {
        const { app } = this, { selection } = app;
        const filter = el('input', { type: 'search', placeholder: 'Only with this text', 'aria-label': 'Only messages with this text', value: this.wanted || '' });
        const level = select('Severity', [...['all', 'marks', 'info and above', 'warnings and above', 'errors'].entries()], this.least || 0, i => { this.least = Number(i); draw(); });
        const box = el('div.fill');
        const draw = () => {
            const text = (this.wanted || '').toLowerCase(), least = this.least || 0;
            const rows = app.report.messages.filter(message => (!selection || touches(message.time, message.time, selection.from, selection.to)) &&
                (!text || message.text.toLowerCase().includes(text)) && (least === 0 || (least === 1 ? message.severity < 0 : message.severity >= least - 1)));
            box.replaceChildren(table([moments('time', row => row.time),
                words('severity', severityOf), words('thread', row => row.track.title),
                words('text', row => row.text + this.pointArgs(row)), words('category', row => row.label.category),
                PLACE], rows,
            { caption: `${grouped(rows.length)} messages and marks${selection ? ' of the selection' : ''}`, sort: 0, up: true, memory: 'messages',
                onpick: row => app.goTo(row.time, row.track) }));
        };
        filter.oninput = () => { this.wanted = filter.value; draw(); };
        draw();
        return [tools(level, filter), box];
    }

    pointArgs(message) {
        const args = message.severity < 0 && argsText(this.app.report.argsOf(message.track.points.args, message.at));
        return args ? ` (${args})` : '';
    }

    spans() {
        const { report, selection } = this.app;
        const rows = report.spans.filter(span => !selection || touches(span.start, span.start + span.duration, selection.from, selection.to));
        return this.spanTable(rows, `${grouped(rows.length)} spans`);
    }

    spanTable(rows, caption) {
        const { app } = this, { report } = app;
        return table([words('span', span => report.labels[span.label].name + (span.mark ? ' (mark)' : '')),
            moments('start', span => span.start), by('duration', span => span.duration, span => span.mark ? '' : ns(span.duration)),
            by('id', span => Number(span.id), span => '0x' + span.id.toString(16)),
            words('from', span => report.tracks[span.track].title), words('to', span => report.tracks[span.endTrack].title),
            words('arguments', span => argsText(span.args)),
            words('', span => truncatedText(span.flags))], rows,
        { caption, sort: 2, memory: 'spans', onpick: span => app.openSpan(span) });
    }

    counters() {
        const rows = this.app.report.counters, show = (series, v) => measured(v, series.unit);
        return table([words('counter', s => s.name), words('category', s => s.category),
            counts('samples', s => s.time.length), by('min', s => s.min, s => show(s, s.min)),
            by('max', s => s.max, s => show(s, s.max)),
            by('last', s => s.value.at(-1) || 0, s => show(s, s.value.at(-1)))], rows, { caption: 'Counters', memory: 'counters', up: true });
    }

    /** Memory and locks of the processes, in the selection if there is one. Kept until the selection changes. */
    objects() {
        const { selection, report } = this.app;
        if (!selection) return report.processes;
        if (this.chosen !== selection) this.inside = report.processes.map(process => ({ name: process.name, ...objectsIn(report, process, selection.from, selection.to) }));
        this.chosen = selection;
        return this.inside;
    }

    memory() {
        const parts = [el('p.note', {}, `${this.rangeText()}; not freed: at its end`)];
        const tableOf = (first, rows, caption, key) => table([...first,
                counts('allocations', row => row.count), sizes('bytes', row => row.bytes),
                counts('not freed', row => row.liveCount), sizes('bytes not freed', row => row.liveBytes),
                sizes('peak', row => row.peak), PLACE],
            [...rows.values()], { caption, sort: first.length + 1, memory: key });
        for (const { memory, name } of this.objects()) {
            if (!memory) continue;
            parts.push(tableOf([words('site', row => row.label.name), words('pool', row => row.label.category)],
                memory.sites, `Allocations of ${name} by site${memory.unknown ? `; ${grouped(memory.unknown)} frees of blocks from before` : ''}`, 'memory'));
            parts.push(tableOf([words('scope', row => row.label.name)], memory.scopes, `Allocations of ${name} by the scope around them`, 'memory by scope'));
            parts.push(table([moments('allocated at', row => row.time), sizes('bytes', row => row.size),
                words('address', row => '0x' + row.address.toString(16)), words('site', ({ site: { label } }) => label.line ? where(label) : label.name),
                words('thread', row => row.track.title)], memory.leaks,
            { caption: `${grouped(memory.leaks.length)} blocks that were not freed`, sort: 1, memory: 'leaks', onpick: row => this.app.goTo(row.time, row.track) }));
        }
        return parts;
    }

    locks() {
        const parts = [el('p.note', {}, this.rangeText())];
        for (const { locks, name } of this.objects()) {
            if (!locks) continue;
            parts.push(table([words('lock', row => row.label.name), by('locks', row => row.addresses.size),
                counts('acquired', row => row.acquired), counts('contended', row => row.contended),
                { title: 'most waiters', note: 'threads that waited for one of them at the same time', get: row => row.waiters },
                times('waited', row => row.wait), times('longest wait', row => row.waitMax),
                times('held', row => row.hold), times('longest hold', row => row.holdMax),
                PLACE], [...locks.rows.values()], { caption: `Locks of ${name}`, sort: 5, memory: 'locks' }));
            parts.push(table([moments('at', row => row.time), times('waited', row => row.took),
                words('lock', row => row.label.name), words('thread', row => row.track.title),
                words('held by', row => row.holder ? row.holder.title : '')], locks.waits,
            { caption: 'The longest waits', sort: 1, memory: 'waits', onpick: row => {
                this.app.time.reveal(row.track, 0, row.holder);
                this.app.zoomTo(row.time, row.time + row.took, true);
            } }));
        }
        return parts;
    }

    about() {
        const { report } = this.app, parts = [];
        for (const process of report.processes) {
            const about = key => process.about.get(key) || '', number = key => Number(about(key));
            const facts = [['program', about('program')], ['process', about('pid') + (number('parent_pid') ? `, child of ${about('parent_pid')}` : '')],
                ['started', number('start_unix_ns') ? new Date(number('start_unix_ns') / 1e6).toISOString().replace('T', ' ') : ''],
                ['duration', ns(number('duration_ns'))], ['events', grouped(number('events'))], ['mode', about('mode')],
                ['clock', `${about('clock')}, ${(number('tick_hz') / 1e6).toFixed(3)} MHz${number('clock_resolution_ns') ? `, smallest step ${ns(number('clock_resolution_ns'))}` : ''}`],
                ['recording cost', cost(process, report.to - report.from).text], ['lost', number('lost') ? grouped(number('lost')) + ' events' : 'nothing'], ...process.metadata];
            if (about('sources_missing')) facts.push(['source code', `lines of ${report.sources.size} files; ${about('sources_missing')} were not found${number('sources_limit') ? '; a limit left some out' : ''}`]);
            parts.push(el('table.facts', {}, el('caption', {}, process.name), ...facts.map(([key, text]) => el('tr', {}, el('th', { scope: 'row' }, key), el('td.text', {}, text)))));
            parts.push(table([words('track', t => t.title), by('thread', t => Number(t.thread)),
                words('kind', t => t.device ? 'device ' + t.device : t.fiber ? 'fiber' : 'thread'),
                by('scopes', scopesOf, t => grouped(scopesOf(t))),
                by('depth', t => t.levels.length), counts('other events', t => t.points.count),
                counts('lost', t => t.lost),
                words('clock', t => ['', 'aligned by pairs', 'aligned by rate', 'not aligned'][t.alignment] || '')], process.tracks,
            { caption: 'Tracks', sort: 3, memory: 'tracks' }));
        }
        if (report.losses.length) parts.push(table([moments('at', l => l.time), counts('lost', l => l.lost),
            words('track', l => l.track.title)], report.losses, { caption: 'Where events were lost', memory: 'losses', onpick: l => this.app.goTo(l.time, l.track) }));
        return parts;
    }
}

/** Takes steps of a count of scopes, for less time than a frame takes. Returns its result; undefined: some are left. */
function someSteps(steps, left) {
    while (left > 0) {
        const { done, value } = steps.next();
        if (done) return value;
        left -= value;
    }
}

/** Returns how long a thread ran, waited and so on, as in "running 1.2 ms, waiting 3 ms". "" if that was not recorded. */
export function statesText(report, calls) { return [...statesIn(report, calls)].filter(([, time]) => time > 0).map(([name, time]) => `${name} ${ns(time)}`).join(', '); }
