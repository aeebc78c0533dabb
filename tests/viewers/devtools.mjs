// The trace engine of the Performance panel of Chromium's DevTools: it must take the file, and nest what was nested.
import fs from 'node:fs';
import { openPage } from './browser.mjs';

// In the page: names, start and duration of every thread's entries, in nanoseconds. null: Debian often renews
// Chromium, and the engine is now in another place.
async function parse(text) {
    const place = '/devtools/models/trace/trace.js', file = JSON.parse(text);
    if (!(await fetch(place)).ok) return null;
    const { TraceModel } = await import(place);
    if (!TraceModel || !TraceModel.Model || !TraceModel.Model.createWithAllHandlers) return null;
    const model = TraceModel.Model.createWithAllHandlers();
    await model.parse(file.traceEvents, { metadata: file.metadata });
    const trace = model.parsedTrace(0), data = trace.data || trace, threads = [];
    for (const [, process] of data.Renderer.processes)
        for (const [tid, thread] of process.threads)
            threads.push({ tid, entries: thread.entries.filter(e => e.ph === 'X').map(e => ({
                name: e.name, start: Math.round(e.ts * 1000), duration: Math.round((e.dur || 0) * 1000) })) });
    return threads;
}

let page; // one for all traces

export async function check({ context, port, trace, file, fail }) {
    if (!page) {
        ({ page } = await openPage(context));
        await page.goto(`http://127.0.0.1:${port}/devtools/devtools_app.html?panel=timeline`);
    }
    const threads = await page.evaluate(parse, fs.readFileSync(file, 'utf8'));
    if (!threads) return 'this Chromium has no trace engine where it is known to be';
    for (const track of trace.tracks) {
        const shown = threads.find(t => t.tid === track.tid), key = e => `${e.start} ${e.duration} ${e.name}`;
        const left = (shown ? shown.entries : []).map(key).sort(), wanted = track.scopes.map(key).sort();
        if (left.length !== wanted.length) fail(`${track.name}: ${left.length} entries, not ${wanted.length}`);
        for (let i = 0; i < wanted.length && i < left.length; i++)
            if (left[i] !== wanted[i]) { fail(`${track.name}: ${left[i]}, not ${wanted[i]}`); break; }
    }
    return '';
}

export async function end() {
    if (page) await page.close();
}
