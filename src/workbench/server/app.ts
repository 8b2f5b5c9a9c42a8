/**
 * The server of the workbench: the page, and what it asks. In: requests of one browser on this machine. Out: JSON. All paths begin
 * with the random base of the guard. Answers hold patients' data: nothing is kept, and nothing is logged.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import { z } from 'zod';
import { DatabaseError } from '../../sql/database.ts';
import { PreviewError, previewRow } from '../preview.ts';
import type { WireCheck, WireError, WirePack } from '../wire.ts';
import type { Bundle } from './bundle.ts';
import type { Desk } from './desk.ts';
import { createGuard } from './guard.ts';
import { filesOf, PackFileError, saveFile } from './pack-folder.ts';
import { pageText } from './page-text.ts';
import { mappingOf, previewOf, problemOf } from './tell.ts';

/** Bytes of a request: a pack of 5 MB, with what JSON adds. */
const MOST = 12 * 1024 * 1024;

const unsaved = z.record(z.string(), z.string());
const ASKED = {
  check: z.strictObject({ unsaved }),
  preview: z.strictObject({ unsaved, mapping: z.string(), key: z.array(z.string()).max(20) }),
  save: z.strictObject({ path: z.string(), text: z.string(), before: z.string().optional() }),
};

export interface WorkbenchParts {
  readonly desk: Desk;
  readonly bundle: Bundle;
  /** What the page calls the database; never a user or a password. */
  readonly database: string;
  /** Tells the terminal of an error that the page cannot explain. */
  readonly failed: (error: unknown) => void;
}

export interface Workbench {
  readonly fetch: Hono['fetch'];
  /** The path of the link that is opened once. */
  readonly link: string;
}

/** Someone asked what the page does not ask. */
class AskedWrongly extends Error {}

export function createWorkbench({ desk, bundle, database, failed }: WorkbenchParts): Workbench {
  const guard = createGuard();
  // The page stands at the base with a slash behind it.
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
    bodyLimit({ maxSize: MOST, onError: c => refuse(c, 413, 'The texts are larger than the workbench takes') }),
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
  bench.post('/api/check', async c => {
    const asked = await read(c, ASKED.check);
    const { pack } = await desk.check(asked.unsaved);
    return c.json({
      problems: pack.problems.map(problemOf),
      mappings: pack.registry?.mappings.map(mappingOf),
    } satisfies WireCheck);
  });
  bench.post('/api/preview', async c => {
    const asked = await read(c, ASKED.preview);
    const served = await desk.served(asked.unsaved);
    const mapping = served?.registry.mappings.find(({ name }) => name === asked.mapping);
    if (!served || !mapping) return refuse(c, 409, 'The mapping has errors, or is not there');
    const { registry, facade, stale } = served;
    const signal = c.req.raw.signal;
    const shown = await previewRow(mapping, asked.key, {
      ...{ registry, facade, signal },
      database: desk.database,
      now: Date.now(),
    });
    return c.json(previewOf(shown, stale));
  });
  bench.put('/api/file', async c => {
    const { path, text, before } = await read(c, ASKED.save);
    return c.json(saveFile(desk.folder, path, text, before));
  });
  app.notFound(c => refuse(c, 404, 'There is no such page'));
  app.onError((error, c) => {
    if (error instanceof AskedWrongly) return refuse(c, 400, error.message);
    if (error instanceof PackFileError) return refuse(c, error.reason === 'changed' ? 409 : 403, error.message);
    if (error instanceof PreviewError) return refuse(c, 404, error.message);
    if (error instanceof DatabaseError) {
      return refuse(c, 502, `The database did not answer: ${error.told ?? error.message}`);
    }
    failed(error);
    return refuse(c, 500, 'The workbench failed; its terminal says how');
  });
  return { fetch: app.fetch, link: `${guard.base}/open?token=${guard.token}` };
}

function refuse(c: Context, status: 400 | 403 | 404 | 409 | 413 | 500 | 502, error: string): Response {
  return c.json({ error } satisfies WireError, status);
}

async function read<T>(c: Context, shape: z.ZodType<T>): Promise<T> {
  // Pages of other origins can send a form without asking, and no JSON.
  if (!/^application\/json\b/.test(c.req.header('Content-Type') ?? '')) throw new AskedWrongly('Expected JSON');
  const body: unknown = await c.req.json().catch(() => undefined);
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw new AskedWrongly('The request has not the members that it needs');
  return parsed.data;
}
