// Views that show what make_views.c records, whose numbers are known: steps, memory, locks, one scope, rows of states.
import fs from 'node:fs';
import { check, same } from './count.mjs';
import { open, picture, settle, until } from './pages.mjs';

let folder, prefix;

/** The table whose caption begins so: its titles, and the texts of its rows. */
const tableOf = (page, caption) => page.locator('#panel table', { has: page.locator('caption', { hasText: caption }) }).first().evaluate(table => ({
    titles: [...table.querySelectorAll('th')].map(each => each.innerText.replace(/ [\u25b4\u25be]$/, '')), rows: [...table.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => cell.innerText)) }));
/** Some columns of it. */
const columns = ({ titles, rows }, ...names) => rows.map(row => names.map(name => row[titles.indexOf(name)]));
/** Selects the time of the scope of a name, and waits until the panel has followed. */
async function selectScope(page, name) {
    await page.evaluate(wanted => {
        const { report } = globalThis.prof, of = ({ track, level, i }) => [level.start[i], level.endOf(i)];
        for (const track of report.tracks) for (const level of track.levels) for (let i = 0; i < level.count; i++)
            if (report.labels[report.nodes.label[level.node[i]]].name === wanted) return globalThis.prof.select(...of({ track, level, i }));
    }, name);
    await settle(page);
}

