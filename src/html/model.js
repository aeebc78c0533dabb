// The model of a report: names, frames, steps, counters, flows, memory, locks and warnings, made from what decode.js has
// read. Does not use the page.

import { COUNTER, FRAME, LOST, FLOW_OUT, FLOW_STEP, FLOW_IN, ALLOC, FREE, LOCK_WAIT, LOCK_ACQUIRE, LOCK_RELEASE, LOG,
    ROLE_FRAME, ROLE_STEP, ROLE_SHARED, TRUNCATED_BEGIN, TRUNCATED_END, GROUP, scopeLabel } from './decode.js';
import { entryOf, firstIndex, mergeOrder, touches } from './columns.js';
import { buildPyramid } from './raster.js';
import { max, min, ns, moment, grouped } from './text.js';

/** Returns the name of a track. Without one, that is "thread" or "fiber" and a number. */
function trackName(track) {
    if (track.device) return track.name || track.device;
    return track.name || (track.fiber ? 'fiber ' : 'thread ') + track.thread;
}

/** Gives tracks titles. Adds the thread id to a name that several tracks have: threads without a name have the program's. */
function nameTracks(tracks) {
    const count = new Map(), key = track => `${track.process.id} ${trackName(track)}`;
    for (const track of tracks) count.set(key(track), (count.get(key(track)) || 0) + 1);
    for (const track of tracks)
        track.title = trackName(track) + (count.get(key(track)) > 1 && track.name && track.thread && !track.device ? ` ${track.thread}` : '');
}

/** Derives all that the views need; may be called again when the report has more events. @param {import('./decode.js').Report} report @returns the report */
export function finish(report) {
    let to = 0, from = Infinity;
    report.messages = [];
    report.requests = null; // made when somebody looks: see request.js
    report.losses = [];
    report.counters = [];
    report.frames = [];
    report.flows = [];
    for (const process of report.processes) {
        const program = process.about.get('program') || '(unnamed)';
        const rank = process.metadata.find(([key]) => key === 'rank');
        process.name = report.processes.length > 1 || rank
            ? `${program} (${rank ? 'rank ' + rank[1] : process.about.get('pid')}${process.file ? ', ' + process.file : ''})` : program;
    }
    report.processes.map(({ name }) => name).forEach((name, i, names) => { // process ids in containers may be equal, and a recording may be there twice
        if (names.indexOf(name) < names.lastIndexOf(name)) report.processes[i].name += ` #${i + 1}`;
    });
    nameTracks(report.tracks);
    for (const track of report.tracks) {
        track.full = report.processes.length > 1 ? `${track.process.name}: ${track.title}` : track.title;
        track.marks = track.states = track.owner = track.life = null;
        for (const level of track.levels) {
            groupsOf(report, level);
            level.pyramid = level.pyramid || buildPyramid(level);
        }
        const { points, system, levels: [level] } = track, ends = [];
        if (points.count) ends.push(points.time[0], points.time[points.count - 1]);
        if (level) ends.push(level.start[0], level.endOf(level.count - 1));
        from = min(from, ...ends);
        to = max(to, ...ends);
        if (system && system.count) ends.push(system.start[0], system.end);
        if (ends.length) track.life = { start: min(...ends), end: max(...ends) };
    }
    for (const span of report.spans) {
        from = min(from, span.start);
        to = max(to, span.start + span.duration);
    }
    // events of a ring, or of a part of a recording, may begin long after 0
    report.from = from > to ? 0 : from > to * 0.02 ? from : min(from, 0);
    report.to = to + 1; // never 0 long
    report.windows = report.processes.filter(process => process.about.has('window_from_ns')).map(({ about }) =>
        ({ from: Number(about.get('window_from_ns')), to: min(report.to, Number(about.get('window_to_ns'))) }));
    const shared = new Map(); // flows that processes share
    report.shared = [];
    for (const process of report.processes) pointsOf(report, process);
    for (const point of report.shared.sort((a, b) => a[2] - b[2])) flowStep(report, shared, ...point);
    statesOf(report);
    for (const process of report.processes) threadRows(process, report.to - report.from);
    framesOfSpans(report);
    report.bars = stepsOf(report);
    spanLanes(report);
    report.frames.sort((a, b) => b.start.length - a.start.length);
    report.bars = [...report.frames, ...report.bars]; // all that the bars at the top can show
    report.messages.sort((a, b) => a.time - b.time);
    return report;
}

