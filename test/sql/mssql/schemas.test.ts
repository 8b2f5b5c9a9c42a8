/** Packs on a scripted server whose tables are in schemas outside its default search. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPEN_ACCESS } from '../../../src/auth/access.ts';
import { checkRows } from '../../../src/check/check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { writeLock } from '../../../src/mapping/load/pack/lock.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { facadeOf, type Setup, setUp } from '../../../src/start/setup.ts';
import { type Asked, type Endpoint, openEndpoint } from './endpoint.ts';
import { type ScriptedSchema, schemaScript } from './schema-script.ts';
import { HOUSE, PLACE, packFolder, ROOM } from './three-mappings.ts';

const mapping = (table: string): Readonly<Record<string, string>> => ({
  'place.yaml': `mapping: places
resource: Location
source: { table: ${table}, as: l, key: [NO] }
id: "{NO}"
elements:
  name: { from: TITLE }
`,
});

interface Opened extends Setup {
  readonly endpoint: Endpoint;
  readonly errors: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

async function open(tables: ScriptedSchema['tables'], pack: Readonly<Record<string, string>> = {}): Promise<Opened> {
  const endpoint = await openEndpoint(schemaScript({ tables }));
  onTestFinished(() => endpoint.stop());
  const folder = packFolder(pack);
  const url = `mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false&connectTimeout=60000`;
  const environment = { DATABASE_URL: url, MAPPINGS: folder, DATA_DIR: join(folder, 'data') };
  const setup = await setUp(readConfig(environment), () => undefined);
  onTestFinished(() => setup.database.close());
  const errors = setup.pack.problems.filter(({ severity }) => severity === 'error').map(formatProblem);
  return { ...setup, endpoint, errors, environment };
}

const cdm = { PLACE: { ...PLACE, schema: 'cdm' }, ROOM: { ...ROOM, schema: 'cdm' }, HOUSE };
const asksPlaces = ({ text }: Asked): boolean => /FROM (?:\w+\.)?PLACE AS/.test(text);

describe('a table outside of the default schema', () => {
  it('is queried by its full name, although the pack omits the schema', async () => {
    const { errors, pack, database, changed, endpoint, environment } = await open(cdm);
    expect(errors).toEqual([]);
    if (!pack.registry) throw new Error('nothing to serve');
    const facade = facadeOf(pack.registry, database, changed, readConfig(environment));
    const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
    await facade.search({ type: 'Location', parameters: [] }, context);
    const texts = endpoint.asked.filter(asksPlaces).map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).toContain('FROM cdm.PLACE AS');
    expect(endpoint.asked.some(({ text }) => text.includes('FROM HOUSE AS'))).toBe(true);
  });

  it('is used if the pack names its schema', async () => {
    const { errors } = await open(cdm, mapping('dbo.PLACE'));
    expect(errors).toEqual([
      expect.stringMatching(/place\.yaml:3:18: unknown table; found dbo\.PLACE; did you mean cdm\.PLACE\?/),
    ]);
  });

  it('is found by its full name', async () => {
    const { errors } = await open(cdm, mapping('cdm.PLACE'));
    expect(errors).toEqual([]);
  });

  it('needs its full name if several schemas have it', async () => {
    const { errors } = await open({ ...cdm, 'stage.PLACE': { ...PLACE, schema: 'stage' } });
    expect(errors).toEqual([
      expect.stringContaining(
        'several schemas have a table of this name; expected `cdm.PLACE` or `stage.PLACE`; found PLACE',
      ),
    ]);
  });

  it('is checked itself, with columns and permissions, although the default schema has the same name', async () => {
    const near = { columns: { NO: 'int', OTHER: 'varchar' }, may: [] } as const;
    const tables = { PLACE: near, ROOM, HOUSE, 'cdm.PLACE': { ...PLACE, schema: 'cdm' } };
    const { errors, pack, catalog } = await open(tables, mapping('cdm.PLACE'));
    expect(errors).toEqual([]);
    expect((await open(tables)).errors.join('\n')).toContain('unknown column of PLACE; found TITLE');
    // The lock distinguishes the two.
    const lock: unknown = pack.registry && JSON.parse(writeLock(pack.registry, catalog));
    expect(lock).toMatchObject({ tables: { 'cdm.PLACE': { columns: { NO: 'INT' } } } });
    const again = await open(tables, { ...mapping('cdm.PLACE'), 'schema.lock.json': JSON.stringify(lock) });
    expect(again.pack.problems).toEqual([]);
  });
});

describe('a mask that is added while mappings are served', () => {
  it('has the searches refused that read the column, as if it were missing, and no others', async () => {
    const tables = { PLACE, ROOM, HOUSE };
    const { pack, database, changed, endpoint, environment } = await open(tables);
    if (!pack.registry) throw new Error('nothing to serve');
    const facade = facadeOf(pack.registry, database, changed, readConfig(environment));
    const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
    const search = (id: string) => facade.search({ type: 'Location', parameters: [['_id', id]] }, context);
    await search('1');
    endpoint.script = schemaScript({ tables: { ...tables, PLACE: { ...PLACE, masked: ['TITLE'] } } });
    await database.catalog({ tables: ['place', 'house', 'room'] });
    const before = endpoint.asked.length;
    await expect(search('1')).rejects.toMatchObject({ missing: true });
    expect(endpoint.asked.slice(before).filter(asksPlaces)).toEqual([]);
    await search('h-1');
    endpoint.script = schemaScript({ tables });
    await database.catalog({ tables: ['place', 'house', 'room'] });
    await search('1');
  });
});

describe('lintel check with a login without VIEW DEFINITION', () => {
  it('reports that hidden rows are unknown', async () => {
    const tables = { PLACE, ROOM, HOUSE };
    const { endpoint, environment } = await open(tables);
    endpoint.script = schemaScript({ tables, blind: true });
    const { sections } = await checkRows(
      readConfig(environment),
      [],
      { seed: 1, budgetSeconds: 60, values: false, all: false },
      () => undefined,
    );
    expect(sections.flatMap(({ name, notes }) => notes.map(note => `${name}: ${note}`))).toEqual([
      expect.stringMatching(/^login: Whether security policies hide rows from the login is not known/),
    ]);
  });
});

describe('a refused statement of lintel check', () => {
  it('names its line of the mapping', async () => {
    const { endpoint, environment } = await open({ PLACE, ROOM, HOUSE });
    const script = endpoint.script;
    endpoint.script = asked => (asksPlaces(asked) ? { error: 468 } : script(asked));
    const { pack } = await checkRows(
      readConfig(environment),
      [],
      { seed: 1, budgetSeconds: 60, values: false, all: false },
      () => undefined,
    );
    expect(pack.problems.map(formatProblem)).toEqual([expect.stringMatching(/place\.yaml:1:1: .*statement.*\(468\)/)]);
  });
});
