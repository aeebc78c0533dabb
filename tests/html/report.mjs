// Reads a report's file, and tells what it holds as prof's CSV does.
import fs from 'node:fs';
import { readReport } from '../../src/html/decode.js';
import { finish } from '../../src/html/model.js';

export function piecesOf(html) {
    return [...html.matchAll(/<script type="application\/octet-stream">([^<]*)<\/script>/g)].map(match => match[1]);
}

export async function open(path) { return finish(await readReport(piecesOf(fs.readFileSync(path, 'latin1')))); }

/** A number as the data have it. */
export const number = n => {
    const out = [];
    for (; n >= 128; n = Math.floor(n / 128)) out.push(n % 128 | 128);
    return [...out, n];
};
const textOf = s => [...number(Buffer.byteLength(s)), ...Buffer.from(s)];
const block = (kind, ...columns) => {
    const content = [...columns.flatMap(column => number(column.length)), ...columns.flat()];
    return [kind.charCodeAt(0), ...number(content.length), 0, ...content];
};

/** Bytes as the text of a piece. @param {Iterable<number>} bytes */
export function textOfBytes(bytes) {
    const odd = [0, 10, 13, 27, 33, 60];
    let text = '', bits = 0, count = 0;
    for (const byte of [...bytes, 0]) {
        bits = (bits << 8 | byte) & 0x7FFF;
        for (count += 8; count >= 7;) {
            const letter = bits >> (count -= 7) & 127;
            text += odd.includes(letter) ? '!' + String.fromCharCode(letter ^ 64) : String.fromCharCode(letter);
        }
    }
    return text;
}

/** Numbers as prof__html_number() writes them: heads and rests. */
function columnsOf(numbers) {
    const heads = [], rests = [];
    for (const n of numbers) {
        const [limit, first, from, more] = [[192, 0, 0, 0], [8384, 192, 192, 1], [1056960, 224, 8384, 2], [135274688, 240, 1056960, 3], [Infinity, 248, 135274688, 8]]
            .find(each => n < each[0]);
        let rest = n - from;
        if (limit === Infinity) heads.push(first);
        else heads.push(first + Math.floor(rest / 256 ** more));
        for (let i = 0; i < more; i++, rest = Math.floor(rest / 256)) rests.push(rest % 256);
    }
    return [heads, rests];
}

/**
 * A piece with recordings of one track, whose scopes have the times that the test wants.
 * @param {{program: string, scopes: [string, number, number, number][], frames?: number[], together?: boolean}[]} recordings scopes:
 *     name, depth, start, duration, in order of their starts; frames: their ends @returns {string}
 */
export function pieceOf(recordings) {
    const strings = [''], kinds = [], rows = [], out = [...block('H', [2, 1, 0])];
    const string = s => strings.includes(s) ? strings.indexOf(s) : strings.push(s) - 1;
    const kind = (type, name, depth) => {
        const row = [...number(type), depth, string(name), 0, 0, 0, 1, 0, 0].join(), at = rows.indexOf(row);
        return at >= 0 ? at : kinds.push(row.split(',').map(Number)) && rows.push(row) - 1;
    };
    const parts = recordings.map(({ scopes, frames = [] }) => {
        let last = 0, time = 0;
        const starts = [], ends = [], open = [], of = [], times = [], marks = [], details = [];
        const close = depth => {
            while (open.length > depth) {
                const end = open.pop();
                ends.push(end - time + 1);
                time = end;
            }
        };
        for (const [name, depth, start, duration] of scopes) {
            close(depth);
            starts.push(start - last);
            of.push(...number(kind(0x10000, name, depth)));
            open.push(start + duration);
            last = time = start;
        }
        close(0);
        frames.forEach((end, i) => {
            const before = i ? frames[i - 1] : 0;
            times.push(...number(end - before));
            marks.push(...number(kind(3, 'frame', 0)));
            details.push(...number(end - before));
        });
        return { starts, ends, of, times, marks, details };
    });
    out.push(...block('S', strings.flatMap(textOf)), ...block('K', kinds.flat()));
    recordings.forEach(({ program, frames, together }, i) => {
        const { starts, ends, of, times, marks, details } = parts[i], [heads, rests] = columnsOf(starts);
        out.push(...block('P', [...['program', program, 'pid', String(i + 1), 'complete', '1', 'together', together ? '1' : '0'].flatMap(textOf)]),
            ...block('T', [...textOf('main'), 0, 1, 0, 0, 0, 0, 0]), ...block('E', [...number(i), ...heads], rests, ...columnsOf(ends), of));
        if (frames) out.push(...block('Q', [...number(i), ...times], marks, details));
    });
    const count = list => list.reduce((sum, each) => sum + (each ? each.length : 0), 0);
    out.push(...block('Z', [...number(count(recordings.map(r => r.scopes))), ...number(count(recordings.map(r => r.frames))), 0]));
    return textOfBytes(out);
}

