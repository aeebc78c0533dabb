// The comparison of two recordings of a report: a table, and a flame graph of the differences.

import { scopeLabel } from './decode.js';
import { rangeStats, percentile, callsOf, byFormat } from './stats.js';
import { labelsOf, pairLabels, samplesOf, shiftOf, medianOf, judge } from './compare.js';
import { measures, selfTimes, differenceTree } from './difference.js';
import { grownText } from './states.js';
import { flameBox, along, zoomed } from './flame.js';
import { differenceStyle } from './theme.js';
import { el, select, table, tools, words } from './dom.js';
import { abs, max, ns, grouped, shown, where } from './text.js';

/** The verdicts, from harmless to bad. */
const ORDER = ['same', 'unsure', 'gone', 'new', 'faster', 'slower'];
const SIGNS = { slower: '\u25b2 ', faster: '\u25bc ', new: '+ ', gone: '\u2212 ', unsure: '? ', same: '' };

/** Writes a ratio as "+5.2 %" or "x12". */
function percentText(ratio) {
    if (!Number.isFinite(ratio)) return '';
    if (ratio >= 9.95) return `x${ratio.toPrecision(3)}`;
    const text = (100 * (ratio - 1)).toFixed(1).replace(/^-(0\.0)$/, '$1');
    return `${text > 0 ? '+' : ''}${text} %`;
}

/** @param {import('./compare.js').Change} change */
function intervalText({ low, high }) {
    return `${low > 0 ? percentText(low) : '?'} to ${high < 1e30 ? percentText(high) : '?'}`;
}

/** A recording's name, with that of its file. */
const titleOf = ({ name, about }) => [about.get('recording'), name].filter(Boolean).join(', ');

export class Comparison {
    /** @param {import('./panels.js').Panels} panels */
    constructor(panels) {
        this.panels = panels;
        this.app = panels.app;
        this.pair = [0, 1];
        this.threshold = 5;
        this.side = 1;
        this.path = [];
        this.labels = [];
    }

    /** What both views need, for the selection or the whole recordings. Kept until the selection changes. */
    sides() {
        const { report, selection } = this.app, from = selection ? selection.from : report.from, to = selection ? selection.to : report.to;
        const key = [from, to, ...this.pair].join();
        if (!this.kept || this.kept.key !== key) {
            const processes = this.pair.map(i => report.processes[i]);
            const used = this.pair.map(i => this.labels[i] = this.labels[i] || labelsOf(report, report.processes[i]));
            this.kept = { key, from, to, processes, pairing: pairLabels(report.labels, used),
                stats: processes.map(process => rangeStats(report, from, to, track => track.process === process)) };
        }
        return this.kept;
    }

    /** The durations of a scope's calls in both recordings. */
    callsOf(label) {
        const { report } = this.app, { pairing, processes, from, to } = this.sides(), { id: own } = scopeLabel(label), pair = pairing.pairs.find(({ a, b }) => a === own || b === own);
        return pair && [pair.a, pair.b].map((id, i) => ({ name: `${i + 1}: `, about: titleOf(processes[i]), durations: Float64Array.from(callsOf(report, id, from, to, track => track.process === processes[i])
            .filter(call => !call.track.levels[call.depth].flags.has(call.i)), call => call.duration).sort() }));
    }

    /** Lists to choose the two recordings from, and the threshold below which a change counts as noise. */
    choosers() {
        const { processes } = this.app.report, choose = (which, title) => el('label', {}, title + ': ', select(title, processes.map((process, i) => [i, titleOf(process)]), this.pair[which], i => {
            this.pair[which] = Number(i);
            this.path = [];
            this.panels.render();
        }));
        return [choose(0, '1, before'), choose(1, '2, after'), el('label', {}, 'threshold % ',
            el('input', { type: 'number', min: 0, max: 1000, value: this.threshold, style: { width: '4.5em' }, onchange: event => {
                this.threshold = max(0, Number(event.target.value) || 0);
                this.panels.render();
            } }))];
    }

    // ---- the table

    /** Returns the shifts of pairs that have been computed. Others follow in parts, so that the page stays responsive. */
    shifts(kept) {
        const { report } = this.app, { pairing, processes } = kept;
        if (!kept.shifts) {
            kept.samples = processes.map(process => samplesOf(report, process, kept.from, kept.to));
            kept.shifts = new Map();
        }
        const until = performance.now() + 50;
        for (let i = kept.shifts.size; i < pairing.pairs.length && performance.now() < until; i++) {
            const { a, b } = pairing.pairs[i];
            kept.shifts.set(i, shiftOf(kept.samples[0].get(a), kept.samples[1].get(b)));
        }
        return kept.shifts;
    }