async function steps() {
    const { page, log } = await open(prefix + '.html'), name = 'steps';
    same(`${name}: the tab is called so`, await page.locator('#tab-frames').innerText(), 'Steps');
    await page.click('#tab-frames');
    const table = await tableOf(page, 'steps: train');
    same(`${name}: columns`, table.titles, ['step', 'start', 'duration']);
    same(`${name}: one row for each`, table.rows.map(([n]) => Number(n)).sort((a, b) => a - b), Array.from({ length: 12 }, (_, i) => i + 1));
    same(`${name}: the longest first`, table.rows.map(([n]) => Number(n)), await page.evaluate(() => {
        const [{ duration }] = globalThis.prof.report.bars;
        return duration.map((each, i) => [each, i + 1]).sort(([a], [b]) => b - a).map(([, n]) => n);
    }));
    check(`${name}: what they come to`, /^12 steps, mean .*, p50 .*, p99 .*, longest [\d.]+ m?s;/.test(await page.locator('#panel .note').innerText()), await page.locator('#panel .note').innerText());
    await page.locator('#panel tbody .link').first().click();
    const { from, to } = await page.evaluate(() => globalThis.prof.selection), [number] = table.rows[0], known = await page.evaluate(i => {
        const { start, duration } = globalThis.prof.report.bars[0];
        return [start[i], start[i] + duration[i]];
    }, Number(number) - 1);
    same(`${name}: a click selects its time`, [from, to], known);
    await page.focus('#frames');
    await page.keyboard.press('ArrowRight');
    check(`${name}: arrow keys go on`, (await page.locator('#live').innerText()).startsWith(number === '12' ? 'step 12, ' : `step ${Number(number) + 1}, `), await page.locator('#live').innerText());
    await picture(page, folder, 'steps');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

async function memory() {
    const { page, log } = await open(prefix + '.html'), name = 'memory', wanted = ['allocations', 'bytes', 'not freed', 'bytes not freed', 'peak'];
    await page.click('#tab-memory');
    const scopes = async () => columns(await tableOf(page, 'by the scope around them'), 'scope', ...wanted);
    same(`${name}: by scope`, await scopes(), [['unpack', '1', '3.91 KiB', '0', '0 B', '3.91 KiB'], ['load', '5', '500 B', '2', '200 B', '500 B'], ['(no scope)', '1', '10 B', '1', '10 B', '10 B']]);
    same(`${name}: by site`, columns(await tableOf(page, 'by site'), ...wanted), [['1', '3.91 KiB', '0', '0 B', '3.91 KiB'], ['5', '500 B', '2', '200 B', '500 B'], ['1', '10 B', '1', '10 B', '10 B']]);
    const left = await tableOf(page, '3 blocks that were not freed');
    same(`${name}: what was not freed`, columns(left, 'bytes', 'address'), [['100 B', '0x2300'], ['100 B', '0x2400'], ['10 B', '0x1000']]);
    check(`${name}: all of each table can be seen`, await page.locator('#panel .scroll').evaluateAll(all => all.every(each => each.scrollHeight <= each.clientHeight + 1)), 'a table of three rows scrolls');
    await picture(page, folder, 'memory');
    await selectScope(page, 'load');
    same(`${name}: of a selection`, await scopes(), [['unpack', '1', '3.91 KiB', '1', '3.91 KiB', '3.91 KiB'], ['load', '5', '500 B', '2', '200 B', '500 B']]);
    await selectScope(page, 'clean');
    check(`${name}: frees of what is older`, (await page.locator('#panel').innerText()).includes('1 frees of blocks from before'), await page.locator('#panel').innerText());
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

async function locks() {
    const { page, log } = await open(prefix + '.html'), name = 'locks';
    await page.click('#tab-locks');
    const row = /^the lock +(\d+) +(\d+) +(\d+) .* (\d+)$/m.exec(fs.readFileSync(prefix + '.txt', 'utf8')).slice(1);
    same(`${name}: as prof summary counts`, columns(await tableOf(page, 'Locks of make_views'), 'lock', 'locks', 'acquired', 'contended', 'most waiters'), [['the lock', ...row]]);
    same(`${name}: which is`, row, ['1', '3', '2', '2']);
    same(`${name}: who waited for whom`, columns(await tableOf(page, 'The longest waits'), 'thread', 'held by').sort(), [['waiter 1', 'worker of all'], ['waiter 2', 'worker of all']]);
    const at = await page.evaluate(() => {
        const app = globalThis.prof;
        app.closed.delete('p0Locks');
        app.pinned.add('p0l0');
        app.setView(app.report.from, app.report.to);
        app.time.draw();
        const { row: { lock }, y } = app.time.placed.find(each => each.row.kind === 'lock'), [hold] = lock.holds;
        return [app.time.x(hold.start + hold.duration / 2), y + 8];
    }), box = await page.locator('#time').boundingBox();
    await page.mouse.move(box.x + at[0], box.y + at[1]);
    const tip = await page.locator('#tip').innerText();
    check(`${name}: who holds it, and who waits meanwhile`, /by worker of all/.test(tip) && /2 waited: waiter [12], waiter [12]/.test(tip), tip);
    await picture(page, folder, 'locks');
    await selectScope(page, 'load');
    check(`${name}: none in a selection before them`, await page.locator('#panel table').count() === 0, 'there is a table');
    await selectScope(page, 'hold');
    same(`${name}: of a selection`, columns(await tableOf(page, 'Locks of make_views'), 'acquired'), [['3']]);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

async function states() {
    const { page, log } = await open(prefix + '.html'), name = 'states', titles = () => page.evaluate(() => globalThis.prof.time.rows().map(row => row.title));
    const all = await titles(), at = all.findIndex(title => /^main \d+: states$/.test(title));
    same(`${name}: above their thread`, all[at + 1], 'worker of all');
    const wanted = await page.evaluate(() => { // by another way than the page's: all of the row
        const { report, panels } = globalThis.prof, nameOf = (level, i) => report.labels[report.nodes.label[level.node[i]]].name, sums = {};
        const [level] = report.tracks.find(track => track.title === 'worker of all').levels, i = [...level.node].findIndex((_, k) => nameOf(level, k) === 'half asleep');
        const from = level.start[i], to = level.endOf(i), [row] = report.tracks.find(track => / states$/.test(track.title)).levels;
        for (let k = 0; k < row.count; k++) {
            const time = Math.min(to, row.endOf(k)) - Math.max(from, row.start[k]);
            if (time > 0) sums[nameOf(row, k)] = (sums[nameOf(row, k)] || 0) + time;
        }
        panels.pick(report.labels.find(label => label.name === 'half asleep'));
        globalThis.prof.time.draw();
        const place = globalThis.prof.time.placed.find(each => each.row.title === 'worker of all');
        return { sums, all: to - from, at: [globalThis.prof.time.x((from + to) / 2), place.y + 12] };
    });
    check(`${name}: as long as it slept`, wanted.sums.running > 5e6 && wanted.sums.waiting > 1.1e7 && wanted.sums.running + wanted.sums.waiting <= wanted.all, JSON.stringify(wanted));
    const said = await page.locator('.side').innerText(), parts = /threads were: running ([\d.]+) ms, waiting ([\d.]+) ms/.exec(said);
    check(`${name}: of a scope`, parts && Math.abs(parts[1] * 1e6 - wanted.sums.running) < 1e4 && Math.abs(parts[2] * 1e6 - wanted.sums.waiting) < 1e4, `${said}; ${JSON.stringify(wanted)}`);
    same(`${name}: and of each call`, columns(await tableOf(page, 'Calls'), 'running'), [[`${parts[1]} ms`]]);
    const box = await page.locator('#time').boundingBox();
    await page.mouse.move(box.x + wanted.at[0], box.y + wanted.at[1]);
    check(`${name}: a tip says them`, (await page.locator('#tip').innerText()).includes(parts[0].slice(14)), await page.locator('#tip').innerText());
    await picture(page, folder, 'states');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
    const both = await open(prefix + '.both.html'), rows = await both.page.evaluate(() => globalThis.prof.time.rows().map(row => row.title.replace(/\d{2,}/, 'N')));
    same(`${name}: of the kernel's recording, above the program's thread; of others, apart`, rows, ['make_views (N) #1', 'make_views N: states', 'worker of all', 'make_views (N) #2', 'Tasks (1)', 'stranger N: states']);
    same(`${name}: nothing goes wrong there`, both.log, []);
    await both.page.close();
}

async function scope() {
    const { page, log } = await open(prefix + '.html'), name = 'one scope', focus = () => page.evaluate(() => { const f = globalThis.prof.focus; return f && [f.depth, f.i]; }); // its first call is after another scope of that depth
    await page.click('#panel tbody .link:text-is("layer")');
    const calls = await tableOf(page, 'Calls');
    same(`${name}: arguments and steps are columns`, ['step', 'depth', 'kind'].filter(title => !calls.titles.includes(title)), []);
    const known = await page.evaluate(() => { // all calls, the slowest first
        const { report } = globalThis.prof, all = [], [, level] = report.tracks.find(track => track.title === 'worker of all').levels;
        for (let i = 0; i < level.count; i++) if (report.labels[report.nodes.label[level.node[i]]].name === 'layer') all.push([level.durationOf(i), String((all.length >> 1) + 1), String(all.length % 2), all.length % 2 ? 'dense' : 'conv']);
        return all.sort(([a], [b]) => b - a);
    }), slow = known.filter(([duration]) => duration >= 2e6);
    same(`${name}: the slowest calls first, with their steps`, columns(calls, 'step', 'depth', 'kind'), known.map(([, ...rest]) => rest));
    same(`${name}: by value`, columns(await tableOf(page, 'By kind'), 'kind', 'calls'), [['dense', '12'], ['conv', '12']]);
    const bar = page.locator('.histogram button:enabled').last(), [, count] = /: (\d+) calls$/.exec(await bar.getAttribute('aria-label'));
    await bar.click();
    same(`${name}: a bar lists its calls`, columns(await tableOf(page, 'Calls of'), 'step', 'depth', 'kind'), known.slice(0, Number(count)).map(([, ...rest]) => rest));
    await page.locator('.histogram button.picked').click();
    await page.getByRole('button', { name: 'Next call' }).click();
    same(`${name}: the first call`, await focus(), [1, 1]);
    await page.getByRole('button', { name: 'Next call' }).click();
    same(`${name}: the next`, await focus(), [1, 2]);
    await page.getByRole('button', { name: 'Previous call' }).click();
    same(`${name}: the one before`, await focus(), [1, 1]);
    for (const [text, hits] of [['kind=dense', 12], ['kind=dense >2ms', slow.filter(([, , , kind]) => kind === 'dense').length], ['layer >2ms', slow.length], ['layer depth=0', 12], ['cat:sched running', 4], ['<1ns', 0]]) {
        await page.fill('#search', text);
        await settle(page);
        same(`${name}: search for ${text}`, await page.locator('#hits').innerText(), String(hits));
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Without a mouse: rows that are in groups, folded or not. What the ruler says does not overlap. */
async function keys() {
    const { page, log } = await open(prefix + '.html'), name = 'keys', rows = () => page.evaluate(() => globalThis.prof.time.rows().map(row => row.title));
    const first = await rows();
    await page.focus('#time');
    await page.keyboard.press('g');
    same(`${name}: G unfolds groups`, [first.includes('the lock'), (await rows()).includes('the lock')], [false, true]);
    check(`${name}: a screen reader is told`, (await page.locator('#live').innerText()).includes('unfolded'), await page.locator('#live').innerText());
    await page.keyboard.press('g');
    same(`${name}: and folds them`, (await rows()).filter(title => title === 'the lock' || title === 'memory'), []);
    for (const share of [0.3, 0.41, 0.52]) {
        const texts = await page.evaluate(part => {
            const { report, time } = globalThis.prof, { ctx } = time, all = [], put = ctx.fillText, length = report.to - report.from;
            globalThis.prof.select(report.from + length * part, report.from + length * (part + 0.1));
            ctx.fillText = (text, x, y) => { if (y === 12) all.push([x, x + ctx.measureText(text).width, text]); };
            time.draw();
            ctx.fillText = put;
            return all.sort((a, b) => a[0] - b[0]);
        }, share);
        check(`${name}: the ruler, selected at ${share}`, texts.length > 3 && texts.every(([x], i) => !i || x > texts[i - 1][1]), JSON.stringify(texts));
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Another one who opens the address sees the same. */
async function address() {
    const { page, log } = await open(prefix + '.html'), name = 'address', shown = one => one.evaluate(() => {
        const { label, pinned, closed, panels, view, selection } = globalThis.prof;
        return [label && label.name, [...pinned], [...closed].sort(), panels.tab, panels.only, Math.round(view.from), Math.round(view.to), selection];
    });
    await page.evaluate(() => globalThis.prof.panels.pick(globalThis.prof.report.labels.find(each => each.name === 'layer')));
    const [first, second] = await page.evaluate(() => {
        const tracks = globalThis.prof.report.tracks.filter(track => track.levels.length);
        globalThis.prof.time.draw();
        return ['worker of all', 'waiter 1'].map(title => ({ id: tracks.find(track => track.title === title).id, y: globalThis.prof.time.placed.find(each => each.row.title === title).y }));
    });
    const box = await page.locator('#time').boundingBox();
    await page.mouse.click(box.x + 180, box.y + second.y + 10); // the diamond
    await settle(page);
    const y = await page.evaluate(() => globalThis.prof.time.placed.find(each => each.row.title === 'worker of all').y);
    await page.mouse.click(box.x + 60, box.y + y + 10);
    await page.selectOption('#panel select', String(first.id));
    await page.evaluate(() => globalThis.prof.setView(globalThis.prof.report.from + 1e6, globalThis.prof.report.to - 1e6));
    const wanted = await shown(page);
    same(`${name}: what is pinned and folded`, [wanted[1], wanted[2].includes('t' + first.id), wanted[4]], [['t' + second.id], true, first.id]);
    await until(page, () => location.hash.includes(`v=${Math.round(globalThis.prof.view.from)}-`) && /l=.*p=.*c=.*k=/.test(location.hash)); // written a little later
    const fragment = await page.evaluate(() => location.hash), again = await open(prefix + '.html', fragment);
    same(`${name}: has it all`, await shown(again.page), wanted);
    const odd = await open(prefix + '.html', '#v=1-2&l=99999&p=t999,__proto__&c=%zz&k=__proto__&f=9.9.9&t=none');
    same(`${name}: one of nonsense is no harm`, await odd.page.evaluate(() => [globalThis.prof.panels.tab, globalThis.prof.label, globalThis.prof.panels.only]), ['scopes', null, null]);
    same(`${name}: nothing goes wrong`, [...log, ...again.log, ...odd.log], []);
    for (const each of [page, again.page, odd.page]) await each.close();
}

/** Tables are copied as text, also where the page came by HTTP from another machine, which has no clipboard. */
async function copies() {
    const { page, log } = await open(prefix + '.html'), name = 'copy';
    await page.click('#tab-frames');
    for (const old of [false, true]) {
        const text = await page.evaluate(async without => {
            let got = '';
            Object.defineProperty(navigator, 'clipboard', { configurable: true, value: without ? undefined : { writeText: async written => { got = written; } } });
            document.oncopy = event => { got = event.target.value; };
            document.execCommand = () => { document.activeElement.dispatchEvent(new ClipboardEvent('copy', { bubbles: true })); return true; };
            document.querySelector('caption .copy').click();
            await new Promise(done => setTimeout(done, 0));
            return got;
        }, old);
        const lines = text.split('\n').map(line => line.split('\t'));
        same(`${name}: ${old ? 'without' : 'with'} a clipboard`, [lines[0], lines.length, lines[1].length], [['step', 'start', 'duration'], 13, 3]);
        same(`${name}: and says so`, [await page.locator('caption .copy').innerText(), await page.locator('textarea').count()], ['Copied', 0]);
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Of report.html, report.both.html, and report.txt of prof summary; pictures go to a folder. */
export async function views(pictures, report) {
    [folder, prefix] = [pictures, report];
    for (const view of [steps, memory, locks, states, scope, keys, address, copies]) await view();
}
