// Elements of the page. All texts are set as text, never as markup, because names in a report may be hostile.

import { ns, moment, grouped, bytes, visible } from './text.js';

export const $ = id => document.getElementById(id);

/**
 * @param {string} tag "div.class" @param {Record<string, any>} [properties] onclick and the like are functions
 * @param {...(Node | string | null)} children @returns {HTMLElement}
 */
export function el(tag, properties = {}, ...children) {
    const [name, ...classes] = tag.split('.'), element = document.createElement(name);
    if (classes.length) element.className = classes.join(' ');
    for (const [key, value] of Object.entries(properties)) {
        if (key.startsWith('on')) element[key] = value;
        else if (key === 'style') Object.assign(element.style, value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : visible(String(value)));
    }
    element.append(...children.filter(child => child !== null && child !== undefined).map(child =>
        typeof child === 'object' ? child : document.createTextNode(visible(String(child)))));
    return element;
}

/** Returns what a cell of a table says, in one line. */
function plainText(cell) { return (cell instanceof Node ? cell.textContent : String(cell ?? '')).replace(/[\t\r\n]/g, ' '); }

export const tools = (...children) => el('div.bar-of-tools', {}, ...children);

/** A list to choose from. @param {[any, string][]} list values and texts @param {(value: string) => void} choose */
export function select(title, list, chosen, choose) {
    return el('select', { 'aria-label': title, onchange: event => choose(event.target.value) },
        ...list.map(([value, text]) => el('option', { value, selected: String(value) === String(chosen) }, text)));
}

/** Copies a text to the clipboard, and shows that on the button. Pages that come by HTTP from another machine lack the clipboard's API, so an older way is used. */
export function copy(button, text) {
    const done = () => { button.textContent = 'Copied'; };
    if (navigator.clipboard) return void navigator.clipboard.writeText(text).then(done);
    const area = el('textarea');
    area.value = text;
    button.after(area);
    area.select();
    if (document.execCommand('copy')) done();
    area.remove();
}

/** Tells a text to screen readers. */
export function tell(text) { $('live').textContent = text; }

/** A text that leads somewhere. */
export const linkTo = (text, onclick) => el('button.link', { onclick }, text);

/** What the reader sorted tables by, and has unfolded, by the names of the tables; until another report is shown. */
let memories = {};
export function forget() { memories = {}; }

/** Columns of a table, by what stands in them. by: what is sorted by; show: how it is written. */
export const by = (title, get, show) => ({ title, get, show });
export const links = (title, get, pick) => ({ title, text: true, get, show: row => linkTo(get(row), () => pick(row)) });
export const words = (title, get, note) => ({ title, get, note, text: true });
const numbers = format => (title, get, note) => ({ title, note, get: row => get(row) || 0, show: row => format(get(row)) });
export const times = numbers(ns), moments = numbers(moment), counts = numbers(grouped), sizes = numbers(bytes);

/**
 * A table that sorts by a click on a title.
 * @param {{title: string, get: (row: any) => any, show?: (row: any) => string, text?: boolean, note?: string}[]} columns
 *     get: what is sorted by; text: no number
 * @param {any[]} rows
 * @param {{caption: string, sort?: number, up?: boolean, onpick?: (row: any) => void, picked?: (row: any) => boolean,
 *     limit?: number, inner?: (row: any) => any[] | undefined, open?: boolean, memory: string}} options inner: rows
 *     that belong to a row, which has an id, and are shown below it if it is unfolded; open: it is, until somebody folds it; memory:
 *     under this name is kept what the reader sorted by, and has unfolded
 */
export function table(columns, rows, options) {
    const memory = options.memory ? memories[options.memory] = memories[options.memory] || {} : {};
    if (memory.sort === undefined) {
        memory.sort = options.sort || 0;
        memory.up = Boolean(options.up);
    }
    const root = el('div.scroll', { tabindex: 0, role: 'region', 'aria-label': options.caption });
    let limit = options.limit || 300;
    memory.folds = memory.folds || new Map();
    const isOpen = row => memory.folds.has(row.id) ? memory.folds.get(row.id) : Boolean(options.open);
    const draw = () => {
        const { get } = columns[memory.sort], sign = memory.up ? 1 : -1;
        const inOrder = list => list.map(row => [get(row), row]).sort(([a], [b]) =>
            sign * (typeof a === 'string' ? a.localeCompare(b) : (a > b) - (a < b))).map(([, row]) => row);
        const within = new Set(), sorted = inOrder(rows).flatMap(row => {
            const inner = options.inner && isOpen(row) ? inOrder(options.inner(row) || []) : [];
            for (const each of inner) within.add(each);
            return [row, ...inner];
        });
        const head = el('tr', {}, ...columns.map((column, i) => el('th', { scope: 'col', title: column.note || null,
            class: column.text ? 'text' : null,
            'aria-sort': i === memory.sort ? memory.up ? 'ascending' : 'descending' : null },
        el('button', { onclick: () => {
            memory.up = i === memory.sort ? !memory.up : Boolean(column.text);
            memory.sort = i;
            draw();
        } }, column.title + (i === memory.sort ? memory.up ? ' \u25b4' : ' \u25be' : '')))));
        const body = sorted.slice(0, limit).map(row => {
            const line = el('tr', { class: [options.picked && options.picked(row) && 'picked', within.has(row) && 'within'].filter(Boolean).join(' ') || null });
            columns.forEach((column, i) => {
                const shown = (column.show || column.get)(row), cell = el('td', { class: column.text ? 'text' : null });
                if (i === 0 && options.inner && options.inner(row)) {
                    const open = isOpen(row), what = `${grouped(options.inner(row).length)} names`;
                    cell.append(el('button.fold', { 'aria-expanded': String(open), 'aria-label': `${shown}: ${what}`, title: what, onclick: () => {
                        memory.folds.set(row.id, !open);
                        draw();
                    } }, open ? '\u25be' : '\u25b8'));
                }
                if (i === 0 && options.onpick) cell.append(linkTo(shown, () => options.onpick(row)));
                else if (shown instanceof Node) cell.append(shown);
                else cell.textContent = visible(String(shown ?? ''));
                if (column.text) cell.title = typeof shown === 'string' ? cell.textContent : '';
                line.append(cell);
            });
            if (options.onpick) line.ondblclick = () => options.onpick(row);
            return line;
        });
        const more = sorted.length > limit ? el('button', { onclick: () => { limit *= 4; draw(); } },
            `Show more: ${grouped(sorted.length - limit)} rows are left`) : null;
        const button = el('button.copy', { onclick: event => copy(event.target, [columns.map(c => c.title),
            ...sorted.map(row => columns.map(c => plainText((c.show || c.get)(row))))].map(line => line.join('\t')).join('\n')) }, 'Copy');
        root.replaceChildren(el('table', {}, el('caption', {}, options.caption + ' ', button), el('thead', {}, head), el('tbody', {}, ...body)));
        if (more) root.append(more);
    };
    draw();
    return root;
}
