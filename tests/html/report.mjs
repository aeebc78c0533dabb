// Reads a report's file, and tells what it holds as prof's CSV does.
import fs from 'node:fs';
import { readReport } from '../../src/html/decode.js';
import { finish } from '../../src/html/model.js';

export function piecesOf(html) {
    return [...html.matchAll(/<script type="application\/octet-stream">([^<]*)<\/script>/g)].map(match => match[1]);
}

export async function open(path) { return finish(await readReport(piecesOf(fs.readFileSync(path, 'latin1')))); }

const types = ['scope', 'mark', 'counter', 'frame', 'lost', 'span_begin', 'span_mark', 'span_end', 'flow_out', 'flow_step', 'flow_in',
    'alloc', 'free', 'lock_wait', 'lock_acquire', 'lock_release', 'log'];
const severities = ['debug', 'info', 'warning', 'error', 'fatal'];

/** The same text for the same value, whoever wrote it. */
function plain(value) {
    const text = value === null ? '' : String(value);
    if (/^-?\d+$/.test(text)) return text;
    if (/^-?inf/i.test(text)) return text[0] === '-' ? '-Infinity' : 'Infinity';
    if (/^[-+]?[.\d]/.test(text) && !text.startsWith('0x') && !Number.isNaN(Number(text))) return String(Number(text));
    return text.replace(/\u2026$/, '...');
}

const line = (type, name, category, start, duration, depth, flags, value, args, file, number, func) =>
    [type, name, category, start, duration, depth, flags, value, args.map(([k, v]) => `${k}=${plain(v)}`).join(';'), file, number, func].join('\t');

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
        const value = type === 'mark' || type === 'frame' ? '' : type === 'log' ? report.strings[points.b[i]] : String(a);
        const args = type === 'log' ? [['severity', severities[a]]] : type === 'alloc' ? [['bytes', points.b[i]]] : report.argsOf(points.args, i);
        add(type, report.labels[kind.label], points.time[i], type === 'frame' ? a : 0, kind.depth, 0, value, args);
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
        const bits = (/_begin/.test(flags) ? 1 : 0) | (/_end/.test(flags) ? 2 : 0), numeric = !/^(scope|mark|frame|log)$/.test(type);
        tracks.get(track).events.push(line(type, title || '(unnamed)', category, start, duration, depth, bits,
            numeric ? String(Number(value.replace(/^inf/, 'Infinity').replace(/^-inf/, '-Infinity'))) : value, csvArgs(args), file, number, func));
    }
    for (const track of tracks.values()) track.events.sort();
    return { tracks, spans };
}
