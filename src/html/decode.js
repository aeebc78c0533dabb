// Reads the data of a report, which docs/internals/html.md describes. They are untrusted: each length and index is checked.

import { Growing, entryOf } from './columns.js';
import { States } from './states.js';
import { ceil, floor, max, min } from './text.js';

/** Thrown for data that no writer makes. */
export class Damage extends Error {}
/** @param {string} what @returns {never} */
export function damaged(what) { throw new Damage(what); }

/** The longest block that a writer makes, in bytes, before and after packing. */
export const LONGEST = 1 << 21;
/** The version of the format. */
const VERSION = 2;
/** Types of events: those of prof_event_type. src/kinds.sh makes these lines. */
export const SCOPE = 0, MARK = 1, COUNTER = 2, FRAME = 3, LOST = 4, SPAN_BEGIN = 5, SPAN_MARK = 6, SPAN_END = 7,
    FLOW_OUT = 8, FLOW_STEP = 9, FLOW_IN = 10, ALLOC = 11, FREE = 12, LOCK_WAIT = 13, LOCK_ACQUIRE = 14,
    LOCK_RELEASE = 15, LOG = 16;
export const TRUNCATED_BEGIN = 1, TRUNCATED_END = 2;
/** A flag of scopes that stand for several scopes: see "Large recordings" in docs/guide/page.md. */
export const GROUP = 4;
/** Roles of call sites: those of prof_role. src/kinds.sh makes these lines. */
export const ROLE_NONE = 0, ROLE_STEP = 1, ROLE_THROUGHPUT = 2, ROLE_SYNC = 3, ROLE_MARK_GLOBAL = 4,
    ROLE_MARK_PROCESS = 5, ROLE_MARK_TASK = 6, ROLE_MARK_MARKER = 7, ROLE_TASK = 8, ROLE_DEVICE = 9, ROLE_FRAME = 10,
    ROLE_MEMORY = 11, ROLE_LOCK = 12, ROLE_RANGE = 13, ROLE_WAIT = 14, ROLE_SHARED = 15;
/** A flag of a kind: begins of its scopes count from the last begin or end of the track, not from the last scope of the level. */
const FROM_LAST = 0x10000;

/** Reads bytes one after another. */
export class Reader {
    /** @param {Uint8Array} bytes @param {number} [at] @param {number} [end] */
    constructor(bytes, at = 0, end = bytes.length) {
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }
    get done() { return this.at >= this.end; }
    byte() {
        if (this.at >= this.end) damaged('a block ends too early');
        return this.bytes[this.at++];
    }
    /** Reads a number. Inexact from 2^53 on. */
    u() {
        let byte = this.byte();
        if (byte < 128) return byte;
        let value = byte & 127, scale = 128;
        do {
            byte = this.byte();
            value += (byte & 127) * scale;
            scale *= 128;
            if (scale > 2 ** 71) damaged('a number is too long');
        } while (byte > 127);
        return value;
    }
    /** Reads a number that must be below `limit`. @param {number} limit @param {string} what */
    index(limit, what) {
        const value = this.u();
        if (value >= limit) damaged(`there is no ${what} ${value}`);
        return value;
    }
    /** Reads the number of an item of a list, and returns the item. @template T @param {T[]} list @param {string} what @returns {T} */
    of(list, what) { return list[this.index(list.length, what)]; }
    /** Reads a number; returns a BigInt if a double would be inexact. */
    exact() {
        const at = this.at, value = this.u();
        if (value <= Number.MAX_SAFE_INTEGER) return value;
        let big = 0n;
        for (let i = at; i < this.at; i++) big |= BigInt(this.bytes[i] & 127) << BigInt(7 * (i - at));
        return BigInt.asUintN(64, big);
    }
    /** Reads a number that may be negative. */
    signed() {
        const value = this.exact();
        if (typeof value === 'bigint') return value & 1n ? -(value >> 1n) - 1n : value >> 1n;
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }
    double() {
        if (this.at + 8 > this.end) damaged('a block ends too early');
        this.at += 8;
        return new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at - 8, 8).getFloat64(0, true);
    }
    text() {
        const length = this.u();
        if (length > this.end - this.at) damaged('a text is longer than its block');
        this.at += length;
        return decoder.decode(this.bytes.subarray(this.at - length, this.at));
    }
}
const decoder = new TextDecoder();

