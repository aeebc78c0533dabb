// Writes numbers and times as texts, and parses times.

export const { abs, ceil, floor, max, min, round } = Math; // short names make the page shorter

const units = [['ns', 1], ['us', 1e3], ['ms', 1e6], ['s', 1e9], ['m', 60e9], ['h', 3600e9]];

/** Writes a number in a suitable unit, as prof__human() does: in four digits. */
function human(value, names) {
    if (!Number.isFinite(value)) return '-';
    let unit = 0;
    while (unit < names.length - 1 && abs(value) >= 1000 ** (unit + 1) * 0.99995) unit++;
    const scaled = value / 1000 ** unit, size = abs(scaled);
    if (!unit) return `${size < 10 && scaled % 1 ? scaled.toFixed(1) : round(scaled)} ${names[0]}`;
    return `${scaled.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3)} ${names[unit]}`;
}

/** Writes a duration, as in 1.234 ms. @param {number} value nanoseconds */
export function ns(value) { return human(value, ['ns', '\u00b5s', 'ms', 's']); }

/** Writes a moment, as in 1,234.567891 ms. @param {number} at nanoseconds */
export function moment(at) {
    const whole = floor(abs(at) / 1e6), rest = round(abs(at) - whole * 1e6);
    return `${at < 0 ? '-' : ''}${grouped(whole)}.${String(rest).padStart(6, '0')} ms`;
}

/** @param {number} value */
export function grouped(value) { return String(round(value)).replace(/\B(?=(\d{3})+$)/g, ','); }

/** Bytes, as in 1.234 MB. @param {number} value */
export function bytes(value) { return human(value, ['B', 'kB', 'MB', 'GB', 'TB']); }

/** A text in which signs that turn the direction of what follows are escapes: a name with one could pass for another. @param {string} text */
export function visible(text) { return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, sign => `\\u${sign.charCodeAt(0).toString(16)}`); }

/** A value of an argument or a counter. */
export function shown(v) {
    if (typeof v === 'number') {
        if (Number.isInteger(v)) return abs(v) < 1e15 ? grouped(v) : String(v);
        return abs(v) >= 1e6 || abs(v) < 1e-3 ? v.toPrecision(6) : String(Number(v.toPrecision(7)));
    }
    return v === null ? '' : String(v);
}

/** Writes a value of a counter in the unit that the program gave. The counter's name is not interpreted. @param {number} v @param {string} unit */
export function measured(v, unit) {
    if (/^(B|bytes?)$/.test(unit)) return Number.isFinite(v) ? bytes(v) : `${v} B`;
    const [, scale] = units.slice(0, 4).find(([name]) => name === unit.replace(/^[\u00b5\u03bc]s$/, 'us')) || [], time = v * scale;
    if (time === 0 || abs(time) >= 0.1 && abs(time) < 1e18) return ns(time);
    return unit ? `${shown(v)} ${unit}` : shown(v);
}

/** Parses a duration such as "2ms"; without a unit, it is in ns. @returns nanoseconds; NaN: it is no duration. @param {string} text */
export function parseTime(text) {
    const match = /^([0-9]*\.?[0-9]+)\s*(ns|us|\u00b5s|ms|s|m|h)?$/.exec(text);
    if (!match) return NaN;
    const unit = units.find(([name]) => name === (match[2] === '\u00b5s' ? 'us' : match[2] || 'ns'));
    return Number(match[1]) * unit[1];
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least `least`. @param {number} least */
export function niceStep(least) {
    const power = 10 ** floor(Math.log10(least));
    for (const times of [1, 2, 5]) if (power * times >= least) return power * times;
    return power * 10;
}

/** Writes a time on the axis, with as many digits as tell it from the next one. @param {number} at @param {number} step */
export function axisTime(at, step) {
    const size = max(abs(at), step), unit = size >= 1e9 ? 3 : size >= 1e6 ? 2 : size >= 1e3 ? 1 : 0;
    const digits = max(0, min(9, ceil(Math.log10(units[unit][1] / step) - 1e-9)));
    return `${(at / units[unit][1]).toFixed(digits)} ${unit === 1 ? '\u00b5s' : units[unit][0]}`;
}

/** Returns "file.c:12" or the like; "" if there is no file. */
export function where(label) { return label.file && label.file.replace(/^.*[\\/]/, '') + (label.line ? `:${label.line}` : ''); }
