// The page in Chromium, or in Firefox: what it shows, what a reader does with it, and that a report by somebody else runs nothing.
// Then views.mjs and live_page.mjs, in the same browser, which takes seconds to start.
//   node tests/html/browser.mjs FOLDER LIVE VIEWS PAIR PREFIX...     of PAIR.html, PREFIX.html, VIEWS.html, and PAIR.svg of
// prof flame; LIVE: the program of make_live.c; pictures go to FOLDER
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { blocksOf } from '../../src/html/decode.js';
import { check, same } from './count.mjs';
import { live } from './live_page.mjs';
import { colors, context, end, firefox, open, picture, settle, until } from './pages.mjs';
import { changed, digestOf, number, open as read, pieceOf, piecesOf, textOfBytes, withPiece } from './report.mjs';
import { views } from './views.mjs';

const [folder, program, counted, pair, ...prefixes] = process.argv.slice(2);

for (const prefix of prefixes) {
    const name = path.basename(prefix), { page, log } = await open(prefix + '.html');
    same(`${name}: opens`, await page.getAttribute('html', 'data-ready') !== 'failed', true);
    same(`${name}: what the page understood is what node did, which check.mjs compares with the CSV`, await page.evaluate(digestOf), digestOf(await read(prefix + '.html')));
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
    const dashes = await page.locator('#panel tbody tr').evaluateAll(all => [2, 3, 4, 5].map(i => all.filter(row => row.children[i].innerText === '-').length));
    const cut = await page.evaluate(() => globalThis.prof.panels.stats().rows.slice(0, 300).filter(row => !row.known).length);
    same(`${name}: a dash for the times of scopes of which every call is cut`, dashes, dashes.map(() => cut));
    await settle(page);
    await picture(page, folder, name);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** What is kept of a picture is what would be drawn anew, whatever the reader changes; and is kept while nothing changes. */
async function keptLines(prefix) {
    const { page, log } = await open(prefix + '.html'), name = `kept lines of ${path.basename(prefix)}`;
    const [wrong, same_, fresh] = await page.evaluate(() => {
        const { prof } = globalThis, { report, time } = prof, canvas = document.getElementById('time'), levels = report.tracks.flatMap(track => track.levels);
        const picture = () => { time.draw(); return canvas.toDataURL(); }, lines = () => levels.map(level => level.drawn && level.drawn.line);
        const median = Array.from(levels[0].duration).sort((a, b) => a - b)[levels[0].count >> 1], length = report.to - report.from, third = Math.floor(length / 3), bad = [], seen = new Set();
        for (const [what, change] of Object.entries({ nothing: () => {}, from: () => { prof.view = { from: report.from + third, to: report.to + third }; },
            zoom: () => { prof.view = { from: report.from + length / 3, to: report.to }; }, name: () => prof.search(report.labels[0].name), duration: () => prof.search(`>${median + 1}ns`),
            theme: () => prof.theme(prof.dark ? 'light' : 'dark'), width: () => { document.querySelector('main').style.width = '900px'; } })) {
            change();
            const kept = picture();
            seen.add(kept);
            for (const level of levels) level.drawn = null;
            if (picture() !== kept) bad.push(what);
        }
        const before = lines();
        prof.select(report.from, report.from + length / 2);
        picture();
        return [bad, lines().every((line, i) => line === before[i]), seen.size];
    });
    same(`${name}: are right`, wrong, []);
    check(`${name}: are kept while the range is selected`, same_, 'they are drawn again');
    check(`${name}: each change can be seen`, fresh === 7, `${fresh} of 7 pictures differ`);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** A page that comes slowly: a piece is read as soon as it is whole, before the rest is there, and not sooner. */
async function slowly(prefix) {
    const text = fs.readFileSync(prefix + '.html'), whole = text.indexOf('</script>\n', text.lastIndexOf('<script type="app')) + 10, half = whole - 100;
    let answer;
    const server = http.createServer((_, to) => {
        (answer = to).setHeader('Content-Type', 'text/html');
        to.write(text.subarray(0, half));
    });
    await new Promise(done => server.listen(0, 'localhost', done));
    const page = await context.newPage(), state = () => page.evaluate(() => [document.readyState, document.querySelectorAll('script[type]').length].join());
    await page.goto(`http://localhost:${server.address().port}/`, { waitUntil: 'commit' });
    await until(page, () => document.querySelector('script[type]') !== null);
    await settle(page);
    same('slowly: a piece whose end is missing waits', await state(), 'loading,1');
    answer.write(text.subarray(half, whole));
    await until(page, () => !document.querySelector('script[type]'));
    same('slowly: a whole one is read while the page is still loaded', await state(), 'loading,0');
    answer.end(text.subarray(whole));
    await page.waitForSelector('html[data-ready]', { state: 'attached' });
    same('slowly: what the page understood is what node did', await page.evaluate(digestOf), digestOf(await read(prefix + '.html')));
    await page.close();
    server.close();
}

/** Statistics of many scopes are counted a part at a time: the page says so meanwhile, and does something else in between. */
async function counting(prefix) {
    const { page, log } = await open(prefix + '.html'), panel = page.locator('#panel'), name = 'counting';
    for (const tab of ['scopes', 'flame', 'scope']) {
        const [wanted, first, between, got] = await page.evaluate(async id => {
            const { panels, report } = globalThis.prof, text = () => document.getElementById('panel').innerText, step = panels.step;
            globalThis.prof.label = report.labels[0];
            panels.open(id);
            const whole = text();
            panels.step = report.scopes / 5;
            panels.key = null;
            panels.render();
            const said = text(), note = document.querySelector('#panel [role=status]'), changes = [], observer = new MutationObserver(list => changes.push(...list));
            let others = 0;
            observer.observe(document.getElementById('panel'), { childList: true });
            for (const end = performance.now() + 60000; text() === said && performance.now() < end; others++) await new Promise(done => setTimeout(done, 1));
            panels.step = step;
            return [whole, [said, note !== null, changes.length], others, text()];
        }, tab);
        same(`${name}: ${tab}: what is coming is said, once`, first, ['Statistics are coming\u2026', true, 1]);
        check(`${name}: ${tab}: in several parts`, between > 1, `${between} turns`);
        same(`${name}: ${tab}: then it is there`, got, wanted);
    }
    check(`${name}: a table is there`, (await panel.innerText()).length > 100, 'the panel is empty');
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
    await until(page, () => { // written a little later than it is shown
        const f = globalThis.prof.focus;
        return location.hash.includes(`f=${f.track.id}.${f.depth}.${f.i}`);
    });
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
    await picture(page, folder, 'dark');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** What is saved as a picture; rows that are folded, pinned and sorted by keys. */
async function pictures(prefix) {
    const { page, log } = await open(prefix + '.html'), name = 'pictures', label = await page.evaluate(() => {
        const { report } = globalThis.prof, track = report.tracks.find(each => each.levels.length > 1), level = track.levels[1];
        globalThis.prof.zoomTo(level.start[0], level.endOf(0));
        globalThis.prof.setFocus({ track, depth: 1, i: 0 });
        return report.labels[report.nodes.label[level.node[0]]].name;
    });
    await settle(page);
    const svg = await page.evaluate(() => globalThis.prof.svg()), time = await page.locator('#time').boundingBox();
    fs.writeFileSync(path.join(folder, 'picture.svg'), svg);
    const png = Buffer.from(await page.evaluate(async () => [...new Uint8Array(await (await globalThis.prof.png()).arrayBuffer())]));
    same(`${name}: PNG`, [png.toString('latin1', 1, 4), png.readUInt32BE(16)], ['PNG', Math.round(time.width)]);
    fs.writeFileSync(path.join(folder, 'picture.png'), png);
    check(`${name}: SVG has the scope's name`, svg.includes(`>${label}<`), label);
    same(`${name}: SVG of a name that XML does not allow is read again`, await page.evaluate(() => {
        const { prof } = globalThis, { track } = prof.focus, level = track.levels[1], scope = prof.report.labels[prof.report.nodes.label[level.node[0]]], kept = scope.name;
        scope.name = String.fromCharCode(...Array(32).keys(), 0xfffe, 0xffff, 0xd800, 0x7f, 0x85, 60, 38) + kept;
        const read = new DOMParser().parseFromString(prof.svg(), 'image/svg+xml'), texts = [...read.querySelectorAll('text')].filter(each => each.textContent.includes('\x7f\x85<&')).length;
        scope.name = kept;
        return [read.querySelectorAll('parsererror').length, texts > 0];
    }), [0, true]);
    const shown = await (await context.newPage()), wrong = [];
    shown.on('pageerror', error => wrong.push(error.message));
    await shown.goto('file://' + path.resolve(folder, 'picture.svg'));
    const looks = await shown.evaluate(() => [document.documentElement.nodeName, document.querySelectorAll('rect').length > 20, document.querySelectorAll('script, a, image, [onclick]').length,
        [...document.querySelectorAll('text')].every(text => Number.isFinite(Number(text.getAttribute('y'))))]);
    same(`${name}: SVG is one, of rectangles`, [looks, wrong], [['svg', true, 0, true], []]);
    await picture(shown, folder, 'picture-svg');
    await shown.close();
    const height = () => page.evaluate(() => { globalThis.prof.time.draw(); return globalThis.prof.time.placed.filter(each => each.row.kind === 'track').map(each => [each.row.title, each.row.height, each.pinned]); });
    const before = await height(), first = await page.evaluate(() => globalThis.prof.focus.track.title), of = rows => rows.find(([title]) => title === first);
    await page.focus('#time');
    await page.keyboard.press('c');
    check(`${name}: C folds the row`, of(await height())[1] < of(before)[1], JSON.stringify(await height()));
    await page.keyboard.press('c');
    await page.keyboard.press('o');
    same(`${name}: O pins it`, [(await height())[0][0], (await height())[0][2]], [first, true]);
    check(`${name}: a screen reader is told`, (await page.locator('#live').innerText()).includes('pinned'), await page.locator('#live').innerText());
    await page.keyboard.press('o');
    await page.keyboard.press('t');
    const titles = (await page.evaluate(() => globalThis.prof.time.rows().filter(row => row.kind === 'track' && !row.track.device).map(row => row.title)));
    same(`${name}: T sorts by name`, titles, [...titles].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })));
    await until(page, () => location.hash.includes('o=name'));
    check(`${name}: the address has the order`, (await page.evaluate(() => location.hash)).includes('o=name'), 'it has not');
    await page.keyboard.press('p');
    same(`${name}: P asks which`, [await page.locator('#save-svg').isVisible(), await page.locator('#save-flame').isDisabled()], [true, true]);
    if (!firefox) {
        const waits = page.waitForEvent('download');
        await page.click('#save-svg');
        const saved = await waits;
        same(`${name}: a file is saved`, [/\.svg$/.test(saved.suggestedFilename()), fs.readFileSync(await saved.path(), 'utf8').startsWith('<svg')], [true, true]);
    }
    await page.keyboard.press('Escape');
    await page.click('#tab-flame');
    await page.keyboard.press('p');
    same(`${name}: the flame graph can be saved`, await page.locator('#save-flame').isEnabled(), true);
    if (!firefox) {
        const waits = page.waitForEvent('download');
        await page.click('#save-flame');
        const flame = fs.readFileSync(await (await waits).path(), 'utf8');
        check(`${name}: flame graph`, flame.includes('<title>') && flame.split('<rect').length > 3, flame.slice(0, 300));
        fs.writeFileSync(path.join(folder, 'flame.svg'), flame);
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** What a screen reader finds: roles, and a name for everything that can be reached. */
async function tree(prefix) {
    const { page, log } = await open(prefix + '.html'), name = 'screen reader';
    for (const tab of await page.locator('[role=tab]').evaluateAll(all => all.map(each => each.id))) {
        await page.click('#' + tab);
        const found = await page.evaluate(() => {
            const named = each => each.getAttribute('aria-label') || each.textContent.trim() || (each.labels && each.labels.length && each.labels[0].textContent.trim()) || each.title;
            return { nameless: [...document.querySelectorAll('button, input, select, canvas, a, [role], [tabindex]')].filter(each => !each.closest('[hidden], dialog:not([open])') && !named(each) && !each.getAttribute('aria-labelledby'))
                .map(each => each.outerHTML.slice(0, 100)), captions: [...document.querySelectorAll('table')].filter(table => !table.caption).length,
            scopes: [...document.querySelectorAll('th')].filter(th => !th.scope).length, selected: document.querySelectorAll('[role=tab][aria-selected=true]').length,
            reached: document.querySelectorAll('[role=tab][tabindex="0"]').length, panel: document.getElementById(document.getElementById('panel').getAttribute('aria-labelledby')).id };
        });
        same(`${name}: ${tab}`, found, { nameless: [], captions: 0, scopes: 0, selected: 1, reached: 1, panel: tab });
    }
    if (!firefox) { // which has no such tree over BiDi
        const text = await page.locator('body').ariaSnapshot();
        for (const part of ['application "Time line', 'tablist "Panels"', 'searchbox "Search"', 'separator "Height of the panel"', 'tabpanel', 'columnheader', 'caption', 'button "Light or dark"'])
            check(`${name}: ${part}`, text.includes(part), text.slice(0, 3000));
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** A name that is markup, and scripts that an attacker put into the data, run nothing. */
async function attack() {
    const html = fs.readFileSync(prefixes[0] + '.html', 'latin1'), u = n => n < 128 ? [n] : [n & 127 | 128, n >> 7];
    const text = s => [...u(Buffer.byteLength(s)), ...Buffer.from(s)], block = (kind, content) => [kind.charCodeAt(0), ...u(content.length + u(content.length).length), 0, ...u(content.length), ...content];
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script>\u2028';
    const columns = list => [...list.flatMap(c => u(c.length)), ...list.flat()], raw = (kind, content) => [kind.charCodeAt(0), ...u(content.length), 0, ...content];
    const bytes = [...block('H', [2, 1, ...text(evil.slice(0, 50))]), ...block('S', text(evil.slice(0, 57))), ...block('K', [0, 0, 0, 0, 0, 0, 1, 0, 0]), ...block('X', [0, 1, ...text(evil)]),
        ...block('P', [...text('program'), ...text(evil.slice(0, 30)), ...text('loss'), ...text('<b onclick=alert(3)>lost</b>')]), ...block('T', [...text('<i>t</i>'), 0, 1, 0, 0, 0, 1, 0]),
        ...raw('E', columns([[0, 5], [], [101], [], [0]])), ...block('A', [0, 1, 0, 1, 0, 7, 0]), ...block('Z', [1, 0, 0])];
    const file = path.join(folder, 'attack.html');
    fs.writeFileSync(file, html.replace(/<script type="application\/octet-stream">[^]*<\/script>/, () => `<script type="application/octet-stream">${textOfBytes(bytes)}</script>`), 'latin1');
    const { page, log } = await open(file);
    same('attack: one scope', await page.evaluate(() => [globalThis.prof.report.scopes, globalThis.prof.report.damage]), [1, '']);
    for (const tab of await page.locator('[role=tab]').evaluateAll(all => all.map(each => each.id))) await page.click('#' + tab);
    await page.keyboard.press('ArrowRight');
    await settle(page);
    await page.evaluate(() => globalThis.prof.panels.pick(globalThis.prof.report.labels[0]));
    same('attack: a line of source is text', await page.locator('.source').evaluate(each => each.textContent), evil + '\n');
    same('attack: no element came from a name', await page.evaluate(() => document.querySelectorAll('img, b[onclick], #panel script').length), 0);
    same('attack: nothing ran', log, []);
    await picture(page, folder, 'attack');
    await page.close();
}

/** The panel of a scope has the lines around it. */
async function sources(file) {
    const { page, log } = await open(file), name = 'sources', all = fs.readFileSync('tests/html/make_pair.c', 'utf8').split('\n');
    const line = all.findIndex(text => text.includes('PROFILE_SCOPE("read")')) + 1;
    await page.click('#panel tbody .link:text-is("read")');
    const region = page.getByRole('region', { name: `Source at make_pair.c:${line}` });
    same(`${name}: the lines`, await region.evaluate(each => each.textContent), all.slice(line - 5, line + 8).map(text => text + '\n').join(''));
    same(`${name}: their numbers`, await region.evaluate(each => [...each.children].map(row => [getComputedStyle(row, '::before').content.replace('attr(data-n)', `"${row.dataset.n}"`), row.textContent.length > 1 && row.getClientRects().length > 0]).slice(0, 2)),
        [line - 4, line - 3].map(n => [`"${n}"`, true]));
    same(`${name}: the scope's is marked`, await region.locator('mark').evaluateAll(marks => marks.map(mark => [mark.getAttribute('aria-current'), mark.textContent.trim()])), [['true', 'PROFILE_SCOPE("read");']]);
    same(`${name}: they can be selected`, await region.evaluate(each => { getSelection().selectAllChildren(each); return getSelection().toString().includes('PROFILE_SCOPE("read");'); }), true);
    await picture(page, folder, 'sources');
    await page.click('#tab-about');
    check(`${name}: how many files`, (await page.locator('#panel').innerText()).includes('lines of 1 files; 0 were not found'), await page.locator('#panel').innerText());
    same(`${name}: nothing goes wrong`, log, []);
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
    same('compare: which recording is before the change, and which after', await page.locator('#panel label:has(select)').evaluateAll(all => all.map(each => each.firstChild.data)), ['1, before: ', '2, after: ']);
    const names = await page.locator('#panel select >> nth=0').locator('option').allInnerTexts();
    same('compare: recordings that are alike have numbers', names.map(text => text.slice(-3)), [' #1', ' #2']);
    same('compare: ... is said', [await page.getByRole('combobox', { name: '1, before' }).count(), await page.getByRole('combobox', { name: '2, after' }).count()], [1, 1]);
    check('compare: a row for each scope, and no change', changes.length > 2 && changes.every(text => text === '' || text === '0.0 %'), changes.join());
    same('compare: nothing goes wrong', log, []);
    await picture(page, folder, 'compare');
    await page.close();
}

/** The flame graph of what a change did. */
async function differences() {
    const file = path.join(folder, 'changed.html');
    fs.writeFileSync(file, withPiece(fs.readFileSync(prefixes[0] + '.html', 'latin1'), pieceOf(changed())), 'latin1');
    const { page, log } = await open(file), name = 'differences', frames = () => page.locator('.flame button').evaluateAll(all => all.map(each => each.getAttribute('aria-label')));
    const frame = scope => page.locator(`.flame button[aria-label^="${scope}:"]`);
    const calls = await page.evaluate(() => { // the i-th call of each recording is in its i-th frame
        const { report, panels } = globalThis.prof;
        panels.pick(report.labels.find(label => label.name === 'steady'));
        const rows = [...document.querySelectorAll('.split > .scroll tbody tr')].map(row => [...row.children].map(cell => cell.innerText));
        return rows.map(([start, , thread, frame]) => {
            const { levels: [, level] } = report.tracks.find(track => track.full === thread), time = Math.round(parseFloat(start.replace(/,/g, '')) * 1e6);
            const all = [...level.start].filter((_, i) => report.labels[report.nodes.label[level.node[i]]].name === 'steady');
            return [thread, all.indexOf(time) + 1, Number(frame)];
        });
    });
    same(`${name}: a call's frame is of its own recording`, calls.filter(([, call, frame]) => !call || call !== frame), []);
    check(`${name}: both recordings have calls`, new Set(calls.map(([thread]) => thread)).size === 2 && calls.length === 200, `${calls.length}`);
    await page.click('#tab-difference');
    const all = await frames();
    same(`${name}: all scopes`, all.map(text => text.split(':')[0]), ['update', 'steady', 'slow', 'fast', 'removed', 'added'].sort((x, y) => all.findIndex(t => t.startsWith(x)) - all.findIndex(t => t.startsWith(y))));
    check(`${name}: slower`, /^slow: slower; self 10\.\d+ .s \u2192 15\.\d+ .s a frame, \+\d.* \(99 %: \+.* to \+.*\); total .*; 1 \u2192 1 calls a frame$/.test(await frame('slow').getAttribute('title')), await frame('slow').getAttribute('title'));
    check(`${name}: and in its text`, /^\u25b2 \+\d+\.\d % slow$/.test(await frame('slow').innerText()), await frame('slow').innerText());
    check(`${name}: faster`, /^\u25bc -\d+\.\d % fast$/.test(await frame('fast').innerText()), await frame('fast').innerText());
    same(`${name}: as before`, await frame('steady').innerText(), 'steady');
    same(`${name}: only one has it`, [await frame('added').innerText(), await frame('removed').innerText(), await frame('added').getAttribute('class'), await frame('removed').getAttribute('class')],
        ['+ added', '\u2212 removed', 'new', 'gone']);
    const color = async scope => (await frame(scope).evaluate(each => getComputedStyle(each).backgroundColor)).match(/\d+/g).map(Number);
    const [slow, fast, steady] = [await color('slow'), await color('fast'), await color('steady')];
    check(`${name}: red, blue, grey`, slow[0] > slow[2] && fast[2] > fast[0] && Math.max(...steady) - Math.min(...steady) < 20, `${slow} ${fast} ${steady}`);
    check(`${name}: the page says what times are divided by`, (await page.locator('#panel').innerText()).includes('those of 1 divided by 150, those of 2 by 300'), await page.locator('.legend').innerText());
    const width = () => frame('slow').evaluate(each => each.getBoundingClientRect().width), before = await width();
    await page.click('text=time in 1');
    check(`${name}: widths of the other recording`, await width() < before * 0.8, `${before}, ${await width()}`);
    await page.click('text=time in 2');
    await page.selectOption('#panel label:has-text("Times") select', 'second');
    check(`${name}: a second`, (await frame('slow').getAttribute('title')).includes(' ms a second'), await frame('slow').getAttribute('title'));
    await page.selectOption('#panel label:has-text("Times") select', 'run');
    check(`${name}: of recordings as they are, of which one is twice as long`, /^\u25b2 \+100\.\d % steady$/.test(await frame('steady').innerText()), await frame('steady').innerText());
    await page.selectOption('#panel label:has-text("Times") select', 'frame');
    await picture(page, folder, 'differences');
    await frame('fast').focus();
    await page.keyboard.press('Enter');
    check(`${name}: Enter zooms in`, (await frames()).length === 1 && (await frames())[0].startsWith('fast:'), (await frames()).join());
    await page.click('text=Zoom out');
    same(`${name}: and out again`, await frames(), all);
    await page.evaluate(() => globalThis.prof.select(0, 100000));
    await settle(page);
    check(`${name}: of a selection`, (await page.locator('.legend').innerText()).includes('selected'), await page.locator('.legend').innerText());
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Another report is dropped on the page, or chosen; what is no report changes nothing. */
async function added(before, after) {
    const { page, log } = await open(before), name = 'added', said = () => page.locator('#said').innerText();
    const drop = async (file, text) => {
        await page.evaluate(([title, content]) => {
            const data = new DataTransfer();
            data.items.add(new File([content], title));
            const over = new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true });
            document.body.dispatchEvent(over);
            globalThis.over = [over.defaultPrevented, document.body.className];
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        }, [file, text]);
        await until(page, () => !globalThis.prof.reading);
    };
    page.on('filechooser', chooser => chooser.setFiles(path.join(folder, 'attack.html'))); // now: it takes a while to take effect
    await page.evaluate(() => { globalThis.first = globalThis.prof.report; });
    const html = fs.readFileSync(after, 'latin1'), evil = '<img src=x onerror=alert(1)>', data = html.indexOf('<script type="application/octet-stream">');
    const bad = { 'a recording': ['trace.1.prof', 'PROF\0\0', 'prof export trace.1.prof -o trace.1.html'], 'a page of somebody': ['x.html', '<!doctype html><script>alert(2)</script>' + evil, 'it is no report of prof'],
        'a name that is markup': [evil + '.html', 'no', evil], 'a report that was cut': ['cut.html', html.slice(0, data + 5000), 'its end is missing'],
        'a report whose end is missing': ['short.html', withPiece(html, pieceOf(changed()).slice(0, 400)), 'it is damaged'],
        'damaged data': ['damaged.html', html.slice(0, data + 2000) + html.slice(data + 4000), 'it is damaged'],
        'another version': ['new.html', withPiece(html, textOfBytes([72, 4, 0, 3, 9, 1, 0])), 'this page reads version 2, not 9'],
        'markup instead of data': ['markup.html', withPiece(html, evil), 'it is damaged'], 'no file': ['empty.html', '', 'it is no report'] };
    for (const [what, [file, text, expected]] of Object.entries(bad)) {
        await drop(file, text);
        check(`${name}: ${what} is refused`, (await said()).startsWith(`${file} cannot be compared: `) && (await said()).includes(expected), await said());
        same(`${name}: ${what} changes nothing`, await page.evaluate(() => [globalThis.prof.report === globalThis.first, document.querySelectorAll('img').length, globalThis.prof.report.processes.length]), [true, 0, 1]);
    }
    same(`${name}: a place to drop is shown`, await page.evaluate(() => globalThis.over), [true, 'dropping']);
    same(`${name}: and not any more`, await page.evaluate(() => document.body.className), '');
    await picture(page, folder, 'refused');
    await page.click('#said button');
    same(`${name}: the message can be closed`, await page.locator('#said').isVisible(), false);
    await drop('after.html', html);
    same(`${name}: a report that is dropped`, [await page.locator('#live').innerText(), await page.locator('#said').isVisible()], ['Compared with after.html', false]);
    same(`${name}: is compared`, await page.evaluate(() => [globalThis.prof.panels.tab, globalThis.prof.report.processes.length, document.querySelectorAll('#panel tbody tr').length > 3]), ['compare', 2, true]);
    check(`${name}: the page says so`, (await page.locator('#warnings').innerText()).includes('after.html was added'), await page.locator('#warnings').innerText());
    await settle(page);
    check(`${name}: both are drawn`, await colors(page) > 8, 'the time line is empty');
    for (const tab of await page.locator('[role=tab]').evaluateAll(all => all.map(each => each.id))) {
        await page.click('#' + tab);
        check(`${name}: ${tab}`, (await page.locator('#panel').innerText()).trim().length > 0, 'the panel is empty');
    }
    await page.focus('#against');
    await page.keyboard.press('Enter');
    await until(page, () => globalThis.prof.report.processes.length === 3);
    for (const tab of await page.locator('[role=tab]').evaluateAll(all => all.map(each => each.id))) await page.click('#' + tab);
    same(`${name}: a report that is chosen`, await page.evaluate(() => globalThis.prof.report.processes.length), 3);
    same(`${name}: names that are markup stay text`, await page.evaluate(() => document.querySelectorAll('img, b[onclick], #panel script').length), 0);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** The distributions of a scope of both recordings are one picture, with the figures as text. */
async function overlaid(prefix) {
    const { page, log } = await open(prefix + '.html'), name = 'both distributions';
    const wanted = await page.evaluate(() => {
        const { report, panels } = globalThis.prof, label = report.labels.find(each => each.name === 'entity');
        panels.pick(label);
        return report.processes.map(process => process.tracks.reduce((sum, track) => sum + track.levels.reduce((n, level) => n + [...level.node].filter(node => report.nodes.label[node] === label.id).length, 0), 0));
    });
    const bars = await page.locator('.histogram button').evaluateAll(all => all.map(bar => [bar.getAttribute('aria-label'), bar.querySelectorAll('i:not(.after)').length, bar.querySelectorAll('i.after').length]));
    const counts = bars.map(([text]) => /: 1: ([\d,]+) calls, ([\d.]+) %; 2: ([\d,]+) calls, ([\d.]+) %$/.exec(text).slice(1).map(each => Number(each.replace(/,/g, ''))));
    const sum = k => counts.reduce((all, each) => all + each[k], 0);
    same(`${name}: each bar says how many calls of both`, [sum(0), sum(2)], wanted);
    check(`${name}: and their shares`, Math.abs(sum(1) - 100) < 3 && Math.abs(sum(3) - 100) < 3, `${sum(1)} % and ${sum(3)} %`);
    same(`${name}: it is drawn where there are some`, bars.filter(([, before, after], i) => before !== Number(counts[i][0] > 0) || after !== Number(counts[i][2] > 0)), []);
    const legend = await page.locator('.side .note:has(.swatch)').allInnerTexts();
    check(`${name}: a legend`, legend.length === 2 && wanted.every((n, i) => legend[i].startsWith(`${i + 1}: `) && legend[i].includes(`${n.toLocaleString('en-US')} calls, p50 `)), legend.join());
    await picture(page, folder, 'overlaid');
    await page.evaluate(() => globalThis.prof.panels.pick(globalThis.prof.report.labels.find(each => each.name === 'sanitize')));
    same(`${name}: one of a scope that only one has`, await page.locator('.histogram .after').count(), 0);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** The table of two recordings has the verdicts of prof compare. */
async function verdicts(file) {
    const { page, log } = await open(file), name = 'verdicts';
    await page.click('#tab-compare');
    const rows = () => page.locator('#panel tbody tr').evaluateAll(all => all.map(row => [...row.children].slice(0, 4).map(cell => cell.innerText.trim())));
    const wanted = new Map(JSON.parse(fs.readFileSync(file.replace(/html$/, 'json'), 'utf8')).scopes.map(row => [row.name + row.call.verdict, row.call]));
    const table = await rows(), known = table.filter(([scope]) => !scope.startsWith('pass'));
    const percent = ratio => ratio >= 9.95 ? 'x' : `${ratio > 1.0005 ? '+' : ''}${(100 * (ratio - 1)).toFixed(1)}`;
    const bad = known.filter(([scope, verdict, shift]) => {
        const call = wanted.get(scope + verdict.replace(/^[^a-z]*/, ''));
        return !call || (call.ratio && !shift.startsWith(percent(call.ratio)) && Math.abs(parseFloat(shift) - 100 * (call.ratio - 1)) > 0.11);
    });
    same(`${name}: those of prof compare`, [bad, known.length], [[], wanted.size - 1]);
    await page.fill('#panel input[type=number]', '99999');
    await page.keyboard.press('Tab');
    same(`${name}: a threshold that nothing passes`, (await rows()).filter(([, verdict]) => /slower|faster/.test(verdict)).length, 0);
    await picture(page, folder, 'verdicts');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** The style of the page is that of src/html/style.css, of which src/assemble.sh leaves out what it need not have. */
async function styles() {
    const { page } = await open(plain + '.html');
    const [got, wanted] = await page.evaluate(source => {
        const rules = text => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(text);
            return [...sheet.cssRules].map(rule => rule.cssText.replace(/\s+/g, ""));
        };
        return [rules(document.querySelector('style').textContent), rules(source)];
    }, fs.readFileSync('src/html/style.css', 'utf8'));
    same('styles: all rules', got, wanted);
    check('styles: there are some', wanted.length > 80, `${wanted.length}`);
    await page.close();
}

/** A thread unpacks pieces from the second one on; where none may start, the page's own does. */
async function unpacking(prefix) {
    const html = fs.readFileSync(prefix + '.html', 'latin1'), begin = html.indexOf('<script type="application/octet-stream">'), file = path.join(folder, 'unpacking.html');
    const pieces = piecesOf(html).flatMap(blocksOf).map(({ kind, size, packed, bytes }) => textOfBytes([kind.charCodeAt(0), ...number(size), ...number(packed ? bytes.length : 0), ...bytes]));
    const inPieces = (page, list) => page + list.map(piece => `<script type="application/octet-stream">${piece}</script>\n`).join('') + '</body>\n</html>\n', page = html.slice(0, begin);
    const damaged = pieces.map((piece, i) => i === pieces.length - 2 ? piece.slice(0, 20) : piece);
    for (const [name, text, answers] of [['in pieces', inPieces(page, pieces), pieces.length - 1], ['a damaged one', inPieces(page, damaged), pieces.length - 1],
        ['no thread may start', inPieces(page.replace(' worker-src blob:;', ''), pieces), 0], ['one piece', html, 0]]) {
        fs.writeFileSync(file, text, 'latin1');
        const tab = await context.newPage();
        await tab.addInitScript(() => {
            const Real = globalThis.Worker, seen = globalThis.seen = { answers: 0, running: 0 };
            globalThis.Worker = class extends Real {
                constructor(...list) {
                    super(...list);
                    seen.running++;
                    this.addEventListener('message', () => seen.answers++);
                }
                terminate() {
                    super.terminate();
                    seen.running--;
                }
            };
        });
        await tab.goto('file://' + path.resolve(file));
        await tab.waitForSelector('html[data-ready]', { state: 'attached' });
        same(`unpacking, ${name}: what the page understood is what node did`, await tab.evaluate(digestOf), digestOf(await read(file)));
        const seen = await tab.evaluate(() => globalThis.seen), enough = name === 'a damaged one' ? seen.answers > 0 : seen.answers === answers; // the page need not wait for what follows damage
        check(`unpacking, ${name}: by the thread that should`, enough, `${seen.answers} of ${pieces.length} pieces came from another`);
        same(`unpacking, ${name}: the thread ends`, answers ? seen.running : 0, 0);
        await tab.close();
    }
}

/** The picture of prof flame: a click zooms, Escape goes back, the search marks and counts; in a narrow window nothing overlaps. */
async function flameFile(drawn) {
    const file = path.join(folder, 'flame-file.svg'); // with a legend that is long enough
    fs.writeFileSync(file, fs.readFileSync(drawn, 'utf8').replace('>no category<', `>${'no category '.repeat(4)}<`));
    const page = await context.newPage(), log = [], name = 'prof flame', W = 1200;
    page.on('pageerror', error => log.push(error.message));
    page.on('request', request => { if (request.url() !== 'file://' + path.resolve(file)) log.push(`request: ${request.url()}`); });
    await page.setViewportSize({ width: W + 2, height: 700 });
    await page.goto('file://' + path.resolve(file));
    const rows = () => page.locator('.f').evaluateAll(all => all.map((g, i) => ({
        i, name: g.querySelector('title').textContent.split('\n')[0], hit: g.classList.contains('hit'), up: g.classList.contains('up'),
        x: +g.querySelector('rect').getAttribute('x'), w: +g.querySelector('rect').getAttribute('width'), y: +g.querySelector('rect').getAttribute('y'), shown: g.style.display !== 'none' })));
    const boxes = selector => page.locator(selector).evaluateAll(all => all.map(each => each.getBoundingClientRect()).filter(box => box.width).map(box => [box.left, box.right]));
    const all = await rows(), target = all.filter(row => row.w < W - 10 && row.w > 4).sort((a, b) => b.y - a.y || b.w - a.w)[0];
    const within = row => row.x >= target.x - 1 && row.x + row.w <= target.x + target.w + 1;
    await page.locator('.f').nth(target.i).click();
    const zoomed = await rows(), now = zoomed[target.i];
    check(`${name}: a click zooms`, Math.abs(now.x) < 0.5 && Math.abs(now.w - W) < 1 && !now.up, JSON.stringify(now));
    const above = all.filter(row => row.y < target.y && row.x <= target.x + 0.01 && row.x + row.w >= target.x + target.w - 0.01 && row.w > target.w + 1);
    same(`${name}: what is around it is pale`, zoomed.filter(row => row.shown && row.up).map(row => row.i), above.map(row => row.i));
    same(`${name}: nothing else stays`, zoomed.filter(row => row.shown && !row.up && !within(all[row.i])).map(row => row.name), []);
    await page.keyboard.press('Escape');
    same(`${name}: Escape goes back`, await rows(), all);
    await page.fill('input', target.name.toUpperCase());
    const hits = (await rows()).filter(row => row.hit).map(row => row.i);
    same(`${name}: the search marks`, hits, all.filter(row => row.name.toLowerCase().includes(target.name.toLowerCase())).map(row => row.i));
    check(`${name}: and counts`, (await page.locator('[aria-live]').textContent()).startsWith(`${hits.length} found, `), await page.locator('[aria-live]').textContent());
    await page.setViewportSize({ width: 502, height: 700 });
    await page.locator('.f').nth(target.i).click();
    await until(page, () => document.documentElement.getAttribute('width') === '500');
    const [[left]] = await boxes('button');
    const title = await boxes('.title'), said = await boxes('[aria-live]'), legend = await boxes('svg > text[y="40"]');
    check(`${name}: a narrow window cuts the title`, title[0][1] <= left && title[0][1] > 100, `${title} and ${left}`);
    check(`${name}: and leaves out of the legend what has no place`, legend.length === 1 && legend.every(box => box[1] <= said[0][1] - 170), `${legend}`);
    await picture(page, folder, 'prof-flame');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

const plain = prefixes.find(prefix => prefix.endsWith('plain')) || prefixes[0];
await keptLines(pair + '.1');
await counting(pair + '.1');
await slowly(pair + '.1');
await unpacking(pair + '.long.first');
await keyboard(plain);
await mouse(plain);
await pictures(plain);
await attack();
await tree(plain);
await compared(plain);
await overlaid(pair);
await sources(pair + '.sources.html');
await differences();
await verdicts(pair + '.html');
await added(pair + '.1.html', pair + '.2.html');
await styles();
await flameFile(pair + '.svg');
await views(folder, counted);
await live(folder, program);
await end();