/** Decodes text with seven bits a character. After `!`, a character has its bit 64 inverted. @param {string} text @returns {Uint8Array} */
export function fromText(text) {
    const bytes = new Uint8Array(text.length), done = { at: 0, size: 0, bits: 0, count: 0 };
    while (done.at < text.length) someLetters(text, bytes, done);
    return bytes.subarray(0, done.size);
}

/** Decodes a few thousand characters. Engines optimise a function that is called often sooner than one that loops for long. */
function someLetters(text, bytes, done) {
    const until = min(done.at + 4000, text.length);
    let { at, size, bits, count } = done, other = 0;
    while (at < until) {
        let letter = text.charCodeAt(at++);
        if (letter === 33) letter = text.charCodeAt(at++) ^ 64;
        other |= letter;
        bits = bits << 7 | letter;
        count += 7;
        if (count < 8) continue;
        count -= 8;
        bytes[size++] = bits >> count;
    }
    if (other > 127) damaged('a piece has characters that no writer wrote');
    Object.assign(done, { at, size, bits, count });
}

const unequal = () => damaged('columns are not equally long');

/** Reads numbers as prof__html_number() of pack.h writes them: the first byte from one column, the rest from another. */
class Numbers extends Reader {
    /** @param {Reader} heads @param {Reader} rests */
    constructor(heads, rests) {
        super(heads.bytes, heads.at, heads.end);
        this.rests = rests;
    }
    get done() { return this.at >= this.end && this.rests.done; }
    next() {
        if (this.at >= this.end) unequal();
        const head = this.bytes[this.at++];
        return head < 192 ? head : this.longer(head);
    }
    longer(head) {
        const { rests } = this;
        if (head < 224) return (head - 192) * 0x100 + rests.byte() + 192;
        let value = 0, scale = 1;
        for (let more = head < 240 ? 2 : head < 248 ? 3 : 8; more > 0; more--, scale *= 256) value += rests.byte() * scale;
        if (head < 240) return (head - 224) * scale + value + 8384;
        return (head < 248 ? (head - 240) * scale : 0x8000000) + value + 1056960;
    }
}

/** @param {Uint8Array} bytes @param {number} size what it must become @returns {Promise<Uint8Array>} */
async function inflate(bytes, size) {
    const stream = new DecompressionStream('deflate-raw'), writer = stream.writable.getWriter(), out = new Uint8Array(size);
    writer.write(bytes).catch(() => {});
    writer.close().catch(() => {});
    const reader = stream.readable.getReader();
    let at = 0;
    for (;;) {
        let step;
        try {
            step = await reader.read();
        } catch {
            damaged('a block cannot be unpacked');
        }
        if (step.done) break;
        if (at + step.value.length > size) {
            reader.cancel().catch(() => {});
            damaged('a block is larger than it says');
        }
        out.set(step.value, at);
        at += step.value.length;
    }
    if (at !== size) damaged('a block is smaller than it says');
    return out;
}

/**
 * The blocks of a piece. A zero may be left at its end.
 * @param {string} text @returns {{kind: string, size: number, packed: boolean, bytes: Uint8Array}[]}
 */
export function blocksOf(text) {
    const reader = new Reader(fromText(text)), blocks = [];
    while (!reader.done) {
        const kind = reader.byte();
        if (!kind) continue;
        const size = reader.index(LONGEST, 'block of size'), packed = reader.index(LONGEST, 'block of size');
        const stored = packed || size;
        if (stored > reader.end - reader.at) damaged('a block is longer than its piece');
        blocks.push({ kind: String.fromCharCode(kind), size, packed: packed > 0,
            bytes: reader.bytes.subarray(reader.at, reader.at + stored) });
        reader.at += stored;
    }
    return blocks;
}

