// The panel of a recording that was not stopped: what each thread was doing when the program crashed, was killed or left by _exit().

import { TRUNCATED_END } from './decode.js';
import { scopeOf } from './model.js';
import { el, table, words, moments, links, linkTo, by } from './dom.js';
import { max, ns, shown, where } from './text.js';

/** The processes that ended without prof_stop(). One that still runs has not ended. */
export const endings = ({ processes }) => processes.filter(({ about, live }) => !live && !Number(about.get('complete') || 0) && about.get('alive') !== '1');

/** The open scopes of a track, the outermost first. */
function openScopes(track) {
    return track.levels.map((level, depth) => ({ track, depth, i: level.count - 1 })).filter(({ depth, i }) => track.levels[depth].flags.get(i) & TRUNCATED_END);
}

/** When a track recorded last. */
const lastOf = ({ levels, points }) => levels.reduce((last, level) => max(last, level.start[level.count - 1], level.flags.get(level.count - 1) & TRUNCATED_END ? 0 : level.endOf(level.count - 1)), points.count ? points.time[points.count - 1] : 0);

/** The panel's content. @param {import('./panels.js').Panels} panels */
export function endPanel(panels) {
    const { app } = panels, { report } = app;
    return endings(report).flatMap(process => {
        const rows = process.tracks.filter(track => !track.device && (track.levels.length || track.points.count)).map(track => ({ track, open: openScopes(track), last: lastOf(track) })).sort((a, b) => b.last - a.last);
        const inner = ({ open }) => open.length ? scopeOf(report, open.at(-1)) : null, link = place => linkTo(scopeOf(report, place).label.name || '(unnamed)', () => app.show(place));
        const messages = report.messages.filter(({ track }) => track.process === process).slice(-20);
        return [el('p.note', {}, el('b', {}, `${process.name}, process ${process.about.get('pid')}, ${process.about.get('crash') ? `crashed: ${process.about.get('crash')}. ` : 'did not end its recording: '}`), process.about.get('crash') ? '' : 'it crashed, was killed or left by _exit(). ',
            rows.length ? `Thread ${rows[0].track.title} recorded last.` : 'Nothing was recorded.', process.about.get('crash') ? '' : ' With PROF_CRASH_REPORT=1 it says the signal.'),
        table([by('recorded last', row => row.last, row => ns(row.last)), links('thread', row => row.track.title, row => app.goTo(row.last, row.track)),
            { title: 'scopes that are open', text: true, get: row => row.open.length, show: row => row.open.length ? el('span.path', {}, ...row.open.flatMap((place, i) => [i ? ' > ' : '', link(place)])) : 'none' },
            { title: 'where', text: true, get: row => row.open.length ? where(inner(row).label) : '' },
            by('the innermost for at least', row => row.open.length ? inner(row).duration : 0, row => row.open.length ? ns(inner(row).duration) : ''),
            words('arguments', row => row.open.length ? inner(row).args.map(([key, v]) => `${key}=${shown(v)}`).join(', ') : '')], rows,
        { caption: 'Threads at the end', memory: 'end', limit: 100 }),
        messages.length ? table([moments('time', row => row.time), words('thread', row => row.track.title), words('text', row => row.text)], messages,
            { caption: 'The last messages', memory: 'last messages', onpick: row => app.goTo(row.time, row.track) }) : ''];
    });
}