/** Reads the number of calls of each group, and the sum of their durations, from its arguments. */
function groupsOf(report, level) {
    for (const [i, flags] of level.flags) {
        if (!(flags & GROUP)) continue;
        const args = new Map(report.argsOf(level.args, i));
        level.groups = level.groups || new Map();
        level.groups.set(i, { calls: Number(args.get('calls')) || 1, busy: min(Number(args.get('busy_ns')) || 0, level.durationOf(i)) });
    }
}

/** Calls take() for the points of a process from `from` to `to`, in order of time. @param {(track: object, at: number) => void} take */
function eachPoint({ tracks }, from, to, take) {
    const first = tracks.map(({ points }) => firstIndex(points.count, k => points.time[k] >= from));
    const { list, index } = mergeOrder(tracks.map(({ points }, i) => points.time.subarray(first[i], firstIndex(points.count, k => points.time[k] > to))));
    for (let i = 0; i < list.length; i++) take(tracks[list[i]], first[list[i]] + index[i]);
}

/** Collects memory and locks of a process. Its take() is called for each point. */
function objects(report, process) {
    const memory = new Memory(report, process), locks = new Locks(), { kinds, labels } = report;
    return {
        take(track, at) {
            const { time, kind, a, b } = track.points, { type, depth, label } = kinds[kind[at]];
            if (type === ALLOC || type === FREE) memory.step(type, depth, labels[label], time[at], a[at], b[at], track);
            else if (type >= LOCK_WAIT && type <= LOCK_RELEASE) locks.step(type, labels[label], time[at], a[at], b[at], track);
        },
        close(end) {
            memory.close();
            locks.close(end);
            return { memory: memory.used ? memory : null, locks: locks.rows.size ? locks : null };
        }
    };
}

/** Returns memory and locks of a range of time, as if the recording had begun with the range. */
export function objectsIn(report, process, from, to) {
    const { take, close } = objects(report, process);
    if (process.memory) eachPoint(process, from, to, take);
    return { memory: close(to).memory, locks: process.locks && process.locks.during(from, to) };
}

/**
 * Finds the threads of rows such as "worker 1234: states", which say when a thread ran and when it waited. The number is the
 * system's thread id. If both a recording of the program and one of the kernel have the thread, takes the program's.
 */
function statesOf(report) {
    const rows = new Map();
    for (const row of report.tracks) {
        const [, name, thread] = /^(.*) (\d+): states$/.exec(row.name) || [];
        if (!thread || !row.levels.length) continue;
        row.owner = row; // the row itself, until a thread is found
        rows.set(thread, [...rows.get(thread) || [], { name, row }]);
    }
    for (const track of report.tracks) {
        const list = rows.get(String(track.thread)), names = [String(track.process.about.get('program')), track.title].map(name => name.slice(0, 15));
        if (!list || track.device || track.owner) continue;
        const { row } = list.find(({ name }) => names.includes(name)) || list.find(each => each.row.process === track.process) || {}; // another row of this id is of another machine
        if (!row) continue;
        track.states = row;
        if (row.owner === row || track.process !== row.process) row.owner = track;
    }
}

/** Sorts the points of a process into frames, flows, counters and so on, in order of time. */
function pointsOf(report, process) {
    const counters = new Map(), frames = new Map(), last = new Map(), { take, close } = objects(report, process);
    const flows = new Map(), { kinds, labels, strings } = report;
    eachPoint(process, 0, Infinity, (track, at) => {
        const { points } = track;
        const kind = kinds[points.kind[at]], label = labels[kind.label], time = points.time[at];
        const a = points.a[at], b = points.b[at];
        switch (kind.type) {
        case LOG:
            report.messages.push({ time, track, severity: a, text: strings[b], label, at });
            (track.marks ||= []).push({ time, label, at, severity: a, text: strings[b] });
            break;
        case LOST: report.losses.push({ time, track, lost: a }); break;
        case COUNTER: {
            const series = entryOf(counters, [label.name, label.category, kind.unit].join('\0'), () =>
                ({ process, name: label.name, category: label.category, unit: kind.unit, time: [], value: [] }));
            series.time.push(time);
            series.value.push(a);
            break;
        }
        case FRAME: {
            const key = label.id + ' ' + track.id, number = points.numbers.get(at) ?? (last.has(key) ? last.get(key) + 1 : Number(a > 0));
            last.set(key, number);
            if (a > 0 && !kind.flags) addBar(frames, key, 'frame', label.name, track, time - a, a, number); // only complete frames
            break;
        }
        case FLOW_OUT: case FLOW_STEP: case FLOW_IN:
            if (label.role === ROLE_SHARED) report.shared.push([kind.type, label, time, points.numbers.get(at) ?? a, track]);
            else flowStep(report, flows, kind.type, label, time, points.numbers.get(at) ?? a, track);
            break;
        case ALLOC: case FREE: case LOCK_WAIT: case LOCK_ACQUIRE: case LOCK_RELEASE: take(track, at); break;
        default: // a mark, or a type that is not shown in another way
            report.messages.push({ time, track, severity: -1, text: label.name, label, at });
            (track.marks ||= []).push({ time, label, at });
        }
    });
    report.frames.push(...frames.values());
    Object.assign(process, close(report.to));
    process.counters = [...counters.values(), ...process.memory ? process.memory.curves() : []].map(closeSeries);
    report.counters = report.counters.concat(process.counters);
}

