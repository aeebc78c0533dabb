// The page in WebKit, the engine of Safari, as WebKitGTK has it: what it understood, each view, the keyboard, wheel and
// pinch, another report to compare with, both themes, and the page that prof_server.h serves.
//   node tests/html/webkit.mjs FOLDER LIVE PAIR PREFIX...     LIVE: the program of make_live.c; pictures go to FOLDER
// WebDriver, a protocol of JSON over HTTP, drives the browser.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { check, same, total } from './count.mjs';
import { digestOf, open as read } from './report.mjs';

const [folder, program, pair, ...prefixes] = process.argv.slice(2), patience = 120000;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'prof-webkit-')), children = [];
const sleep = ms => new Promise(done => setTimeout(done, ms));

// ---- the browser

function begin(command, args, options) {
    const child = spawn(command, args, options);
    child.on('error', error => { console.log(`FAIL webkit: ${command}: ${error.message}`); end(1); });
    children.push(child);
    return child;
}

/** Ends what was begun, and says how many checks there were. */
async function end(status) {
    if (session) await call('DELETE', '').catch(() => {});
    for (const child of children.reverse()) child.kill();
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    if (status) process.exit(status);
    total();
}

const freePort = () => new Promise(done => {
    const server = net.createServer().listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => done(port)); });
});
const port = await freePort();
let session = '';

