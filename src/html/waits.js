// What a thread waited for, as far as PROF_WRAP_WAITS recorded it.

import { ROLE_WAIT } from './decode.js';
import { scopeAt } from './model.js';
import { indexRange } from './stats.js';
import { min, shown } from './text.js';

/** Says what a thread waited for in a time, as prof_waits() does: lines about the call and its object, and about who held a lock. @returns {string[]} */
export function waitLines(report, track, from, to) {
    for (const level of track.levels) {
        const [first, end] = indexRange(level, from, to);
        for (let i = first; i < end; i++) {
            const label = labelAt(report, level, i);
            if (label.role !== ROLE_WAIT) continue;
            const args = new Map(report.argsOf(level.args, i)), holder = args.get('holder');
            const objects = [...args].filter(([key]) => key !== 'holder' && key !== 'wait_ns').map(([key, value]) => `, ${key} ${shown(value)}`);
            return [label.name + objects.join(''), holder ? heldBy(report, track, holder, level.endOf(i) - (Number(args.get('wait_ns')) || level.durationOf(i))) : ''];
        }
    }
    return [];
}

function labelAt({ labels, nodes }, level, i) { return labels[nodes.label[level.node[i]]]; }

/** Says which thread held a lock, and in which scope it was. The system gives an id again after a thread has ended: of several tracks, takes the last one that had begun. */
function heldBy(report, { process }, thread, time) {
    const begin = ({ levels, points }) => min(levels[0] ? levels[0].start[0] : Infinity, points.count ? points.time[0] : Infinity);
    const [track] = process.tracks.filter(each => String(each.thread) === String(thread) && !each.fiber && !each.device && begin(each) <= time).sort((a, b) => begin(b) - begin(a));
    const labels = track ? track.levels.map(level => [level, scopeAt(level, time)]).filter(([, i]) => i >= 0).map(([level, i]) => labelAt(report, level, i)) : [];
    const scope = labels.filter(({ role }) => role !== ROLE_WAIT).at(-1);
    return `held by ${track ? track.title : `thread ${thread}`}${scope ? ` in ${scope.name}` : ''}`;
}
