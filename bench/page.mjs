// How long the page takes to open in headless Chromium, and to draw: node bench/page.mjs FILE.html... of bench/html.c. The
// best of some rounds of each, because a machine has other things to do; and the processor time and the memory of the
// page's process until it is open, which do not depend on these as much. playwright-core is in NODE_FOLDER, which is
// build/viewers: tests/html/run.sh installs it there. ROUNDS=5: how often each is opened.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const rounds = Number(process.env.ROUNDS || 5), folder = path.resolve(process.env.NODE_FOLDER || 'build/viewers');
const { chromium } = createRequire(folder + '/')('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'] });
const whole = await browser.newBrowserCDPSession();
const PARTS = [[1, 'everything'], [0.1, 'a tenth'], [0.01, 'a hundredth'], [0.0001, 'a ten-thousandth'], [1, 'everything, when only the cursor moves', true]];

/** The renderers, each with its processor time in seconds. */
const renderers = async () => (await whole.send('SystemInfo.getProcessInfo')).processInfo.filter(each => each.type === 'renderer');

/** Milliseconds of frames that show a part of the recording, each from another time on: the least and the median. */
function frames([part, , still]) {
    const { prof } = globalThis, { from, to } = prof.report, took = [];
    for (let n = 0; n < 41; n++) {
        const start = from + (to - from) * (part < 1 ? 0.3 + 0.01 * n * part : still ? 0 : 0.0001 * (n + 1));
        prof.view = { from: start, to: start + (to - from) * part };
        const began = performance.now();
        prof.time.draw();
        took.push(performance.now() - began);
    }
    took.sort((a, b) => a - b);
    return [took[0], took[20]];
}

for (const file of process.argv.slice(2)) {
    const best = { ready: Infinity, opened: Infinity, processor: Infinity, memory: Infinity, parts: PARTS.map(() => [Infinity, Infinity]) };
    let scopes = 0;
    for (let round = 0; round < rounds; round++) {
        const page = await (await browser.newContext({ viewport: { width: 1500, height: 900 } })).newPage(), began = performance.now();
        page.setDefaultTimeout(300000);
        await page.goto('file://' + path.resolve(file), { timeout: 300000 });
        await page.waitForSelector('html[data-ready]', { state: 'attached' });
        best.opened = Math.min(best.opened, performance.now() - began);
        best.ready = Math.min(best.ready, Number(await page.getAttribute('html', 'data-ready')));
        const mine = (await renderers()).sort((a, b) => b.cpuTime - a.cpuTime)[0];
        best.processor = Math.min(best.processor, mine.cpuTime);
        best.memory = Math.min(best.memory, Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`/proc/${mine.id}/status`, 'utf8'))[1]));
        scopes = await page.evaluate(() => globalThis.prof.report.scopes);
        for (const [i, part] of PARTS.entries())
            (await page.evaluate(frames, part)).forEach((ms, k) => { best.parts[i][k] = Math.min(best.parts[i][k], ms); });
        await page.context().close();
    }
    console.log(`${(scopes / 1e6).toFixed(2)} million scopes, ${(fs.statSync(file).size / 1e6).toFixed(1)} MB: open ${(best.ready / 1000).toFixed(2)} s after the navigation began, ` +
        `${(best.opened / 1000).toFixed(2)} s as playwright sees it; ${best.processor.toFixed(2)} s of processor time, ${(best.memory / 1000).toFixed(0)} MB at most`);
    for (const [i, [, what]] of PARTS.entries()) console.log(`    a frame of ${what}: ${best.parts[i].map(ms => ms.toFixed(1)).join(' / ')} ms (least / median)`);
}
await browser.close();
