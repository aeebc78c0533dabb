// What a trace holds, as prof_csv_write() tells it, in the shape in which viewers are asked about it.
import fs from 'node:fs';

function parseCsv(text) {
    const rows = [[]];
    let at = 0, field = '';
    while (at < text.length) {
        const c = text[at++];
        if (c === '"') {
            for (;;) {
                const end = text.indexOf('"', at);
                field += text.slice(at, end);
                at = end + 1;
                if (text[at] !== '"') break;
                field += '"';
                at++;
            }
        } else if (c === ',') {
            rows.at(-1).push(field);
            field = '';
        } else if (c === '\n') {
            rows.at(-1).push(field);
            field = '';
            rows.push([]);
        } else if (c !== '\r') {
            field += c;
        }
    }
    const names = rows[0];
    return rows.slice(1).filter(r => r.length === names.length)
        .map(r => Object.fromEntries(names.map((name, i) => [name, r[i]])));
}

// "a=1;b\=c=text" as pairs; the last of a key counts
function parseArgs(text) {
    const pairs = new Map();
    const parts = [['']];
    for (let at = 0; at < text.length; at++) {
        const c = text[at], pair = parts.at(-1);
        if (c === '\\') pair[pair.length - 1] += text[++at];
        else if (c === ';') parts.push(['']);
        else if (c === '=' && pair.length === 1) pair.push('');
        else pair[pair.length - 1] += c;
    }
    for (const [key, value] of parts) if (value !== undefined) pairs.set(argKey(key), value);
    return pairs;
}

const argKey = key => (['truncated', 'source', 'function'].includes(key) ? key + ' ' : key || '(unnamed)');
const category = text => (!text || /trace_event_overhead|blink\.user_timing/.test(text) ? 'prof' : text);

// The arrows of flows, from slice to slice, and the points that have a slice of their own or no partner: what prof_chrome.h
// says of flows.
function addFlows(rows, tidOf, track, eventName) {
    const present = new Map(), arrows = [];
    const point = row => ({ row, tid: tidOf.get(+row.track_id), start: +row.start_ns });
    const event = ({ row, start }) => ({ name: eventName(row.name), category: category(row.category), start, duration: 0,
        args: new Map([['flow', '0x' + BigInt(row.value).toString(16)]]) });
    const end = flow => {
        if (flow && flow.points.length === 1 && +flow.points[0].row.depth)
            track(flow.points[0].tid, flow.points[0].row.thread).instants.push(event(flow.points[0]));
        for (let i = 1; flow && i < flow.points.length; i++) arrows.push({ from: flow.points[i - 1], to: flow.points[i] });
    };
    const points = rows.filter(row => row.type.startsWith('flow_')).map(point);
    for (const one of points)
        if (!+one.row.depth) track(one.tid, one.row.thread).scopes.push(event(one));
    points.sort((a, b) => a.start - b.start || +a.row.track_id - +b.row.track_id);
    for (const one of points) {
        const key = one.row.value + one.row.name, flow = present.get(key);
        if (one.row.type === 'flow_out') {
            end(flow);
            present.set(key, { points: [one] });
        } else if (flow) {
            flow.points.push(one);
        } else if (+one.row.depth) {
            track(one.tid, one.row.thread).instants.push(event(one));
        }
    }
    for (const flow of present.values()) end(flow);
    const around = ({ row, start, tid }) => {
        const scopes = rows.filter(r => r.type === 'scope' && r.track_id === row.track_id && +r.depth === +row.depth - 1 &&
            +r.start_ns <= start && +r.start_ns + +r.duration_ns >= start);
        const slice = +row.depth ? { name: scopes.at(-1).name, start: +scopes.at(-1).start_ns } : { name: row.name, start };
        return { tid, at: start, slice: `${tid} ${eventName(slice.name)} ${slice.start}` };
    };
    return arrows.map(({ from, to }) => [around(from), around(to)]);
}