/** The page of a report with other data. */
export function withPiece(html, piece) {
    const mark = '<script type="application/octet-stream">';
    return html.slice(0, html.indexOf(mark)) + `${mark}${piece}</script></body></html>`;
}

/** The same program before and after a change: steady is steady, slow half as slow again, fast twice as fast. */
export function changed() {
    return [false, true].map(after => {
        const scopes = [], frames = [];
        let at = 0;
        for (let i = 0; i < (after ? 300 : 150); i++) {
            const about = n => n + i * 7919 % 41, begin = at, update = ['update', 0, begin, 0], inner = [];
            const add = (name, duration) => { inner.push([name, 1, at, duration]); at += duration; };
            add('steady', about(20000));
            add('slow', about(after ? 15000 : 10000));
            add('fast', about(after ? 8000 : 16000));
            add(after ? 'added' : 'removed', about(5000));
            update[3] = at - begin;
            scopes.push(update, ...inner);
            at += 2000;
            frames.push(at);
        }
        return { program: after ? 'new program' : 'old program', scopes, frames, together: true };
    });
}

/**
 * Numbers that sum up all that a report holds, also the order. It stands alone, because it also runs in the page.
 * @param {object} [report] of the page, if none is given @returns {object}
 */
export function digestOf(report = globalThis.prof.report) {
    let hash = 2166136261, count = 0;
    const put = n => { hash = Math.imul(hash ^ n, 16777619) >>> 0; };
    const add = value => { // whole numbers, of which there are most, are not made text
        count++;
        if (Number.isSafeInteger(value)) {
            put(value % 4294967296 | 0);
            put(Math.floor(value / 4294967296));
        } else {
            const text = typeof value === 'string' ? `"${value}` : typeof value === 'bigint' ? `${value}n` : typeof value === 'number' ? String(value) : JSON.stringify(value, (key, each) => typeof each === 'bigint' ? `${each}n` : each);
            for (let i = 0; i < text.length; i++) put(text.charCodeAt(i));
        }
        put(10);
    };
    const names = report.labels.map(label => { // once for each label
        hash = 2166136261;
        [label.name, label.category, label.file, label.line, label.function].forEach(add);
        return hash;
    });
    hash = 2166136261;
    const args = list => list.length ? add(list) : put(91), name = label => put(names[label]);
    for (const process of report.processes) for (const each of [...process.about, ...process.losses, ...process.metadata]) add(each);
    for (const track of report.tracks) {
        for (const each of [track.name, track.device, track.thread, track.lost, track.alignment]) add(each);
        for (const level of track.levels) {
            for (let i = 0; i < level.count; i++) {
                for (const each of [level.start[i], level.durationOf(i), level.flags.get(i) || 0]) add(each);
                args(report.argsOf(level.args, i));
                name(report.nodes.label[level.node[i]]);
            }
        }
        for (let i = 0; track.system && i < track.system.count; i++) for (const each of ['start', 'kind', 'processor']) add(track.system[each][i]);
        for (let i = 0; i < track.points.count; i++) {
            for (const each of ['time', 'a', 'b']) add(track.points[each][i]);
            args(report.argsOf(track.points.args, i));
            name(report.kinds[track.points.kind[i]].label);
        }
    }
    for (const span of report.spans) for (const each of [span.start, span.duration, span.track, span.endTrack, span.id, span.flags, span.args]) add(each);
    for (const series of report.counters) for (const each of [series.name, series.min, series.max, series.time.length]) add(each);
    for (const flow of report.flows) for (const each of [flow.name, flow.id, flow.from, flow.to]) add(each);
    return { hash, count, scopes: report.scopes, points: report.points, spans: report.spanCount, from: report.from, to: report.to, damage: report.damage };
}