/** The scopes of a track at one depth, in order of time. They do not overlap. */
export class Level {
    constructor() {
        this.count = 0;
        this.start = new Float64Array(8);
        this.duration = new Uint32Array(8);
        this.node = new Uint32Array(8);
        /** Durations from 4294967295 on, which is what the column holds for them. @type {Map<number, number>} */
        this.long = new Map();
        /** TRUNCATED_... @type {Map<number, number>} */
        this.flags = new Map();
        this.args = new Listed();
        /** Of scopes that are groups: how many calls they stand for, and the calls' time. @type {Map<number, {calls: number, busy: number}> | null} */
        this.groups = null;
        /** See buildPyramid(). */
        this.pyramid = null;
        /** What view.js has drawn last. */
        this.drawn = null;
        this.lastEnd = this.lastNode = 0; // only used while the level is read
        this.isOpen = false;
    }
    /** Ends the last scope. @param {number} end */
    closeLast(end) {
        const i = this.count - 1, duration = end - this.start[i];
        this.isOpen = false;
        this.lastEnd = end;
        this.duration[i] = min(duration, 0xFFFFFFFF);
        if (duration >= 0xFFFFFFFF) this.long.set(i, duration);
    }
    /** Makes room for more. @param {number} room */
    grow(room) {
        for (const column of ['start', 'duration', 'node']) {
            const before = this[column];
            this[column] = new before.constructor(room);
            this[column].set(before);
        }
    }
    /** Cuts the columns to the number of scopes, when all are read. Memory that was reserved but not touched costs nothing. */
    close() {
        for (const column of ['start', 'duration', 'node']) this[column] = this[column].subarray(0, this.count);
        this.args.close();
    }
    /** @param {number} i */
    durationOf(i) {
        const short = this.duration[i];
        return short === 0xFFFFFFFF ? this.long.get(i) : short;
    }
    /** @param {number} i */
    endOf(i) { return this.start[i] + this.durationOf(i); }
}

/** Which events have arguments, and where the arguments are. They are decoded when somebody looks at them. */
export class Listed {
    constructor() {
        this.count = 0;
        this.index = new Growing(Uint32Array);
        this.place = new Growing(Float64Array);
    }
    close() {
        this.index = this.index.close(this.count);
        this.place = this.place.close(this.count);
    }
}

/** The events of a track other than scopes. The meaning of a and b depends on the type. */
export class Points {
    constructor() {
        this.count = 0;
        this.time = new Growing(Float64Array);
        this.kind = new Growing(Uint32Array);
        this.a = new Growing(Float64Array);
        this.b = new Growing(Float64Array);
        this.args = new Listed();
        /** Numbers of frames that are not one more than the previous frame's, and objects that a double cannot hold. @type {Map<number, number | bigint>} */
        this.numbers = new Map();
    }
    close() {
        for (const column of ['time', 'kind', 'a', 'b']) this[column] = this[column].close(this.count);
        this.args.close();
    }
}

/** All data of a report. finish() of model.js derives the rest from them. */
export class Report {
    constructor() {
        this.version = 0;
        this.machines = 1;
        this.title = '';
        /** @type {string[]} */ this.strings = [];
        /** Kinds: what events have in common. */
        this.kinds = [];
        /** Labels: a name at a call site. Statistics are about labels. */
        this.labels = [];
        /** Call paths: the label and the parent of each. Number 0 is the root. */
        this.nodes = { count: 1, label: new Growing(Uint32Array), parent: new Growing(Uint32Array) };
        this.processes = [];
        this.tracks = [];
        this.spans = [];
        /** @type {{bytes: Uint8Array, strings: string[]}[]} */ this.argBlocks = [];
        /** Lines of source by their numbers, of each file. @type {Map<string, Map<number, string>>} */ this.sources = new Map();
        /** Statistics of all scopes, including those that are only in groups. null: the report has every scope. @type {object[] | null} */
        this.all = null;
        this.scopes = this.points = this.spanCount = 0;
        this.complete = false;
        this.damage = '';
    }

    /** Arguments as [key, value] pairs. @param {Listed} listed @param {number} i @returns {[string, any][]} */
    argsOf(listed, i) {
        let low = 0, high = listed.count;
        while (low < high) {
            const middle = low + high >> 1;
            if (listed.index[middle] < i) low = middle + 1; else high = middle;
        }
        return low < listed.count && listed.index[low] === i ? this.argsAt(listed.place[low]) : [];
    }
    /** @param {number} place */
    argsAt(place) {
        const block = this.argBlocks[floor(place / LONGEST)];
        return readArgs(block, new Reader(block.bytes, place % LONGEST));
    }
}

