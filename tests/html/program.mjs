// A program that is watched while it runs, of make_live.c.
import { spawn } from 'node:child_process';

/** Starts it. line() is the next line that it prints. */
export async function begin(program, ...list) {
    const child = spawn(program, list, { stdio: ['pipe', 'pipe', 'inherit'] }), lines = [], waiting = [];
    let text = '';
    child.stdout.on('data', data => {
        text += data;
        for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) (waiting.shift() || (l => lines.push(l)))(text.slice(0, end));
    });
    child.on('exit', () => { while (waiting.length) waiting.shift()(''); });
    child.stdin.on('error', () => {});
    const line = () => lines.length ? Promise.resolve(lines.shift()) : new Promise(done => waiting.push(done));
    return { child, line, port: Number(await line()), ended: new Promise(done => child.on('exit', done)) };
}
