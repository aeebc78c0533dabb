// What tests of the page share: a browser, Chromium or the Firefox that FIREFOX names, pages in it, and a count of checks.
import { createRequire } from 'node:module';
import path from 'node:path';
import { total } from './count.mjs';

const library = createRequire(path.resolve(process.env.NODE_FOLDER || 'build/viewers') + '/')('playwright-core');
export const firefox = process.env.FIREFOX; // or Chromium, if it is not set
export const patience = 240000;
const browser = await (firefox ? library.firefox.launch({ executablePath: firefox, channel: 'moz-firefox', headless: true, timeout: patience,
    firefoxUserPrefs: { 'dom.ipc.processPrelaunch.enabled': false } }) // processes for tabs that may come: none do
    : library.chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, timeout: patience,
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost'] }));
export const context = await browser.newContext({ viewport: { width: 1500, height: 900 }, bypassCSP: false });
context.setDefaultTimeout(patience);

/** Says how many checks there were, and ends. */
export async function end() {
    await browser.close();
    total();
}

const idle = [];

/** A tab for a report: one that is done with the last, if there is one, which takes half as long as a new one. */
async function tab() {
    if (idle.length) return idle.pop();
    const page = await context.newPage();
    page.close = async () => {
        for (const event of ['console', 'pageerror', 'dialog', 'request', 'filechooser']) page.removeAllListeners(event);
        await page.mouse.move(0, 0);
        idle.push(page);
    };
    return page;
}

/** Opens a report. What goes wrong on the page, and each request for something else, is in log. */
export async function open(file, fragment = '') {
    const page = await tab(), log = [], address = 'file://' + path.resolve(file);
    if (page.url().split('#')[0] === address) await page.goto('about:blank'); // or else it would only go to the fragment
    page.on('console', message => { if (/error|warning/.test(message.type())) log.push(message.text().slice(0, 300)); });
    page.on('pageerror', error => log.push(`exception: ${error.message}`));
    page.on('dialog', dialog => { log.push(`dialog: ${dialog.message()}`); dialog.dismiss().catch(() => {}); });
    // a blob: is the page's own script, for the thread that unpacks
    page.on('request', request => { if (!request.url().startsWith('blob:') && request.url().split('#')[0] !== address) log.push(`request: ${request.url()}`); });
    await page.goto(address + fragment);
    await page.waitForSelector('html[data-ready]', { state: 'attached' });
    return { page, log };
}

/** A picture of a page for who looks at the tests' work, which takes a browser longer than most of what is checked. */
export const picture = (page, folder, name) => process.env.PROF_TEST_LONG ? page.screenshot({ path: path.join(folder, name + '.png') }) : null;

/** Waits until the time line is drawn and the panels have followed. */
export const settle = page => page.evaluate(() => new Promise(done => setTimeout(() => requestAnimationFrame(() => done(0)), 200)));
/** Waits for something; what the library has for this needs an eval, which the page forbids. */
export async function until(page, test) {
    for (const end = Date.now() + patience; !await page.evaluate(test) && Date.now() < end;) await settle(page);
}
/** How many colours the canvas has: one that shows nothing has few. */
export const colors = page => page.evaluate(() => {
    const canvas = document.getElementById('time'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
});
