// The bars at the top of the page: one for each frame, or for each step of a loop.

import { GUTTER, FONT } from './view.js';
import { ceil, floor, max, min, round, ns, grouped } from './text.js';

/** Draws a bar for each frame. If frames are narrower than a pixel, draws the longest of each pixel. Returns the width of a frame in pixels. */
export function drawBars(canvas, { series, view, style, time }, svg) {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!svg) Object.assign(canvas, { width: round(width * ratio), height: round(height * ratio) });
    const ctx = svg || canvas.getContext('2d'), { start, duration } = series, n = start.length;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const sorted = Float64Array.from(duration).sort(), high = min(sorted[n - 1], sorted[floor(n * 0.95)] * 2.5) || 1;
    const budgets = [1e9 / 60, 1e9 / 30], median = sorted[n >> 1];
    // Frames with a median of 1 to 50 ms are a game's, and so are those that the reader says are: they are compared with 1/60 and 1/30 s, others, and steps, with their median.
    const game = series.hertz ?? (series.noun === 'frame' && median > 1e6 && median < 5e7), limits = game ? [budgets[0] * 1.02, budgets[1] * 1.02] : [median * 1.5, median * 3];
    const bar = min(12, (width - GUTTER) / n);
    for (let i = 0; i < n;) {
        const x = GUTTER + i * bar, next = bar >= 1 ? i + 1 : max(i + 1, ceil((floor(x) + 1 - GUTTER) / bar));
        let longest = 0, shownToo = false;
        for (let k = i; k < min(n, next); k++) {
            longest = max(longest, duration[k]);
            shownToo = shownToo || (start[k] < view.to && start[k] + duration[k] > view.from);
        }
        ctx.fillStyle = longest > limits[1] ? style.bad : longest > limits[0] ? style.warn : style.good;
        const tall = max(1, min(1, longest / high) * (height - 7));
        ctx.fillRect(x, height - tall - 3, max(1, bar - (bar > 3 ? 1 : 0)), tall);
        ctx.fillStyle = style.accent;
        if (shownToo) ctx.fillRect(x, height - 2, max(1, bar), 2); // it is in view
        i = next;
    }
    ctx.fillStyle = style.faint;
    ctx.font = 11 + FONT;
    for (const limit of game ? budgets : [median]) {
        const y = height - 3 - limit / high * (height - 7);
        if (y > 2) ctx.fillRect(GUTTER, y, width, 1);
    }
    ctx.textBaseline = 'top';
    ctx.fillStyle = style.ink;
    const write = (text, y) => time.fit(ctx, text, 8, y, GUTTER - 14);
    write(`${series.noun === 'step' ? 'Steps' : 'Frames'}: ${series.name}`, 6);
    ctx.fillStyle = style.faint;
    write(`${grouped(n)}, median ${ns(median)}`, 22);
    write(`not by time; ${game ? 'lines: 60, 30 Hz' : 'line: the median'}`, 37);
    return bar;
}
