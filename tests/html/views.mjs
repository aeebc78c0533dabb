// Views that show what make_views.c records, whose numbers are known: steps, memory, locks, one scope, rows of states; and what
// the system did with threads, of the recordings of states_images.c.
import fs from 'node:fs';
import path from 'node:path';
import { check, same } from './count.mjs';
import { firefox, open, picture, settle, until } from './pages.mjs';
import { digestOf } from './report.mjs';

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
    same(`${name}: one row for each`, table.rows.map(([n]) => Number(n)).sort((a, b) => a - b), Array.from({ length: 12 }, (_, i) => i));
    same(`${name}: the longest first`, table.rows.map(([n]) => Number(n)), await page.evaluate(() => {
        const [{ duration }] = globalThis.prof.report.bars;
        return duration.map((each, i) => [each, i]).sort(([a], [b]) => b - a).map(([, n]) => n);
    }));
    check(`${name}: what they come to`, /^12 steps, mean .*, p50 .*, p99 .*, longest [\d.]+ m?s;/.test(await page.locator('#panel .note').innerText()), await page.locator('#panel .note').innerText());
    await page.locator('#panel tbody .link').first().click();
    const { from, to } = await page.evaluate(() => globalThis.prof.selection), [number] = table.rows[0], known = await page.evaluate(i => {
        const { start, duration } = globalThis.prof.report.bars[0];
        return [start[i], start[i] + duration[i]];
    }, Number(number));
    same(`${name}: a click selects its time`, [from, to], known);
    await page.focus('#frames');
    await page.keyboard.press('ArrowRight');
    check(`${name}: arrow keys go on`, (await page.locator('#live').innerText()).startsWith(`step ${Math.min(11, Number(number) + 1)}, `), await page.locator('#live').innerText());
    await picture(page, folder, 'steps');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

