// A headless Chromium that reaches nothing but this machine, and a small web server for it.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

export const build = path.resolve('build/viewers');
const { chromium } = createRequire(build + '/')('playwright-core');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'];

const pause = ms => new Promise(done => setTimeout(done, ms));

// What hangs is stopped by that; a machine with much else to do takes its time.
export const patience = 240000;

// port: where its DevTools are served, which the browser chooses.
export async function openBrowser() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'prof-viewers-'));
    const context = await chromium.launchPersistentContext(folder, {
        executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, acceptDownloads: true,
        viewport: { width: 1500, height: 900 }, timeout: patience, args: [...flags, '--remote-debugging-port=0'] });
    context.setDefaultTimeout(patience);
    const close = async () => {
        await context.close();
        for (let tries = 0; tries < 50 && fs.existsSync(folder); tries++) {
            try { // processes of the browser that still end may write into it
                fs.rmSync(folder, { recursive: true, force: true });
            } catch {
                await pause(100);
            }
        }
    };
    const announced = path.join(folder, 'DevToolsActivePort'), end = Date.now() + patience;
    const port = () => (fs.existsSync(announced) ? parseInt(fs.readFileSync(announced, 'utf8'), 10) : 0);
    while (!port() && Date.now() < end) await pause(50);
    return { context, close, port: port() };
}

// A page that collects what goes wrong on it; not [Intervention], which says that a font came late.
export async function openPage(context) {
    const page = await context.newPage(), log = [];
    page.on('console', m => {
        if (!['warning', 'error'].includes(m.type()) || /^\[Intervention\]|GPU stall/.test(m.text())) return;
        log.push(m.text().slice(0, 300));
    });
    page.on('pageerror', e => log.push('exception: ' + e.message.slice(0, 300)));
    page.on('dialog', d => { log.push('dialog: ' + d.message()); d.dismiss().catch(() => {}); });
    return { page, log };
}

// A picture, for who looks at the tests' work: PROF_TEST_LONG=1. By then the viewer has drawn, which takes it a moment.
export async function picture(page, file) {
    if (!process.env.PROF_TEST_LONG) return;
    await page.waitForTimeout(500);
    await page.screenshot({ path: file });
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
    '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' };

// Serves the files of a folder, and those of extra, which may change: {'/name': path of a file, or a Buffer}.
export async function serve(folder, extra) {
    const server = http.createServer((request, response) => {
        const name = decodeURIComponent(request.url.split('?')[0]), own = extra[name];
        const file = typeof own === 'string' ? own : path.join(folder, name === '/' ? 'index.html' : name);
        const send = (error, bytes) => {
            response.writeHead(!error ? 200 : name === '/favicon.ico' ? 204 : 404,
                { 'content-type': types[path.extname(name === '/' ? file : name)] || 'application/octet-stream' });
            response.end(bytes || '');
        };
        if (Buffer.isBuffer(own)) send(null, own);
        else fs.readFile(file, send);
    });
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${server.address().port}`, extra, close: () => server.close() };
}
