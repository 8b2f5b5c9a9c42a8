/** A preview of rows of the demo, and of a small clinic: exactly the served primitives have a lineage. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mapping } from '../../src/mapping/model.ts';
import { bareRelation } from '../../src/plan/condition.ts';
import { environment } from '../../src/plan/environment.ts';
import { servedPredicate } from '../../src/plan/presence.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { type Preview, previewRow } from '../../src/workbench/preview.ts';
import { rowOf } from '../../src/workbench/rows-to-show.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { type Demo, openDemo } from '../law/demo.ts';

/** Number of rows of each mapping. */
const ROWS = 2;

/** The primitives of a resource, by path. */
function primitivesIn(value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => primitivesIn(item, `${path}[${i}]`));
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, part]) => primitivesIn(part, path === '' ? name : `${path}.${name}`));
}

describe('on the rows of the demo', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 28 });
  });
  afterAll(() => demo.close());

  const keysOf = async (mapping: Mapping): Promise<readonly (readonly string[])[]> => {
    const { registry, database } = demo;
    const env = environment(registry, Date.now(), FULL_VISIBILITY);
    const { source } = mapping;
    const plan: SqlPlan = {
      from: bareRelation(source, servedPredicate(mapping, env), env, source.key),
      columns: source.key,
      orderBy: source.key.map(by => ({ by, descending: false })),
      limit: ROWS,
      shape: 'rows',
      searches: true,
    };
    const found = await database.query(plan, {});
    return found.map(row =>
      row.map(one => (one instanceof Uint8Array ? `0x${Buffer.from(one).toString('hex')}` : `${one}`)),
    );
  };

  test('every served primitive has one lineage and its column; its id identifies the row', {
    timeout: 120_000,
  }, async () => {
    const { registry, database, facade } = demo;
    let seen = 0;
    for (const mapping of registry.mappings) {
      for (const key of await keysOf(mapping)) {
        const signal = new AbortController().signal;
        const asking = { registry, database, facade, now: Date.now(), signal };
        const shown: Preview = await previewRow(mapping, key, asking);
        expect([mapping.name, shown.reason]).toEqual([mapping.name, undefined]);
        const served = primitivesIn(shown.resource, '').filter(([path]) => path !== 'resourceType');
        const shownAs = shown.elements.map(({ path, value }) => [path, value]);
        const byPath = (a: readonly unknown[], b: readonly unknown[]): number => (String(a[0]) < String(b[0]) ? -1 : 1);
        expect([mapping.name, shownAs.toSorted(byPath)]).toEqual([mapping.name, served.toSorted(byPath)]);
        const lost = shown.elements.filter(({ kind, sources }) => kind === 'column' && sources.length === 0);
        expect([mapping.name, lost.map(({ path }) => path)]).toEqual([mapping.name, []]);
        const found = await rowOf(mapping.resource, shown.id ?? '', asking);
        expect(found).toEqual({ mapping: mapping.name, key });
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(registry.mappings.length);
  });
});

describe('the command', () => {
  test('shows the lineage of each element, without values', async () => {
    const { environment: env } = smallClinic();
    const { code, out } = await lintel(env, 'preview', 'people', '1');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'people: Patient',
      '',
      'Row',
      '  ID       INTEGER         a whole number, 1 digits  → id',
      '  SURNAME  VARCHAR(40)     AAAAAAAA  → name[0].family',
      '  SEX      CHAR(1)         A  → gender',
      '  BORN     DATE            9999-99-99  → birthDate',
      '',
      'Elements',
      '  id',
      '    PERSON.ID as id  (person.yaml:1:1)',
      '  name[0].family',
      '    PERSON.SURNAME via text  (person.yaml:6:21)',
      '  gender',
      '    PERSON.SEX via code map sex.code, row codes.yaml:3:11  (person.yaml:7:11)',
      '  birthDate',
      '    PERSON.BORN via date  (person.yaml:8:14)',
    ]);
    for (const value of ['Kowalski', '1970', 'female']) expect(out).not.toContain(value);
  });

  test('--values shows the values of row and resource', async () => {
    const { environment: env } = smallClinic();
    const { code, out } = await lintel(env, 'preview', 'people', '1', '--values', '--json');
    expect(code).toBe(0);
    const shown = JSON.parse(out);
    expect(shown.resource).toMatchObject({
      resourceType: 'Patient',
      id: '1',
      gender: 'female',
      birthDate: '1970-02-03',
    });
    expect(shown.elements).toContainEqual(
      expect.objectContaining({
        path: 'gender',
        value: 'female',
        codeRow: expect.objectContaining({ map: 'sex', line: 3 }),
      }),
    );
    const hidden = JSON.parse((await lintel(env, 'preview', 'people', '1', '--json')).out);
    expect(hidden).not.toHaveProperty('resource');
    expect(JSON.stringify(hidden)).not.toMatch(/Kowalski|1970|female/);
  });

  test('a row below another shows the columns of both, and the target of a reference', async () => {
    const { environment: env } = smallClinic();
    const { out } = await lintel(env, 'preview', 'weights', '7');
    expect(out).toContain('  subject.reference\n    WEIGHING.PERSON_ID → people');
    expect(out).toContain('  code.coding[0].code\n    constant');
  });

  test('a row without a resource has a reason, and exit code 1', async () => {
    const mapping = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { SEX: F } }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
`;
    const { environment: env } = smallClinic({ 'person.yaml': mapping });
    const { code, out } = await lintel(env, 'preview', 'people', '2');
    expect(code).toBe(1);
    expect(out).toContain('The row is no resource: the row does not match `where`');
  });

  test('a deleted row is reported as deleted, before other conditions of the mapping', async () => {
    const mapping = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { SURNAME: Kowalski }, deleted: { SEX: F } }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
`;
    const { environment: env } = smallClinic({ 'person.yaml': mapping });
    const { out } = await lintel(env, 'preview', 'people', '1');
    expect(out).toContain('The row is no resource: it is deleted: it matches `deleted`');
    const { out: other } = await lintel(env, 'preview', 'people', '2');
    expect(other).toContain('The row is no resource: the row does not match `where`');
  });

  test('invalid keys and unknown mappings are reported without the value', async () => {
    const { environment: env } = smallClinic();
    const told = async (...argv: string[]): Promise<readonly [number, string]> => {
      const { code, notes } = await lintel(env, 'preview', ...argv);
      return [code, notes];
    };
    expect(await told('people', '777')).toEqual([1, 'No row of PERSON has this key']);
    expect(await told('people', 'abc')).toEqual([1, 'Key column ID: expected a value of its type']);
    expect(await told('people', '1', '2')).toEqual([1, 'Mapping people has the key ID: expected 1 value, found 2']);
    expect(await told('persons', '1')).toEqual([
      2,
      'MAPPING: the pack small has no such mapping; expected one of people, weights; found persons\nlintel preview --help explains it.',
    ]);
  });
});
