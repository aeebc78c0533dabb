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
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, viewport: { width: 1600, height: 1000 },
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-dev-shm-usage',
        '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'] });
const page = await context.newPage(), log = [];
page.on('console', m => { if (m.type() === 'error') log.push(m.text().slice(0, 200)); });
page.on('pageerror', e => log.push('exception: ' + e.message.slice(0, 200)));
page.on('requestfailed', r => log.push('failed: ' + r.url().slice(0, 150)));
let status = 1;

// In the viewer's frame: how many slices its model has, or 0 while there is none.
function slices() {
    const views = [];
    const walk = node => {
        if (node.model && node.model.getAllProcesses) views.push(node);
        for (const child of node.children || []) walk(child);
        if (node.shadowRoot) walk(node.shadowRoot);
    };
    walk(document.body);
    let count = 0;
    for (const process of views.length ? views[0].model.getAllProcesses() : [])
        for (const thread of Object.values(process.threads)) count += thread.sliceGroup.slices.length;
    return count;
}

try {
    await page.goto(server + '/?tool=trace_viewer@&run=both&host=node.0', { timeout: 60000 });
    let count = 0;
    for (let tries = 0; tries < 120 && !count; tries++) {
        await page.waitForTimeout(500);
        const frame = page.frames().find(f => f.url().includes('trace_viewer_index'));
        if (frame) count = await frame.evaluate(slices).catch(() => 0);
    }
    await page.waitForTimeout(2000);
    await page.screenshot({ path: picture });
    console.log(count + ' slices');
    status = count > 100 ? 0 : 1;
    if (status) console.log(page.url(), log.join('\n'));
} catch (error) {
    console.log(error.message, log.join('\n'));
}
await context.close();
fs.rmSync(folder, { recursive: true, force: true });
process.exit(status);
