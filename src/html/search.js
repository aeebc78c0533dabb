// The search for scopes: by parts of names, cat:NAME, key=value, >2ms, <100us. A scope is found if it matches every word.

import { parseTime, shown } from './text.js';

/** Parses the text of the search field. @param {string} text */
export function parseQuery(text) {
    const query = { names: [], categories: [], args: [], least: 0, most: Infinity, empty: true };
    for (const word of text.trim().split(/\s+/).filter(Boolean)) {
        query.empty = false;
        const time = /^[<>]/.test(word) ? parseTime(word.slice(1)) : NaN, equals = word.indexOf('=');
        if (word[0] === '>' && !Number.isNaN(time)) query.least = time;
        else if (word[0] === '<' && !Number.isNaN(time)) query.most = time;
        else if (word.startsWith('cat:')) query.categories.push(word.slice(4).toLowerCase());
        else if (equals > 0) query.args.push([word.slice(0, equals).toLowerCase(), word.slice(equals + 1).toLowerCase()]);
        else query.names.push(word.toLowerCase());
    }
    return query;
}

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
            const level = track.levels[depth], listed = query.args.length ? level.args.index : null, n = listed ? listed.length : level.count;
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
    return query.args.every(([key, wanted]) => args.some(([name, v]) => name.toLowerCase() === key &&
        (shown(v).toLowerCase() === wanted || String(v).toLowerCase() === wanted)));
}