/** @param {{strings: string[]}} report @param {Reader} reader */
function readArgs(report, reader) {
    const args = [];
    for (let left = reader.index(1 << 16, 'number of arguments'); left > 0; left--) {
        const key = reader.of(report.strings, 'string');
        args.push([key, readValue(report, reader)]);
    }
    return args;
}

/** @param {{strings: string[]}} report @param {Reader} reader @returns {any} */
function readValue(report, reader) {
    const type = reader.byte();
    switch (type) {
    case 0: return null;
    case 1: return reader.signed();
    case 2: return reader.exact();
    case 3: return reader.double();
    case 4: return false;
    case 5: return true;
    case 6: return '0x' + reader.exact().toString(16);
    case 7: return reader.of(report.strings, 'string');
    case 8: return reader.of(report.strings, 'string') + '\u2026';
    default: damaged(`there is no value of type ${type}`);
    }
}

/** The parts of a block. @param {Uint8Array} bytes @param {number} count @returns {Reader[]} */
function columnsOf(bytes, count) {
    const head = new Reader(bytes), sizes = [];
    for (let i = 0; i < count; i++) sizes.push(head.u());
    const columns = sizes.map(size => {
        const column = new Reader(bytes, head.at, head.at + size);
        head.at += size;
        return column;
    });
    if (head.at !== bytes.length) damaged('the parts of a block are not as long as the block');
    return columns;
}

/** Ends the last scope of a level, if it is open. time: of the last begin or end on the track. Returns when the scope ended. */
function closeOne(level, ends, time) {
    if (!level || !level.isOpen) return time;
    const after = ends.next();
    time = after ? time + after - 1 : level.start[level.count - 1] + ends.next();
    level.closeLast(time);
    return time;
}

/** Decodes blocks in the order in which they come. */
export class Decoder {
    constructor() {
        this.report = new Report();
        this.labelOf = new Map();
        /** Of each label: its nodes, by their parents. */
        this.childOf = [];
        this.texts = new Map();
        /** Of each kind: the parent and the node of its last scope. */
        this.lastParent = [];
        this.lastNode = [];
    }

    /** @param {{kind: string}} block @param {Uint8Array} bytes */
    take(block, bytes) {
        const handler = { H: this.head, S: this.strings, K: this.kinds, F: this.formats, U: this.units, B: this.numbers, P: this.process, T: this.tracks, E: this.scopes,
            Q: this.points, A: this.args, W: this.states, G: this.statistics, R: this.splits, N: this.spans, X: this.sources, Z: this.end }[block.kind];
        if (!handler) return; // a block that a later version has added
        if (!this.report.version && block.kind !== 'H') damaged('the data do not begin as they should');
        handler.apply(this, columnsOf(bytes, handler.length));
    }

    head(r) {
        this.report.version = r.u();
        if (this.report.version !== VERSION) damaged(`this page reads version ${VERSION}, not ${this.report.version}`);
        this.report.machines = r.u();
        this.report.title = r.text();
    }

    strings(r) {
        while (!r.done) {
            const text = r.text();
            this.report.strings.push(entryOf(this.texts, text, () => text)); // equal strings share one copy
        }
    }

    kinds(r) {
        const { strings, kinds, labels } = this.report;
        const string = () => r.of(strings, 'string');
        while (!r.done) {
            const bits = r.u(), depth = r.index(1 << 24, 'depth');
            const name = string(), category = string(), file = string(), func = string();
            const line = r.u(), color = r.u() & 0xFFFFFF, role = r.u();
            const group = bits >> 8 & GROUP, key = [name, category, file, line, group, group ? 0 : role].join('\0');
            const label = entryOf(this.labelOf, key, () => labels.push({ id: labels.length, name: (name || '(unnamed)') + (group ? ' and others' : ''), base: name,
                group, category, file, function: func, line, color, role: group ? 0 : role, format: null }) - 1);
            kinds.push({ type: bits & 255, flags: bits >> 8 & 7, fromLast: (bits & FROM_LAST) !== 0, depth, label, unit: '' });
            this.lastParent.push(-1);
            this.lastNode.push(0);
        }
    }