/** A command of WebDriver for the session. */
async function call(method, command, body) {
    const answer = await fetch(`http://127.0.0.1:${port}/session${session}${command}`, { method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(patience) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${command}: ${value.message}`);
    return value;
}

async function browser() {
    const screen = begin('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const display = await new Promise(done => screen.stdio[3].once('data', text => done(String(text).trim())));
    const driver = begin('WebKitWebDriver', [`--port=${port}`], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DISPLAY: ':' + display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1', // which a program of OpenGL would do here
        HOME: home, XDG_CACHE_HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, XDG_RUNTIME_DIR: home, NO_AT_BRIDGE: '1' } });
    driver.stderr.on('data', text => { process.stderr.write(text); });
    const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { binary: process.env.MINIBROWSER, args: ['--automation'] } } };
    for (let tries = 50; !session; tries--) {
        const made = await call('POST', '', { capabilities }).catch(error => { if (tries < 1 || !(error instanceof TypeError)) throw error; });
        if (made) {
            session = '/' + made.sessionId;
            console.log(`ok   webkit: ${made.capabilities.browserName} ${made.capabilities.browserVersion}`);
        } else {
            await sleep(100);
        }
    }
    await call('POST', '/timeouts', { script: patience, pageLoad: patience });
    await call('POST', '/window/rect', { width: 1500, height: 937 });
}

/** Runs a function in the page. */
const run = (code, ...args) => call('POST', '/execute/sync', { script: `return (${code})(...arguments)`, args });
const settle = () => run(() => new Promise(done => setTimeout(() => requestAnimationFrame(() => done(0)), 200)));
async function until(name, test, ...args) {
    for (const last = Date.now() + patience; Date.now() < last; await sleep(100)) if (await run(test, ...args)) return check(name, true);
    return check(name, false, await run(() => document.body.innerText.slice(0, 600)));
}
async function picture(name) { if (process.env.PROF_TEST_LONG) fs.writeFileSync(path.join(folder, name + '.png'), Buffer.from(await call('GET', '/screenshot'), 'base64')); }

const element = async selector => Object.values(await call('POST', '/element', { using: 'css selector', value: selector }))[0];
const click = async selector => call('POST', `/element/${await element(selector)}/click`, {});
const act = actions => call('POST', '/actions', { actions });
const [ESCAPE, ENTER, UP, RIGHT, DOWN] = '\uE00C\uE007\uE013\uE014\uE015';
/** Presses one key after the other. */
const keys = text => act([{ type: 'key', id: 'keys', actions: [...text].flatMap(value => [{ type: 'keyDown', value }, { type: 'keyUp', value }]) }]);
const mouse = (...actions) => act([{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }]);
const move = (x, y) => ({ type: 'pointerMove', x, y, duration: 0 }), down = { type: 'pointerDown', button: 0 }, up = { type: 'pointerUp', button: 0 };

async function open(file) {
    await call('POST', '/url', { url: 'about:blank' });
    await call('POST', '/url', { url: 'file://' + path.resolve(file) });
    for (const last = Date.now() + patience; !await run(() => document.documentElement.dataset.ready || '') && Date.now() < last;) await sleep(20);
    await listen();
}
/** From now on, keeps what goes wrong on the page; before, data-ready says so. WebKit itself asks for a favicon, in vain. */
const listen = () => run(() => {
    globalThis.wrong = [];
    for (const type of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(type, event => globalThis.wrong.push(`${type}: ${event.message || event.reason || event.blockedURI}`));
});
const quiet = async name => same(`${name}: nothing goes wrong`, await run(() => [...globalThis.wrong, document.documentElement.dataset.ready,
    ...performance.getEntriesByType('resource').map(entry => entry.name).filter(address => !address.startsWith(location.origin))].filter(text => !/^\d+$|favicon/.test(text))), []);

// ---- what is looked at

/** What the page understood is what node did, which check.mjs compares with the CSV; and each view shows something. */
async function shows(prefix) {
    const name = `webkit ${path.basename(prefix)}`;
    await open(prefix + '.html');
    const understood = Object.entries(digestOf(await read(prefix + '.html'))).sort(), got = Object.entries(await run(digestOf)).sort();
    same(`${name}: is what node understood`, got, understood);
    await settle();
    check(`${name}: draws`, await run(() => {
        const canvas = document.getElementById('time'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
        for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        return seen.size;
    }) > 8, 'the time line is empty');
    await picture(path.basename(prefix));
    const tabs = await run(() => [...document.querySelectorAll('[role=tab]')].map(tab => tab.id));
    for (const tab of tabs) {
        await click('#' + tab);
        check(`${name}: ${tab}`, await run(() => document.getElementById('panel').innerText.trim().length) > 0, 'the panel is empty');
    }
    await quiet(name);
}

const view = () => run(() => [globalThis.prof.view.from, globalThis.prof.view.to]);
const focus = () => run(() => { const f = globalThis.prof.focus; return f && [f.track.id, f.depth, f.i]; });
const length = ([from, to]) => to - from;

async function keyboard(prefix) {
    const name = 'webkit keyboard';
    await open(prefix + '.html');
    const all = await view();
    await keys('w');
    check(`${name}: W zooms in`, length(await view()) < length(all), 'it does not');
    await keys('0');
    check(`${name}: 0 shows everything`, Math.abs(length(await view()) - length(all)) < 2, `${await view()}`);
    await keys(RIGHT);
    const first = await focus();
    check(`${name}: arrows focus a scope`, first && first[1] === 0, JSON.stringify(first));
    await keys(DOWN + UP);
    same(`${name}: down and up again`, await focus(), first);
    await keys(']');
    check(`${name}: ] goes to the next call`, JSON.stringify(await focus()) !== JSON.stringify(first), 'it does not');
    await keys('[' + 'm');
    check(`${name}: M selects`, await run(() => globalThis.prof.selection !== null), 'nothing is selected');
    await settle();
    check(`${name}: the tables are of the selection`, await run(() => document.querySelector('#panel caption').innerText.includes('selected')), 'they are not');
    await keys(ENTER);
    same(`${name}: Enter opens the scope`, await run(() => globalThis.prof.panels.tab), 'scope');
    await keys(ESCAPE + '/' + 'a');
    await until(`${name}: / searches`, () => document.getElementById('hits').innerText.length > 0);
    await keys(ESCAPE + '?');
    check(`${name}: ? lists the keys`, await run(() => document.getElementById('keys').open), 'no list');
    await picture('keys');
    await keys(ESCAPE);
    check(`${name}: Escape closes it`, !await run(() => document.getElementById('keys').open), 'it stays');
    await until(`${name}: the address has the scope`, () => { const f = globalThis.prof.focus; return location.hash.includes(`f=${f.track.id}.${f.depth}.${f.i}`); });
    await quiet(name);
}

async function pointer(prefix) {
    const name = 'webkit pointer';
    await open(prefix + '.html');
    const all = await view();
    await act([{ type: 'wheel', id: 'wheel', actions: [{ type: 'scroll', x: 800, y: 250, deltaX: 0, deltaY: 120, duration: 0 }] }]);
    same(`${name}: the wheel scrolls, it does not zoom`, await view(), all);
    const turn = more => run(init => document.getElementById('time').dispatchEvent(new WheelEvent('wheel', { clientX: 800, clientY: 250, ...init })), more); // the driver's has no keys, nor sideways
    await turn({ deltaY: -120, ctrlKey: true });
    const zoomed = await view();
    check(`${name}: Control and the wheel zoom`, length(zoomed) < length(all), `${zoomed}`);
    await turn({ deltaX: 120 });
    check(`${name}: sideways it moves`, (await view())[0] > zoomed[0], `${await view()}`);
    const pinched = await run(scales => { // as Safari on a Mac tells of two fingers on the trackpad, which WebKitGTK does not
        const { prof } = globalThis, canvas = document.getElementById('time'), begun = prof.view.to - prof.view.from, at = prof.time.time(600);
        const all = ['gesturestart', ...scales.map(() => 'gesturechange')].map((type, i) => {
            const event = Object.assign(new Event(type, { cancelable: true }), { scale: [1, ...scales][i], clientX: 600 });
            canvas.dispatchEvent(event);
            return event.defaultPrevented;
        });
        prof.time.draw();
        return [all.every(Boolean), (prof.view.to - prof.view.from) / begun, Math.abs(prof.time.time(600) - at) * prof.time.scale];
    }, [1.5, 3, 2]);
    check(`${name}: a pinch zooms where it is`, pinched[0] && Math.abs(pinched[1] - 0.5) < 0.01 && pinched[2] < 1, `${pinched}`);
    await act([{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value: '\uE009' }, ...new Array(4).fill({ type: 'pause' }), { type: 'keyUp', value: '\uE009' }] },
        { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [{ type: 'pause' }, move(400, 250), down, move(600, 250), up] }]);
    same(`${name}: Control and a click, a menu on a Mac, selects nothing`, await run(() => globalThis.prof.selection), null);
    await mouse(move(500, 250), down, move(600, 250), move(800, 250), up);
    check(`${name}: dragging selects`, await run(() => globalThis.prof.selection !== null), 'nothing is selected');
    await settle();
    await click('#panel tbody .link');
    check(`${name}: a name opens the scope`, await run(() => document.querySelector('.histogram') !== null), 'no distribution');
    await click('caption .copy');
    await until(`${name}: a table is copied`, () => document.querySelector('caption .copy').innerText === 'Copied');
    await click('#picture');
    await click('#save-png');
    await click('#save-svg');
    const [svg, png] = await run(async () => [globalThis.prof.svg().length, (await globalThis.prof.png()).size]);
    check(`${name}: pictures`, svg > 1000 && png > 1000, `${svg} and ${png} bytes`);
    await keys(ESCAPE);
    const white = await run(() => getComputedStyle(document.body).backgroundColor);
    await click('#theme');
    await settle();
    check(`${name}: the theme changes`, await run(() => getComputedStyle(document.body).backgroundColor) !== white, white);
    await picture('dark');
    await click('#tab-flame');
    await picture('dark-flame');
    await quiet(name);
}

/** Another report is added, from its file. */
async function compared() {
    const name = 'webkit compare';
    await open(pair + '.1.html');
    await call('POST', `/element/${await element('#file')}/value`, { text: path.resolve(pair + '.2.html') });
    await until(`${name}: both are here`, () => globalThis.prof.report.processes.length === 2);
    const verdicts = await run(() => [...document.querySelectorAll('#panel tbody tr')].map(row => row.children[1].innerText));
    check(`${name}: verdicts`, ['slower', 'new', 'gone'].every(verdict => verdicts.some(text => text.endsWith(verdict))), verdicts.join());
    await picture('compare');
    await click('#tab-difference');
    check(`${name}: the flame graph of differences`, await run(() => document.querySelectorAll('.flame button').length) > 2, 'it is empty');
    await picture('difference');
    await quiet(name);
}

/** A program that is watched, and dies. */
async function live() {
    const name = 'webkit live', child = begin(program, [path.join(home, 'live'), 'wild'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const at = await new Promise(done => { let text = ''; child.stdout.on('data', more => { text += more; if (text.includes('\n')) done(parseInt(text)); }); });
    child.stdin.on('error', () => {});
    child.stdin.write('go\n');
    await call('POST', '/url', { url: `http://localhost:${at}/` });
    await listen();
    await until(`${name}: flows`, () => globalThis.prof && globalThis.prof.live && globalThis.prof.live.periods.length > 3 && globalThis.prof.report.scopes > 200);
    await until(`${name}: lists scopes`, () => /step[^]*leaf|leaf[^]*step/.test(document.getElementById('panel').innerText));
    await until(`${name}: says what it costs`, () => /watching takes \d/.test(document.getElementById('state').textContent));
    await picture('live');
    await mouse(move(700, 350), down, up);
    const [paused, to] = await run(() => [globalThis.prof.live.paused, globalThis.prof.report.to]);
    same(`${name}: a click pauses`, paused, true);
    await run(() => globalThis.prof.live.pause(false));
    await until(`${name}: goes on`, before => globalThis.prof.report.to > before, to);
    await quiet(name);
    child.kill('SIGKILL');
    await until(`${name}: says that the program died`, () => /killed/.test(document.getElementById('state').textContent));
}

try {
    await browser();
    for (const prefix of prefixes) await shows(prefix);
    await keyboard(prefixes[0]);
    await pointer(pair + '.1');
    await compared();
    await live();
} catch (error) {
    check('webkit', false, error.stack);
}
await end();
