// The panel that compares each scope between processes, which may be ranks of one program, or between threads: who has more to do than the mean.

import { entryOf } from './columns.js';
import { byFormat, statsSteps } from './stats.js';
import { el, select, table, tools, words, counts, times, links, by } from './dom.js';
import { max, ns, grouped } from './text.js';

const UNEVEN = 1.2; // the greatest is so many times the mean, or more: the others have to wait

/** What can be compared: [title, noun, groups of tracks]. */
export function balanceGroups({ processes, tracks }) {
    const ranks = processes.some(({ metadata }) => metadata.some(([key]) => key === 'rank')), threads = tracks.filter(track => track.levels.length && !track.device);
    return [processes.length > 1 ? [ranks ? 'Ranks' : 'Processes', ranks ? 'rank' : 'process', processes.map(({ name, tracks: own }) => ({ name, tracks: own }))] : null,
        threads.length > 1 ? ['Threads', 'thread', threads.map(track => ({ name: track.full, tracks: [track] }))] : null].filter(Boolean);
}

/** Sums up each scope in each group. Yields how many scopes a step has counted. Of threads, only those that have the scope count for its mean. */
export function* balanceSteps(report, from, to, groups, all) {
    const rows = new Map();
    for (const [i, { tracks }] of groups.entries()) {
        const own = new Set(tracks), stats = yield* statsSteps(report, from, to, track => own.has(track));
        for (const { label, calls, total } of byFormat(stats.rows)) {
            const row = entryOf(rows, label.name, () => ({ label, calls: 0, total: 0, most: i, each: new Float64Array(groups.length), has: 0 }));
            row.calls += calls;
            row.total += total;
            row.each[i] += total;
            row.has++;
            if (row.each[i] > row.each[row.most]) row.most = i;
        }
    }
    for (const row of rows.values()) {
        row.mean = row.total / (all ? groups.length : row.has);
        row.ratio = row.mean > 0 ? row.each[row.most] / row.mean : 0;
    }
    return [...rows.values()];
}

/** The panel's content; null: the sums are still to come. @param {import('./panels.js').Panels} panels */
export function balancePanel(panels) {
    const { app } = panels, { report } = app, all = balanceGroups(report), [title, noun, groups] = all.find(each => each[0] === panels.balanceBy) || all[0], { from, to } = app.selection || report;
    const rows = panels.balance(title, from, to, groups, noun !== 'thread');
    if (!rows) return null;
    const bars = ({ each, most }) => el('span.each', { title: groups.slice(0, 64).map(({ name }, i) => `${name}: ${ns(each[i])}`).join('\n') },
        ...groups.slice(0, 64).map((_, i) => el('i', { class: i === most ? 'most' : null, style: { height: `${max(1, 16 * each[i] / max(1, each[most]))}px` } })));
    const place = ({ label, most }) => { for (const track of groups[most].tracks) for (const level of track.levels) for (let i = 0; i < level.count; i++) if (report.labels[report.nodes.label[level.node[i]]] === label) return { track, time: level.start[i] }; return null; };
    return [tools(all.length > 1 ? select('By what', all.map(([each]) => [each, `by ${each.toLowerCase()}`]), title, each => { panels.balanceBy = each; panels.render(); }) : null,
        el('span.note', {}, `${grouped(groups.length)} ${title.toLowerCase()}; ${panels.rangeText()}. Red: at least ${UNEVEN} times the mean`)),
    table([words('scope', row => row.label.name), counts('calls', row => row.calls), times('total', row => row.total), times('mean', row => row.mean, `of a ${noun}`), times('max', row => row.each[row.most]),
        by('max / mean', row => row.ratio, row => el(row.ratio >= UNEVEN ? 'b.bad' : 'span', {}, row.ratio.toFixed(2))),
        links('most in', row => groups[row.most].name, row => { const at = place(row); if (at) app.goTo(at.time, at.track); }),
        by(`each ${noun}`, row => row.ratio, bars)], rows, { caption: `Each scope by ${noun}`, sort: 2, memory: 'balance', onpick: row => panels.pick(row.label) })];
}