export function closeSeries(series) {
    series.time = Float64Array.from(series.time);
    series.value = Float64Array.from(series.value);
    series.min = Infinity;
    series.max = -Infinity;
    for (const value of series.value) {
        if (value < series.min) series.min = value;
        if (value > series.max) series.max = value;
    }
    if (!(series.min <= series.max)) series.min = series.max = 0;
    const finite = series.value.filter(Number.isFinite); // of these the curve is drawn: an infinity would make all of it flat
    series.low = finite.reduce((a, b) => min(a, b), 0);
    series.high = finite.reduce((a, b) => max(a, b), series.low);
    return series;
}

/** Adds a frame to the series of its name and track. The bars at the top show a series. */
function addBar(series, key, noun, name, track, start, duration, number) {
    const all = entryOf(series, key, () => ({ noun, name, track, start: [], duration: [], number: [] }));
    all.start.push(start);
    all.duration.push(duration);
    all.number.push(number);
}

/** Adds an arrow from the previous point of a flow to this one. */
function flowStep(report, flows, type, label, time, id, track) {
    const key = label.name + '\0' + id, before = flows.get(key);
    if (before && type !== FLOW_OUT)
        report.flows.push({ name: label.name, id, from: before.time, to: time, fromTrack: before.track, toTrack: track });
    if (type === FLOW_IN) flows.delete(key);
    else if (before || type === FLOW_OUT) flows.set(key, { time, track });
}

/** Sums up allocations by site, scope and pool. A free of a block from before the recording is counted, and no more. */
class Memory {
    constructor(report, process) {
        this.process = process;
        this.live = new Map();
        this.pools = new Map();
        this.sites = new Map();
        this.scopes = new Map();
        this.report = report;
        this.used = 0;
        this.unknown = 0;
    }
    step(type, depth, label, time, address, size, track) {
        this.used++;
        if (type === ALLOC) {
            const pool = this.poolOf(label.category), old = this.live.get(address);
            if (old) this.remove(old, address, time);
            const site = this.rowOf(this.sites, label), scope = this.rowOf(this.scopes, this.around(track, depth, time));
            for (const row of [site, scope]) {
                row.count++;
                row.bytes += size;
                row.liveCount++;
                row.liveBytes += size;
                row.peak = max(row.peak, row.liveBytes);
            }
            this.live.set(address, { site, scope, pool, size, time, track });
            this.change(pool, time, size);
        } else {
            const block = this.live.get(address);
            if (block) this.remove(block, address, time);
            else if (address) this.unknown++;
        }
    }
    rowOf(map, label) {
        return entryOf(map, label.id, () => ({ label, count: 0, bytes: 0, liveCount: 0, liveBytes: 0, peak: 0 }));
    }
    /** The label of the innermost scope that encloses an event. */
    around(track, depth, time) {
        const { labels, nodes } = this.report, level = track.levels[depth - 1], i = level ? scopeAt(level, time) : -1;
        return i >= 0 ? scopeLabel(labels[nodes.label[level.node[i]]]) : { id: -1, name: '(no scope)', category: '', file: '' };
    }
    poolOf(name) {
        return entryOf(this.pools, name, () => ({ name, bytes: 0, time: [], value: [] }));
    }
    remove(block, address, time) {
        for (const row of [block.site, block.scope]) {
            row.liveCount--;
            row.liveBytes -= block.size;
        }
        this.live.delete(address);
        this.change(block.pool, time, -block.size);
    }
    change(pool, time, bytes) {
        const last = pool.time.length - 1;
        pool.bytes += bytes;
        if (last >= 0 && pool.time[last] === time) {
            pool.value[last] = pool.bytes;
        } else {
            pool.time.push(time);
            pool.value.push(pool.bytes);
        }
    }
    close() {
        this.leaks = [...this.live.entries()].map(([address, block]) => ({ address, ...block }));
    }
    curves() {
        return [...this.pools.values()].map(pool => ({ process: this.process, category: 'memory', time: pool.time,
            value: pool.value, name: pool.name ? 'memory: ' + pool.name : 'memory', unit: 'B', pool }));
    }
}