// The slices that a viewer may take an arrow's end for: it knows a thread and an instant only, so all that are there where
// one of them begins or ends at that instant.
function candidates(end, tracks) {
    const track = tracks.find(t => t.tid === end.tid);
    const there = [...track.scopes, ...track.instants].filter(e => e.start <= end.at && e.start + e.duration >= end.at);
    const unclear = there.some(e => e.start === end.at || e.start + e.duration === end.at);
    return new Set([end.slice, ...(unclear ? there.map(e => `${end.tid} ${e.name} ${e.start}`) : [])]);
}

// Compares arrows, [slice, slice] each, of any order: each must be one of those wanted, and the other way round.
export function compareArrows(shown, trace, fail) {
    const wanted = trace.arrows.map(arrow => arrow.map(end => candidates(end, trace.tracks)));
    const fits = shown.map(arrow => wanted.map((w, i) => i).filter(i => arrow.every((end, k) => wanted[i][k].has(end))));
    const takenBy = new Map(); // the wanted one: the shown one that it is
    const place = (one, seen) => fits[one].some(i => {
        if (seen.has(i)) return false;
        seen.add(i);
        if (takenBy.has(i) && !place(takenBy.get(i), seen)) return false;
        takenBy.set(i, one);
        return true;
    });
    if (shown.length !== wanted.length) fail(`${shown.length} arrows, not ${wanted.length}`);
    for (let one = 0; one < shown.length; one++)
        if (!place(one, new Set())) fail(`arrow from ${shown[one].join(' to ')}, which is not, or not as often, among ` +
            JSON.stringify(trace.arrows.map(arrow => arrow.map(end => end.slice))).slice(0, 1000));
}

// The samples of a counter, in order of time, as far as they have one: those of one instant may come from several threads.
// Of live bytes only the last of an instant counts: those before it depend on which thread's is counted first, and are not
// always written.
export function inOrder({ category }, samples) {
    const sorted = [...samples].sort((a, b) => a.start - b.start);
    if (category !== 'memory') return sorted.sort((a, b) => a.start - b.start || a.value - b.value);
    return sorted.filter(({ start }, i) => i + 1 === sorted.length || sorted[i + 1].start !== start);
}

const hex = text => '0x' + BigInt(text).toString(16);

// Spans, put together as prof_spans_next() does it. Those of handles of frames are frames, on tracks of their own.
function addSpans(rows, last, tidOf, handles, frameTrack, eventName) {
    const order = (a, b) => +a.start_ns - +b.start_ns || +a.track_id - +b.track_id;
    const halves = rows.filter(row => row.type.startsWith('span_')).sort(order), open = [], shown = [], frames = new Map();
    const first = Math.min(...rows.map(row => +row.start_ns));
    const same = (a, b) => a.name === b.name && a.value === b.value;
    const give = (begin, end) => {
        const known = begin || end, start = begin ? +begin.start_ns : first;
        const args = new Map([['id', hex(known.value)]]), duration = (end ? +end.start_ns : last) - start;
        if (!begin || !end) args.set('truncated', begin ? 'end' : 'begin');
        if (begin && end && begin.track_id !== end.track_id) args.set('ended on thread', String(tidOf.get(+end.track_id)));
        const event = { name: eventName(known.name), category: category(known.category), start, duration, args };
        if (!handles.has(known.name)) {
            shown.push({ tid: tidOf.get(+known.track_id), ...event });
            return;
        }
        const key = known.value + known.name, number = (frames.get(key) || 0) + 1;
        frames.set(key, number);
        frameTrack(key, event.name).push({ ...event, args: new Map([['frame', String(number)]]) });
    };
    for (const half of halves) {
        const at = open.findLastIndex(one => same(one, half));
        if (half.type === 'span_begin') open.push(half);
        else if (half.type === 'span_end') give(at < 0 ? null : open.splice(at, 1)[0], half);
        else shown.push({ tid: tidOf.get(+half.track_id), name: eventName(half.name), category: category(half.category),
            start: +half.start_ns, duration: 0, args: new Map([['id', hex(half.value)]]) });
    }
    for (const half of open) give(half, null);
    return shown;
}

