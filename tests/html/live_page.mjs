// The page of a program that is watched, in a browser: it flows, is paused and goes on, and says that the program died.
import fs from 'node:fs';
import path from 'node:path';
import { check, same } from './count.mjs';
import { context, firefox, patience, picture } from './pages.mjs';
import { begin } from './program.mjs';
import { piecesOf } from './report.mjs';
import { readReport } from '../../src/html/decode.js';
import { finish } from '../../src/html/model.js';

/** program: of make_live.c; pictures go to a folder. */
export async function live(folder, program) {
    const log = [], { child, port, ended } = await begin(program, path.join(folder, 'live'), 'wild'), tab = await context.newPage(), home = `http://localhost:${port}`;
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
    await picture(tab, folder, 'live');
    await tab.getByText('Categories', { exact: true }).click();
    same('live page: categories', await tab.locator('.menu input').evaluateAll(all => all.map(box => [box.value, box.checked, box.indeterminate]).filter(([name]) => name === 'work')), [['work', true, false]]);
    await tab.locator('.menu input[value=work]').uncheck();
    const newest = (name, wanted) => { // in the last period
        const { report } = globalThis.prof.live.periods[globalThis.prof.live.periods.length - 1], count = label => report.tracks.reduce((sum, track) => sum + track.levels.reduce((n, level) =>
            n + [...level.node].filter(node => report.labels[report.nodes.label[node]].name === label).length, 0), 0);
        return count('frame') > 2 && (count(name) > 0) === wanted;
    };
    await until('a category is switched off', newest, 'update', false);
    await picture(tab, folder, 'live-categories');
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
    await picture(tab, folder, 'live-died');
    same('live page: nothing goes wrong', log, []);
    await tab.close();
}