/** Sums up waits and holds of locks, as prof summary does. */
class Locks {
    constructor() {
        this.rows = new Map();
        this.locks = new Map();
    }
    rowOf(label) {
        return entryOf(this.rows, label.name + '\0' + label.category, () =>
            ({ label, addresses: new Set(), acquired: 0, contended: 0, waiters: 0, wait: 0, waitMax: 0, hold: 0, holdMax: 0, holds: [], waits: [] }));
    }
    step(type, label, time, address, detail, track) {
        const row = type === LOCK_RELEASE ? null : this.rowOf(label); // a release carries no name: see PROFILE_MUTEX_UNLOCK
        if (row) row.addresses.add(address);
        const lock = entryOf(this.locks, address, () => ({ acquired: 0, waits: new Map(), holds: new Map() })), { waits, holds } = lock, wait = waits.get(track);
        if (type !== LOCK_WAIT) waits.delete(track);
        if (type === LOCK_WAIT) {
            const others = [...holds.values()].filter(hold => hold.track !== track), [first] = others;
            waits.set(track, { row, label, address, time, track, acquired: lock.acquired, contended: detail & 1 || first, had: first ? first.track : null, holder: first ? first.track : null });
            for (const hold of others) hold.waiters.push(track);
            row.waiters = max(row.waiters, waits.size);
        } else if (type === LOCK_ACQUIRE) {
            row.acquired++;
            if (wait) {
                wait.took = time - wait.time;
                wait.contended = wait.contended || wait.acquired !== lock.acquired;
                row.wait += wait.took;
                row.waitMax = max(row.waitMax, wait.took);
                if (wait.contended) {
                    row.contended++;
                    holds.delete(track); // a thread does not wait for a lock that it holds, so the release was lost
                    wait.holder = wait.holder || lock.last;
                }
                row.waits.push(wait);
            }
            lock.acquired++;
            lock.last = track;
            if (holds.has(track)) holds.get(track).depth++;
            else holds.set(track, { start: time, depth: 1, row, track, address, waiters: [...waits.keys()] });
        } else {
            const hold = holds.get(track) || (holds.size === 1 && [...holds.values()][0]); // another thread released it, as with a semaphore
            if (!hold || --hold.depth > 0) return;
            holds.delete(hold.track);
            hold.duration = time - hold.start;
            hold.row.hold += hold.duration;
            hold.row.holdMax = max(hold.row.holdMax, hold.duration);
            hold.row.holds.push(hold);
        }
    }
    close(end) {
        for (const { holds, waits } of this.locks.values()) {
            for (const hold of holds.values()) hold.row.holds.push(Object.assign(hold, { duration: end - hold.start }));
            for (const wait of waits.values()) wait.row.waits.push(Object.assign(wait, { took: end - wait.time, open: true }));
        }
        for (const row of this.rows.values()) {
            row.holds.sort((a, b) => a.start - b.start);
            row.waits.sort((a, b) => a.time - b.time);
        }
        this.list();
    }
    /** Lists the longest waits. */
    list() {
        this.waits = [...this.rows.values()].flatMap(row => row.waits.filter(wait => wait.took > 0 && !wait.open));
        this.waits.sort((a, b) => b.took - a.took);
        this.waits.length = min(this.waits.length, 1000);
    }
    /** Returns the sums of a range: of waits and holds that reach into it, the time inside it. Returns null if there are none. */
    during(from, to) {
        const locks = new Locks(), part = (start, long) => max(0, min(start + long, to) - max(start, from));
        for (const [key, { label, holds, waits }] of this.rows) {
            const inside = { waits: waits.filter(({ time, took }) => touches(time, time + took, from, to)), holds: holds.filter(({ start, duration }) => touches(start, start + duration, from, to)) };
            if (!inside.waits.length && !inside.holds.length) continue;
            const row = Object.assign(locks.rowOf(label), inside), ends = new Map();
            for (const { start, duration, address } of row.holds) {
                row.addresses.add(address);
                row.acquired += start >= from;
                row.hold += part(start, duration);
                row.holdMax = max(row.holdMax, part(start, duration));
            }
            for (const { time, took, address, contended, open } of row.waits) {
                const end = time + took, others = (ends.get(address) || []).filter(each => each > max(time, from));
                ends.set(address, [...others, end]);
                row.addresses.add(address);
                row.waiters = max(row.waiters, others.length + 1);
                if (open) continue;
                row.contended += contended && end <= to ? 1 : 0;
                row.wait += part(time, took);
                row.waitMax = max(row.waitMax, part(time, took));
            }
        }
        locks.list();
        return locks.rows.size ? locks : null;
    }
}

