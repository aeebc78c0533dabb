// How long the page takes to open in headless Chromium, and to draw: node bench/page.mjs FILE.html... of bench/html.c. The
// best of some rounds of each, because a machine has other things to do. playwright-core is in NODE_FOLDER, which is
// build/viewers: tests/html/run.sh installs it there. ROUNDS=5: how often each is opened.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const rounds = Number(process.env.ROUNDS || 5), folder = path.resolve(process.env.NODE_FOLDER || 'build/viewers');
const { chromium } = createRequire(folder + '/')('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'] });

/** Milliseconds of frames that show a part of the recording: the least and the median. */
function frames(part) {
    const { prof } = globalThis, { from, to } = prof.report, took = [];
    for (let n = 0; n < 41; n++) {
        const start = from + (to - from) * (part < 1 ? 0.3 + 0.01 * n * part : 0);
        prof.view = { from: start, to: start + (to - from) * part };
        const began = performance.now();
        prof.time.draw();
        took.push(performance.now() - began);
    }
    took.sort((a, b) => a - b);
    return [took[0], took[20]];
}

for (const file of process.argv.slice(2)) {
    const best = { ready: Infinity, opened: Infinity, parts: [1, 0.1, 0.01, 0.0001].map(() => [Infinity, Infinity]) };
    let scopes = 0;
    for (let round = 0; round < rounds; round++) {
        const page = await (await browser.newContext({ viewport: { width: 1500, height: 900 } })).newPage(), began = performance.now();
        page.setDefaultTimeout(300000);
        await page.goto('file://' + path.resolve(file), { timeout: 300000 });
        await page.waitForSelector('html[data-ready]', { state: 'attached' });
        best.opened = Math.min(best.opened, performance.now() - began);
        best.ready = Math.min(best.ready, Number(await page.getAttribute('html', 'data-ready')));
        scopes = await page.evaluate(() => globalThis.prof.report.scopes);
        for (const [i, part] of [1, 0.1, 0.01, 0.0001].entries())
            (await page.evaluate(frames, part)).forEach((ms, k) => { best.parts[i][k] = Math.min(best.parts[i][k], ms); });
        await page.context().close();
    }
    console.log(`${(scopes / 1e6).toFixed(2)} million scopes, ${(fs.statSync(file).size / 1e6).toFixed(1)} MB: read in ${(best.ready / 1000).toFixed(2)} s, ` +
        `${(best.opened / 1000).toFixed(2)} s from the start; a frame of everything ${best.parts.map(part => part.map(ms => ms.toFixed(1)).join(' / ')).join(', ')} ms (least / median; then of a tenth, a hundredth, a ten-thousandth)`);
}
await browser.close();