/** The names of types of events in CSV: a column of their table. */
const types = [...fs.readFileSync(new URL('../../prof.h', import.meta.url), 'utf8').split('#define PROF__EVENTS')[1].split('\n\n')[0]
    .matchAll(/X\(\w+, \d+, \w+, \w+, "(\w+)"/g)].map(match => match[1]);
const severities = ['debug', 'info', 'warning', 'error', 'fatal'];

/** The same text for the same value, whoever wrote it. */
function plain(value) {
    const text = value === null ? '' : String(value);
    if (/^-?\d+$/.test(text)) return text;
    if (/^-?inf/i.test(text)) return text[0] === '-' ? '-Infinity' : 'Infinity';
    if (/^[-+]?[.\d]/.test(text) && !text.startsWith('0x') && !Number.isNaN(Number(text))) return String(Number(text));
    return /^nan$/i.test(text) ? 'nan' : text.replace(/\u2026$/, '...');
}

const line = (type, name, category, start, duration, depth, flags, value, args, file, number, func) =>
    JSON.stringify([type, name, category, start, duration, depth, flags, value, args.map(([k, v]) => `${k}=${plain(v)}`).join(';'), file, number, func].map(String));

/** The events of a track, each as a text, sorted; no spans. */
export function eventsOf(report, track) {
    const events = [];
    const add = (type, label, start, duration, depth, flags, value, args) => events.push(line(type, label.name, label.category, start, duration,
        depth, flags, value, args, label.file, label.line || '', label.function));
    track.levels.forEach((level, depth) => {
        for (let i = 0; i < level.count; i++)
            add('scope', report.labels[report.nodes.label[level.node[i]]], level.start[i], level.durationOf(i), depth, level.flags.get(i) || 0, '',
                report.argsOf(level.args, i));
    });
    const { points } = track;
    for (let i = 0; i < points.count; i++) {
        const kind = report.kinds[points.kind[i]], type = types[kind.type], a = points.a[i];
        const value = type === 'mark' || type === 'frame' ? '' : type === 'log' ? report.strings[points.b[i]] : double(a);
        const args = type === 'log' ? [['severity', severities[a] || 'unknown']] : type === 'alloc' ? [['bytes', double(points.b[i])]] :
            type === 'counter' && kind.unit ? [['unit', kind.unit]] : report.argsOf(points.args, i);
        add(type, report.labels[kind.label], points.time[i], type === 'frame' ? a : 0, kind.depth, kind.flags, value, args);
    }
    return events.sort();
}

/** The fields of a line of CSV, by RFC 4180. */
function* csvLines(text) {
    let row = [], field = '', quoted = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (quoted) {
            if (c !== '"') field += c;
            else if (text[i + 1] === '"') field += text[++i];
            else quoted = false;
        } else if (c === '"') {
            quoted = true;
        } else if (c === ',') {
            row.push(field);
            field = '';
        } else if (c === '\r' && text[i + 1] === '\n') {
            row.push(field);
            yield row;
            row = [];
            field = '';
            i++;
        } else {
            field += c;
        }
    }
}

/** key=value;key=value, where \ stands before what else would end them. */
function csvArgs(text) {
    const list = [];
    let part = '', key = null;
    for (let i = 0; i < text.length; i++) {
        if (text[i] === '\\') {
            part += text[++i];
        } else if (text[i] === '=' && key === null) {
            key = part;
            part = '';
        } else if (text[i] === ';') {
            list.push([key, part]);
            key = null;
            part = '';
        } else {
            part += text[i];
        }
    }
    if (text) list.push([key, part]);
    return list;
}

/** What the page keeps as a double: beyond 2^53 as exact as two ways to print it agree. */
function double(value) {
    const number = Number(value);
    return Number.isFinite(number) && Math.abs(number) > Number.MAX_SAFE_INTEGER ? number.toPrecision(12) : String(number);
}

/** What the CSV says: events of each track, as eventsOf() has them; and the numbers of begins, marks and ends of spans. */
export function eventsOfCsv(text) {
    const tracks = new Map(), spans = { begin: 0, end: 0, mark: 0 };
    let head = true;
    for (const [track, thread, name, type, title, category, start, duration, depth, flags, value, args, file, number, func] of csvLines(text)) {
        if (head) {
            head = false;
            continue;
        }
        if (!tracks.has(track)) tracks.set(track, { thread, name, events: [] });
        if (type.startsWith('span_')) {
            spans[type.slice(5)]++;
            continue;
        }
        const shown = type === 'alloc' ? args.replace(/^bytes=(\d+)$/, (_, bytes) => 'bytes=' + double(bytes)) : args;
        const bits = (/_begin/.test(flags) ? 1 : 0) | (/_end/.test(flags) ? 2 : 0), numeric = !/^(scope|mark|frame|log)$/.test(type);
        tracks.get(track).events.push(line(type, title || '(unnamed)', category, start, duration, depth, bits,
            numeric ? double(value.replace(/^inf/, 'Infinity').replace(/^-inf/, '-Infinity')) : value, csvArgs(shown), file, number, func));
    }
    for (const track of tracks.values()) track.events.sort();
    return { tracks, spans };
}
