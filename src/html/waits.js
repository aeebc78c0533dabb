// What a thread waited for, as far as PROF_WRAP_WAITS and the markup of locks recorded it. See prof_waits() in prof_report.h.

import { ROLE_WAIT } from './decode.js';
import { scopeAt } from './model.js';
import { indexRange } from './stats.js';
import { min, shown } from './text.js';

/** A scope is a place: {track, depth, i}. */
export function labelAt({ labels, nodes }, { track, depth, i }) { return labels[nodes.label[track.levels[depth].node[i]]]; }

/** Says what a thread waited for in a time: lines about the call and its object, and about who held a lock. @returns {string[]} */
export function waitLines(report, track, from, to) {
    const [wait] = waitsOf(report, track, from, to);
    if (!wait) return [];
    const { call, what, object, name, thread, holder, held } = wait;
    return [[call, what && `${what} ${name || shown(object)}`].filter(Boolean).join(', '),
        thread ? `held by ${holder ? holder.title : `thread ${thread}`}${held ? ` in ${labelAt(report, held).name}` : ''}` : ''];
}

/** Says it in one sentence: its parts. scopeLink and threadLink make the parts that lead to a scope, or to a thread at a time. */
export function waitWords(report, { call, what, object, name, start, end, scope, thread, holder, held, waker, woke }, scopeLink = place => labelAt(report, place).name, threadLink = track => track.title) {
    const [kind] = /rwlock|mutex/.exec(call) || [what], thing = `${{ rwlock: 'read-write lock', pid: 'process' }[kind] || kind} ${name || shown(object)}`, of = (word, place) => place ? [word, scopeLink(place)] : [];
    return [!what ? 'in a sleep' : /^(thread|pid)$/.test(what) ? `for the end of ${thing}` : `for ${thing}`,
        ...thread || holder ? [', held by thread ', holder ? threadLink(holder, start) : String(thread), ...of(' in scope ', held)] : waker ? [', until thread ', threadLink(waker, end), ...of(' in scope ', woke), ' woke it'] : [],
        ...call ? [`, in ${call}()`] : [], ...of(call ? ' of scope ' : ', in scope ', scope)];
}

/**
 * Returns the waits of a thread that reach into a time, in their order.
 * @returns {{call: string, what: string, object: any, name: string, start: number, end: number, scope: object | null, thread: any,
 *     holder: object | null, held: object | null, waker: object | null, woke: object | null}[]} call: of the C library; what, object,
 *     name: what it waited for; scope: in which it waited; thread, holder, held: who had the lock: id, track, open scope; waker, woke: who
 *     woke it
 */
export function waitsOf(report, track, from, to) {
    const { process } = track, waits = [];
    track.levels.forEach((level, depth) => {
        const [first, last] = indexRange(level, from, to);
        for (let i = first; i < last; i++) {
            const label = labelAt(report, { track, depth, i });
            if (label.role === ROLE_WAIT) waits.push(callOf(report, track, label, level, i));
        }
    });
    for (const { label, waits: all } of process.locks ? process.locks.rows.values() : []) {
        for (const { time, took, address, contended, open, track: waiter, had: holder } of all) {
            if (waiter !== track || !contended || open || time > to || time + took < from) continue;
            const name = label.category === 'wait' ? '' : label.name; // that category: the C library has locked it, no markup
            const same = waits.find(({ call, what, object, start, end }) => call && what === 'lock' && Number(object) === address && end >= time && start <= time + took);
            if (same) same.name = name;
            else waits.push({ call: '', what: 'lock', object: '0x' + address.toString(16), name, start: time, end: time + took, thread: holder && holder.thread, holder });
        }
    }
    for (const wait of waits) {
        wait.scope = scopeAround(report, track, wait.start);
        wait.held = wait.holder ? scopeAround(report, wait.holder, wait.start) : null;
        const { fromTrack, from: at } = (wait.call && report.flows.find(({ name, toTrack, to: end }) => toTrack === track && name === 'wake' && end >= wait.start && end <= wait.end)) || {};
        wait.waker = fromTrack || null;
        wait.woke = fromTrack ? scopeAround(report, fromTrack, at) : null;
    }
    return waits.sort((a, b) => a.start - b.start);
}

/** The wait that a scope is. It may have begun before the scope: before the recording. */
function callOf(report, track, { name: call }, level, i) {
    const args = new Map(report.argsOf(level.args, i)), thread = args.get('holder'), end = level.endOf(i), start = end - (Number(args.get('wait_ns')) || level.durationOf(i));
    const [what, object] = [...args].find(([key]) => key !== 'holder' && key !== 'wait_ns') || [''];
    return { call, what, object, name: '', start, end, thread, holder: thread ? trackOf(track.process, thread, start) : null };
}

/** The track of a thread. The system gives an id again after a thread has ended: of several tracks, takes the last one that had begun. */
function trackOf({ tracks }, thread, time) {
    const begin = ({ levels, points }) => min(levels[0] ? levels[0].start[0] : Infinity, points.count ? points.time[0] : Infinity);
    return tracks.filter(each => String(each.thread) === String(thread) && !each.fiber && !each.device && begin(each) <= time).sort((a, b) => begin(b) - begin(a))[0] || null;
}

/** The innermost scope of a thread at a time, which is no wait itself; null: none. */
function scopeAround(report, track, time) {
    const { locks } = track.process, isLock = name => name.startsWith('wait for ') && locks && [...locks.rows.values()].some(({ label }) => label.name === name.slice(9)); // PROFILE_MUTEX_LOCK
    for (let depth = track.levels.length - 1; depth >= 0; depth--) {
        const place = { track, depth, i: scopeAt(track.levels[depth], time) }, { role, name } = place.i >= 0 ? labelAt(report, place) : { role: ROLE_WAIT };
        if (role !== ROLE_WAIT && !isLock(name)) return place;
    }
    return null;
}
