/**
 * SQLite asked by threads, in the ways that `npm run bench -- sqlite-threads` compares. In: a file. Out: a database
 * whose queries go to them; everything else is asked on the calling thread.
 */
import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Database } from '../../src/sql/database.ts';
import type { Row } from '../../src/sql/plan.ts';
import { bindable, bindPlaceholder, openSqlite } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { type BoundStatement, statementsOf } from '../../src/sql/statement.ts';

export const WAYS = ['today', 'one thread', 'two threads', 'scans in a thread'] as const;
export type Way = (typeof WAYS)[number];

type Asked = BoundStatement<SQLInputValue>;
type Ask = (asked: Asked) => Promise<readonly Row[]>;

export function openWith(way: Way, file: string): Database {
  const own = openSqlite(file);
  if (way === 'today') return own;
  const threads = Array.from({ length: way === 'two threads' ? 2 : 1 }, () => startThread(file));
  const statementOf = statementsOf(SQLITE, bindable, bindPlaceholder);
  const scans = new Map<string, boolean>();
  let turn = 0;
  return {
    ...own,
    query(plan, options) {
      const asked = statementOf(plan, options?.placeholders);
      if (way === 'scans in a thread') {
        const known = scans.get(asked.text);
        // Asked once per text: what it reads through without an index may take long.
        if (known === undefined) {
          return own.explain(plan, options?.placeholders).then(lines => {
            const found = lines.some(line => line.startsWith('SCAN'));
            scans.set(asked.text, found);
            return found ? (threads[0]?.(asked) ?? []) : own.query(plan, options);
          });
        }
        if (!known) return own.query(plan, options);
      }
      const ask = threads[turn++ % threads.length];
      if (ask === undefined) throw new RangeError('There is no thread');
      return ask(asked);
    },
  };
}

/** Statements that come before the event loop goes round go together in one message, and so do their rows. */
function startThread(file: string): Ask {
  const thread = new Worker(new URL('threads-worker.ts', import.meta.url), { workerData: file });
  thread.unref();
  const sent: ((rows: readonly Row[]) => void)[][] = [];
  let waiting: { readonly asked: Asked; readonly done: (rows: readonly Row[]) => void }[] = [];
  thread.on('message', (answers: readonly (readonly Row[])[]) => {
    const batch = sent.shift() ?? [];
    for (const [i, rows] of answers.entries()) batch[i]?.(rows);
  });
  thread.on('error', error => {
    throw error;
  });
  const send = (): void => {
    sent.push(waiting.map(({ done }) => done));
    thread.postMessage(waiting.map(({ asked }) => asked));
    waiting = [];
  };
  return asked =>
    new Promise(done => {
      if (waiting.length === 0) queueMicrotask(send);
      waiting.push({ asked, done });
    });
}
