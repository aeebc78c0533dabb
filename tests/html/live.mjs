// The live page: what it puts together out of the periods that a server sends is what the CSV of the same recording
// says. With PREFIX: in node. With a FOLDER for pictures as well: the page in a browser.
//   node tests/html/live.mjs PROGRAM PREFIX [FOLDER]     PROGRAM: of make_live.c
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { check, same, skip, total } from './count.mjs';
import { eventsOf, eventsOfCsv, piecesOf } from './report.mjs';
import { Damage, readReport } from '../../src/html/decode.js';
import { finish } from '../../src/html/model.js';
import { Messages, merged } from '../../src/html/live.js';

const [program, prefix, folder] = process.argv.slice(2), patience = 240000;

/** Starts the program. line() is the next line that it prints. */
async function begin(...more) {
    const child = spawn(program, [prefix, ...more], { stdio: ['pipe', 'pipe', 'inherit'] }), lines = [], waiting = [];
    let text = '';
    child.stdout.on('data', data => {
        text += data;
        for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) (waiting.shift() || (l => lines.push(l)))(text.slice(0, end));
    });
    child.on('exit', () => { while (waiting.length) waiting.shift()(''); });
    child.stdin.on('error', () => {});
    const line = () => lines.length ? Promise.resolve(lines.shift()) : new Promise(done => waiting.push(done));
    return { child, line, port: Number(await line()), ended: new Promise(done => child.on('exit', done)) };
}

/** Watches a program from its first scope to its last. @returns what it sent, in pieces */
async function watched() {
    const { child, line, port, ended } = await begin(), pieces = [], messages = new Messages();
    const answer = await fetch(`http://localhost:${port}/live`, { signal: AbortSignal.timeout(patience) });
    let periods = 0, state = '', skipped_ns = 0;
    for await (const piece of answer.body) {
        pieces.push(piece);
        for (const { about, report } of messages.take(piece)) {
            state = about.get('state');
            skipped_ns = Number(about.get('skipped_ns')) + Number(about.get('overwritten_ns'));
            if (report && ++periods === 1) child.stdin.write('go\n');
            if (report && periods === 7) child.stdin.write('stop\n');
        }
        if (state === 'stopped') break;
    }
    await line();
    child.stdin.end();
    await ended;
    return { pieces, whole: state === 'stopped' && skipped_ns === 0 };
}

async function equal() {
    let got;
    for (let tries = 0; tries < 5 && !(got && got.whole); tries++) got = await watched(); // a machine with too much to do skips periods
    if (!got.whole) {
        skip('live', 'this machine is too slow to read all periods');
        return;
    }
    const all = Buffer.concat(got.pieces), read = size => {
        const messages = new Messages(), periods = [];
        for (let at = 0; at < all.length; at += size) periods.push(...messages.take(all.subarray(at, at + size)).filter(message => message.report));
        return periods;
    };
    const periods = read(100003), report = finish(merged(periods)), { tracks, spans } = eventsOfCsv(fs.readFileSync(prefix + '.csv', 'utf8'));
    const cut = periods.reduce((sum, period) => sum + period.report.scopes, 0) - report.scopes;
    check('live: scopes were cut between periods', cut >= periods.length - 2, `${cut} in ${periods.length} periods`);
    let compared = 0;
    for (const wanted of tracks.values()) {
        if (wanted.name === 'prof server') continue; // which records what it does meanwhile
        const track = report.tracks.find(each => each.name === wanted.name && String(each.thread) === wanted.thread), mine = track ? eventsOf(report, track) : [];
        const at = wanted.events.findIndex((event, i) => event !== mine[i]);
        check(`live: events of ${wanted.name || wanted.thread}`, mine.join('\n') === wanted.events.join('\n'),
            `${mine.length} instead of ${wanted.events.length}; at ${at}: ${JSON.stringify(mine[at])} instead of ${JSON.stringify(wanted.events[at])}`);
        compared += wanted.events.length;
    }
    check('live: there were events', compared > 500, `${compared}`);
    const whole = report.spans.filter(span => !span.mark);
    same('live: spans', [whole.filter(s => !(s.flags & 1)).length, whole.filter(s => !(s.flags & 2)).length], [spans.begin, spans.end]);
    same('live: in single bytes', merged(read(1)).scopes, report.scopes);
    const later = merged(periods.slice(2)), first = later.tracks.find(track => track.name === 'worker').levels[0];
    same('live: what began before the ring says so', [first.count, first.flags.get(0), first.start[0]], [1, 1, Number(periods[2].about.get('from_ns'))]);
    const gap = merged([...periods.slice(0, 2), { ...periods[3], about: new Map([...periods[3].about, ['joins', '0']]) }]);
    same('live: nothing is joined over a gap', gap.tracks.find(track => track.name === 'worker').levels[0].count, 2);
    damaged(all);
}

/** Damaged streams end the reading, or change what is shown; nothing else happens. */
function damaged(all) {
    let seed = 1, bad = '', found = 0;
    const random = n => (seed = seed * 48271 % 2147483647) % n;
    for (let round = 0; round < 300; round++) {
        const bytes = Uint8Array.from(all.subarray(0, 60000));
        for (let n = 1 + random(4); n > 0; n--) bytes[random(bytes.length)] = random(256);
        try {
            const periods = new Messages().take(bytes).filter(message => message.report);
            if (periods.length) finish(merged(periods));
        } catch (error) {
            found++;
            if (!(error instanceof Damage)) bad = bad || `${error.stack}`;
        }
    }
    same('live: damage is damage', bad, '');
    check('live: some of it is found', found > 0, 'none is');
}

