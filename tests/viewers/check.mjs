// check.mjs TRACE...: loads build/viewers/TRACE.json into every viewer that is there and compares what it shows with
// build/viewers/TRACE.csv. Prints a line for each pair, and how many passed, failed and were skipped.
import fs from 'node:fs';
import path from 'node:path';
import { build, openBrowser } from './browser.mjs';
import { expected } from './expected.mjs';
import * as chromeTracing from './chrome_tracing.mjs';
import * as devtools from './devtools.mjs';
import * as perfetto from './perfetto.mjs';
import * as speedscope from './speedscope.mjs';

const viewers = { 'chrome-tracing': chromeTracing, speedscope, perfetto, devtools };
const only = process.env.VIEWER;
const counts = { passed: 0, failed: 0, skipped: 0 };
const { context, close, port } = await openBrowser();
for (const [name, viewer] of Object.entries(viewers)) {
    if (only && only !== name) continue;
    for (const kind of process.argv.slice(2)) {
        const prefix = path.join(build, kind), failures = [], started = Date.now();
        const fail = text => failures.push(text);
        let missing = viewer.missing && viewer.missing(kind);
        try {
            missing = missing || await viewer.check({ context, port, kind, trace: expected(prefix), fail,
                file: prefix + '.json', screenshot: path.join(build, `${name}-${kind}.png`) });
        } catch (error) {
            fail(String(error && error.stack || error).slice(0, 600));
        }
        if (missing) {
            counts.skipped++;
            console.log(`SKIP ${name} ${kind}: ${missing}`);
            continue;
        }
        counts[failures.length ? 'failed' : 'passed']++;
        for (const text of failures.slice(0, 8)) console.log(`  ${text}`);
        if (failures.length > 8) console.log(`  and ${failures.length - 8} more`);
        console.log(`${failures.length ? 'FAIL' : 'ok  '} ${name} ${kind} (${Date.now() - started} ms)`);
    }
    if (viewer.end) await viewer.end();
}
await close();
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed ? 1 : 0);