    /** Reads which names were made by which format. Their labels then belong to the format's label. */
    formats(r) {
        const { strings, kinds, labels } = this.report;
        while (!r.done) {
            const label = labels[r.of(kinds, 'kind').label], name = r.of(strings, 'string'), key = [name, label.category, label.file, label.line, label.group, label.role].join('\0');
            const of = entryOf(this.labelOf, key, () => labels.push({ ...label, id: labels.length, name, base: name, format: null }) - 1);
            if (labels[of] !== label && !labels[of].format) label.format = labels[of]; // a format can be equal to a name that it makes
        }
    }

    /** Reads the units of kinds of counters. */
    units(r) {
        const { strings, kinds } = this.report;
        while (!r.done) {
            const kind = r.of(kinds, 'kind');
            kind.unit = r.of(strings, 'string');
        }
    }

    /** Reads the numbers of frames that are not one more than the previous frame's. */
    numbers(r) {
        const track = r.of(this.report.tracks, 'track');
        for (let at = 0; !r.done;) track.points.numbers.set(at += r.u(), r.u());
    }

    process(r) {
        let process = this.report.processes.at(-1);
        const pairs = [];
        while (!r.done) pairs.push([r.text(), r.text()]);
        if (pairs.length && pairs[0][0] === 'program') {
            process = { id: this.report.processes.length, about: new Map(), losses: [], metadata: [], tracks: [] };
            this.report.processes.push(process);
        }
        if (!process) damaged('there is no process');
        for (const [key, value] of pairs) {
            if (key === 'loss') process.losses.push(value);
            else if (key.startsWith('metadata.')) process.metadata.push([key.slice(9), value]);
            else process.about.set(key, value);
        }
    }

    tracks(r) {
        const process = this.report.processes.at(-1);
        if (!process) damaged('a track has no process');
        while (!r.done) {
            const track = { id: this.report.tracks.length, process, name: r.text(), device: r.text(), thread: r.exact(),
                fiber: r.u() === 1, alignment: r.u(), lost: r.u(), events: r.u(), kept: r.u(), levels: [], points: new Points(), /** @type {States | null} */ system: null,
                lastScope: 0, lastTime: 0, lastPoint: 0, open: 0, scopes: 0 };
            process.tracks.push(track);
            this.report.tracks.push(track);
        }
    }

    node(parent, label) {
        const children = this.childOf[label] || (this.childOf[label] = new Map());
        let node = children.get(parent);
        if (node === undefined) {
            const { nodes } = this.report;
            node = nodes.count++;
            nodes.label.put(node, label);
            nodes.parent.put(node, parent);
            children.set(parent, node);
        }
        return node;
    }

    scopes(startHeads, startRests, endHeads, endRests, kindColumn) {
        const track = startHeads.of(this.report.tracks, 'track');
        const starts = new Numbers(startHeads, startRests), ends = new Numbers(endHeads, endRests);
        while (!kindColumn.done) this.someScopes(track, starts, ends, kindColumn);
        while (track.open && !ends.done) track.lastTime = closeOne(track.levels[--track.open], ends, track.lastTime);
        if (!starts.done || !ends.done) unequal();
    }