async function page() {
    const { context, firefox, end } = await import('./pages.mjs'), log = [];
    const { child, port, ended } = await begin('wild'), tab = await context.newPage(), home = `http://localhost:${port}`;
    let dying = false;
    tab.on('console', message => { if (/error|warning/.test(message.type()) && !dying) log.push(message.text().slice(0, 300)); });
    tab.on('pageerror', error => { if (!/favicon/.test(error.message)) log.push(`exception: ${error.message}`); }); // which Firefox asks for, and the page forbids
    tab.on('request', request => { if (new URL(request.url()).origin !== home) log.push(`request: ${request.url()}`); });
    const until = async (what, test, first, second) => {
        for (const end = Date.now() + patience; Date.now() < end; await new Promise(done => setTimeout(done, 100)))
            if (await tab.evaluate(`(${test})(${JSON.stringify(first) || ''}${second === undefined ? '' : `, ${second}`})`)) return check(`live page: ${what}`, true);
        return check(`live page: ${what}`, false, await tab.evaluate(() => document.body.innerText.slice(0, 600)));
    };
    child.stdin.write('go\n');
    await tab.goto(home + '/');
    await until('flows', () => globalThis.prof && globalThis.prof.live && globalThis.prof.live.periods.length > 3 && globalThis.prof.report.scopes > 200);
    const last = await tab.evaluate(() => globalThis.prof.report.to);
    await until('flows on', to => globalThis.prof.report.to > to + 4e8, last);
    same('live page: its head is of now', await tab.evaluate(() => {
        const { report, live } = globalThis.prof;
        document.getElementById('warnings').replaceChildren(Object.assign(document.createElement('details'), { open: true })); // which a reader may read
        live.show();
        const [, time, unit, scopes] = /^([\d.]+) (m?s), ([\d,]+) scopes on/.exec(document.getElementById('facts').textContent), length = (globalThis.prof.report.to - report.from) / { ms: 1e6, s: 1e9 }[unit];
        return [Math.abs(Number(time) - length) < 0.051, Number(scopes.replace(/,/g, '')) === globalThis.prof.report.scopes];
    }), [true, true]);
    await until('lists scopes', () => /step[^]*leaf|leaf[^]*step/.test(document.getElementById('panel').innerText));
    await until('says what it costs', () => /Recording, because you watch; watching takes \d/.test(document.getElementById('state').textContent));
    await tab.screenshot({ path: path.join(folder, 'live.png') });
    await tab.getByText('Categories', { exact: true }).click();
    same('live page: categories', await tab.locator('.menu input').evaluateAll(all => all.map(box => [box.value, box.checked, box.indeterminate]).filter(([name]) => name === 'work')), [['work', true, false]]);
    await tab.locator('.menu input[value=work]').uncheck();
    const newest = (name, wanted) => { // in the last period
        const { report } = globalThis.prof.live.periods[globalThis.prof.live.periods.length - 1], count = label => report.tracks.reduce((sum, track) => sum + track.levels.reduce((n, level) =>
            n + [...level.node].filter(node => report.labels[report.nodes.label[node]].name === label).length, 0), 0);
        return count('frame') > 2 && (count(name) > 0) === wanted;
    };
    await until('a category is switched off', newest, 'update', false);
    await tab.screenshot({ path: path.join(folder, 'live-categories.png') });
    await tab.locator('.menu input[value=work]').check();
    await until('and on again', newest, 'update', true);
    await tab.getByText('Categories', { exact: true }).click();
    await tab.locator('#time').click({ position: { x: 700, y: 200 } });
    const still = await tab.evaluate(() => [globalThis.prof.live.paused, globalThis.prof.report.to, globalThis.prof.live.about]);
    same('live page: a click pauses', still[0], true);
    await tab.keyboard.press('w');
    const periods = await tab.evaluate(() => globalThis.prof.live.periods[globalThis.prof.live.periods.length - 1].about.get('from_ns'));
    await until('still reads', from => globalThis.prof.live.periods[globalThis.prof.live.periods.length - 1].about.get('from_ns') !== from, periods);
    same('live page: and stays', await tab.evaluate(() => globalThis.prof.report.to), still[1]);
    if (!firefox) {
        const waits = tab.waitForEvent('download');
        await tab.getByText('Save the last 5 s').click();
        const saved = path.join(folder, 'live-saved.html');
        await (await waits).saveAs(saved);
        const report = finish(await readReport(piecesOf(fs.readFileSync(saved, 'latin1'))));
        same('live page: what it saves is a report', [report.damage, report.labels.some(label => label.name === 'leaf')], ['', true]);
    }
    await tab.getByRole('button', { name: 'Go on' }).click();
    await until('goes on', to => globalThis.prof.report.to > to, still[1]);
    dying = true; // a request that ends too early is an error of the console
    child.kill('SIGKILL');
    await ended;
    await until('says that the program died', () => /killed/.test(document.getElementById('state').textContent) && !document.querySelector('#watch button[hidden]'));
    await until('still has the end', () => globalThis.prof.report.scopes > 200);
    await tab.screenshot({ path: path.join(folder, 'live-died.png') });
    same('live page: nothing goes wrong', log, []);
    await end();
}

if (folder) await page(); else await equal();
total();
