// How long the page's modules take to read a report: node bench/html.mjs FILE.html [ROUNDS]. bench/html.c writes one.
import fs from 'node:fs';
import { readReport, piecesIn } from '../src/html/decode.js';
import { finish } from '../src/html/model.js';
import { rangeStats } from '../src/html/stats.js';

const [, , file, rounds = '3'] = process.argv, best = [Infinity, Infinity, Infinity];
let scopes = 0;
for (let round = 0; round < Number(rounds); round++) {
    const times = [performance.now()];
    const report = await readReport(piecesIn(fs.readFileSync(file, 'latin1')));
    times.push(performance.now());
    finish(report);
    times.push(performance.now());
    rangeStats(report, report.from, report.to);
    times.push(performance.now());
    if (report.damage) throw new Error(report.damage);
    best.forEach((least, i) => { best[i] = Math.min(least, times[i + 1] - times[i]); });
    ({ scopes } = report);
}
const [read, derived, statistics] = best.map(ms => `${(ms / 1000).toFixed(2)} s`);
console.log(`${(scopes / 1e6).toFixed(2)} million scopes: unpacked and decoded in ${read}, the rest derived in ${derived}, statistics of everything in ${statistics}`);