    /** Decodes a few thousand scopes of a block: see someLetters(). */
    someScopes(track, starts, ends, kindColumn) {
        const { report, lastParent, lastNode } = this, { levels } = track, { kinds } = report, k = kindColumn.bytes;
        const until = min(kindColumn.end, kindColumn.at + 500);
        let { open, lastScope: last, lastTime: time } = track, count = 0; // time: of the last begin or end
        for (; kindColumn.at < until; count++) { // reads numbers of one byte, as most are, without a call
            const number = k[kindColumn.at] < 128 ? k[kindColumn.at++] : kindColumn.u(), kind = kinds[number];
            if (!kind || kind.type !== SCOPE) damaged(`there is no scope of kind ${number}`);
            const { depth } = kind, level = levels[depth] ||= new Level(), inner = kind.fromLast || depth >= open;
            while (open > depth) time = closeOne(levels[--open], ends, time);
            last = time = (inner ? last : level.lastEnd) + starts.next();
            const i = level.count++, parent = depth && levels[depth - 1] ? levels[depth - 1].lastNode : 0;
            if (lastParent[number] !== parent) {
                lastParent[number] = parent;
                lastNode[number] = this.node(parent, kind.label);
            }
            // reserves space for as many as the track will have at this rate: memory that is not touched costs nothing
            if (i >= level.start.length) level.grow(max(i * 4, min(i * 4096, ceil(1.1 * track.events * i / (track.scopes + 1)))));
            level.start[i] = last;
            level.node[i] = level.lastNode = lastNode[number];
            if (kind.flags) level.flags.set(i, kind.flags);
            level.isOpen = true;
            open = depth + 1;
        }
        track.open = open;
        track.lastScope = last;
        track.lastTime = time;
        track.scopes += count;
        report.scopes += count;
    }

    points(times, kindColumn, details) {
        const { report } = this, track = times.of(report.tracks, 'track');
        const { points } = track;
        while (!kindColumn.done) {
            const number = kindColumn.index(report.kinds.length, 'kind'), { type } = report.kinds[number], i = points.count++;
            let a = 0, b = 0;
            track.lastPoint += times.u();
            switch (type) {
            case MARK: break;
            case COUNTER: a = readValue(report, details); break;
            case FRAME: case LOST: a = details.u(); break;
            case LOG: a = details.u(); b = details.index(report.strings.length, 'string'); break;
            default: a = details.exact(); b = details.u(); if (a > 2 ** 53) points.numbers.set(i, a); break;
            }
            points.time.put(i, track.lastPoint);
            points.kind.put(i, number);
            points.a.put(i, Number(a));
            points.b.put(i, b);
            report.points++;
        }
        if (!times.done || !details.done) unequal();
    }

    states(about, kinds, heads, rests) {
        const track = about.of(this.report.tracks, 'track'), states = track.system ||= new States(), durations = new Numbers(heads, rests), after = about.u();
        if (states.count && after) states.add(0, after); else states.end += after;
        while (!kinds.done) {
            const kind = kinds.index(8, 'state');
            if (kind & 4) states.on = about.u();
            states.add(kind & 3, durations.next());
        }
        if (!about.done || !durations.done) unequal();
    }

    args(r) {
        const { report } = this, track = r.of(report.tracks, 'track'), last = new Map();
        const base = report.argBlocks.length * LONGEST;
        report.argBlocks.push({ bytes: r.bytes, strings: report.strings });
        while (!r.done) {
            const which = r.u(), at = (last.get(which) || 0) + r.u();
            const of = which ? track.levels[which - 1] : track.points;
            last.set(which, at);
            if (which > 1 << 24) damaged('arguments have no scope');
            // arguments may come before the block with their scopes
            const listed = (of || (track.levels[which - 1] = new Level())).args;
            if (listed.count && listed.index[listed.count - 1] >= at) damaged('arguments are out of order');
            const place = base + r.at;
            readArgs(report, r); // counted only if they can be read
            listed.index.put(listed.count, at);
            listed.place.put(listed.count++, place);
        }
    }

    spans(r) {
        const { report } = this;
        let last = 0;
        while (!r.done) {
            const kind = r.of(report.kinds, 'kind');
            last += Number(r.signed());
            const span = { label: kind.label, mark: kind.type === SPAN_MARK, flags: kind.flags, start: last, duration: r.u(),
                track: r.index(report.tracks.length, 'track'), endTrack: r.index(report.tracks.length, 'track'),
                id: r.exact(), number: r.u(), args: readArgs(report, r) };
            report.spans.push(span);
            report.spanCount++;
        }
    }