// The spans of locks are compared with the file: what they are is tests/test_locks.c's matter.
function addLocks(events) {
    const open = new Map(), shown = [], ns = event => Math.round(event.ts * 1000);
    for (const event of events.filter(e => e.cat === 'lock' && e.id2)) {
        const key = `${event.pid} ${event.id2.local}`;
        if (event.ph === 'b') open.set(key, event);
        else shown.push({ tid: event.tid, name: event.name, category: 'lock', start: ns(open.get(key)),
            duration: ns(event) - ns(open.get(key)),
            args: new Map(Object.entries(open.get(key).args).map(([k, v]) => [k, String(v)])) });
    }
    return shown;
}

// Live bytes of each pool. No address comes twice in these traces before it is freed.
function addMemory(rows, counterOf) {
    const blocks = new Map(), live = new Map();
    const changes = rows.filter(row => row.type === 'alloc' || row.type === 'free');
    for (const row of changes.sort((a, b) => +a.start_ns - +b.start_ns || +a.track_id - +b.track_id)) {
        if (row.type === 'alloc') blocks.set(row.value, { pool: row.category, bytes: +parseArgs(row.args).get('bytes') });
        const { pool, bytes } = blocks.get(row.value), name = pool ? `memory: ${pool}` : 'memory';
        live.set(pool, (live.get(pool) || 0) + (row.type === 'alloc' ? bytes : -bytes));
        counterOf(name, 'memory').samples.push({ start: +row.start_ns, value: live.get(pool) });
    }
}

