// The catapult trace viewer, which is the page behind chrome://tracing: every slice, argument and sample is compared.
import fs from 'node:fs';
import { openPage, picture, serve } from './browser.mjs';
import { compareArrows, compareEvents, inOrder } from './expected.mjs';

const viewer = process.env.TRACE_VIEWER || '/usr/share/go-1.19/src/cmd/trace/static';
const html = `<!doctype html><meta charset="utf-8"><script src="/webcomponents.min.js"></script>
<link rel="import" href="/trace_viewer_full.html">
<body style="margin:0"><tr-ui-timeline-view style="position:absolute;inset:0">
<track-view-container id="track_view_container"></track-view-container></tr-ui-timeline-view>`;

// In the page: what the viewer's model holds, in nanoseconds.
async function readModel() {
    const text = await (await fetch('/trace.json')).text();
    const model = new tr.Model(), options = new tr.importer.ImportOptions();
    options.shiftWorldToZero = false;
    new tr.importer.Import(model, options).importTraces([text]);
    const view = document.querySelector('tr-ui-timeline-view');
    view.model = model;
    view.viewTitle = 'trace';
    const ns = ms => Math.round(ms * 1e6), tracks = [], counters = [], asyncs = [];
    const event = s => ({ name: s.title, category: s.category, start: ns(s.start), duration: ns(s.duration), args: s.args });
    const addAsync = slice => {
        asyncs.push(event(slice));
        for (const sub of slice.subSlices) addAsync(sub);
    };
    for (const process of model.getAllProcesses()) {
        for (const thread of Object.values(process.threads)) {
            tracks.push({ tid: thread.tid, name: thread.name, process: process.name,
                slices: thread.sliceGroup.slices.map(event) });
            thread.asyncSliceGroup.slices.forEach(addAsync);
        }
        for (const counter of Object.values(process.counters))
            counters.push({ name: counter.name, category: counter.category, series: counter.series.map(s => ({
                name: s.name, samples: s.samples.map(x => ({ start: ns(x.timestamp), value: x.value })) })) });
    }
    const end = slice => (slice ? `${slice.parentContainer.tid} ${slice.title} ${ns(slice.start)}` : 'nothing');
    const arrows = model.flowEvents.map(f => [end(f.startSlice), end(f.endSlice)]);
    return { arrows, warnings: model.importWarnings.map(w => `${w.type}: ${w.message}`), tracks, counters, asyncs,
        name: model.getAllProcesses().sort((a, b) => a.sortIndex - b.sortIndex)[0].name };
}

const sameSamples = (counter, samples) =>
    JSON.stringify(inOrder(counter, samples)) === JSON.stringify(inOrder(counter, counter.samples));
const withMap = event => ({ ...event, args: new Map(Object.entries(event.args)) });
const found = fs.existsSync(viewer + '/trace_viewer_full.html');
export const missing = () => (found ? '' : `there is no trace viewer in ${viewer}: install golang-1.19-src`);

let server, page, log; // one page for all traces: what takes long is to start it

export async function check({ context, trace, file, screenshot, fail }) {
    if (!page) {
        server = await serve(viewer, { '/index.html': Buffer.from(html) });
        ({ page, log } = await openPage(context));
        await page.goto(server.url + '/index.html');
        await page.waitForFunction(() => window.tr && tr.importer && tr.Model);
    } else {
        log.length = 0;
    }
    server.extra['/trace.json'] = file;
    const model = await page.evaluate(readModel);
    await page.waitForTimeout(500); // what it draws may go wrong, too
    await picture(page, screenshot);
    for (const warning of model.warnings) fail('warning: ' + warning);
    for (const line of log) if (!/slider-vertical/.test(line)) fail('console: ' + line);
    if (model.name !== trace.program) fail(`the process is called ${model.name}`);
    for (const track of trace.tracks) {
        const shown = model.tracks.find(t => t.tid === track.tid);
        if (!shown) fail(`no track for ${track.tid} ${track.name}`);
        else if (track.name && shown.name !== track.name) fail(`track ${track.tid} is called ${shown.name}`);
        if (shown && shown.process !== track.process) fail(`${track.name} is in ${shown.process}, not ${track.process}`);
        if (shown) compareEvents(track.name, shown.slices.map(withMap), [...track.scopes, ...track.instants], fail);
    }
    compareEvents('spans', model.asyncs.map(withMap), trace.asyncs, fail);
    compareArrows(model.arrows, trace, fail);
    const counters = trace.counters.length;
    if (model.counters.length !== counters) fail(`${model.counters.length} counters, not ${counters}`);
    for (const counter of trace.counters) {
        const shown = model.counters.find(c => c.name === counter.name && c.category === counter.category);
        const series = shown && shown.series.length === 1 ? shown.series[0] : null;
        if (!series || series.name !== '') fail(`counter ${counter.name}: not found, or not one series`);
        else if (!sameSamples(counter, series.samples))
            fail(`counter ${counter.name}: ${JSON.stringify(series.samples).slice(0, 200)}`);
    }
}

export async function end() {
    if (page) await page.close();
    if (server) server.close();
}
