// Writes numbers and times as texts, and parses times.

export const { abs, ceil, floor, max, min, round } = Math; // short names make the page shorter

const units = ['ns', '\u00b5s', 'ms', 's'], scales = { ns: 1, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3, ms: 1e6, s: 1e9 };

/** Puts commas between the digits before the point. @param {string} digits */
const commas = digits => digits.replace(/\d+/, whole => whole.replace(/\B(?=(...)+$)/g, ','));

/** Writes a number of 0 or more; rounds it as prof__fixed() does. */
const fixed = (v, decimals) => commas((floor(v * 10 ** decimals + 0.5) / 10 ** decimals).toFixed(decimals));

/** Writes a number in a suitable unit, as prof__human() does: in four digits. */
function human(value, names) {
    if (!Number.isFinite(value)) return '-';
    let size = abs(value), unit = 0;
    for (; size >= 999.95 && names[unit + 1]; unit++) size /= 1000;
    return `${value < 0 ? '-' : ''}${fixed(size, size >= 999.95 || !unit && !(size % 1) ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3)} ${names[unit]}`;
}

/** Writes a duration, as in 1.234 ms. @param {number} value nanoseconds */
export function ns(value) { return human(value, units); }

/** Writes a moment, as in 1,234.567891 ms. @param {number} at nanoseconds */
export function moment(at) { return commas((at / 1e6).toFixed(6)) + ' ms'; }

/** @param {number} value */
export function grouped(value) { return commas(String(round(value))); }

/** Bytes, as in 1.234 MB. @param {number} value */
export function bytes(value) { return human(value, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']); }

/** A text in which signs that turn the direction of what follows are escapes: a name with one could pass for another. @param {string} text */
export function visible(text) { return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, sign => `\\u${sign.charCodeAt(0).toString(16)}`); }

/** A value of an argument or a counter; numbers as prof__counter_text() does. */
export function shown(v) {
    if (typeof v !== 'number') return typeof v === 'bigint' ? commas(String(v)) : v === null ? '' : String(v);
    if (!Number.isFinite(v)) return String(v).toLowerCase().replace('inity', '');
    const size = abs(v);
    if (size > 2 ** 53 || v && size < 1e-4) return v.toExponential(5).replace(/\.?0*e/, 'e');
    let scale = 1;
    if (v % 1) for (let unit = 1e5; size < unit; unit /= 10) scale *= 10;
    return (v < 0 ? '-' : '') + commas(String(v % 1 ? floor(size * scale + 0.5) / scale : size));
}

/** Writes a value of a counter in the unit that the program gave. The counter's name is not interpreted. @param {number} v @param {string} unit */
export function measured(v, unit) {
    const kind = /^(B|bytes?)$/.test(unit) ? bytes : ns, scaled = v * (kind === bytes ? 1 : scales[unit]);
    if (scaled === 0 || abs(scaled) >= 0.1 && abs(scaled) < 1e18) return kind(scaled);
    return shown(v) + (unit && ' ' + unit);
}

/** Parses a duration such as "2ms"; without a unit, it is in ns. @returns nanoseconds; NaN: it is no duration. @param {string} text */
export function parseTime(text) {
    const match = /^([0-9]*\.?[0-9]+)\s*(ns|us|\u00b5s|ms|s|m|h)?$/.exec(text);
    return match ? Number(match[1]) * ({ m: 60e9, h: 3600e9 }[match[2]] || scales[match[2] || 'ns']) : NaN;
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least `least`. @param {number} least */
export function niceStep(least) {
    const power = 10 ** floor(Math.log10(least));
    return power * ([1, 2, 5].find(times => power * times >= least) || 10);
}

/** Writes a time on the axis, with as many digits as tell it from the next one. @param {number} at @param {number} step */
export function axisTime(at, step) {
    const size = max(abs(at), step), unit = size >= 1e9 ? 3 : size >= 1e6 ? 2 : size >= 1e3 ? 1 : 0;
    const digits = max(0, min(9, ceil(3 * unit - Math.log10(step) - 1e-9)));
    return `${(at / 1000 ** unit).toFixed(digits)} ${units[unit]}`;
}

/** Returns "file.c:12" or the like; "" if there is no file. */
export function where(label) { return label.file && label.file.replace(/^.*[\\/]/, '') + (label.line ? `:${label.line}` : ''); }
