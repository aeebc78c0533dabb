// Checks, and how many passed.
let passed = 0, failed = 0, skipped = 0;

export function check(name, good, why = '') {
    if (good) passed++; else failed++;
    console.log(good ? `ok   ${name}` : `FAIL ${name}: ${why}`);
}

export const same = (name, got, wanted) => check(name, JSON.stringify(got) === JSON.stringify(wanted), `${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);

export function skip(what, why) {
    skipped++;
    console.log(`SKIP ${what}: ${why}`);
}

/** Says how many there were, and ends. */
export function total() {
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exit(failed ? 1 : 0);
}
