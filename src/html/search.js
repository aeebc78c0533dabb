// The search: by parts of names, "words in quotes", cat:NAME, key=value, key>100, >2ms, <100us. What is found matches every word: scopes,
// also by values of their arguments, threads, spans, messages and counters.

import { parseTime, shown } from './text.js';

/** Parses the text of the search field. @param {string} text */
export function parseQuery(text) {
    const query = { names: [], categories: [], args: [], compared: [], least: 0, most: Infinity, empty: true };
    for (const word of text.match(/(?:"[^"]*"?|[^\s"])+/g) || []) {
        const plain = word.replace(/"/g, '').toLowerCase(), quoted = word[0] === '"', [, bound, time] = /^([<>])=?(.+)$/.exec(quoted ? '' : plain) || [];
        const [, key, sign, value] = /^([^<>=]+)([<>]=?|=)(.*)$/.exec(quoted ? '' : plain) || [], number = key ? numberOfText(value) : NaN;
        if (!plain) continue;
        query.empty = false;
        if (bound === '>' && parseTime(time) >= 0) query.least = parseTime(time);
        else if (bound && parseTime(time) >= 0) query.most = parseTime(time);
        else if (!quoted && plain.startsWith('cat:')) query.categories.push(plain.slice(4));
        else if (sign === '=') query.args.push([key, value]);
        else if (number === number) query.compared.push([key, sign, number]);
        else query.names.push(plain);
    }
    return query;
}

/** A number as it is typed: decimal, hexadecimal, with commas, or a time in ns. NaN: it is none. */
const numberOfText = text => { const plain = text.replace(/(\d),(?=\d{3})/g, '$1'); return plain && Number.isFinite(Number(plain)) ? Number(plain) : parseTime(text); };

/** Whether the name and category of a label match. A name that a format has made is also found by the format. */
export function labelMatches(query, label) {
    const name = label.name.toLowerCase(), category = label.category.toLowerCase(), format = label.format ? label.format.name.toLowerCase() : '';
    return query.names.every(word => name.includes(word) || format.includes(word)) &&
        query.categories.every(word => category.includes(word));
}

/** Returns the scopes that match, at most `limit`. The property `more` says whether there are further ones. */
export function findScopes(report, query, limit = 20000) {
    const { nodes, labels } = report, mine = new Uint8Array(nodes.count), hits = [];
    const fits = labels.map(label => labelMatches(query, label));
    for (let n = 1; n < nodes.count; n++) mine[n] = fits[nodes.label[n]] ? 1 : 0;
    hits.more = false;
    for (const track of report.tracks) {
        for (let depth = 0; depth < track.levels.length; depth++) {
            const level = track.levels[depth], listed = query.args.length + query.compared.length ? level.args.index : null, n = listed ? listed.length : level.count;
            for (let k = 0; k < n; k++) {
                const i = listed ? listed[k] : k;
                if (i >= level.count || !mine[level.node[i]]) continue;
                const duration = level.durationOf(i);
                if (duration < query.least || duration > query.most) continue;
                if (listed && !argsMatch(query, report.argsAt(level.args.place[k]))) continue;
                if (hits.length === limit) {
                    hits.more = true;
                    return hits;
                }
                hits.push({ track, depth, i, start: level.start[i], duration });
            }
        }
    }
    return hits;
}

function argsMatch(query, args) {
    const has = (key, test) => args.some(([name, v]) => name.toLowerCase() === key && test(v));
    return query.args.every(([key, wanted]) => has(key, v => shown(v).toLowerCase() === wanted || String(v).toLowerCase() === wanted || (typeof v !== 'string' && v !== null && Number(v) === numberOfText(wanted)))) &&
        query.compared.every(([key, sign, number]) => has(key, v => typeof v !== 'string' && v !== null && (sign[1] && Number(v) === number || (sign[0] === '>' ? Number(v) > number : Number(v) < number))));
}

/** Whether a word is a part of a text, or a number. */
const wordMatches = (word, v) => typeof v === 'string' ? v.toLowerCase().includes(word) : v !== null && Number(v) === numberOfText(word);

/** Returns what matches besides scopes by their names: {values: scopes by values of their arguments, threads, spans, messages, counters}. */
export function findOthers(report, query, limit = 5000) {
    const { names, categories, args, compared, least, most } = query, timed = least > 0 || most < Infinity, plain = names.length > 0 && !args.length && !compared.length;
    const found = { values: [], threads: [], spans: [], messages: [], counters: [] }, category = ({ category: own }) => categories.every(word => own.toLowerCase().includes(word));
    const named = (...texts) => names.every(word => texts.some(text => wordMatches(word, text)));
    const few = list => Object.assign(list.slice(0, limit), { more: list.length > limit });
    if (query.empty) return found;
    found.spans = few(report.spans.filter(span => {
        const label = report.labels[span.label];
        return span.duration >= least && span.duration <= most && category(label) && argsMatch(query, span.args) && named(label.name, Number(span.id), ...span.args.map(([, v]) => v));
    }));
    if (!plain) return found;
    if (!timed && !categories.length) {
        found.threads = report.tracks.filter(track => named(track.full, Number(track.thread)));
        found.counters = report.counters.filter(({ name, unit }) => named(name, unit));
    }
    if (!timed) found.messages = few(report.messages.filter(({ text, label }) => named(text) && category(label)));
    let left = 300000; // lists of arguments that are looked at
    for (const track of report.tracks) track.levels.forEach((level, depth) => level.args.index.forEach((i, k) => {
        if (left-- <= 0 || found.values.length >= limit) found.values.more = true;
        if (found.values.more || i >= level.count) return;
        const label = report.labels[report.nodes.label[level.node[i]]], duration = level.durationOf(i);
        if (duration < least || duration > most || labelMatches(query, label) || !category(label) || !named(label.name, ...report.argsAt(level.args.place[k]).map(([, v]) => v))) return;
        found.values.push({ track, depth, i, start: level.start[i], duration });
    }));
    return found;
}