/** Collects the frames of prof_frame_create(), which are spans with a number. */
function framesOfSpans(report) {
    const series = new Map();
    for (const span of report.spans) {
        const { name, role } = report.labels[span.label];
        if (span.number && role === ROLE_FRAME && span.duration) addBar(series, span.label + ' ' + span.id, 'frame', name, report.tracks[span.track], span.start, span.duration, span.number);
    }
    report.frames.push(...series.values());
}

/** The steps of a loop, on all threads of a process. Their numbers are read when somebody looks. */
class Steps {
    constructor(report, { name }, track) {
        Object.assign(this, { report, name, track, noun: 'step', start: [], duration: [], at: [] });
    }
    add(track, depth, i) { this.at.push({ track, depth, i, start: track.levels[depth].start[i] }); }
    close() {
        this.at.sort((a, b) => a.start - b.start);
        this.start = this.at.map(({ start }) => start);
        this.duration = this.at.map(({ track, depth, i }) => track.levels[depth].durationOf(i));
    }
    /** The tracks that have some of these steps. */
    get tracks() { return this.shared ||= new Set(this.at.map(({ track }) => track)); }
    get number() { return this.numbers ||= this.at.map(each => stepNumber(this.report, each)); }
}

/** Returns the number that the program gave a step; '' if the recording lacks it. */
export function stepNumber(report, { track, depth, i }) {
    const { args } = track.levels[depth], pair = report.argsOf(args, i).find(([key]) => key === 'step_num');
    return pair ? pair[1] : '';
}

/** Makes series, like those of frames, of the steps of loops, which are scopes with ROLE_STEP. */
function stepsOf(report) {
    const series = new Map(), { nodes, labels } = report;
    if (!labels.some(label => label.role === ROLE_STEP)) return [];
    for (const track of report.tracks) {
        track.levels.forEach((level, depth) => {
            for (let i = 0; i < level.count; i++) {
                const label = labels[nodes.label[level.node[i]]];
                if (label.role === ROLE_STEP) entryOf(series, track.process.id + '\0' + label.name, () => new Steps(report, label, track)).add(track, depth, i);
            }
        });
    }
    for (const each of series.values()) each.close();
    return [...series.values()].sort((a, b) => b.start.length - a.start.length);
}

/** Returns the number of the step around a scope: on the scope's thread or, if that makes no steps, on the only thread that does. */
export function stepAround(report, { track, depth, start }) {
    const { nodes, labels } = report;
    for (; depth >= 0; depth--) {
        const level = track.levels[depth], i = scopeAt(level, start);
        if (i >= 0 && labels[nodes.label[level.node[i]]].role === ROLE_STEP) return stepNumber(report, { track, depth, i });
    }
    const series = report.bars.filter(({ noun, track: { process } }) => noun === 'step' && process === track.process);
    if (!series.length || series.some(({ tracks }) => tracks.has(track) || tracks.size > 1)) return '';
    return barAround(series[0], start);
}

/** Returns the number of the frame around a scope: on the scope's thread, or on the thread with the most frames. */
export function frameAround(report, { track, start }) {
    const series = report.bars.filter(({ noun, track: { process } }) => noun === 'frame' && process === track.process);
    return series.length ? barAround(series.find(each => each.track === track) || series[0], start) : '';
}