    statistics(r) {
        const { report } = this, rows = report.all = report.all || [], process = report.processes.at(-1), first = process ? rows.length - (process.paths || 0) : -1;
        if (!process) damaged('statistics have no process');
        while (!r.done) {
            const parent = r.index(rows.length - first + 1, 'path'), kind = r.of(report.kinds, 'kind');
            const row = { node: this.node(parent ? rows[first + parent - 1].node : 0, kind.label), calls: r.u(), truncated: r.u(), total: r.u(), self: r.u(), share: r.u() / 1e9, min: r.u(), max: r.u(), buckets: [] };
            for (let left = r.index(LONGEST, 'number of buckets'), at = 0; left > 0; left--) row.buckets.push([at += r.u(), r.u()]);
            rows.push(row);
            process.paths = rows.length - first;
            if (report.labels[kind.label].role !== ROLE_DEVICE) process.calls = (process.calls || 0) + row.calls;
        }
    }

    splits(r) {
        const { all, processes } = this.report, process = processes.at(-1), first = process && process.paths ? all.length - process.paths : -1;
        for (; !r.done; process.splits++) {
            const row = all && first >= 0 && all[first + (process.splits = process.splits || 0)];
            if (!row) damaged('there is no path for the times of states');
            row.states = [row.total, r.u(), r.u(), r.u()];
        }
    }

    sources(r) {
        const { strings, sources } = this.report;
        while (!r.done) {
            const file = r.of(strings, 'string'), line = r.u(), text = r.text();
            entryOf(sources, file, () => new Map()).set(line, text);
        }
    }

    end(r) {
        const { report } = this;
        if (r.u() !== report.scopes || r.u() !== report.points || r.u() !== report.spanCount)
            damaged('the numbers at the end are not those of the events');
        report.complete = true;
    }

    /** Ends the reading: no more blocks come. @returns {Report} */
    close() {
        const { report } = this, { nodes } = report;
        nodes.label = nodes.label.close(nodes.count);
        nodes.parent = nodes.parent.close(nodes.count);
        for (const track of report.tracks) {
            track.points.close();
            if (track.system) track.system.close();
            track.levels = track.levels.filter(level => level.count); // a level with arguments but without scopes
            for (const level of track.levels) {
                if (level.isOpen) { // the end of its last scope is missing
                    level.flags.set(level.count - 1, TRUNCATED_END | level.flags.get(level.count - 1));
                    level.closeLast(max(track.lastTime, level.start[level.count - 1]));
                }
                level.close();
            }
        }
        if (!report.complete && !report.damage) report.damage = 'the end of the report is missing';
        return report;
    }
}

/** Returns the pieces in the text of a report's file. The text is never parsed as a page. @param {string} text @returns {string[]} */
export function piecesIn(text) {
    const begin = '<script type="application/' + 'octet-stream">', pieces = []; // two strings, so that this script does not contain what it looks for
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
        const end = text.indexOf('<', at += begin.length);
        if (end < 0) damaged('its end is missing');
        pieces.push(text.slice(at, end));
    }
    return pieces;
}

/** Returns what tells labels apart. */
export function keyOf({ name, category, file, line }) { return [name, category, file, line].join('\0'); }

/** Returns the label under which statistics count the calls of a label: the label of the format that made its name, or itself. */
export function scopeLabel(label) { return label.format || label; }

/** Adds the labels of another report that are not known yet. @returns {number[]} the numbers of all its labels here */
export function joinLabels(labels, known, others) {
    const of = others.map(label => entryOf(known, keyOf(label), () => labels.push({ ...label, id: labels.length, format: null }) - 1));
    for (const { id, format } of others) if (format && of[format.id] !== of[id]) labels[of[id]].format = labels[of[format.id]];
    return of;
}

