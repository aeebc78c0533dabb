// Columns of numbers: arrays that grow while a report is read, and searches in sorted arrays.

/** An array of numbers that grows. */
export class Growing {
    /** @param {Float64ArrayConstructor | Uint32ArrayConstructor} type */
    constructor(type) {
        this.type = type;
        this.items = new type(4);
    }
    /** @param {number} i @param {number} value */
    put(i, value) {
        if (i >= this.items.length) {
            const more = new this.type(Math.ceil(this.items.length * 1.7));
            more.set(this.items);
            this.items = more;
        }
        this.items[i] = value;
    }
    /** The plain array. @param {number} count */
    close(count) { return this.items.slice(0, count); }
}

/** Returns the value of a key. If the map has none, calls `make`, and adds its result. */
export function entryOf(map, key, make) {
    if (!map.has(key)) map.set(key, make());
    return map.get(key);
}

/** Returns the first index below n for which test is true; n if there is none. test must be false before it, and true after. */
export function firstIndex(n, test) {
    let low = 0, high = n;
    while (low < high) {
        const middle = low + high >>> 1;
        if (test(middle)) high = middle; else low = middle + 1;
    }
    return low;
}

/**
 * Whether a thing and a range have time in common. If one only ends where the other begins, they have none, unless one of
 * them has no length. So two adjacent ranges share no scope, but a range that ends with a scope has the events at its end.
 * @param {number} start @param {number} end of the thing @param {number} from @param {number} to of the range
 */
export function touches(start, end, from, to) {
    return start < end && from < to ? start < to && end > from : start <= to && end >= from;
}

/**
 * Merges sorted lists of times: returns the order of all their elements, as pairs (list, index) in two arrays.
 * @param {{length: number}[]} lists of times @returns {{list: Uint32Array, index: Uint32Array}}
 */
export function mergeOrder(lists) {
    let runs = lists.map((times, list) => ({ list: new Uint32Array(times.length).fill(list),
        index: Uint32Array.from({ length: times.length }, (_, i) => i) }));
    while (runs.length > 1) {
        const next = [];
        for (let i = 0; i < runs.length; i += 2) next.push(i + 1 < runs.length ? mergeTwo(lists, runs[i], runs[i + 1]) : runs[i]);
        runs = next;
    }
    return runs[0] || { list: new Uint32Array(0), index: new Uint32Array(0) };
}

function mergeTwo(lists, x, y) {
    const n = x.list.length, m = y.list.length, list = new Uint32Array(n + m), index = new Uint32Array(n + m);
    for (let i = 0, j = 0, k = 0; k < n + m; k++) {
        const first = j >= m || (i < n && lists[x.list[i]][x.index[i]] <= lists[y.list[j]][y.index[j]]);
        list[k] = first ? x.list[i] : y.list[j];
        index[k] = first ? x.index[i++] : y.index[j++];
    }
    return { list, index };
}