// One object for each line of time that a viewer shows: slices, in order; the samples of the counters; and what has a
// line for itself because it may begin and end on different threads.
export function expected(prefix) {
    const rows = parseCsv(fs.readFileSync(prefix + '.csv', 'utf8'));
    const json = JSON.parse(fs.readFileSync(prefix + '.json', 'utf8'));
    const meta = json.traceEvents.filter(e => e.ph === 'M');
    const ids = meta.filter(e => e.name === 'thread_sort_index' && e.args.sort_index >= 0).map(e => e.tid);
    const taken = new Set(json.traceEvents.map(e => e.name).filter(name => name.endsWith(' '))); // prof__chrome_taken()
    const eventName = name => (taken.has(name + ' ') ? name + ' ' : name || '(unnamed)');
    const markTid = new Map(meta.filter(e => e.name === 'thread_name' && e.args.name.startsWith('mark: '))
        .map(e => [e.args.name.slice('mark: '.length), e.tid]));
    const frameIds = meta.filter(e => e.name === 'thread_sort_index' && e.args.sort_index < 0).map(e => e.tid)
        .filter(tid => ![...markTid.values()].includes(tid));
    const tracks = new Map(), counters = new Map();
    const trackIds = [...new Set(rows.map(r => +r.track_id))].sort((a, b) => a - b);
    const tidOf = new Map(trackIds.map((id, i) => [id, ids[i]]));
    const frameTid = new Map(), boundaries = new Map(); // a frame's number counts those before it, also frames of no length
    const nameOf = pid => meta.find(e => e.name === 'process_name' && e.pid === pid).args.name;
    const track = (tid, name) => {
        const process = nameOf(meta.find(e => e.name === 'thread_sort_index' && e.tid === tid).pid);
        if (!tracks.has(tid)) tracks.set(tid, { tid, name, process, scopes: [], instants: [] });
        return tracks.get(tid);
    };
    const counterOf = (name, category) => {
        const key = category + '\0' + name;
        if (!counters.has(key)) counters.set(key, { name, category, samples: [] });
        return counters.get(key);
    };
    for (const row of rows) // the row of a device: "DEVICE/ROW", and its events have the device as their category
        if (row.thread_id === '0' && row.thread.startsWith(row.category + '/'))
            row.thread = row.thread.slice(row.category.length + 1);
    for (const row of rows) {
        const start = +row.start_ns, duration = +row.duration_ns, tid = tidOf.get(+row.track_id);
        const event = { name: eventName(row.name), category: category(row.category), start, duration,
            args: parseArgs(row.args) };
        if (row.flags && row.type === 'scope')
            event.args.set('truncated', ['begin', 'end'].filter(which => row.flags.includes(which)).join(' and '));
        if (row.type === 'scope') {
            track(tid, row.thread).scopes.push(event);
        } else if (row.type === 'mark' && markTid.has(row.name)) {
            event.args.set('scope', row.name === 'phase' ? 'process' : 'global').set('thread', row.thread);
            track(markTid.get(row.name), 'mark: ' + row.name).instants.push(event);
        } else if (row.type === 'mark') {
            track(tid, row.thread).instants.push(event);
        } else if (row.type === 'log') {
            event.name = eventName(row.value);
            track(tid, row.thread).instants.push(event);
        } else if (row.type === 'lost') {
            event.name = `lost ${row.value} events`;
            event.args.set('lost', row.value);
            track(tid, row.thread).instants.push(event);
        } else if (row.type === 'counter') {
            if (!Number.isFinite(Number(row.value))) {
                event.args.set('value', row.value);
                track(tid, row.thread).instants.push(event);
                continue;
            }
            counterOf(event.name, event.category).samples.push({ start, value: Number(row.value) });
        } else if (row.type === 'alloc' || row.type === 'free') {
            event.args.set('address', hex(row.value));
            track(tid, row.thread).instants.push(event);
        } else if (row.type === 'frame') {
            const key = row.track_id + '\0' + row.name, number = boundaries.get(key) ?? 0;
            boundaries.set(key, number + 1);
            if (!duration) continue;
            if (!frameTid.has(key)) {
                frameTid.set(key, frameIds[frameTid.size]);
            }
            const frames = track(frameTid.get(key), 'frames: ' + event.name).scopes;
            frames.push({ ...event, start: start - duration, args: new Map([['frame', String(number)]]) });
        }
    }
    const frameNames = new Set(rows.filter(row => row.type === 'frame').map(row => row.name));
    const handles = new Set(meta.filter(e => e.name === 'thread_name' && frameIds.includes(e.tid))
        .map(e => e.args.name.slice('frames: '.length)).filter(name => !frameNames.has(name)));
    const last = Math.max(0, ...json.traceEvents.filter(e => e.ph === 'e').map(e => Math.round(e.ts * 1000))); // when it was read
    const asyncs = addSpans(rows, last, tidOf, handles, (key, name) => {
        if (!frameTid.has(key)) frameTid.set(key, frameIds[frameTid.size]);
        return track(frameTid.get(key), 'frames: ' + name).scopes;
    }, eventName).concat(addLocks(json.traceEvents));
    addMemory(rows, counterOf);
    const arrows = addFlows(rows, tidOf, track, eventName);
    for (const one of tracks.values()) one.scopes.sort((a, b) => a.start - b.start); // stable: parents stay in front
    for (const counter of counters.values()) counter.samples.sort((a, b) => a.start - b.start);
    return { arrows, asyncs, tracks: [...tracks.values()], counters: [...counters.values()], program: meta[0].args.name,
        pid: meta[0].pid };
}

// Compares events of any order, some of which may be alike; of: what they lie on.
export function compareEvents(of, shown, wanted, fail) {
    const key = e => `${e.start} ${e.duration} ${e.category} ${e.name}`, left = new Map();
    if (shown.length !== wanted.length) fail(`${of}: ${shown.length} events, not ${wanted.length}`);
    for (const event of shown) left.set(key(event), [...(left.get(key(event)) || []), event]);
    for (const event of wanted) {
        const same = left.get(key(event)) || [];
        const at = same.findIndex(one => one.args.size === event.args.size &&
            [...event.args].every(([k, v]) => one.args.has(k) && sameArg(one.args.get(k), v)));
        const near = same.length ? same : shown.filter(one => one.start === event.start);
        if (at < 0) fail(`${of}: nothing like ${key(event)} ${JSON.stringify([...event.args])}, but ` +
            JSON.stringify(near.map(e => [key(e), ...e.args])).slice(0, 300));
        else same.splice(at, 1);
    }
}

// Compares an argument as a viewer has it with its text in the CSV, where "..." ends what was cut.
export function sameArg(shown, text) {
    if (typeof shown !== 'string') return typeof shown === 'number' ? shown === Number(text) : String(shown) === text;
    return shown === text || shown.replace(/\u2026$/, '...') === text;
}