async function memory() {
    const { page, log } = await open(prefix + '.html'), name = 'memory', wanted = ['allocations', 'bytes', 'not freed', 'bytes not freed', 'peak'];
    await page.click('#tab-memory');
    const scopes = async () => columns(await tableOf(page, 'by the scope around them'), 'scope', ...wanted);
    same(`${name}: by scope`, await scopes(), [['unpack', '1', '4.000 kB', '0', '0 B', '4.000 kB'], ['load', '5', '500 B', '2', '200 B', '500 B'], ['(no scope)', '1', '10 B', '1', '10 B', '10 B']]);
    same(`${name}: by site`, columns(await tableOf(page, 'by site'), ...wanted), [['1', '4.000 kB', '0', '0 B', '4.000 kB'], ['5', '500 B', '2', '200 B', '500 B'], ['1', '10 B', '1', '10 B', '10 B']]);
    const left = await tableOf(page, '3 blocks that were not freed');
    same(`${name}: what was not freed`, columns(left, 'bytes', 'address'), [['100 B', '0x2300'], ['100 B', '0x2400'], ['10 B', '0x1000']]);
    check(`${name}: all of each table can be seen`, await page.locator('#panel .scroll').evaluateAll(all => all.every(each => each.scrollHeight <= each.clientHeight + 1)), 'a table of three rows scrolls');
    await picture(page, folder, 'memory');
    await selectScope(page, 'load');
    same(`${name}: of a selection`, await scopes(), [['unpack', '1', '4.000 kB', '1', '4.000 kB', '4.000 kB'], ['load', '5', '500 B', '2', '200 B', '500 B']]);
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
    const waits = () => tableOf(page, 'The longest waits'), [first] = (await waits()).rows;
    await page.locator('#panel table', { has: page.locator('caption', { hasText: 'The longest waits' }) }).locator('tbody .link').first().click();
    await settle(page);
    check(`${name}: a click on a wait shows it, and who held the lock`, (await waits()).rows.some(each => each.join() === first.join()), `${first}: ${JSON.stringify((await waits()).rows)}`);
    same(`${name}: and its time`, columns(await tableOf(page, 'Locks of make_views'), 'longest wait', 'locks'), [[first[1], '1']]);
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

/** The row of what the system did with a thread: patterns that can be told apart without colours, tips, the parts of a call, columns. */
async function system() {
    const file = each => path.join(path.dirname(prefix), each + '.html'), name = 'system', { page, log } = await open(file('states'));
    const us = 1000, drawn = () => page.evaluate(times => { // of columns of pixels from a time on: the colours of each row of them
        const { time, colors, style } = globalThis.prof, words = new Map([[colors.background, '.'], [colors.grid, '.'], ...['unknown', 'running', 'ready', 'waiting'].map((each, k) => [colors.states[k], '?RrW'[k]])]);
        time.draw();
        const { pixels, canvas } = time, place = time.placed.find(each => each.row.title === 'main'), top = Math.round(time.statesTop(place));
        return [...times.map(at => Array.from({ length: 7 }, (_, y) => Array.from({ length: 8 }, (_, x) => words.get(pixels[(top + y) * canvas.width + Math.round(time.x(at)) + x]) || '!').join(''))), new Set(['unknown', 'running', 'ready', 'waiting', 'background'].map(each => style[each])).size];
    }, [50 * us, 270 * us, 120 * us, 565 * us, 526 * us]);
    for (const theme of ['light', 'dark']) {
        await page.evaluate(each => globalThis.prof.theme(each), theme);
        const [running, ready, waiting, unknown, mixed, colors] = await drawn(), count = (lines, letter) => lines.join('').split(letter).length - 1;
        same(`${name}: ${theme}: five colours`, colors, 5);
        same(`${name}: ${theme}: running is solid`, running, Array(7).fill('RRRRRRRR'));
        same(`${name}: ${theme}: ready has stripes`, [count(ready, 'r'), count(ready, '.'), new Set(ready).size], [28, 28, 4]);
        same(`${name}: ${theme}: waiting is a line`, waiting, [...Array(3).fill('........'), 'WWWWWWWW', ...Array(3).fill('........')]);
        same(`${name}: ${theme}: unknown are dots`, [count(unknown, '?'), count(unknown, '.'), count([unknown[3]], '?')], [2, 54, 2]);
        check(`${name}: ${theme}: of states that are shorter than a pixel, half a column runs`, count(mixed.slice(4), 'R') >= 20 && count(mixed.slice(0, 3), 'R') === 0 && count(mixed.slice(0, 3), 'r') > 8, mixed.join('\n'));
    }
    const box = await page.locator('#time').boundingBox(), tip = async (row, at) => {
        const [x, y] = await page.evaluate(([title, when]) => { const { time } = globalThis.prof, place = time.placed.find(each => each.row.title === title); return [time.x(when), time.statesTop(place) + 3]; }, [row, at]);
        await page.mouse.move(box.x + x, box.y + y);
        return (await page.locator('#tip').innerText()).split('\n');
    };
    same(`${name}: a tip of running`, await tip('main', 200 * us), ['running on processor 1100.0 \u00b5s', 'at 0.150000 ms']);
    same(`${name}: on another processor`, (await tip('main', 350 * us))[0], 'running on processor 0100.0 \u00b5s');
    same(`${name}: of ready`, await tip('main', 270 * us), ['ready50.00 \u00b5s', 'at 0.250000 ms']);
    same(`${name}: of a wait for a lock, its object and its holder`, await tip('main', 120 * us), ['waiting50.00 \u00b5s', 'at 0.100000 ms', 'pthread_mutex_lock, lock 0x1230', 'held by worker in load']);
    same(`${name}: of a sleep`, (await tip('main', 450 * us)).slice(2), ['usleep']);
    same(`${name}: of what is not known`, (await tip('main', 570 * us))[0], 'unknown20.00 \u00b5s');
    same(`${name}: of another thread`, (await tip('worker', 300 * us))[0], 'running595.0 \u00b5s');
    same(`${name}: a column of running time`, columns(await tableOf(page, 'Scopes'), 'scope', 'total', 'running').sort(),
        [['draw', '220.0 \u00b5s', '170.0 \u00b5s'], ['frame', '580.0 \u00b5s', '350.0 \u00b5s'], ['load', '110.0 \u00b5s', '110.0 \u00b5s'], ['pthread_mutex_lock', '52.00 \u00b5s', '2.000 \u00b5s'], ['usleep', '102.0 \u00b5s', '2.000 \u00b5s']]);
    await page.evaluate(() => { const { prof } = globalThis; prof.setFocus({ track: prof.report.tracks[0], depth: 0, i: 0 }); prof.panels.open('scope'); });
    same(`${name}: the parts of the selected call`, (await page.locator('.side .call').innerText()).split('\n'),
        ['selected call', '580.0 \u00b5s', 'running', '350.0 \u00b5s', 'ready', '60.00 \u00b5s', 'waiting', '150.0 \u00b5s', 'unknown', '20.00 \u00b5s']);
    const rows = await page.evaluate(() => {
        const { prof } = globalThis, { time, closed } = prof, svg = prof.svg(), height = () => time.rows().find(row => row.title === 'main').height, whole = height(), [{ key }] = time.rows();
        closed.add(key);
        return [whole, height(), (svg.match(/fill="#4db381"/g) || []).length > 7];
    });
    same(`${name}: below the scopes, also of a row that is folded, and in the picture`, rows, [69, 33, true]);
    await picture(page, folder, 'system');
    await page.click('#tab-scopes');
    await (await page.$('#file')).setInputFiles(file('late'));
    await page.waitForSelector('#tab-compare[aria-selected=true]');
    check(`${name}: another report is compared`, (await tableOf(page, 'synthetic')).titles.length > 5, 'there is no table');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
    const other = await open(file('calm'));
    await (await other.page.$('#file')).setInputFiles(file('late'));
    await other.page.waitForSelector('#tab-compare[aria-selected=true]');
    same(`${name}: what grew`, columns(await tableOf(other.page, 'synthetic'), 'scope', 'what grew'), [['draw', 'waiting +90.00 \u00b5s, ready +10.00 \u00b5s']]);
    same(`${name}: nothing goes wrong there`, other.log, []);
    await other.page.close();
    const none = await open(prefix + '.html'), without = await none.page.evaluate(() => globalThis.prof.time.rows().filter(row => row.kind === 'track').map(({ track, height, depth, marks }) => [track.system, height - Math.max(22, depth * 18 + marks + 6)].join()));
    same(`${name}: none where it was not recorded`, [...new Set(without)], [',0']);
    check(`${name}: nor a column`, !(await tableOf(none.page, 'Scopes')).titles.includes('running'), 'there is one');
    await none.page.close();
}

/** Why a call took so long: the text, in one click or by a key; its links lead to what made the thread wait. */
async function why() {
    const file = each => path.join(path.dirname(prefix), each + '.html'), name = 'why', { page, log } = await open(file('slow'));
    const said = async () => { await settle(page); return (await page.locator('#panel').innerText()).replace(/\u00b5/g, 'u'); }, focus = () => page.evaluate(() => { const { prof } = globalThis; return prof.focus && prof.labelOf(prof.focus).name; });
    const has = async (what, ...texts) => { const text = await said(); same(`${name}: ${what}`, texts.filter(each => !text.includes(each)), []); };
    const table = async caption => columns(await tableOf(page, caption), 'time', '%', 'what').map(row => row.join(' ').replace(/\u00b5/g, 'u'));
    await page.focus('#time');
    await page.keyboard.press('y');
    await has('nothing is selected: the slowest frame', 'frame 6 took 7.000 ms, 7.0 times the median of 9 frames (1.000 ms)', 'at 5.000000 ms on thread main. Nothing is selected');
    same(`${name}: the parts, and what is in them, the greatest first`, await table('Its time'), ['4.600 ms 65.7 waiting', '4.000 ms 57.1 for mutex 0x1230, held by thread worker in scope write, in pthread_mutex_lock() of scope load_texture',
        '600.0 us 8.6 in a sleep, in usleep() of scope load_texture', '1.800 ms 25.7 running', '500.0 us 7.1 ready, but not running', '300.0 us 4.3 thread hog ran on its processor',
        '200.0 us 2.9 programs, or threads that recorded nothing, ran; or a quota was used up', '100.0 us 1.4 unknown: what the system did was not recorded then']);
    same(`${name}: scopes beside their medians`, await table('Its scopes'), ['6.100 ms 87.1 load_texture took 6.100 ms, 14 times its median (430.1 us)', '520.0 us 7.4 draw took 520.0 us, about its median (520.0 us)', '380.0 us 5.4 outside of scopes']);
    await has('what else happened', 'allocations: 2, of 5.120 kB; frees: 1', 'queue: from 1 to 7', '4.500 ms after its begin: texture is large');
    await page.setViewportSize({ width: 1366, height: 768 });
    same(`${name}: what it waited for is in view at 1366 x 768`, await page.locator('#panel td', { hasText: 'held by thread' }).evaluate(cell => cell.getBoundingClientRect().bottom <= innerHeight), true);
    await page.setViewportSize({ width: 390, height: 844 });
    same(`${name}: nothing is wider than a phone, nor on top of another thing`, await page.locator('.why').evaluate(each => {
        const boxes = [...each.children].map(child => [child.getBoundingClientRect().top, child.getBoundingClientRect().top + child.scrollHeight]);
        return [each.scrollWidth <= each.clientWidth, boxes.filter(([top], i) => i && top < boxes[i - 1][1] - 1)];
    }), [true, []]);
    await picture(page, folder, 'why');
    await page.setViewportSize({ width: 1500, height: 900 });
    await page.locator('#panel .link:text-is("write")').click();
    await has('a link leads to the scope of the holder, which is then explained', 'write took 4.000 ms', 'on thread worker');
    same(`${name}: and has the focus`, await focus(), 'write');
    const click = async i => { const at = await page.evaluate(k => { const { prof } = globalThis; return (k + 0.5) * prof.frameBar; }, i), box = await page.locator('#frames').boundingBox(); await page.mouse.click(box.x + 190 + at, box.y + 30); };
    await click(1);
    await has('a click on a frame', 'frame 2 took 1.000 ms, about the median of 9 frames (1.000 ms)', 'on thread main\n');
    await until(page, () => location.hash.includes('b='));
    const hash = await page.evaluate(() => location.hash);
    await page.keyboard.press('Escape');
    await page.evaluate(() => { const { prof } = globalThis; prof.setFocus({ track: prof.report.tracks.find(track => track.title === 'main'), depth: 0, i: 10 }); prof.panels.open('scope'); });
    await page.getByRole('button', { name: 'Why did the selected call' }).click();
    await has('a button of the panel of a scope', 'load_texture took 6.100 ms, 14 times the median of 9 calls (430.1 us)', 'load_texture itself, 14 times its median');
    await page.focus('#time');
    await page.keyboard.press('[');
    await has('of the call before, by its key', 'load_texture took 430.0 us, about the median');
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
    const again = await open(file('slow'), hash);
    check(`${name}: the address has the frame`, /b=1/.test(hash) && (await again.page.locator('#panel').innerText()).includes('frame 2 took'), hash);
    await again.page.close();
    const gpu = await open(file('waited'));
    await gpu.page.evaluate(() => { const { prof } = globalThis; prof.setFocus({ track: prof.report.tracks.find(track => track.title === 'main'), depth: 0, i: 1 }); prof.panels.open('why'); });
    await settle(gpu.page);
    same(`${name}: a wait for a GPU says what it did`, columns(await tableOf(gpu.page, 'Its time'), 'time', 'what').map(row => row.join(' ').replace(/\u00b5/g, 'u')).slice(0, 2), ['890.0 us waiting', '800.0 us as it seems for colour pass, on graphics of GPU 0']);
    same(`${name}: devices meanwhile`, columns(await tableOf(gpu.page, 'Devices meanwhile'), 'time', 'what').map(row => row.join(' ').replace(/\u00b5/g, 'u')),
        ['500.0 us colour pass, on graphics of GPU 0', '300.0 us shadow pass, on graphics of GPU 0', '60.00 us GPU frame, on graphics of GPU 0']);
    await gpu.page.close();
    const other = await open(file('marked'));
    await other.page.click('#tab-why');
    check(`${name}: no frames, and nothing selected`, (await other.page.locator('#panel').innerText()).startsWith('Click a scope'), await other.page.locator('#panel').innerText());
    await other.page.evaluate(() => { const { prof } = globalThis; prof.setFocus({ track: prof.report.tracks.find(track => track.title === 'main'), depth: 0, i: 3 }); });
    await settle(other.page);
    same(`${name}: without what the system did`, columns(await tableOf(other.page, 'Its time'), 'time', 'what').map(row => row.join(' ').replace(/\u00b5/g, 'u')),
        ['993.0 us unknown: prof_system.h records whether threads run, on Linux', '857.0 us waiting', '820.0 us for lock textures, held by thread worker in scope save, in scope draw, 2 times',
            '20.00 us for lock textures, in scope draw', '17.00 us for lock textures, held by thread worker in scope save, in scope draw']);
    await other.page.focus('#time');
    await other.page.keyboard.press(']');
    await settle(other.page);
    check(`${name}: who woke it`, (await other.page.locator('#panel').innerText()).includes('for condition 0x55, until thread worker in scope wake_up woke it, in pthread_cond_wait() of scope draw'), await other.page.locator('#panel').innerText());
    same(`${name}: nothing goes wrong there`, other.log, []);
    await other.page.close();
}

async function scope() {
    const { page, log } = await open(prefix + '.html'), name = 'one scope', focus = () => page.evaluate(() => { const f = globalThis.prof.focus; return f && [f.depth, f.i]; }); // its first call is after another scope of that depth
    await page.click('#panel tbody .link:text-is("layer")');
    const calls = await tableOf(page, 'Calls');
    same(`${name}: arguments and steps are columns`, ['step', 'depth', 'kind'].filter(title => !calls.titles.includes(title)), []);
    const known = await page.evaluate(() => { // all calls, the slowest first
        const { report } = globalThis.prof, all = [], [, level] = report.tracks.find(track => track.title === 'worker of all').levels;
        for (let i = 0; i < level.count; i++) if (report.labels[report.nodes.label[level.node[i]]].name === 'layer') all.push([level.durationOf(i), String(all.length >> 1), String(all.length % 2), all.length % 2 ? 'dense' : 'conv']);
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

/** Steps and frames keep the numbers that the program gave them, on their threads; a ring has overwritten the first. */
async function numbers() {
    const { page, log } = await open(prefix + '.ring.html'), name = 'numbers', known = await page.evaluate(() => globalThis.prof.report.tracks.filter(track => /server/.test(track.title)).map(track => {
        const { labels, nodes, kinds } = globalThis.prof.report, steps = [], labelAt = (level, i) => labels[nodes.label[level.node[i]]].name;
        track.levels.forEach(level => { for (let i = 0; i < level.count; i++) if (labelAt(level, i) === 'request') steps.push(globalThis.prof.report.argsOf(level.args, i).map(([, v]) => v)[0]); });
        return { title: track.title, steps, frames: [...track.points.kind].filter(kind => kinds[kind].type === 3).length };
    }));
    check(`${name}: a ring has overwritten some`, known.length === 2 && known.every(({ steps, frames }) => steps.length < 1400 && frames > 20), JSON.stringify(known.map(({ steps, frames }) => [steps.length, frames])));
    const series = () => page.evaluate(() => globalThis.prof.report.bars.map(({ noun, number, track, at }) => [noun, track.title, number, at && at.map(each => each.track.title)]));
    const all = await series(), frames = all.filter(([noun]) => noun === 'frame'), [steps] = all.filter(([noun]) => noun === 'step');
    for (const [, title, number] of frames) same(`${name}: frames of ${title}`, number, Array.from({ length: number.length }, (_, i) => 1500 - number.length + i));
    same(`${name}: one list of all steps`, [all.length, steps[2].length], [3, known[0].steps.length + known[1].steps.length]);
    same(`${name}: their threads`, steps[2].filter((n, i) => n !== '' && steps[3][i] !== `server ${n % 2}`), []);
    same(`${name}: up to the last`, [steps[2].includes(9998), steps[2].includes(9999)], [true, true]);
    await page.click('#tab-frames');
    await page.selectOption('#panel select', { label: (await page.locator('#panel option').allInnerTexts()).find(text => /request on 2 threads/.test(text)) });
    const table = await tableOf(page, 'steps: request');
    same(`${name}: in the table, with their threads`, columns(table, 'step', 'thread').filter(([step, thread]) => step && thread !== `server ${step % 2}`), []);
    await page.locator('#panel tbody .link').first().click();
    await settle(page);
    const box = await page.locator('#frames').boundingBox(), [chosen, width] = await page.evaluate(() => [globalThis.prof.series.start.findIndex(start => start === globalThis.prof.selection.from), globalThis.prof.frameBar]);
    const x = Math.round(box.x + 190 + (chosen + 0.5) * width); // a browser may know whole pixels alone, and a bar may be narrower
    const at = Math.floor((x - box.x - 190) / width);
    check(`${name}: the bar of the slowest is where it is chosen`, Math.abs(at - chosen) <= Math.ceil(1 / width), `${at} ${chosen}`);
    await page.mouse.move(x, box.y + 30);
    const tip = await page.locator('#tip').innerText();
    check(`${name}: in the tip of its bar`, tip.startsWith(`step ${steps[2][at]}`) && tip.endsWith(`on server ${steps[2][at] % 2}`), tip);
    await page.evaluate(() => { globalThis.prof.select(); globalThis.prof.panels.pick(globalThis.prof.report.labels.find(label => label.name === 'parse')); });
    await settle(page);
    const calls = await tableOf(page, 'Calls');
    same(`${name}: of the calls in them`, columns(calls, 'step', 'thread').filter(([step, thread]) => step && thread !== `server ${step % 2}`), []);
    check(`${name}: as columns`, calls.titles.includes('frame') && columns(calls, 'step').filter(([step]) => step).length > 100, calls.titles.join());
    await page.evaluate(() => globalThis.prof.panels.pick(globalThis.prof.report.labels.find(label => label.name === 'after them')));
    await settle(page);
    same(`${name}: none of a thread that makes none, where several do`, columns(await tableOf(page, 'Calls'), 'step'), [['']]);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Names by a format are one row, as in the summary, with its names. */
async function formats() {
    const { page, log } = await open(prefix + '.html'), name = 'formats', rows = async () => columns(await tableOf(page, 'Scopes'), 'scope', 'calls'), format = 'SELECT %d FROM t';
    const [, calls] = /^SELECT %d FROM t +(\d+) /m.exec(fs.readFileSync(prefix + '.txt', 'utf8')), of = list => list.map(([title, n]) => [title.replace(/^[\u25b8\u25be]\s*/, ''), n]).filter(([title]) => title.startsWith('SELECT'));
    same(`${name}: one row, as in the summary`, of(await rows()), [[format, calls]]);
    await page.locator('#panel .fold').click();
    same(`${name}: and its names`, of(await rows()).slice(1).sort(), Array.from({ length: 20 }, (_, i) => [`SELECT ${i} FROM t`, '2']).sort());
    await page.fill('#search', 'select 13');
    await settle(page);
    await settle(page); // the panel follows the number of hits
    same(`${name}: a search finds a name`, [await page.locator('#hits').innerText(), of(await rows())], ['2', [[format, calls], ['SELECT 13 FROM t', '2']]]);
    await page.fill('#search', 'select %d');
    await settle(page);
    same(`${name}: or all of a format`, await page.locator('#hits').innerText(), '40');
    await page.fill('#search', '');
    await settle(page);
    await page.click('#tab-scopes');
    await page.locator(`#panel tbody .link:text-is("${format}")`).click();
    await settle(page);
    same(`${name}: all calls`, [(await tableOf(page, 'Calls')).rows.length, (await tableOf(page, 'By name')).rows.length], [40, 20]);
    await page.getByRole('button', { name: 'Next call' }).click();
    await page.getByRole('button', { name: 'Next call' }).click();
    same(`${name}: from call to call, whatever its name`, await page.evaluate(() => [globalThis.prof.label.name, globalThis.prof.labelOf(globalThis.prof.focus).name]), [format, 'SELECT 1 FROM t']);
    await page.locator('#panel .link:text-is("SELECT 7 FROM t")').last().click();
    await settle(page);
    await page.click('#tab-flame');
    const boxes = await page.locator('.flame button').evaluateAll(all => all.map(each => each.title).filter(title => /^(SELECT|fetch)/.test(title)).map(title => title.replace(/:.*, (\d+ calls)/, ': $1')));
    same(`${name}: one box of the flame graph, with what is in it`, boxes, [`${format}: 40 calls`, 'fetch: 40 calls']);
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** 400 short threads and 8 workers, as many flows, 100 spans at a time, and a lock whose holder is far from who waits. */
async function crowd() {
    const { page, log } = await open(path.join(path.dirname(prefix), 'crowd.html')), name = 'crowd', flows = page.locator('#flows');
    const rows = () => page.evaluate(() => globalThis.prof.time.rows().map(row => row.title)), first = await rows();
    const arrows = () => page.evaluate(() => {
        const { time } = globalThis.prof, { ctx } = time, draw = ctx.bezierCurveTo;
        let n = 0;
        ctx.bezierCurveTo = () => n++;
        time.draw();
        ctx.bezierCurveTo = draw;
        return n;
    });
    same(`${name}: groups of threads`, first.filter(title => /threads|\.\./.test(title)), ['400 short threads', 'worker 1..8 (8)']);
    check(`${name}: short threads share lanes`, first.filter(title => title.startsWith('job')).length < 10, first.join());
    same(`${name}: workers by number`, first.filter(title => /^worker \d$/.test(title)), [1, 2, 3, 4, 5, 6, 7, 8].map(n => `worker ${n}`));
    same(`${name}: each short thread can be found in its lane`, await page.evaluate(() => {
        const { report, time } = globalThis.prof, all = report.tracks.filter(track => track.title.startsWith('job'));
        return all.filter(track => { const place = time.placeOf(track), { start, end } = track.life; return time.trackAt(place.row, (start + end) / 2) !== track; }).length;
    }), 0);
    same(`${name}: without a selection, no arrow`, [await flows.innerText(), await flows.getAttribute('aria-pressed'), await arrows()], ['Flows', 'false', 0]);
    await flows.click();
    await settle(page);
    same(`${name}: all flows by a switch, which says how many are left out`, [await flows.innerText(), await flows.getAttribute('aria-pressed'), await arrows()], ['300 of 400 flows', 'true', 300]);
    await page.keyboard.press('x');
    await page.evaluate(() => {
        const { report } = globalThis.prof, main = report.tracks.find(track => track.title === 'main'), i = Array.from(main.levels[0].node).findIndex(node => report.labels[report.nodes.label[node]].name === 'start');
        globalThis.prof.setFocus({ track: main, depth: 0, i: i + 9 });
    });
    await settle(page);
    same(`${name}: those of the selected scope`, await arrows(), 1);
    check(`${name}: spans say how many lanes there are`, first.includes('download (100 lanes)'), first.join());
    const lane = await page.evaluate(() => {
        const { time, report } = globalThis.prof, [span] = report.spans.filter(each => each === report.processes[0].spanGroups[0].lanes[99][0]);
        time.scroll = 1e9;
        time.draw();
        const y = time.placed.find(({ row }) => row.kind === 'spans').y + 2 + 99.5 * 18;
        return [y < time.bottom && time.at(time.x(span.start + span.duration / 2), y).span === span, time.placed.some(({ row }) => row.title === 'main')];
    });
    same(`${name}: the last lane is reached by scrolling`, lane, [true, false]);
    const box = await page.locator('#time').boundingBox(), scroll = () => page.evaluate(() => globalThis.prof.time.scroll);
    await page.mouse.click(box.x + box.width - 4, box.y + 40);
    check(`${name}: a click on the bar scrolls`, await scroll() < 100, String(await scroll()));
    await page.mouse.move(box.x + box.width - 4, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, box.y + box.height - 25, { steps: 3 });
    await page.mouse.up();
    check(`${name}: and so does dragging it`, await scroll() > 1000 && await page.evaluate(() => globalThis.prof.selection === null), String(await scroll()));
    const title = await page.evaluate(() => { // of a row whose upper lines are out of view
        const { time } = globalThis.prof, { ctx } = time, put = ctx.fillText, found = [];
        ctx.fillText = (text, x, y) => { if (text.startsWith('download')) found.push(y); };
        time.draw();
        ctx.fillText = put;
        return found.some(y => y > time.top && y < time.bottom);
    });
    check(`${name}: a row's title stays in view`, title, 'it does not');
    const low = await page.evaluate(() => { // where the title of a row is that only has instants
        const { time, report } = globalThis.prof, { ctx } = time, put = ctx.fillText, found = [];
        const row = time.trackRow([{ ...report.tracks[0], levels: [], marks: true, system: null }]);
        ctx.fillText = (text, x, y) => { found.push(y); };
        time.drawGutter(ctx, { row, y: 100, top: 0, bottom: 900, pinned: false });
        ctx.fillText = put;
        return found.filter(y => y < 106 || y > 94 + row.height).length;
    });
    same(`${name}: the title of a row that only has instants is inside of it`, low, 0);
    await page.evaluate(() => globalThis.prof.setView(globalThis.prof.report.from, (globalThis.prof.report.from + globalThis.prof.report.to) / 10));
    await page.mouse.click(box.x + 190 + (box.width - 190) / 2, box.y + box.height - 6);
    const middle = await page.evaluate(() => { const { view, report } = globalThis.prof; return ((view.from + view.to) / 2 - report.from) / (report.to - report.from); });
    check(`${name}: a click on the map moves the view there`, Math.abs(middle - 0.5) < 0.01, String(middle));
    await page.click('#order');
    check(`${name}: a button for the order of rows`, (await page.locator('#live').innerText()).includes('by name') && (await rows())[0] === 'holder 0', (await rows()).slice(0, 3).join());
    await page.click('#groups');
    check(`${name}: for the groups`, (await rows()).length > first.length, 'nothing is unfolded');
    await page.click('#pin');
    same(`${name}: and for pins`, await page.evaluate(() => [...globalThis.prof.pinned].length), 1);
    await page.evaluate(() => globalThis.prof.setFocus(null));
    await page.click('#pin');
    same(`${name}: without a scope, it ends them`, await page.evaluate(() => globalThis.prof.pinned.size), 0);
    await page.click('#tab-locks');
    await page.setViewportSize({ width: 1366, height: 420 });
    await settle(page);
    await page.locator('#panel tbody .link').first().click();
    await settle(page);
    const seen = await page.evaluate(() => globalThis.prof.time.placed.filter(({ row }) => row.kind === 'track').map(({ row }) => row.title));
    same(`${name}: who waits for a lock and who holds it are in view`, ['main', 'holder 0'].filter(each => !seen.includes(each)), []);
    await page.setViewportSize({ width: 1500, height: 900 });
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** A wide screen has two panels beside each other, a phone narrow names; what is printed is light and whole. */
async function screens() {
    const { page, log } = await open(prefix + '.html'), name = 'screens', titles = () => page.locator('#panel .half').evaluateAll(all => all.map(each => (each.querySelector('caption') || each.querySelector('h2') || each.querySelector('.flame')).outerHTML.replace(/<[^>]*>/g, '').slice(0, 7)));
    await page.setViewportSize({ width: 1920, height: 1080 });
    await settle(page);
    same(`${name}: two panels at 1920`, (await titles()).map((title, i) => i ? title.length >= 0 : title), ['Scopes:', true]);
    const widths = await page.locator('#panel .half').evaluateAll(all => all.map(each => each.getBoundingClientRect().width));
    check(`${name}: of half the width each`, widths.length === 2 && widths.every(width => width > 900), widths.join());
    await page.locator('#panel .half').first().locator('tbody .link:text-is("layer")').click();
    await settle(page);
    await settle(page);
    same(`${name}: a scope opens beside the table`, [(await titles())[0], await page.locator('#panel .half').last().locator('h2').innerText(), await page.locator('#tab-scopes').evaluate(tab => tab.classList.contains('shown'))], ['Scopes:', 'layer', true]);
    await page.setViewportSize({ width: 390, height: 844 });
    await settle(page);
    same(`${name}: one panel on a phone`, await page.locator('#panel .half').count(), 0);
    await page.reload();
    await page.waitForSelector('html[data-ready]', { state: 'attached' });
    await settle(page);
    const gutter = () => page.evaluate(() => { const { time, view } = globalThis.prof; time.draw(); return Math.round(time.x(view.from)); });
    same(`${name}: narrow names on a phone, and nothing beyond its edge`, [await gutter(), await page.evaluate(() => document.documentElement.scrollWidth)], [64, 390]);
    const box = await page.locator('#time').boundingBox();
    await page.mouse.click(box.x + 10, box.y + 12);
    same(`${name}: which a click on the ruler makes wide`, await gutter(), 190);
    await page.setViewportSize({ width: 1500, height: 900 });
    await page.emulateMedia({ media: 'print' });
    await settle(page);
    await page.evaluate(() => { globalThis.prof.theme('dark'); dispatchEvent(new Event('beforeprint')); });
    const printed = await page.evaluate(() => ['#tabs', '#bar', '#search', '.copy'].filter(each => { const found = document.querySelector(each); return found && found.getClientRects().length; }).concat(document.documentElement.dataset.theme, getComputedStyle(document.getElementById('panel')).overflow));
    same(`${name}: printed in light colours, without what is to be clicked, and whole`, firefox ? printed.slice(-2, -1) : printed, firefox ? ['light'] : ['light', 'visible']); // the driver of Firefox emulates no paper
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await page.emulateMedia({ media: null });
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

/** Back and Forward of the browser undo and redo. Notes are in the address, and in a copy of the page. */
async function history() {
    const { page, log } = await open(prefix + '.html'), name = 'history', shown = () => page.evaluate(() => {
        const { view, panels, order, selection, query, report } = globalThis.prof;
        return [Math.round((view.to - view.from) / (report.to - report.from) * 100), panels.tab, order, selection !== null, query];
    });
    await settle(page);
    await settle(page); // what is done at once is no change of its own
    const all = await shown(), states = [all], hashes = [''], walk = async (step, hash) => {
        await page.evaluate(by => globalThis.history.go(by), step);
        for (let n = 0; n < 100 && await page.evaluate(() => location.hash) !== hash; n++) await settle(page);
        await settle(page);
        await settle(page); // whatever would be written to the address is
    };
    for (const change of [() => globalThis.prof.panels.open('flame'), () => globalThis.prof.zoom(0.1), () => { globalThis.prof.nextOrder(); globalThis.prof.select(globalThis.prof.report.from, globalThis.prof.report.to / 2); }, () => globalThis.prof.search('layer')]) {
        await page.evaluate(() => { globalThis.prof.pushed = -1000; }); // as if a second had gone by
        await page.evaluate(change);
        for (let n = 0; n < 100 && hashes.includes(await page.evaluate(() => location.hash)); n++) await settle(page);
        hashes.push(await page.evaluate(() => location.hash));
        states.push(await shown());
    }
    same(`${name}: each change is an entry`, new Set(hashes).size, 5);
    for (const at of [3, 2, 1, 0]) {
        await walk(-1, hashes[at]);
        same(`${name}: Back to ${at}`, await shown(), states[at]);
    }
    for (const at of [1, 2, 3, 4]) {
        await walk(1, hashes[at]);
        same(`${name}: Forward to ${at}`, await shown(), states[at]);
    }
    const text = 'why so long? 100 % "<b>", a-b', notes = one => one.evaluate(() => globalThis.prof.notes.map(note => [Math.round(note.from), Math.round(note.to), note.text]));
    await page.focus('#time');
    await page.keyboard.press('b');
    await page.fill('#note-text', text);
    await page.keyboard.press('Enter');
    await until(page, () => location.hash.includes('n='));
    const wanted = await notes(page), { from, to } = await page.evaluate(() => globalThis.prof.selection);
    same(`${name}: a note`, wanted, [[Math.round(from), Math.round(to), text]]);
    const again = await open(prefix + '.html', await page.evaluate(() => location.hash));
    same(`${name}: is in the address`, await notes(again.page), wanted);
    await again.page.click('#picture');
    await Promise.all([again.page.evaluate(() => new Promise(done => { const make = URL.createObjectURL; URL.createObjectURL = blob => { blob.text().then(done); return make(blob); }; }))
        .then(text => fs.writeFileSync(path.join(folder, 'saved.html'), text)), again.page.click('#save-page')]);
    await again.page.keyboard.press('Escape');
    const saved = await open(path.join(folder, 'saved.html'));
    same(`${name}: and in a copy of the page`, [await notes(saved.page), await saved.page.evaluate(digestOf)], [wanted, await page.evaluate(digestOf)]);
    const flag = await saved.page.evaluate(() => { globalThis.prof.time.draw(); const [{ x0, y }] = globalThis.prof.time.flags, box = document.getElementById('time').getBoundingClientRect(); return [box.x + x0 + 4, box.y + y + 8]; });
    await saved.page.mouse.click(...flag);
    same(`${name}: a click on it changes it`, await saved.page.locator('#note-text').inputValue(), text);
    await saved.page.click('#noting button[value=Remove]');
    await until(saved.page, () => /n=(&|$)/.test(location.hash));
    same(`${name}: or takes it away`, await notes(saved.page), []);
    same(`${name}: nothing goes wrong`, [...log, ...again.log, ...saved.log], []);
    for (const each of [page, again.page, saved.page]) await each.close();
}

/** Of report.html, report.both.html, crowd.html beside it, and report.txt of prof summary; pictures go to a folder. */
export async function views(pictures, report) {
    [folder, prefix] = [pictures, report];
    for (const view of [crowd, history, screens, steps, numbers, formats, memory, locks, states, system, why, scope, keys, address, copies]) await view();
}
