/**
 * Serves the page of the workbench and answers its requests. In: requests of one browser on this machine. Out: JSON.
 * All paths begin with the random base of the guard. Because answers contain patients' data, nothing is cached or
 * logged.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { DatabaseError } from '../../sql/database.ts';
import type { WireError, WirePack } from '../wire/mapping.ts';
import type { Bundle } from './bundle.ts';
import type { Desk } from './desk.ts';
import { createGuard } from './guard.ts';
import { filesOf } from './pack-folder.ts';
import { pageText } from './page-text.ts';
import { CODES_QUESTIONS } from './questions/codes.ts';
import { COVERAGE_QUESTIONS } from './questions/coverage.ts';
import { MAPPING_QUESTIONS } from './questions/mapping.ts';
import { type Question, Refusal } from './questions/question.ts';
import { SEARCH_QUESTIONS } from './questions/search.ts';
import { TABLES_QUESTIONS } from './questions/tables.ts';
import { TESTS_QUESTIONS } from './questions/tests.ts';

/** Maximum size of a request in bytes: a pack of 5 MB plus the overhead of JSON. */
const MOST = 12 * 1024 * 1024;
const TIME_LIMIT = 2000;

/** All questions of the page, by view. */
const QUESTIONS: readonly Question[] = [
  ...TABLES_QUESTIONS,
  ...MAPPING_QUESTIONS,
  ...SEARCH_QUESTIONS,
  ...CODES_QUESTIONS,
  ...COVERAGE_QUESTIONS,
  ...TESTS_QUESTIONS,
];

export interface WorkbenchParts {
  readonly desk: Desk;
  readonly bundle: Bundle;
  /** The database's name for the page; never a user or a password. */
  readonly database: string;
  /** Time limit in milliseconds for a sample of rows. */
  readonly timeLimit?: number;
  /** Reports an error to the terminal that the page cannot explain. */
  readonly failed: (error: unknown) => void;
}

export interface Workbench {
  readonly fetch: Hono['fetch'];
  /** Path of the one-time link. */
  readonly link: string;
}

export function createWorkbench({ desk, bundle, database, timeLimit = TIME_LIMIT, failed }: WorkbenchParts): Workbench {
  const guard = createGuard();
  // The page has the base as its path, with a slash at the end.
  const app = new Hono({ strict: false });
  app.use(secureHeaders({ referrerPolicy: 'no-referrer', xFrameOptions: 'DENY' }));
  app.use(async (c, next) => {
    await next();
    c.header('Cache-Control', 'no-store');
    if (!c.res.headers.has('Content-Security-Policy')) c.header('Content-Security-Policy', "default-src 'none'");
  });
  app.use(guard.origin);
  const bench = app.basePath(guard.base);
  bench.get('/open', guard.enter);
  bench.use(guard.session);
  bench.use(
    bodyLimit({ maxSize: MOST, onError: c => refuse(c, 413, 'The texts are larger than the workbench accepts') }),
  );
  bench.get('/', c => {
    const { text, policy } = pageText(guard.base);
    c.header('Content-Security-Policy', policy);
    return c.html(text);
  });
  bench.get('/main.js', c => c.body(bundle.script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }));
  bench.get('/main.css', c => c.body(bundle.style, 200, { 'Content-Type': 'text/css; charset=utf-8' }));
  bench.get('/api/pack', c =>
    c.json({ folder: desk.folder, database, files: filesOf(desk.folder) } satisfies WirePack),
  );
  for (const { path, method, answer } of QUESTIONS) {
    bench.on(method, `/api/${path}`, async c =>
      c.json(await answer(await bodyOf(c), { desk, database, timeLimit, signal: c.req.raw.signal })),
    );
  }
  app.notFound(c => refuse(c, 404, 'There is no such page'));
  app.onError((error, c) => {
    // The page was closed, so nobody reads the answer. This is no failure.
    if (c.req.raw.signal.aborted) return refuse(c, 409, 'The page was closed');
    if (error instanceof Refusal) return refuse(c, error.status, error.message);
    if (error instanceof DatabaseError) {
      return refuse(c, 502, `The database did not answer: ${error.publicText ?? error.message}`);
    }
    failed(error);
    return refuse(c, 500, 'The workbench failed; see the terminal');
  });
  return { fetch: app.fetch, link: `${guard.base}/open?token=${guard.token}` };
}

function refuse(c: Context, status: Refusal['status'] | 413 | 500 | 502, error: string): Response {
  return c.json({ error } satisfies WireError, status);
}

async function bodyOf(c: Context): Promise<unknown> {
  // Pages of other origins can send a form without a preflight request, but not JSON.
  if (!/^application\/json\b/.test(c.req.header('Content-Type') ?? '')) throw new Refusal(400, 'Expected JSON');
  return c.req.json().catch(() => undefined);
}
