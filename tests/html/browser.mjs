// The page in Chromium: what it shows, what a reader does with it, and that a report by somebody else runs nothing.
//   node tests/html/browser.mjs FOLDER PREFIX...     of PREFIX.html; pictures go to FOLDER
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const [folder, ...prefixes] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(process.env.NODE_FOLDER || folder) + '/')('playwright-core');
const patience = 240000;
let passed = 0, failed = 0;
function check(name, good, why = '') {
    if (good) passed++; else failed++;
    console.log(good ? `ok   ${name}` : `FAIL ${name}: ${why}`);
}
const same = (name, got, wanted) => check(name, JSON.stringify(got) === JSON.stringify(wanted), `${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, timeout: patience,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND'] });
const context = await browser.newContext({ viewport: { width: 1500, height: 900 }, bypassCSP: false });
context.setDefaultTimeout(patience);

/** Opens a report. What goes wrong on the page, and each request for something else, is in log. */
async function open(file, fragment = '') {
    const page = await context.newPage(), log = [];
    page.on('console', message => { if (/error|warning/.test(message.type())) log.push(message.text().slice(0, 300)); });
    page.on('pageerror', error => log.push(`exception: ${error.message}`));
    page.on('dialog', dialog => { log.push(`dialog: ${dialog.message()}`); dialog.dismiss().catch(() => {}); });
    page.on('request', request => { if (request.url().split('#')[0] !== 'file://' + path.resolve(file)) log.push(`request: ${request.url()}`); });
    await page.goto('file://' + path.resolve(file) + fragment);
    await page.waitForSelector('html[data-ready]', { state: 'attached' });
    return { page, log };
}

/** Waits until the time line is drawn and the panels have followed. */
const settle = page => page.evaluate(() => new Promise(done => setTimeout(() => requestAnimationFrame(() => done(0)), 200)));
/** How many colours the canvas has: one that shows nothing has few. */
const colors = page => page.evaluate(() => {
    const canvas = document.getElementById('time'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
});

for (const prefix of prefixes) {
    const name = path.basename(prefix), { page, log } = await open(prefix + '.html');
    same(`${name}: opens`, await page.getAttribute('html', 'data-ready') !== 'failed', true);
    check(`${name}: draws`, await colors(page) > 8, 'the time line is empty');
    const tabs = await page.locator('[role=tab]').evaluateAll(all => all.map(tab => tab.id));
    for (const tab of tabs) {
        await page.click('#' + tab);
        check(`${name}: ${tab}`, (await page.locator('#panel').innerText()).trim().length > 0, 'the panel is empty');
    }
    await page.click('#tab-scopes');
    const rows = await page.locator('#panel tbody tr').count();
    const wanted = await page.evaluate(() => Math.min(300, globalThis.prof.panels.stats().rows.length));
    same(`${name}: a row for each scope`, rows, wanted);
    await settle(page);
    await page.screenshot({ path: path.join(folder, name + '.png') });
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** By the keyboard alone. */
async function keyboard(prefix) {
    const { page, log } = await open(prefix + '.html'), name = 'keyboard';
    const view = () => page.evaluate(() => globalThis.prof.view.to - globalThis.prof.view.from);
    const focus = () => page.evaluate(() => { const f = globalThis.prof.focus; return f && [f.track.id, f.depth, f.i]; });
    await page.focus('#time');
    const before = await view();
    await page.keyboard.press('w');
    check(`${name}: W zooms in`, await view() < before, 'it does not');
    await page.keyboard.press('0');
    check(`${name}: 0 shows everything`, Math.abs(await view() - before) < 2, `${await view()}`);
    await page.keyboard.press('ArrowRight');
    const first = await focus();
    check(`${name}: arrows focus a scope`, first !== null && first[1] === 0, JSON.stringify(first));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    same(`${name}: down and up again`, await focus(), first);
    check(`${name}: a screen reader is told`, (await page.locator('#live').innerText()).includes('depth 1'), await page.locator('#live').innerText());
    await page.keyboard.press(']');
    const next = await focus();
    check(`${name}: ] goes to the next call`, next[2] !== first[2] || next[0] !== first[0], JSON.stringify(next));
    await page.keyboard.press('[');
    same(`${name}: [ goes back`, await focus(), first);
    await page.keyboard.press('m');
    check(`${name}: M selects`, await page.evaluate(() => globalThis.prof.selection !== null), 'nothing is selected');
    await settle(page);
    check(`${name}: the tables are of the selection`, /selected/.test(await page.locator('#panel caption').first().innerText()), 'they are not');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('a');
    await settle(page);
    check(`${name}: / searches`, (await page.locator('#hits').innerText()).length > 0, 'no number of hits');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    check(`${name}: ? lists the keys`, await page.locator('#keys').isVisible(), 'no list');
    await page.keyboard.press('Escape');
    await settle(page);
    const fragment = await page.evaluate(() => location.hash);
    await page.close();
    const again = await open(prefix + '.html', fragment), got = await again.page.evaluate(() => { const f = globalThis.prof.focus; return f && [f.track.id, f.depth, f.i]; });
    same(`${name}: the address has the scope`, got, first);
    await again.page.close();
    same(`${name}: nothing goes wrong`, log, []);
}

/** By the mouse: a scope, its distribution, a bar, a call. */
async function mouse(prefix) {
    const { page, log } = await open(prefix + '.html'), name = 'mouse';
    await page.click('#panel tbody .link');
    check(`${name}: a name opens the scope`, await page.locator('.histogram').isVisible(), 'no distribution');
    const all = await page.evaluate(() => globalThis.prof.report.scopes);
    await page.locator('.histogram button:enabled').last().click();
    const left = await page.locator('#panel .split > .scroll tbody tr').count();
    check(`${name}: a bar lists its calls`, left > 0 && left <= all, `${left} rows`);
    await page.locator('#panel .split > .scroll tbody .link').first().click();
    check(`${name}: a call goes there`, await page.evaluate(() => globalThis.prof.focus !== null), 'nothing is focused');
    const box = await page.locator('#time').boundingBox();
    await page.mouse.move(box.x + 400, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 60, { steps: 5 });
    await page.mouse.up();
    check(`${name}: dragging selects`, await page.evaluate(() => globalThis.prof.selection !== null), 'nothing is selected');
    await page.click('#tab-flame');
    await settle(page);
    await page.click('text=From the bottom');
    check(`${name}: a flame graph from the bottom`, await page.locator('#panel').isVisible(), 'none');
    await page.click('#theme');
    await settle(page);
    check(`${name}: dark`, await page.evaluate(() => getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'), 'it stays white');
    await page.screenshot({ path: path.join(folder, 'dark.png') });
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** A name that is markup, and scripts that an attacker put into the data, run nothing. */
async function attack() {
    const html = fs.readFileSync(prefixes[0] + '.html', 'latin1'), u = n => n < 128 ? [n] : [n & 127 | 128, n >> 7];
    const text = s => [...u(Buffer.byteLength(s)), ...Buffer.from(s)], block = (kind, content) => [kind.charCodeAt(0), ...u(content.length + u(content.length).length), 0, ...u(content.length), ...content];
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>\u2028';
    const columns = list => [...list.flatMap(c => u(c.length)), ...list.flat()], raw = (kind, content) => [kind.charCodeAt(0), ...u(content.length), 0, ...content];
    const bytes = [...block('H', [1, 1, ...text(evil.slice(0, 50))]), ...block('S', text(evil.slice(0, 57))), ...block('K', [0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ...block('P', [...text('program'), ...text(evil.slice(0, 30)), ...text('loss'), ...text('<b onclick=alert(3)>lost</b>')]), ...block('T', [...text('<i>t</i>'), 0, 1, 0, 0, 0, 1]),
        ...raw('E', columns([[0, 5], [100], [0]])), ...block('A', [0, 1, 0, 1, 0, 7, 0]), ...block('Z', [1, 0, 0])];
    const file = path.join(folder, 'attack.html');
    fs.writeFileSync(file, html.replace(/<script type="application\/octet-stream">[^]*<\/script>/, () => `<script type="application/octet-stream">${Buffer.from(bytes).toString('base64')}</script>`), 'latin1');
    const { page, log } = await open(file);
    same('attack: one scope', await page.evaluate(() => [globalThis.prof.report.scopes, globalThis.prof.report.damage]), [1, '']);
    for (const tab of await page.locator('[role=tab]').evaluateAll(all => all.map(each => each.id))) await page.click('#' + tab);
    await page.keyboard.press('ArrowRight');
    await settle(page);
    same('attack: no element came from a name', await page.evaluate(() => document.querySelectorAll('img, b[onclick], #panel script').length), 0);
    same('attack: nothing ran', log, []);
    await page.screenshot({ path: path.join(folder, 'attack.png') });
    await page.close();
}

/** A recording beside itself: nothing differs. */
async function compared(prefix) {
    const { page, log } = await open(prefix + '.twice.html');
    await page.click('#tab-compare');
    const changes = await page.evaluate(() => {
        const titles = [...document.querySelectorAll('#panel th')].map(th => th.innerText), at = titles.indexOf('change');
        return [...document.querySelectorAll('#panel tbody tr')].map(row => row.children[at].innerText);
    });
    check('compare: a row for each scope, and no change', changes.length > 2 && changes.every(text => text === '' || text === '0.0 %'), changes.join());
    same('compare: nothing goes wrong', log, []);
    await page.screenshot({ path: path.join(folder, 'compare.png') });
    await page.close();
}

const plain = prefixes.find(prefix => prefix.endsWith('plain')) || prefixes[0];
await keyboard(plain);
await mouse(plain);
await attack();
await compared(plain);
await browser.close();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
