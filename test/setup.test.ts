/**
 * Mappings that the database does not support: reported at their own line, and left out on request while the others are
 * served. Over a SQLite file, and with the real driver over a scripted SQL Server.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { formatProblem, problemCode, problemLine } from '../src/mapping/load/problem.ts';
import { type Setup, setUp } from '../src/start/setup.ts';
import { type Endpoint, openEndpoint } from './sql/mssql/endpoint.ts';
import { failureOf } from './sql/mssql/open.ts';
import { type ScriptedSchema, schemaScript } from './sql/mssql/schema-script.ts';
import { HOUSE, PLACE, packFolder, ROOM, STAFF } from './sql/mssql/three-mappings.ts';

interface Opened extends Setup {
  readonly notes: readonly string[];
  readonly errors: readonly string[];
}

async function open(environment: Readonly<Record<string, string>>): Promise<Opened> {
  const notes: string[] = [];
  const setup = await setUp(readConfig(environment), text => notes.push(text));
  onTestFinished(() => setup.database.close());
  const errors = setup.pack.problems.filter(({ severity }) => severity === 'error').map(formatProblem);
  return { ...setup, notes, errors };
}

async function scripted(schema: ScriptedSchema): Promise<{ readonly url: string; readonly endpoint: Endpoint }> {
  const endpoint = await openEndpoint(schemaScript(schema));
  onTestFinished(() => endpoint.stop());
  return { url: `mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false&connectTimeout=3000`, endpoint };
}

const served = ({ pack }: Setup): readonly string[] => pack.registry?.mappings.map(({ name }) => name) ?? [];

describe('a missing table', () => {
  function withoutHouse(): Readonly<Record<string, string>> {
    const folder = packFolder();
    const file = join(folder, 'clinic.sqlite');
    const raw = new DatabaseSync(file);
    raw.exec(`CREATE TABLE PLACE (NO INTEGER NOT NULL PRIMARY KEY, TITLE VARCHAR(40));
      CREATE TABLE ROOM (NO INTEGER NOT NULL PRIMARY KEY, TITLE VARCHAR(40), HOUSE_NO INTEGER)`);
    raw.close();
    return { MAPPINGS: folder, DATABASE_URL: `sqlite:${file}` };
  }

  it('is reported at the line that names it, and nothing is served', async () => {
    const opened = await open(withoutHouse());
    expect(opened.errors).toEqual(['house.yaml:3:18: unknown table; found HOUSE']);
    expect(opened.pack.registry).toBeUndefined();
  });

  it('removes its mapping and those that refer to it, in partial mode', async () => {
    const opened = await open({ ...withoutHouse(), DEGRADED: 'true' });
    expect(served(opened)).toEqual(['places']);
    expect(opened.pack).toMatchObject({ unserved: ['houses', 'rooms'] });
    expect(opened.errors).toEqual([
      'house.yaml:3:18: unknown table; found HOUSE',
      'room.yaml:7:18: reference to a mapping that is not served; found houses',
    ]);
  });

  it('does not hide an error in the pack', async () => {
    const where = withoutHouse();
    writeFileSync(join(String(where['MAPPINGS']), 'pack.yaml'), 'name: clinic\nzone: Nowhere/Land\n');
    expect((await open({ ...where, DEGRADED: 'true' })).pack.registry).toBeUndefined();
  });

  it('stops the start if all mappings need it', async () => {
    const where = withoutHouse();
    for (const name of ['place.yaml', 'room.yaml']) rmSync(join(String(where['MAPPINGS']), name));
    expect((await open({ ...where, DEGRADED: 'true' })).pack.registry).toBeUndefined();
  });
});

describe('a SQL Server', () => {
  it('with all needed tables is served without a message', async () => {
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE } });
    const opened = await open({ MAPPINGS: packFolder(), DATABASE_URL: url });
    expect(served(opened)).toEqual(['houses', 'places', 'rooms']);
    expect([opened.errors, opened.notes]).toEqual([[], []]);
  });

  it('is queried for tables of the pack only', async () => {
    const { url, endpoint } = await scripted({ tables: { PLACE, ROOM, HOUSE, OTHER: PLACE, STAFF } });
    const deny = 'name: clinic\ntitle: Clinic\nzone: America/New_York\ndeny: ["*.PIN"]\n';
    const opened = await open({ MAPPINGS: packFolder({ 'pack.yaml': deny }), DATABASE_URL: url });
    expect(opened.errors).toEqual([]);
    // The unreadable column belongs to a table that no mapping names.
    expect([...opened.catalog.tables.keys()].toSorted()).toEqual(['house', 'place', 'room', 'staff']);
    const catalog = endpoint.asked.filter(({ text }) => /FROM sys\.(?:objects|columns|indexes)/.test(text));
    const whole = catalog.filter(({ text }) => !/ IN \((?:@p\d+(?:, )?)+\)/.test(text));
    expect(catalog.length).toBeGreaterThan(3);
    expect(whole).toEqual([]);
  });

  it('is queried for all tables if one is missing, to suggest a name', async () => {
    const house = 'mapping: houses\nresource: Location\nsource: { table: HOUSES, as: h, key: [NO] }\nid: "h-{NO}"\n';
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE } });
    const opened = await open({ MAPPINGS: packFolder({ 'house.yaml': house }), DATABASE_URL: url });
    expect(opened.errors).toContain('house.yaml:3:18: unknown table; found HOUSES; did you mean HOUSE?');
  });

  it('without a needed table stops the start, or serves the rest', async () => {
    const { url } = await scripted({ tables: { PLACE, ROOM } });
    const environment = { MAPPINGS: packFolder(), DATABASE_URL: url };
    const refused = await open(environment);
    expect(refused.errors).toEqual(['house.yaml:3:18: unknown table; found HOUSE']);
    expect(served(refused)).toEqual([]);
    expect(served(await open({ ...environment, DEGRADED: 'true' }))).toEqual(['places']);
  });

  it('whose login cannot read a table reports the lines that need it', async () => {
    const { url } = await scripted({ tables: { PLACE: { ...PLACE, may: [] }, ROOM, HOUSE } });
    const environment = { MAPPINGS: packFolder(), DATABASE_URL: url };
    const refused = await open(environment);
    expect(refused.errors).toEqual([
      'place.yaml:3:38: the login may not read column PLACE.NO',
      'place.yaml:4:5: the login may not read column PLACE.NO',
      'place.yaml:6:17: the login may not read column PLACE.TITLE',
    ]);
    expect(served(refused)).toEqual([]);
    expect(served(await open({ ...environment, DEGRADED: 'true' }))).toEqual(['houses', 'rooms']);
  });

  it('whose login cannot read a column reports the line that needs it', async () => {
    const { url } = await scripted({
      tables: { PLACE, ROOM, HOUSE: { ...HOUSE, may: [], readable: ['NO', 'TITLE'] } },
    });
    const opened = await open({ MAPPINGS: packFolder(), DATABASE_URL: url });
    expect(opened.errors).toEqual(['house.yaml:3:52: the login may not read column HOUSE.CHANGED']);
  });

  it('that denies the login a column of a table it may read reports the line that needs it', async () => {
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE: { ...HOUSE, denied: ['CHANGED'] } } });
    const opened = await open({ MAPPINGS: packFolder(), DATABASE_URL: url });
    expect(opened.errors).toEqual(['house.yaml:3:52: the login may not read column HOUSE.CHANGED']);
  });

  it('with a masked column reports the line that needs it, and serves no other value', async () => {
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE: { ...HOUSE, masked: ['TITLE'] } } });
    const environment = { MAPPINGS: packFolder(), DATABASE_URL: url };
    const refused = await open(environment);
    expect(refused.errors).toEqual([
      'house.yaml:6:17: column HOUSE.TITLE is masked for the login (dynamic data masking); ' +
        'expected UNMASK for the login, or a mapping without the column',
    ]);
    expect(refused.pack.problems.map(problemCode)).toEqual(['LNT-515']);
    expect(served(refused)).toEqual([]);
    expect(served(await open({ ...environment, DEGRADED: 'true' }))).toEqual(['places']);
  });

  it('with a masked column in an expression reports it, with and without braces', async () => {
    const place = (sql: string): string => `mapping: places
resource: Location
source: { table: PLACE, as: l, key: [NO] }
id: "{NO}"
elements:
  name: { sql: "${sql}", type: varchar(40) }
`;
    const { url } = await scripted({ tables: { PLACE: { ...PLACE, masked: ['TITLE'] }, ROOM, HOUSE } });
    for (const sql of ['UPPER({TITLE})', 'UPPER(l.TITLE)']) {
      const opened = await open({ MAPPINGS: packFolder({ 'place.yaml': place(sql) }), DATABASE_URL: url });
      expect(opened.errors).toEqual([expect.stringMatching(/^place\.yaml:6:16: column PLACE\.TITLE is masked/)]);
    }
  });

  it('with a security policy is served, with a warning at the table', async () => {
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE: { ...HOUSE, policy: 'Wards' } } });
    const opened = await open({ MAPPINGS: packFolder(), DATABASE_URL: url });
    expect(served(opened)).toEqual(['houses', 'places', 'rooms']);
    expect(opened.pack.problems.map(problemLine)).toEqual([
      'house.yaml:3:18: warning: table HOUSE has rows that security policy sec.Wards may hide from the login: ' +
        'searches and exports lack them; expected a login that sees all rows, unless these are to be left out [LNT-605]',
    ]);
  });

  it('with a column type other than in the lock reports the line that reads it', async () => {
    const table = (columns: Readonly<Record<string, string>>) => ({ columns, primaryKey: ['NO'], indexes: {} });
    const lock = {
      tables: {
        PLACE: table({ NO: 'INT', TITLE: 'VARCHAR(40) NULL' }),
        HOUSE: table({ NO: 'INT', TITLE: 'VARCHAR(40) NULL', CHANGED: 'VARCHAR(40) NULL' }),
      },
    };
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE } });
    const environment = {
      MAPPINGS: packFolder({ 'schema.lock.json': JSON.stringify(lock) }),
      DATABASE_URL: url,
    };
    const refused = await open(environment);
    expect(refused.errors).toEqual([
      'house.yaml:3:52: column HOUSE.CHANGED has another type than the lock says; expected VARCHAR(40), or `lintel lock` after a review of the mappings; found DATETIME',
    ]);
    expect(served(refused)).toEqual([]);
    expect(served(await open({ ...environment, DEGRADED: 'true' }))).toEqual(['places']);
  });

  it('with a lock of another engine reports that once', async () => {
    const table = (columns: Readonly<Record<string, string>>) => ({ columns, primaryKey: [], indexes: {} });
    const columns = { NO: 'TEXT', TITLE: 'REAL' };
    const lock = { engine: 'sqlite', tables: { PLACE: table(columns), ROOM: table(columns), HOUSE: table(columns) } };
    const { url } = await scripted({ tables: { PLACE, ROOM, HOUSE } });
    const MAPPINGS = packFolder({ 'schema.lock.json': JSON.stringify(lock) });
    expect((await open({ MAPPINGS, DATABASE_URL: url })).errors).toEqual([
      'schema.lock.json:1:1: the lock is of SQLite, and 6 columns have other types in this database; expected `lintel lock` after a review of the mappings',
    ]);
  });

  it('warns of a login that can write to tables that are mapped, or to the whole database', async () => {
    const { url } = await scripted({
      tables: { PLACE, ROOM: { ...ROOM, may: ['SELECT', 'UPDATE', 'DELETE'] }, HOUSE },
    });
    expect((await open({ MAPPINGS: packFolder(), DATABASE_URL: url })).notes).toEqual([
      'The login can write (UPDATE, DELETE on ROOM). Lintel only reads; so should its login.',
    ]);
    const owner = await scripted({ tables: { PLACE, ROOM, HOUSE }, database: ['INSERT', 'CONTROL'] });
    expect((await open({ MAPPINGS: packFolder(), DATABASE_URL: owner.url })).notes).toEqual([
      'The login can write (INSERT; CONTROL). Lintel only reads; so should its login.',
    ]);
  });

  it.each([
    [18456, 'the server refuses the login'],
    [4060, 'the database of the address cannot be opened'],
  ])(
    'that refuses the login with %i is not waited for, and reported without name or secret',
    async (error, message) => {
      const endpoint = await openEndpoint(({ kind }) => (kind === 'login' ? { error } : undefined));
      onTestFinished(() => endpoint.stop());
      const url = `mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false`;
      const failed = await failureOf(open({ MAPPINGS: packFolder(), DATABASE_URL: url, DEGRADED: 'true' }));
      expect(failed.message).toContain(message);
      expect(failed.message).not.toMatch(/hunter2|reader|canary/);
    },
  );

  it('that is away, or accepts without an answer, is not waited for', async () => {
    const { url, endpoint } = await scripted({ tables: { PLACE, ROOM, HOUSE } });
    endpoint.script = ({ kind }) => (kind === 'login' ? 'deaf' : undefined);
    expect((await failureOf(open({ MAPPINGS: packFolder(), DATABASE_URL: url }))).message).toContain(
      'cannot be reached',
    );
    await endpoint.stop();
    expect((await failureOf(open({ MAPPINGS: packFolder(), DATABASE_URL: url }))).reason).toBe('unavailable');
  });
});

it('an unusable folder for the demo is reported by its setting, with advice', async () => {
  const file = join(packFolder(), 'file');
  writeFileSync(file, '');
  await expect(open({ DATA_DIR: join(file, 'data') })).rejects.toMatchObject({
    problems: [expect.stringMatching(/^DATA_DIR: .*ENOTDIR.*Name a folder that the user of this process may write/)],
  });
});