/** Returns a report of the recordings of a and then those of b, each of which begins at 0. Changes b. @param {Report} a @param {Report} b @returns {Report} */
export function joined(a, b) {
    const report = Object.assign(new Report(), a, { all: null });
    const labels = [...a.labels], known = new Map(labels.map(label => [keyOf(label), label.id])), { nodes } = a, childOf = new Map();
    const labelOf = joinLabels(labels, known, b.labels);
    const all = { count: nodes.count, label: new Growing(Uint32Array), parent: new Growing(Uint32Array) }, nodeOf = new Uint32Array(b.nodes.count);
    const add = (n, parent, label) => {
        all.label.put(n, label);
        all.parent.put(n, parent);
        childOf.set(parent * 0x4000000 + label, n);
    };
    for (let n = 1; n < nodes.count; n++) add(n, nodes.parent[n], nodes.label[n]);
    for (let n = 1; n < b.nodes.count; n++) {
        const parent = nodeOf[b.nodes.parent[n]], label = labelOf[b.nodes.label[n]], same = childOf.get(parent * 0x4000000 + label);
        if (same === undefined) add(all.count, parent, label);
        nodeOf[n] = same === undefined ? all.count++ : same;
    }
    const move = listed => { for (let i = 0; i < listed.count; i++) listed.place[i] += a.argBlocks.length * LONGEST; };
    for (const process of b.processes) process.id += a.processes.length;
    for (const track of b.tracks) {
        const { points } = track;
        track.id += a.tracks.length;
        for (const level of track.levels) {
            for (let i = 0; i < level.count; i++) level.node[i] = nodeOf[level.node[i]];
            level.pyramid = null; // it refers to nodes, whose numbers change
            move(level.args);
        }
        for (let i = 0; i < points.count; i++) {
            if (b.kinds[points.kind[i]].type === LOG) points.b[i] += a.strings.length;
            points.kind[i] += a.kinds.length;
        }
        move(points.args);
    }
    for (const span of b.spans) {
        span.label = labelOf[span.label];
        span.track += a.tracks.length;
        span.endTrack += a.tracks.length;
    }
    report.labels = labels;
    report.nodes = { count: all.count, label: all.label.close(all.count), parent: all.parent.close(all.count) };
    report.kinds = [...a.kinds, ...b.kinds.map(kind => ({ ...kind, label: labelOf[kind.label] }))];
    report.sources = new Map([...b.sources, ...a.sources]);
    for (const list of ['strings', 'processes', 'tracks', 'spans', 'argBlocks']) report[list] = a[list].concat(b[list]);
    for (const count of ['scopes', 'points', 'spanCount']) report[count] += b[count];
    return report;
}

/**
 * Unpacks the blocks of a piece, each into a buffer of its own. Stops at a damaged block.
 * @param {string} piece @returns {Promise<{blocks: {kind: string, bytes: Uint8Array}[], damage: string}>}
 */
export async function unpack(piece) {
    const blocks = [];
    let damage = '';
    try {
        if (piece[0] === 'S') damaged(`this page reads version ${VERSION}, not 1`); // version 1 was base64
        for (const { kind, size, packed, bytes } of blocksOf(piece)) blocks.push({ kind, bytes: packed ? await inflate(bytes, size) : bytes.slice() });
    } catch (error) {
        damage = error.message;
    }
    return { blocks, damage };
}

/** Returns what unpacks pieces: a worker thread, which runs this script, too, from the second piece on; this thread where no worker starts. */
function unpacker() {
    const waiting = [];
    let worker = null, count = 0;
    const begin = () => {
        try {
            worker = new Worker(URL.createObjectURL(new Blob([document.querySelector('script[nonce]').text])));
            worker.onmessage = ({ data }) => waiting.shift()(data);
            worker.onerror = () => {
                worker = null;
                for (const done of waiting) done();
            };
        } catch { /* there is no page, or it may not */ }
    };
    return {
        async take(piece) {
            if (count++ === 1) begin();
            return worker && await new Promise(done => {
                waiting.push(done);
                worker.postMessage(piece);
            }) || unpack(piece);
        },
        close() { if (worker) worker.terminate(); }
    };
}

/**
 * Reads all pieces. If something cannot be read, leaves out all from there on, and says so in `damage`.
 * @param {Iterable<string> | AsyncIterable<string>} pieces @returns {Promise<Report>}
 */
export async function readReport(pieces) {
    const decoder = new Decoder(), { take, close } = unpacker(), waiting = [];
    const takeOne = async () => {
        const { blocks, damage } = await waiting.shift();
        for (const block of blocks) decoder.take(block, block.bytes);
        if (damage) damaged(damage);
    };
    try {
        for await (const piece of pieces) {
            waiting.push(take(piece));
            if (waiting.length > 2) await takeOne();
        }
        while (waiting.length) await takeOne();
    } catch (error) {
        if (!(error instanceof Damage)) throw error;
        decoder.report.damage = error.message;
    }
    close();
    return decoder.close();
}
