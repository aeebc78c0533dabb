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
        return `${tid} ${eventName(slice.name)} ${slice.start}`;
    };
    return arrows.map(({ from, to }) => `${around(from)} -> ${around(to)}`).sort();
}

// One object for each line of time that a viewer shows: slices, in order, and the samples of the process's counters.
export function expected(prefix) {
    const rows = parseCsv(fs.readFileSync(prefix + '.csv', 'utf8'));
    const json = JSON.parse(fs.readFileSync(prefix + '.json', 'utf8'));
    const meta = json.traceEvents.filter(e => e.ph === 'M');
    const ids = meta.filter(e => e.name === 'thread_sort_index' && e.args.sort_index >= 0).map(e => e.tid);
    const taken = new Set(json.traceEvents.map(e => e.name).filter(name => name.endsWith(' '))); // prof__chrome_taken()
    const eventName = name => (taken.has(name + ' ') ? name + ' ' : name || '(unnamed)');
    const frameIds = meta.filter(e => e.name === 'thread_sort_index' && e.args.sort_index < 0).map(e => e.tid);
    const tracks = new Map(), counters = new Map();
    const trackIds = [...new Set(rows.map(r => +r.track_id))].sort((a, b) => a - b);
    const tidOf = new Map(trackIds.map((id, i) => [id, ids[i]]));
    const frameTid = new Map();
    const track = (tid, name) => {
        if (!tracks.has(tid)) tracks.set(tid, { tid, name, scopes: [], instants: [] });
        return tracks.get(tid);
    };
    for (const row of rows) {
        const start = +row.start_ns, duration = +row.duration_ns, tid = tidOf.get(+row.track_id);
        const event = { name: eventName(row.name), category: category(row.category), start, duration,
            args: parseArgs(row.args) };
        if (row.flags && row.type === 'scope')
            event.args.set('truncated', ['begin', 'end'].filter(which => row.flags.includes(which)).join(' and '));
        if (row.type === 'scope') {
            track(tid, row.thread).scopes.push(event);
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
            const key = event.category + '\0' + event.name;
            if (!counters.has(key)) counters.set(key, { name: event.name, category: event.category, samples: [] });
            counters.get(key).samples.push({ start, value: Number(row.value) });
        } else if (row.type === 'frame' && duration) {
            const key = row.track_id + '\0' + row.name;
            if (!frameTid.has(key)) {
                frameTid.set(key, frameIds[frameTid.size]);
            }
            const frames = track(frameTid.get(key), 'frames: ' + event.name).scopes;
            frames.push({ ...event, start: start - duration, args: new Map([['frame', String(frames.length + 1)]]) });
        }
    }
    const arrows = addFlows(rows, tidOf, track, eventName);
    for (const one of tracks.values()) one.scopes.sort((a, b) => a.start - b.start); // stable: parents stay in front
    for (const counter of counters.values()) counter.samples.sort((a, b) => a.start - b.start);
    return { arrows, tracks: [...tracks.values()], counters: [...counters.values()], program: meta[0].args.name };
}

// Compares an argument as a viewer has it with its text in the CSV, where "..." ends what was cut.
export function sameArg(shown, text) {
    if (typeof shown !== 'string') return typeof shown === 'number' ? shown === Number(text) : String(shown) === text;
    return shown === text || shown.replace(/\u2026$/, '...') === text;
}
