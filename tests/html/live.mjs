// The live page: what it puts together out of the periods that a server sends is what the CSV of the same recording
// says. The page itself is tested by live_page.mjs.
//   node tests/html/live.mjs PROGRAM PREFIX     PROGRAM: of make_live.c
import fs from 'node:fs';
import { check, same, skip, total } from './count.mjs';
import { begin } from './program.mjs';
import { eventsOf, eventsOfCsv } from './report.mjs';
import { Damage } from '../../src/html/decode.js';
import { finish } from '../../src/html/model.js';
import { Messages, merged } from '../../src/html/live.js';

const [program, prefix] = process.argv.slice(2), patience = 240000;

/** Watches a program from its first scope to its last. @returns what it sent, in pieces */
async function watched() {
    const { child, line, port, ended } = await begin(program, prefix), pieces = [], messages = new Messages();
    const answer = await fetch(`http://localhost:${port}/live`, { signal: AbortSignal.timeout(patience) });
    let periods = 0, state = '', skipped_ns = 0;
    for await (const piece of answer.body) {
        pieces.push(piece);
        for (const { about, report } of messages.take(piece)) {
            state = about.get('state');
            skipped_ns = Number(about.get('skipped_ns')) + Number(about.get('overwritten_ns'));
            if (report && ++periods === 1) child.stdin.write('go\n');
            if (report && periods === 7) child.stdin.write('stop\n');
        }
        if (state === 'stopped') break;
    }
    await line();
    child.stdin.end();
    await ended;
    return { pieces, whole: state === 'stopped' && skipped_ns === 0 };
}

async function equal() {
    let got;
    for (let tries = 0; tries < 5 && !(got && got.whole); tries++) got = await watched(); // a machine with too much to do skips periods
    if (!got.whole) {
        skip('live', 'this machine is too slow to read all periods');
        return;
    }
    const all = Buffer.concat(got.pieces), read = size => {
        const messages = new Messages(), periods = [];
        for (let at = 0; at < all.length; at += size) periods.push(...messages.take(all.subarray(at, at + size)).filter(message => message.report));
        return periods;
    };
    const periods = read(100003), report = finish(merged(periods)), { tracks, spans } = eventsOfCsv(fs.readFileSync(prefix + '.csv', 'utf8'));
    const cut = periods.reduce((sum, period) => sum + period.report.scopes, 0) - report.scopes;
    check('live: scopes were cut between periods', cut >= periods.length - 2, `${cut} in ${periods.length} periods`);
    let compared = 0;
    for (const wanted of tracks.values()) {
        if (wanted.name === 'prof server') continue; // which records what it does meanwhile
        const track = report.tracks.find(each => each.name === wanted.name && String(each.thread) === wanted.thread), mine = track ? eventsOf(report, track) : [];
        const at = wanted.events.findIndex((event, i) => event !== mine[i]);
        check(`live: events of ${wanted.name || wanted.thread}`, mine.join('\n') === wanted.events.join('\n'),
            `${mine.length} instead of ${wanted.events.length}; at ${at}: ${JSON.stringify(mine[at])} instead of ${JSON.stringify(wanted.events[at])}`);
        compared += wanted.events.length;
    }
    check('live: there were events', compared > 500, `${compared}`);
    const whole = report.spans.filter(span => !span.mark);
    same('live: spans', [whole.filter(s => !(s.flags & 1)).length, whole.filter(s => !(s.flags & 2)).length], [spans.begin, spans.end]);
    same('live: in single bytes', merged(read(1)).scopes, report.scopes);
    const later = merged(periods.slice(2)), first = later.tracks.find(track => track.name === 'worker').levels[0];
    same('live: what began before the ring says so', [first.count, first.flags.get(0), first.start[0]], [1, 1, Number(periods[2].about.get('from_ns'))]);
    const gap = merged([...periods.slice(0, 2), { ...periods[3], about: new Map([...periods[3].about, ['joins', '0']]) }]);
    same('live: nothing is joined over a gap', gap.tracks.find(track => track.name === 'worker').levels[0].count, 2);
    const { system } = report.tracks.find(track => track.name === 'worker'), begin = Number(periods[0].about.get('from_ns')), end = report.to;
    if (system || !/not recorded/.test(report.processes[0].about.get('switches'))) { // else the system refuses it
        const [unknown, running, , waiting] = system ? system.split(system.start[0], system.start[system.count]) : [0, 0, 0, 0], known = system ? system.start[system.count] - system.start[0] : 0;
        check('live: the states of all periods are joined', known > (end - begin) / 2 && unknown < known / 20, `${unknown} of ${known} ns are unknown, of ${end - begin}`);
        check('live: it waited, and ran', waiting > known / 4 && running > 0, `${running} and ${waiting} of ${known}`);
        check('live: no state is cut', system && Array.from(system.kind).every((kind, i) => !i || kind !== system.kind[i - 1] || system.processor[i] !== system.processor[i - 1]), 'two that are alike');
    } else {
        skip('live: states', report.processes[0].about.get('switches'));
    }
    damaged(all);
}

/** Damaged streams end the reading, or change what is shown; nothing else happens. */
function damaged(all) {
    let seed = 1, bad = '', found = 0;
    const random = n => (seed = seed * 48271 % 2147483647) % n;
    for (let round = 0; round < 300; round++) {
        const bytes = Uint8Array.from(all.subarray(0, 60000));
        for (let n = 1 + random(4); n > 0; n--) bytes[random(bytes.length)] = random(256);
        try {
            const periods = new Messages().take(bytes).filter(message => message.report);
            if (periods.length) finish(merged(periods));
        } catch (error) {
            found++;
            if (!(error instanceof Damage)) bad = bad || `${error.stack}`;
        }
    }
    same('live: damage is damage', bad, '');
    check('live: some of it is found', found > 0, 'none is');
}

await equal();
total();
