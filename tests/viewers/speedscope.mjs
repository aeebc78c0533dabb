// The app of the npm package speedscope: what it exports again, of Chrome's JSON and of its own format, is compared, call
// by call.
import fs from 'node:fs';
import path from 'node:path';
import { build, openPage, picture, serve } from './browser.mjs';
import { sameArg } from './expected.mjs';

const app = path.join(build, 'node_modules/speedscope/dist/release');
export const missing = kind => (!fs.existsSync(app) ? 'the npm package speedscope is not installed'
    : kind === 'repeat' ? 'it cannot tell calls apart that share name and instant' : '');

// Calls of one profile of speedscope's own format, in nanoseconds from its first call.
function callsOf(profile, frames) {
    const calls = [], open = [];
    for (const { type, frame, at } of profile.events) {
        const ns = profile.unit === 'nanoseconds' ? at - profile.events[0].at : Math.round(at * 1000);
        if (type === 'O') {
            calls.push({ name: frames[frame].name, start: ns, depth: open.length });
            open.push(calls.at(-1));
        } else {
            open.pop().end = ns;
        }
    }
    return calls;
}

// speedscope's name is the event's, a space and its arguments as JSON.
function sameName(shown, event) {
    if (!event.args.size) return shown === event.name;
    if (!shown.startsWith(event.name + ' {')) return false;
    const args = JSON.parse(shown.slice(event.name.length + 1));
    return Object.keys(args).length === event.args.size && [...event.args].every(([k, v]) => sameArg(args[k], v));
}

// It cannot tell apart what begins and what ends at the same instant under the same name: calls that follow each other
// without a gap are one for it, with or without one of no time inside. So they are joined, on both sides; name gives what
// two calls must share.
function joined(calls, name) {
    const begins = new Map(), gone = new Set(), result = [];
    for (const call of [...calls].sort((a, b) => a.start - b.start || b.duration - a.duration)) {
        const key = name(call);
        begins.set(key, [...(begins.get(key) || []), call]);
    }
    for (const all of begins.values()) {
        const touched = (call, by) => by !== call && !gone.has(by) && (by.start === call.start ||
            by.start === call.start + call.duration || by.start + by.duration === call.start);
        for (const call of all) // of no time, where another begins or ends
            if (!call.duration && all.some(by => touched(call, by))) gone.add(call);
        const open = [];
        for (const call of all.filter(one => !gone.has(one))) {
            const before = open.find(one => one.start + one.duration === call.start && one.duration && call.duration);
            if (before) before.duration += call.duration;
            else open.push({ ...call });
        }
        result.push(...open);
    }
    return result;
}

function compare(profile, frames, track, own, fail) {
    // Chrome's JSON calls names that viewers would take for something else otherwise.
    const isSame = own ? (shown, { name }) => name === (shown || '(unnamed)') || name === shown + ' ' : sameName;
    const calls = joined(callsOf(profile, frames).map(c => ({ ...c, duration: c.end - c.start })), c => c.name);
    const wanted = joined(track.scopes.map(s => ({ ...s, start: s.start - track.scopes[0].start })),
        s => own ? s.name : JSON.stringify([s.name, ...s.args]));
    if (calls.length !== wanted.length) fail(`${track.name}: ${calls.length} calls, not ${wanted.length}`);
    const left = new Map();
    const key = e => `${e.start} ${e.duration}`;
    for (const call of calls) left.set(key(call), [...(left.get(key(call)) || []), call]);
    for (const event of wanted) {
        const same = left.get(key(event)) || [];
        const at = same.findIndex(c => isSame(c.name, event));
        if (at < 0) fail(`${track.name}: no call like ${event.name} ${key(event)}, but ` +
            JSON.stringify(same).slice(0, 200));
        else same.splice(at, 1);
    }
}

let server; // one for all traces: of the app at one address the browser keeps what it has compiled

async function checkFile({ context, trace, file, screenshot, own, fail }) {
    server = server || await serve(app, {});
    server.extra['/trace.json'] = file;
    const { page, log } = await openPage(context);
    try {
        await page.goto(`${server.url}/index.html#profileURL=${encodeURIComponent(server.url + '/trace.json')}`);
        await page.waitForFunction(text => new RegExp(text).test(document.body.innerText), own ? '\\(\\d+\\)' : 'pid \\d+');
        await page.waitForTimeout(500);
        await picture(page, screenshot);
        const saved = page.waitForEvent('download');
        await page.getByText('Export').click();
        const download = await saved;
        const shown = JSON.parse(fs.readFileSync(await download.path(), 'utf8'));
        for (const line of log) fail('console: ' + line);
        for (const track of trace.tracks) {
            if (!track.scopes.length) continue;
            const title = new RegExp(own ? ` \\(${track.tid}\\)$` : `tid ${track.tid}\\)?$`);
            if (own && track.name.startsWith('frames: ')) continue; // frames are no scopes
            const profile = shown.profiles.find(p => title.test(p.name)) || own && shown.profiles.find(p => p.name.endsWith(': ' + track.name));
            if (!profile) fail(`no profile for ${track.tid} ${track.name}`);
            else compare(profile, shown.shared.frames, track, own, fail);
        }
    } finally {
        await page.close();
    }
}

export async function check(about) {
    await checkFile(about);
    // The others have scopes of no time, which it joins, and scopes that only Chrome's JSON has, for flows.
    if (!['plain', 'hostile', 'full', 'objects'].includes(about.kind)) return;
    await checkFile({ ...about, own: true, file: about.file.replace(/json$/, 'speedscope'),
        screenshot: about.screenshot.replace(/png$/, 'own.png'), fail: text => about.fail('own format: ' + text) });
}

export async function end() {
    if (server) server.close();
}
