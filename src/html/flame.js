// Flame graphs: which boxes are drawn, and which are left out. A box stands for the ones that are left out.

import { el } from './dom.js';
import { ceil, grouped, max, min } from './text.js';

/** Limits of one drawing: the width of the narrowest box, as a share of the whole; levels; boxes. */
const NARROW = 0.0015, LEVELS = 60, BOXES = 3000;

/** So many of the children that are all too narrow are drawn when they are zoomed to: the widest is wider than NARROW then. */
const PART = 500;

/**
 * Returns a node that stands for some children of another node. If these are the last ones, it also stands for what is below
 * the other node but was not made a node.
 * @param {object} node @param {number} first @param {number} end the first child that is not in it
 * @param {(node: object) => number} widthOf @returns {object | null} null: they have no width
 */
function restOf(node, first, end, widthOf) {
    const children = node.children.slice(first, end), width = children.reduce((sum, child) => sum + widthOf(child), end < node.children.length ? 0 : node.deeper || 0);
    return width > 0 ? { rest: `${first}-${end}`, up: node, children, width } : null;
}

/** Returns from the key of a node that stands for others which children these are, first and end. Returns null for other keys. */
function restFrom(key) {
    const match = /^(\d+)-(\d+)$/.exec(String(key));
    return match && [Number(match[1]), Number(match[2])];
}

/** Returns how many nodes a node stands for, and on how many levels. more: 1: there are others, which were not made nodes. */
export function countRest(rest) {
    let count = 0, levels = 0, more = rest.children.length === 0;
    for (let level = rest.children; level.length; level = level.flatMap(node => node.children)) {
        count += level.length;
        levels++;
        more = more || level.some(node => node.deeper);
    }
    return { count, levels, more };
}

/**
 * Returns the boxes of a node and of all below it. The boxes of a node's children stand side by side. Together with the node's
 * self time, and with a box for the children that are left out, they fill its width. A child is left out if it is too narrow,
 * and all of them are if they are too deep. Children must be sorted, the widest first.
 * @param {object} root @param {(node: object) => number} widthOf
 * @returns {{node: object, left: number, width: number, depth: number, deep?: boolean}[]} deep: left out, because it is too deep
 */
export function flameBoxes(root, widthOf) {
    const boxes = [], sizeOf = node => node.rest === undefined ? widthOf(node) : node.width;
    let level = [{ node: root, left: 0, width: 1, depth: root.up ? 0 : -1 }];
    if (root.up) boxes.push(level[0]);
    while (level.length) {
        const next = [], deep = level[0].depth + 1 >= LEVELS || boxes.length >= BOXES;
        for (const { node, left, width, depth } of level) {
            const shareOf = size => sizeOf(node) > 0 ? width * min(1, size / sizeOf(node)) : 0;
            let x = left, n = 0;
            for (; !deep && n < node.children.length && shareOf(widthOf(node.children[n])) >= NARROW; n++) {
                const box = { node: node.children[n], left: x, width: shareOf(widthOf(node.children[n])), depth: depth + 1 };
                x += box.width;
                boxes.push(box);
                next.push(box);
            }
            const count = node.children.length, parts = n === 0 && !deep && node.rest !== undefined ? max(PART, ceil(count / PART)) : max(1, count);
            do {
                const rest = restOf(node, n, n += min(parts, count - n), widthOf);
                if (!rest) break;
                boxes.push({ node: rest, left: x, width: shareOf(rest.width), depth: depth + 1, deep: deep || count === 0 });
                x += shareOf(rest.width);
            } while (n < count);
        }
        level = next;
    }
    return boxes;
}

/** Returns the node to which a path leads; if there is none, the last node on the path. */
export function along(root, path, key, widthOf) {
    for (const id of path || []) {
        const part = restFrom(id), next = part ? restOf(root, ...part, widthOf) : root.children.find(child => child[key] === id);
        if (!next) break;
        root = next;
    }
    return root;
}

/** Returns the path after a click on a node: to the node, or to its parent if the graph is already zoomed to the node. */
export function zoomed(node, before, key) {
    const path = [];
    for (let at = node; at.up; at = at.up) path.unshift(at.rest === undefined ? at[key] : at.rest);
    return before && path.join() === before.join() ? path.slice(0, -1) : path;
}

/** Returns how many levels a path leads down. */
export function levelsOf(path) { return max(0, (path || []).filter(id => !restFrom(id)).length); }

/**
 * A flame graph. @param {(node: object) => object} show returns name, text, and properties of the element of a node
 * @param {{text: (width: number) => string, zoom: (node: object) => void}} rest what is left out: what its width says, and what a click does
 */
export function flameBox(title, root, widthOf, show, rest) {
    const box = el('div.flame', { role: 'group', 'aria-label': title }), boxes = flameBoxes(root, widthOf);
    const left = ({ node, deep }) => {
        const { count, levels, more } = countRest(node), text = node === root ? `${grouped(count)} that were left out` : `${count ? `${grouped(count)}${more ? ' and more' : ''} left out` : 'Left out'}, too ${deep ? levels > 1 ? `deep: ${grouped(levels)} levels` : 'deep' : 'narrow'}`;
        return { name: text, text: `${text}; ${rest.text(node.width)}; a click ${node === root ? 'zooms out' : 'shows them'}`, class: 'rest', onclick: () => rest.zoom(deep ? node.up : node) };
    };
    for (const each of boxes) {
        const { name, text, style, ...more } = each.node.rest === undefined ? show(each.node) : left(each);
        box.append(el('button', { title: text, 'aria-label': text, style: { left: `${each.left * 100}%`, width: `${each.width * 100}%`, top: `${each.depth * 20}px`, ...style }, ...more },
            each.width > 0.02 ? name : ''));
    }
    box.style.height = `${20 * (1 + boxes.reduce((most, each) => max(most, each.depth), 0))}px`;
    return box;
}