function barAround(series, time) {
    const i = barAt(series, time);
    return i < 0 ? '' : series.number[i];
}

/** Returns the index of the frame or step at a time: of those, the last to begin. Returns -1 if there is none. */
export function barAt({ start, duration }, time) {
    const i = firstIndex(start.length, k => start[k] > time) - 1;
    return i >= 0 && time < start[i] + duration[i] ? i : -1;
}

/**
 * Puts what overlaps in time into separate lanes, each as high up as possible. Of `most` lanes, a power of two, the last has all
 * that find no other. @param {{start: number, end: number}[]} list sorted by start @returns {{lanes: object[][], crowded: number}}
 */
export function lanesOf(list, most = 1024) {
    const ends = new Float64Array(2 * most).fill(-Infinity), lanes = []; // a tree: each place has the earliest end of the two below it
    let crowded = 0;
    for (const each of list) {
        let at = 1;
        while (at < most) at = 2 * at + Number(ends[2 * at] > each.start);
        if (ends[at] > each.start) crowded++;
        const lane = at - most;
        lanes[lane] = lanes[lane] || [];
        lanes[lane].push(each);
        ends[at] = max(ends[at], each.end);
        while (at >>= 1) ends[at] = min(ends[2 * at], ends[2 * at + 1]);
    }
    return { lanes, crowded };
}

/** Groups spans by name, and puts overlapping ones into separate lanes. */
function spanLanes(report) {
    const groups = new Map();
    for (const span of report.spans) {
        const { process } = report.tracks[span.track], { name, role } = report.labels[span.label];
        span.end = span.start + span.duration;
        if (!span.mark && (!span.number || role !== ROLE_FRAME)) entryOf(groups, process.id + '\0' + name, () => ({ process, name, spans: [] })).spans.push(span);
    }
    for (const process of report.processes) process.spanGroups = [];
    for (const group of groups.values()) {
        group.spans.sort((a, b) => a.start - b.start);
        Object.assign(group, lanesOf(group.spans));
        group.process.spanGroups.push(group);
    }
}

/** So many threads that are short, or idle, or have one name and numbers, become a group of rows. */
const ALIKE = 8;

/**
 * Says how the threads of a process become rows. Those that lived for less than an eighth of the recording share lanes, as spans do. Those
 * whose names differ in the number at the end are a group, and so are those that hardly were in a scope.
 */
function threadRows(process, length) {
    const { tracks, about, id } = process, first = track => Number(track.fiber) * 2 - Number(String(track.thread) === about.get('pid')), groups = process.threadGroups = [];
    let rest = tracks.filter(track => !track.device && !track.owner && track.life).sort((a, b) => first(a) - first(b) || a.id - b.id);
    const take = (title, list, lanes) => {
        if (list.length < ALIKE) return;
        rest = rest.filter(track => !list.includes(track));
        groups.push({ key: `p${id}T${list[0].id}`, title, tracks: list, lanes });
    };
    const short = rest.filter(({ life }) => life.end - life.start < length / 8), stems = new Map();
    const { lanes } = lanesOf(short.map(track => ({ track, ...track.life })).sort((a, b) => a.start - b.start));
    if (lanes.length < short.length / 2) take(`${grouped(short.length)} short threads`, short, lanes.map(lane => lane.map(({ track }) => track)));
    for (const track of rest) {
        const [, stem, number] = /^(.*?)(\d+)$/.exec(track.title) || [];
        if (stem) entryOf(stems, stem, () => []).push({ track, number: Number(number) });
    }
    for (const [stem, list] of stems) {
        list.sort((a, b) => a.number - b.number);
        take(`${stem}${list[0].number}..${list.at(-1).number}`, list.map(({ track }) => track));
    }
    if (rest.length > 2 * ALIKE) take('Idle threads', rest.filter(track => !track.marks && busyOf(track) < length / 1000));
    process.threads = rest;
}

