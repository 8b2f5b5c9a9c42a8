/**
 * Opens the demo's mappings over a SQLite file of its schema, as the server does. In: the file. Out: facade and
 * database.
 */
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Facade, RequestContext } from '../../src/facade.ts';
import type { Database } from '../../src/sql/database.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { facadeOf, setUp } from '../../src/start/setup.ts';

export interface Opened {
  readonly facade: Facade;
  readonly database: Database;
  /** Milliseconds until the mappings were loaded and the first answer was made. */
  readonly started: number;
}

export const CONTEXT: RequestContext = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' };

export const LINK_SECRET = new Uint8Array(32);

export async function openDemo(file: string, pack = 'mappings/medkeep'): Promise<Opened> {
  const begun = performance.now();
  const config = readConfig({ DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack });
  const { database, pack: loaded, changed } = await setUp(config, () => {});
  if (loaded.registry === undefined) throw new Error('the mappings have errors');
  const facade = facadeOf(loaded.registry, database, changed, { page: config.page, linkSecret: LINK_SECRET });
  await facade.search({ type: loaded.registry.types[0] ?? '', parameters: [['_count', '1']] }, CONTEXT);
  return { facade, database, started: performance.now() - begun };
}

/** Returns the rendered statements that a request sends to the database. */
export async function statementsOf(
  { database }: Opened,
  request: (context: RequestContext) => Promise<unknown>,
): Promise<readonly Statement[]> {
  const sent: Statement[] = [];
  await request({ ...CONTEXT, onQuery: (plan, places, now) => sent.push(database.render(plan, places, now)) });
  return sent;
}
