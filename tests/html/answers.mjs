// The questions of docs/answers.md: how many clicks an answer takes, and that it is in view then, at 1366 x 768, without scrolling.
//   node tests/html/answers.mjs FOLDER     PICTURES=docs/images: saves the pictures of docs/answers.md
import path from 'node:path';
import { check, same } from './count.mjs';
import { end, open, settle, until } from './pages.mjs';

const [folder] = process.argv.slice(2);

/** Whether a text is in view: its element ends above the lower edge of the window, and nothing is on top of it. */
const inView = (page, text) => page.evaluate(({ source }) => {
    const wanted = new RegExp(source), all = [...document.querySelectorAll('#panel h2, #panel tbody tr, #panel td, #panel li, #panel p, #warnings')].filter(each => wanted.test(each.innerText.trim().replace(/\s+/g, ' ')));
    return all.some(each => {
        const { left, top, right, bottom } = each.getBoundingClientRect(), on = document.elementFromPoint((Math.max(0, left) + Math.min(innerWidth, right)) / 2, (top + bottom) / 2);
        return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && on && (each.contains(on) || on.contains(each));
    });
}, { source: text.source });

/** Opens a recording, takes some steps, and looks for answers. A step is a selector to click, or [selector, text to type]. */
async function question(name, picture, recording, steps, ...answers) {
    const { page, log } = await open(path.join(folder, recording + '.html'));
    await page.setViewportSize({ width: 1366, height: 768 });
    let clicks = 0;
    for (const step of steps) {
        if (Array.isArray(step)) {
            await page.fill(...step);
            await page.press(step[0], 'Enter');
        } else {
            await page.locator(step).first().click();
            clicks++;
        }
        await settle(page);
        await settle(page);
    }
    await until(page, () => !document.getElementById('panel').innerText.includes('Statistics are coming'));
    check(`${name}: at most two clicks`, clicks <= 2, `${clicks} clicks`);
    for (const answer of answers) check(`${name}: ${answer} is in view`, await inView(page, answer), (await page.locator('#panel').innerText()).slice(0, 1500));
    if (process.env.PICTURES) {
        const [top, bottom] = await page.evaluate(() => [document.getElementById('lower').getBoundingClientRect().top, Math.max(500, ...[...document.querySelectorAll('#panel td, #panel p')].map(each => each.getBoundingClientRect().bottom))]);
        await page.screenshot({ path: path.join(process.env.PICTURES, `answer-${picture}.png`), clip: { x: 0, y: top, width: 1366, height: Math.min(768, bottom + 10) - top } });
    }
    same(`${name}: nothing goes wrong`, log, []);
    await page.close();
}

await question('which frame, and why', 'frame', 'rounds', ['#tab-why'], /^round 6 took .* times the median of 19 frames/, /for lock store, held by thread worker in scope save, in scope turn$/);
await question('which frame, and why: another thread had its processor', 'preempted', 'preempted', ['#tab-why'], /^frame 6 took .* times the median of 9 frames/, /thread hog ran on its processor$/);
await question('which frame, and why: all threads are stopped', 'stopped', 'stopped', ['#tab-why'], /^frame 6 took .* times the median of 9 frames/, /held by thread collector in scope stop the world/);
await question('who holds the lock', 'lock', 'rounds', ['#tab-locks'], /^[\d.]+ ms [\d.]+ ms store main worker$/);
await question('where does request 8 wait', 'request', 'requests', ['#tab-request', ['[aria-label="Number of the request"]', '8']], /^request 8 took /, / in queue: thread server was busy with serve of request 7 for /);
await question('the same by the search', 'search', 'requests', [['#search', '8'], '#panel .link'], /^request 8 took /, / in queue: thread server was busy with serve of request 7 for /);
await question('what got slower', 'slower', 'slower', ['#tab-compare'], /^draw$/, /^. slower$/, /^\+100.0 %$/);
await question('where does memory grow', 'memory', 'grows', ['#tab-memory'], /^cache 100 102.4 kB 100 102.4 kB/);
await question('which rank', 'rank', 'ranks', ['#tab-balance'], /^compute 16 .* why_program \(rank 2\)/);
await question('what was it doing when it crashed', 'crash', 'crashed', [], /game > solve why_program.c:\d+ .* row=7$/, / level 3 has no exit$/);
await question('by which signal', 'signal', 'faults', [], /crashed: SIGSEGV at 0x40\. Thread main recorded last/, /game > solve why_program.c:\d+ .* row=7$/);
await question('why is it empty', 'empty', 'empty', [], /Nothing was recorded. No macro ran/);
await end();