/** Returns the notes at the top of the page. @returns {string[]} */
export function warnings(report) {
    const lines = [];
    if (report.damage) lines.push(`This report is damaged: ${report.damage}. What follows is missing.`);
    if (report.processes.some(process => process.about.get('together') === '1'))
        lines.push('The recordings were made one after the other: here, each begins at 0.');
    else if (report.machines > 1) lines.push('The recordings are of several machines, or of several starts of one: they are aligned by the time of day, as exactly as the machines had set it.');
    for (const name of new Set(report.processes.map(process => process.file).filter(Boolean))) lines.push(`${name} was added: its recordings begin at 0 here.`);
    for (const process of report.processes) {
        const who = report.processes.length > 1 ? process.name + ': ' : '', number = key => Number(process.about.get(key) || 0);
        if (process.about.has('nothing')) lines.unshift(who + process.about.get('nothing'));
        for (const loss of process.losses) lines.push(who + loss);
        if (!number('complete')) lines.push(who + 'The session was not stopped: the program was running, or died.');
        if (process.about.has('window_from_ns')) lines.push(who + `Too large for a page: of its ${grouped(number('events'))} events, those from ${moment(number('window_from_ns'))} to ${moment(number('window_to_ns'))} are all here. ` +
            `Elsewhere, scopes of less than ${ns(number('part_ns'))} are in groups, drawn lighter and named after the longest, and of other events there are samples. Statistics of everything count all scopes.`);
        if (number('aggregated')) lines.push(who + `${grouped(number('aggregated'))} events are only in statistics: see prof summary.`);
        if (process.about.get('write_error')) lines.push(who + process.about.get('write_error'));
        const cut = process.tracks.reduce((sum, { levels }) => levels.reduce((n, level) => n + [...level.flags.values()].filter(flags => flags & 3).length, sum), 0);
        if (cut && !process.live) lines.push(`${who}${grouped(cut)} scope${cut > 1 ? 's lack' : ' lacks'} begin or end: the edge is jagged.`);
        const { total, text } = cost(process, report.to - report.from);
        if (total > 0.01 * (report.to - report.from)) lines.push(`${who}Recording cost ${text}.`);
        const guessed = process.tracks.filter(track => track.device && track.alignment === 3);
        if (guessed.length) lines.push(who + `The clocks of these devices are not aligned: ${[...new Set(guessed.map(t => t.device))].join(', ')}. Durations may be right, positions are not.`);
    }
    return lines;
}

export function scopesOf({ levels }) { return levels.reduce((sum, level) => sum + level.count, 0); }

/** Estimates what recording cost: the start, preparing memory, and each scope. duration: of the report; 0: unknown. */
export function cost(process, duration) {
    const [each, start, ready] = ['scope', 'start', 'ready'].map(what => Number(process.about.get(`${what}_cost_ns`) || 0));
    const scopes = process.calls || process.tracks.reduce((sum, track) => sum + (track.device ? 0 : scopesOf(track)), 0), total = each * scopes; // calls: of an outline
    return { each, total, text: `${ns(each)} a scope, ${ns(total)} for ${grouped(scopes)} scopes` + (start ? `, ${ns(start)} for the start` : '') + (ready ? `, ${ns(ready)} for memory` : '') +
        (duration ? `, ${(100 * (total + start + ready) / (duration + start)).toFixed(1)} % of the run` : '') };
}

/** Returns how long a track was in its outermost scopes. */
export function busyOf(track) {
    const { levels: [level] } = track;
    if (track.busy === undefined) {
        track.busy = 0;
        for (let i = 0; level && i < level.count; i++)
            track.busy += level.groups && level.groups.has(i) ? level.groups.get(i).busy : level.durationOf(i);
    }
    return track.busy;
}

/** Returns "begin and end not recorded" or the like; "" if both were. */
export function truncatedText(flags) {
    const missing = [flags & TRUNCATED_BEGIN ? 'begin' : '', flags & TRUNCATED_END ? 'end' : ''].filter(Boolean).join(' and ');
    return missing && `${missing} not recorded`;
}

/** Returns the index of the scope of a level at a time. Returns -1 if there is none. */
export function scopeAt(level, time) {
    const i = firstIndex(level.count, k => level.start[k] > time) - 1;
    return i >= 0 && level.endOf(i) >= time ? i : -1;
}

/** Returns what the page shows of a scope. */
export function scopeOf(report, { track, depth, i }) {
    const level = track.levels[depth];
    return { track, label: report.labels[report.nodes.label[level.node[i]]], start: level.start[i], end: level.endOf(i), duration: level.durationOf(i),
        flags: level.flags.get(i) || 0, get args() { return report.argsOf(level.args, i); } };
}
