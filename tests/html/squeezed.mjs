// What src/assemble.sh leaves out of the page's scripts means nothing: both have the same syntax tree.
//   node tests/html/squeezed.mjs     at the top of the repository; acorn is in NODE_FOLDER
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { check, total } from './count.mjs';

const { parse } = createRequire(path.resolve(process.env.NODE_FOLDER) + '/')('acorn');

/** Declarations that follow each other are one. */
const merged = list => list.reduce((all, node) => {
    const last = all.at(-1), isLet = each => each && each.type === 'VariableDeclaration' && each.kind !== 'var';
    if (isLet(last) && isLet(node)) all[all.length - 1] = { ...last, declarations: [...last.declarations, ...node.declarations] };
    else all.push(node);
    return all;
}, []);

/** Without places, and without the extra parts of a text; what is declared with const may be with let, and with what is declared next, and 0.5 may be .5. */
const plain = tree => JSON.stringify(tree, (key, value) => key === 'start' || key === 'end' || key === 'sourceType' ? undefined : key === 'kind' && value === 'const' ? 'let' : key === 'raw' && /^\.\d/.test(value) ? '0' + value : typeof value === 'bigint' ? `${value}n` : value instanceof RegExp ? String(value) : Array.isArray(value) ? merged(value) : value);

/** The statements of modules, which are one script in the page. */
function statements(folder, names) {
    return names.flatMap(name => parse(fs.readFileSync(path.join(folder, name), 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' }).body)
        .filter(node => node.type !== 'ImportDeclaration').map(node => node.type === 'ExportNamedDeclaration' ? node.declaration : node);
}

/** The strings of an array of a header, as one. */
const textOf = (header, array) => [...new RegExp(`${array}[^]*?(NULL\\};|$)`).exec(fs.readFileSync(header, 'utf8'))[0].matchAll(/^ {4}"(.*?)(\\n)?"$/gm)]
    .map(([, text, end]) => text.replace(/\\(.)/g, '$1') + (end ? '\n' : '')).join('');

function compare(name, folder, names, script) {
    const code = /\(\(\) => \{\n([^]*)\}\)\(\);/.exec(script);
    if (!code) return check(name, false, 'there is no script');
    let got;
    try { got = parse(code[1], { ecmaVersion: 'latest' }).body; } catch (error) { return check(name, false, `${error.message}: ${code[1].split("\n")[error.loc.line - 1]}`); }
    got = merged(got);
    const wanted = merged(statements(folder, names)), off = wanted.findIndex((node, i) => plain(node) !== plain(got[i] || null)), of = list => plain(list[off] || null).slice(0, 300);
    check(`${name}: ${wanted.length} statements`, off < 0 && got.length === wanted.length, `statement ${off} of ${wanted.length}: ${of(wanted)} became ${of(got)}`);
    return check(`${name}: no comment is left`, !/^\s*(\/\/|\/?\*)/m.test(code[1]), 'one is');
}

const TRICKY = String.raw`// a comment
import { x,
    v } from './no.js';
/** a comment
 * of lines; '
 */
export const a = 1, b = 2, c = a / b / a, d = 'it\'s // no comment', e = "/* nor this */", f = /[/"']\/\/ *x/g; // "a"
export function g(h) { return /  two/.test(h) ? [/a  b/, a - -b, a + +b, a++ + ++b] : typeof /'/; /* it's */ }
const i = ${'`'}  // kept ${'${'} a / b ${'}'} ${'${'} { k: '}  ${'`'}' }.k ${'}'} ${'${'}${'`'}  ${'${'}b${'}'}  ${'`'}${'}'}${'`'}, j = a ?  .5 : 5 .toFixed();
let k = g(2) / 3 / 4, l = [1, 2][0] / 2 / 1, m = (a) / b / c, n = k-- - --l, o = a in { a } instanceof g, $p = a, q = $p / 2 / 1;
for (const r of [/ x/, a]) if (r) k = r; else delete k.l; label: while (false) continue label;
function* s() { yield /'/; }
function aconst() {
    const { $const: b = 1 } = a, c = ${'`'}const ${'${'} (() => { const d = 1; return d; })() ${'}'}${'`'}; // const
    return 'const ' + b + c;
}
function merges() {
    const a = 1;
    let b = a;
    const { c, d } = b;
    const [e] = d; b = e;
    const f = ';';
    const g = () => { b = 2; return c; };
    const h = () => b;
    return f + g + h;
}
const numbers = () => { for (;;) return 0.5 + [0.25e1, -0.5, 10.5, a ? 0.5 : 0, '0.5', ${'`'}0.5 ${'${'} 0.5 / 2 ${'}'}${'`'}, 0 / 0.5]; };
const t = { async v() { await / '/; }, get u() { return '  '; }, 'v w': 1 }, w = "\"  //", y = ' \\', z = !/ a/.test(y)  && (x => / b/);
`;

const root = process.cwd(), folder = fs.mkdtempSync(path.join(os.tmpdir(), 'prof-squeezed-'));
fs.mkdirSync(path.join(folder, 'src/page'), { recursive: true });
fs.copyFileSync('src/assemble.sh', path.join(folder, 'src/assemble.sh'));
fs.writeFileSync(path.join(folder, 'src/tricky.h'), '/* tricky\n*/\n/* the lines of page/tricky.html */\n');
fs.writeFileSync(path.join(folder, 'src/page/tricky.html'), '<p id="a-1" title="b c" class="" lang="d">\n(() => {\n@tricky.js\n})();\n');
fs.writeFileSync(path.join(folder, 'src/page/tricky.js'), TRICKY);
execFileSync('sh', ['src/assemble.sh', '--force'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
process.chdir(folder);
compare('tricky', 'src/page', ['tricky.js'], textOf('tricky.h', '/. tricky'));
check('tricky: quotes around values that need none are left out', textOf('tricky.h', '/. tricky').includes('<p id=a-1 title="b c" class="" lang=d>'), textOf('tricky.h', '/. tricky'));
check('tricky: 0.5 became .5', textOf('tricky.h', '/. tricky').includes("return.5+[.25e1,-.5,10.5,a?.5:0,'0.5',`0.5 ${.5/2}`,0/.5]"), textOf('tricky.h', '/. tricky'));
check('tricky: const became let inside only', /\bconst t=.*/.test(textOf('tricky.h', '/. tricky')) && textOf('tricky.h', '/. tricky').includes('let{$const:b=1}=a'), textOf('tricky.h', '/. tricky'));
fs.writeFileSync('src/page/tricky.js', 'const a = `goes\non`;\n');
let refused = '';
try { execFileSync('sh', ['src/assemble.sh', '--force'], { stdio: 'pipe' }); } catch (error) { refused = String(error.stderr); }
check('tricky: a literal of two lines is refused', refused.includes('goes on in the next line'), refused);
process.chdir(root);
fs.rmSync(folder, { recursive: true });
const names = page => fs.readFileSync(page, 'utf8').split('\n').filter(line => /^@.*\.js$/.test(line)).map(line => line.slice(1));
compare('the page', 'src/html', names('src/html/index.html'), textOf('prof_html.h', 'prof__html_page'));
compare('the live part', 'src/html', names('src/html/live.html'), `(() => {\n${textOf('prof_html.h', 'prof__html_live')}})();`);
total();