    /** Computes further shifts. Draws the table when all are there. */
    goOn(kept, note) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            if (this.kept !== kept) return;
            const left = kept.pairing.pairs.length - this.shifts(kept).size;
            note.textContent = `${grouped(left)} scopes are still to be compared`;
            if (left) this.goOn(kept, note);
            else if (this.panels.shown.includes('compare')) this.panels.render();
        }, 0);
    }

    rows(kept) {
        const { report } = this.app, shifts = this.shifts(kept), [before, after] = kept.stats.map(({ rows }) => new Map(byFormat(rows).map(row => [row.id, row])));
        const rows = kept.pairing.pairs.map((pair, i) => ({ a: before.get(pair.a), b: after.get(pair.b), change: shifts.get(i) })).filter(row => row.a || row.b);
        for (const row of rows) {
            const { label } = row.b || row.a;
            row.label = label;
            row.where = row.a && where(row.a.label) !== where(label) ? `${where(row.a.label)} \u2192 ${where(label)}` : where(label);
            row.verdict = !row.a ? 'new' : !row.b ? 'gone' : row.change ? judge(row.change, this.threshold / 100) : '';
            row.difference = (row.b ? row.b.total : 0) - (row.a ? row.a.total : 0);
            row.p50 = [row.a, row.b].map((side, i) => {
                const sample = side && kept.samples[i].get(side.id);
                return sample && sample.seen === sample.ns.length ? medianOf(sample) : side ? percentile(side, 0.5) : NaN;
            });
        }
        return rows.sort((x, y) => abs(y.difference) - abs(x.difference));
    }

    /** The table of scopes of two recordings: the first two, unless the reader chooses others. */
    table() {
        const { panels } = this, kept = this.sides(), rows = this.rows(kept), note = el('span.note', { role: 'status' });
        const counts = ORDER.map(verdict => rows.filter(row => row.verdict === verdict).length);
        if (kept.shifts.size < kept.pairing.pairs.length) this.goOn(kept, note);
        note.textContent = ORDER.map((verdict, i) => `${counts[i]} ${verdict}`).reverse().join(', ');
        const mean = row => row && row.known ? row.sum / row.known : NaN, both = row => row.a && row.b && row.change;
        const two = (title, get, show, about) => ['a', 'b'].map((side, i) => ({ title: `${title} ${i + 1}`, note: about, get: row => get(row[side], row, i) || 0,
            show: row => row[side] ? show(get(row[side], row, i)) : '' }));
        return [tools(...this.choosers(), note), el('p.note.under', {},
            `${panels.rangeText()}. The shift is the median of the ratios of all pairs of calls, of 10,000 a side at most.`),
        table([words('scope', row => row.label.name),
            { title: 'verdict', text: true, note: 'slower or faster: the whole 99 % interval lies beyond the threshold; same: it is at most twice as wide as that',
                get: row => ORDER.length - ORDER.indexOf(row.verdict), show: row => el('span', { class: 'verdict ' + row.verdict }, (SIGNS[row.verdict] || '') + row.verdict) },
            { title: 'shift', note: 'of a typical call', get: row => both(row) ? row.change.ratio : 0, show: row => both(row) ? percentText(row.change.ratio) : '' },
            { title: '99 % interval', note: 'of the shift', get: row => both(row) ? row.change.high - row.change.low : 0, show: row => both(row) ? intervalText(row.change) : '' },
            ...two('p50', (side, row, i) => row.p50[i], ns, 'the median; to 2 % where there are more than 10,000 calls'), ...two('calls', side => side && side.calls, grouped), ...two('total', side => side && side.total, ns),
            { title: 'difference', note: 'of the total times', get: row => abs(row.difference), show: row => (row.difference > 0 ? '+' : '') + ns(row.difference) },
            ...two('mean', mean, ns), { title: 'change', note: 'of the mean', get: row => mean(row.b) / mean(row.a) || 0, show: row => percentText(mean(row.b) / mean(row.a)) },
            ...rows.some(row => row.a && row.b && row.a.states && row.b.states) ? [words('what grew', row => grownText(row.a, row.b), 'what threads did more, or less, in a mean call')] : [],
            ...two('p99', side => side && percentile(side, 0.99), ns), words('where', row => row.where)], rows,
        { caption: `1: ${titleOf(kept.processes[0])}; 2: ${titleOf(kept.processes[1])}`, sort: 1, up: true, memory: 'compare', onpick: row => panels.pick(row.label) })];
    }

    // ---- the flame graph

    flame() {
        const { panels, app } = this, { report } = app, kept = this.sides(), list = measures(report, kept.processes, kept.stats);
        const per = list.find(each => each.id === this.per) || list[0];
        kept.sums = kept.sums || kept.processes.map((process, i) => selfTimes(report, process, kept.stats[i]));
        const tree = differenceTree(report, kept.pairing, kept.stats, kept.sums, per.of, this.side), widthOf = node => node.width, root = along(tree, this.path, 'pair', widthOf);
        const unit = per.id === 'run' ? '' : per.id === 'second' ? ' a second' : ` a ${per.id}`;
        const zoom = node => { this.path = zoomed(node, this.path, 'pair'); panels.render(); };
        const box = flameBox('Flame graph of differences', root, widthOf, node => this.frame(node, kept, unit, zoom), { text: time => ns(time) + unit, zoom });
        const mode = (key, value, title) => el('button', { 'aria-pressed': String(this[key] === value), onclick: () => { this[key] = value; panels.render(); } }, title);
        const swatch = (verdict, text) => el('span', {}, el('i', { class: 'swatch ' + verdict, style: this.style(verdict, 1) }), text);
        return [tools(...this.choosers(), el('span', {}, 'Width:'), mode('side', 0, 'time in 1'), mode('side', 1, 'time in 2'),
            el('label', {}, 'Times ', select('Times', list.map(({ id, title }) => [id, title]), per.id, id => { this.per = id; panels.render(); })),
            el('button', { disabled: !this.path.length, onclick: () => { this.path = []; panels.render(); } }, 'Zoom out')),
        el('div.bar-of-tools.legend', {}, swatch('slower', '\u25b2 more self time'), swatch('faster', '\u25bc less'), swatch('same', 'within noise (? perhaps not)'), swatch('new', '+ only in 2'), swatch('gone', '\u2212 only in 1'),
            el('span.note', {}, `${panels.rangeText()}; ${this.measureText(per)}; click zooms, double click opens the scope`)),
        el('div.scroll', { tabindex: 0 }, box)];
    }

    /** Explains how times of recordings of different length are made comparable. */
    measureText({ id, title, of }) {
        if (id === 'run') return 'times are those of the recordings as they are: right if both did the same work';
        return `times are ${title}: those of 1 divided by ${shown(Number(of[0].toPrecision(4)))}, those of 2 by ${shown(Number(of[1].toPrecision(4)))}`;
    }

    style(verdict, by) { return differenceStyle(verdict === 'slower' || verdict === 'new' ? by : verdict === 'faster' || verdict === 'gone' ? -by : 0, this.app.dark); }

    /** What a box of the flame graph shows: a colour, a sign, and its figures. */
    frame(node, kept, unit, zoom) {
        const { labels } = this.app.report, [a, b] = node.of, pair = kept.pairing.pairs[node.pair], label = labels[pair.b >= 0 ? pair.b : pair.a];
        const verdict = !a ? 'new' : !b ? 'gone' : a.self === b.self ? 'same' : judge(node.change, this.threshold / 100), ratio = a && b && a.self > 0 ? b.self / a.self : NaN;
        const words = { new: 'only in 2', gone: 'only in 1', same: 'within noise', unsure: 'not more than noise may be' }[verdict] || verdict;
        const figures = key => a && b ? `${ns(a[key])} \u2192 ${ns(b[key])}${unit}` : `${ns((a || b)[key])}${unit}`;
        const calls = [a, b].filter(Boolean).map(side => shown(Number(side.calls.toPrecision(4)))).join(' \u2192 ');
        const text = `${label.name}: ${words}; self ${figures('self')}${ratio >= 0 ? `, ${percentText(ratio)}` : ''}${a && b && node.change.high < 1e30 ? ` (99 %: ${intervalText(node.change)})` : ''}; ` +
            `total ${figures('total')}; ${calls} calls${unit}`;
        const figure = verdict !== 'same' && ratio >= 0 ? percentText(ratio) + ' ' : '';
        return { name: SIGNS[verdict] + figure + label.name, text, class: verdict, style: this.style(verdict, figure ? abs(Math.log2(max(ratio, 1e-3))) : 0.3),
            onclick: () => zoom(node), ondblclick: () => this.panels.pick(label) };
    }
}
