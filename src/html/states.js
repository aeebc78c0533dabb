// What the operating system did with a thread: it ran, could have run, or waited. See prof_system.h.

import { Growing, firstIndex } from './columns.js';
import { abs, ceil, floor, max, min, ns, round } from './text.js';

/** Names of the kinds of states: those of prof_state_kind. */
export const STATE_NAMES = ['unknown', 'running', 'ready', 'waiting'];
export const RUNNING = 1, READY = 2, WAITING = 3;

/** Sums are kept for each such number of states. */
const STEP = 16;

/** The states of a thread, one after the other. */
export class States {
    constructor() {
        this.count = 0;
        /** When each begins and, after the last one, where that ends. */
        this.start = new Growing(Float64Array);
        this.kind = new Growing(Uint8Array);
        /** On which processor it runs, + 1; 0: not known. Only of states in which it runs. */
        this.processor = new Growing(Uint32Array);
        this.end = this.on = 0; // on: the processor of the last one in which it ran, + 1
    }
    /** Adds a state, which begins where the one before ends. @param {number} kind @param {number} duration */
    add(kind, duration) {
        const i = this.count++;
        this.start.put(i, this.end);
        this.kind.put(i, kind);
        this.processor.put(i, this.on);
        this.start.put(i + 1, this.end += duration);
    }
    /** Adds those of a later period. What lies between is unknown. A state that the end of a period cut is one. @param {States} other one that is closed */
    append(other) {
        const { kind, processor, start } = other;
        if (!this.count) this.end = start[0];
        else if (start[0] > this.end) this.add(0, start[0] - this.end);
        for (let i = 0; i < other.count; i++) {
            const last = this.count - 1, duration = start[i + 1] - start[i];
            if (last >= 0 && this.kind.items[last] === kind[i] && (kind[i] !== RUNNING || this.on === processor[i])) {
                this.start.put(this.count, this.end += duration);
                continue;
            }
            this.on = processor[i];
            this.add(kind[i], duration);
        }
    }
    close() {
        this.start = this.start.close(this.count + 1);
        this.kind = this.kind.close(this.count);
        this.processor = this.processor.close(this.count);
        /** Of each STEP states: how long those before were of each kind. */
        this.sums = new Float64Array((this.count / STEP | 0) * 4 + 4);
        const sum = new Float64Array(4);
        for (let i = 0; i <= this.count; i++) {
            if (i % STEP === 0) this.sums.set(sum, i / STEP * 4);
            if (i < this.count) sum[this.kind[i]] += this.start[i + 1] - this.start[i];
        }
    }
    /** The state at a time; -1: none. */
    at(time) {
        const i = firstIndex(this.count, k => this.start[k] > time) - 1;
        return i >= 0 && time <= this.start[i + 1] ? i : -1;
    }
    /** Adds to `sums`, sign times, how long the thread was in each kind of state before a time. */
    addBefore(time, sums, sign) {
        const { start, kind } = this, last = max(0, firstIndex(this.count, k => start[k] > time) - 1), step = last / STEP | 0;
        for (let k = 0; k < 4; k++) sums[k] += sign * this.sums[step * 4 + k];
        for (let i = step * STEP; i <= last && i < this.count; i++) sums[kind[i]] += sign * max(0, min(start[i + 1], time) - start[i]);
    }
    /** How long the thread was in each kind of state. What lies before and after all states is unknown, too. @returns {number[]} by kind */
    split(from, to) {
        const sums = [0, 0, 0, 0];
        this.addBefore(to, sums, 1);
        this.addBefore(from, sums, -1);
        sums[0] = to - from - sums[RUNNING] - sums[READY] - sums[WAITING];
        return sums;
    }
    /**
     * Returns a function that adds to sums[kind][n], sign times, how long the thread was in each kind of state before a time, but for
     * unknown ones. From call to call, times must not decrease: so many calls take one pass.
     */
    walker() {
        const { start, kind, count } = this, past = [0, 0, 0, 0];
        let i = 0;
        return (time, sums, n, sign) => {
            for (; i < count && start[i + 1] <= time; i++) past[kind[i]] += start[i + 1] - start[i];
            const now = i < count ? kind[i] : 0, part = now ? max(0, time - start[i]) : 0;
            for (let k = RUNNING; k <= WAITING; k++) sums[k][n] += sign * (past[k] + (k === now ? part : 0));
        };
    }
}

/**
 * Says what threads did more, or less, in a mean call than before: "waiting +5.000 ms, running +200 us". "" if that was not recorded.
 * @param {{states: number[] | null, known: number} | undefined} a statistics of a scope @param {typeof a} b
 */
export function grownText(a, b) {
    if (!a || !b || !a.states || !b.states) return '';
    const grown = STATE_NAMES.map((name, k) => ({ name, by: partOf(b, k) - partOf(a, k) })).sort((x, y) => abs(y.by) - abs(x.by));
    return grown.slice(0, 2).filter(({ by }) => by && abs(by) >= abs(grown[0].by) / 10).map(({ name, by }) => `${name} ${by > 0 ? '+' : '\u2212'}${ns(abs(by))}`).join(', ');
}

function partOf({ states, known }, kind) { return (kind ? states[kind] : states[0] - states[RUNNING] - states[READY] - states[WAITING]) / known; }

/** Lines of pixels of a row of states. */
export const STATES_HEIGHT = 7;

/**
 * Draws a thread's states as lines of pixels, with 0 where nothing is drawn. A state has a pattern, not only a colour: running is solid, ready
 * has stripes, waiting is a line in the middle, unknown are dots. In a column with several states, running is at the bottom, as high
 * as its share, and ready is above it.
 * @param {{width: number, left: number, from: number, scale: number, ratio: number, paint: number[]}} c paint: colours by kind
 * @param {States} states @returns {Uint32Array[]} the highest first
 */
export function statesLines({ width, left, from, scale, ratio, paint }, states) {
    const lines = Array.from({ length: STATES_HEIGHT }, () => new Uint32Array(width)), { start, count, kind } = states, middle = STATES_HEIGHT >> 1;
    const begin = max(left, floor(left + (start[0] - from) * scale)), end = min(width, ceil(left + (states.end - from) * scale));
    let i = max(0, firstIndex(count, k => start[k] > from + (begin - left) / scale) - 1);
    for (let x = begin; x < end; x++) {
        const t0 = max(start[0], from + (x - left) / scale), t1 = from + (x + 1 - left) / scale, column = round(x / ratio - 0.5);
        while (i + 1 < count && start[i + 1] <= t0) i = start[i + 2] <= t0 ? firstIndex(count, k => start[k] > t0) - 1 : i + 1;
        const parts = start[i + 1] >= t1 ? null : states.split(t0, min(t1, states.end)), all = t1 - t0;
        const high = k => parts ? parts[k] > 0 && max(1, round(STATES_HEIGHT * parts[k] / all)) : kind[i] === k && STATES_HEIGHT;
        const running = high(RUNNING), ready = high(READY), waits = parts ? parts[WAITING] > 0 : kind[i] === WAITING;
        for (let y = 0; y < STATES_HEIGHT; y++) {
            const up = STATES_HEIGHT - 1 - y;
            if (up < running) lines[y][x] = paint[RUNNING];
            else if (up < running + ready) lines[y][x] = (column + y) % 4 < 2 ? paint[READY] : 0;
            else if (y === middle && (waits || column % 4 === 0)) lines[y][x] = paint[waits ? WAITING : 0];
        }
    }
    return lines;
}
