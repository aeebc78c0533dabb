// Opens XProf's own page on the recorded run in headless Chromium, waits until its trace viewer has drawn, and takes a
// picture: node picture.mjs NODE_MODULES SERVER PICTURE. Prints what was seen.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [modules, server, picture] = process.argv.slice(2);
const { chromium } = createRequire(modules + '/')('playwright-core');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'prof-xprof-'));
const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, timeout: 180000,
    viewport: { width: 1600, height: 1000 },
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-dev-shm-usage',
        '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'] });
const page = await context.newPage(), log = [];
page.on('console', m => { if (m.type() === 'error') log.push(m.text().slice(0, 200)); });
page.on('pageerror', e => log.push('exception: ' + e.message.slice(0, 200)));
page.on('requestfailed', r => log.push('failed: ' + r.url().slice(0, 150)));
let status = 1;

// In the viewer's frame: what its rows are called.
function headings() {
    const texts = [];
    const walk = node => {
        if (node.tagName === 'TR-UI-B-HEADING') texts.push((node.textContent || '').replace(/[\u25b8\u25be\s]+/g, ' ').trim());
        for (const child of node.children || []) walk(child);
        if (node.shadowRoot) walk(node.shadowRoot);
    };
    walk(document.body);
    return texts;
}

const wanted = ['main (record)', 'loader "1"', 'compute', 'render of main', 'request', 'lock queue', 'loss:', 'memory: cpu:'];
try {
    await page.goto(server + '/?tool=trace_viewer@&run=both&host=node.0', { timeout: 180000 });
    let rows = [], missing = wanted;
    for (let tries = 0; tries < 400 && missing.length; tries++) {
        await page.waitForTimeout(500);
        const frame = page.frames().find(f => f.url().includes('trace_viewer_index'));
        if (frame) rows = await frame.evaluate(headings).catch(() => []);
        missing = wanted.filter(name => !rows.includes(name));
    }
    await page.waitForTimeout(2000);
    await page.screenshot({ path: picture });
    console.log(missing.length ? `no row ${missing.join(', ')} among ${rows.join(', ')}\n${page.url()}\n${log.join('\n')}`
        : `${wanted.length} rows of the page's are there`);
    status = missing.length ? 1 : 0;
} catch (error) {
    console.log(error.message, log.join('\n'));
}
await context.close();
try { // processes of the browser's may still be writing there
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
} catch (error) {
    console.log(error.message);
}
process.exit(status);
