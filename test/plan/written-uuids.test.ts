/** UUIDs as SQLite files hold them: in upper case, lower case or both, in columns that refer to each other. */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { accessToPatients, OPEN_ACCESS } from '../../src/auth/access.ts';
import { openSmall, openSmallFacade, searchSmall } from './small-pack.ts';

const IDS = [
  '6fa459ea-ee8a-3ca4-894e-db77e160355e',
  'a0000000-0000-4000-8000-00000000000b',
  'f1111111-0000-4000-8000-0000000000ff',
];

type Letters = 'small' | 'capital' | 'both';
const COLUMNS: readonly Letters[] = ['small', 'capital', 'both'];

/** The id as stored in a row. */
const written = (id: string, letters: Letters, row: number): string =>
  letters === 'small' || (letters === 'both' && row % 2 === 0) ? id : id.toUpperCase();

/** Persons, visits with references to them of `type`, and a code for the UUID of each person. */
const schema = (key: Letters, reference: Letters, type: string): string => {
  const persons = IDS.map((id, i) => `('${written(id, key, i)}', 'P${i}')`);
  const visits = IDS.map((id, i) => `(${i + 1}, '${written(id, reference, i + 1)}')`);
  return `CREATE TABLE PERSON (ID UUID NOT NULL PRIMARY KEY, NAME VARCHAR(9) COLLATE RTRIM);
    CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, PERSON ${type});
    CREATE INDEX VISIT_PERSON ON VISIT (PERSON);
    INSERT INTO PERSON VALUES ${persons.join()};
    INSERT INTO VISIT VALUES ${visits.join()}, (9, NULL);`;
};

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\nsystems: { uid: urn:ietf:rfc:3986 }\n',
  'codes.yaml': '{}\n',
  'a.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [{ system: uid, value: { from: ID } }]
  name: [{ family: { from: NAME } }]
  contact:
    - each: { table: VISIT, as: v, on: { PERSON: ID }, order: [NO] }
      item: { name: { text: { template: "visit {v.NO}" } } }
---
mapping: visits
resource: Encounter
source: { table: VISIT, as: v, key: [NO], lookup: { q: { table: PERSON, on: { ID: PERSON } } } }
id: "{NO}"
elements:
  status: finished
  class: { system: uid, code: AMB }
  subject: { ref: people, on: { ID: PERSON }, display: { from: q.NAME } }
`,
};

describe.each(COLUMNS.flatMap(key => COLUMNS.map(reference => [key, reference] as const)))(
  'a key in %s letters, references in %s letters',
  (key, reference) => {
    it.each(['UUID', 'CHAR(36)'])('in a %s: emitted values are found', async type => {
      const search = await openSmall(schema(key, reference, type), PACK);
      const ids = async (query: string): Promise<readonly string[]> => (await search(query)).ids;
      expect(await ids('Patient')).toEqual(expect.arrayContaining(IDS));
      for (const [i, id] of IDS.entries()) {
        expect(await ids(`Patient?_id=${id}`)).toEqual([id]);
        expect(await ids(`Patient?identifier=${id}`)).toEqual([id]);
        expect(await ids(`Patient?identifier=${id.toUpperCase()}`)).toEqual([id]);
        expect(await ids(`Encounter?patient=${id}`)).toEqual([String(i + 1)]);
        expect(await ids(`Encounter?patient=${id},Patient/${IDS[0]}&_sort=_id`)).toEqual(
          i === 0 ? ['1'] : ['1', String(i + 1)],
        );
        expect(await ids(`Encounter?patient.name=p${i}`)).toEqual([String(i + 1)]);
        expect(await ids(`Encounter?patient._id=${id}`)).toEqual([String(i + 1)]);
      }
      expect(await ids('Encounter?patient:missing=true')).toEqual(['9']);
      expect(await ids(`Patient?_id:not=${IDS[0]}&_sort=_id`)).toEqual(IDS.slice(1));
      const { resources } = await search('Encounter?_include=Encounter:patient&_sort=_id');
      expect(resources.map(({ id }) => id).toSorted()).toEqual(['1', '2', '3', '9', ...IDS].toSorted());
      expect(resources.find(({ id }) => id === '2')).toMatchObject({
        subject: { reference: `Patient/${IDS[1]}`, display: 'P1' },
      });
      expect(await ids(`Patient?_id=${IDS[2]}&_revinclude=Encounter:patient`)).toEqual([IDS[2], '3']);
      // Compared with a text, a UUID is the text in its own row.
      const [id = ''] = IDS.slice(1);
      const isSame = type === 'UUID' || written(id, reference, 2) === (key === 'small' ? id : id.toUpperCase());
      expect((await search(`Patient?_id=${IDS[1]}`)).resources[0]?.['contact']).toEqual(
        isSame ? [{ name: { text: 'visit 2' } }] : undefined,
      );
    });

    it('pages by key and sorts both ways', async () => {
      const search = await openSmall(schema(key, reference, 'UUID'), PACK);
      for (const [sort, order] of [
        ['', IDS],
        ['&_sort=_id', IDS],
        ['&_sort=-_id', IDS.toReversed()],
        ['&_sort=identifier', IDS],
      ] as const) {
        const seen: string[] = [];
        for (let query: string | undefined = `Patient?_count=1${sort}`; query; ) {
          const page = await search(query);
          seen.push(...page.ids);
          query = page.next;
        }
        expect(seen).toEqual(order);
      }
    });
  },
);

it.each(['small', 'capital'] as const)('a column in %s letters keeps its index', async letters => {
  const search = await openSmall(schema(letters, letters, 'UUID'), PACK);
  for (const query of [`Patient?_id=${IDS[1]}`, `Patient?_id=${IDS[1]},${IDS[2]}`]) {
    const { served } = await search(query);
    expect(served.join()).toMatch(/SEARCH p USING (COVERING )?INDEX sqlite_autoindex_PERSON_1 \(ID=\?\)/);
  }
  expect((await search('Patient?_count=1')).served.join()).not.toContain('TEMP B-TREE');
  const { served } = await search(`Encounter?patient=${IDS[1]}`);
  expect(served.join()).toMatch(/SEARCH v USING (COVERING )?INDEX VISIT_PERSON \(PERSON=\?\)/);
});

it('other texts are absent, in resources and in searches', async () => {
  const odd = `${schema('small', 'small', 'UUID')} INSERT INTO PERSON VALUES ('none', 'P8'), (x'00', 'P9'); INSERT INTO VISIT VALUES (10, 'none');`;
  expect((await searchSmall(odd, PACK, 'Patient?_sort=_id')).ids).toEqual(IDS);
  expect((await searchSmall(odd, PACK, 'Patient?identifier:missing=false&_summary=count')).json).toContain('"total":3');
  expect((await searchSmall(odd, PACK, 'Encounter?patient:missing=true')).ids).toEqual(['9', '10']);
});

it('a non-UUID written later is omitted, and no answer is broken', async () => {
  const { facade, file } = await openSmallFacade(schema('small', 'small', 'UUID'), PACK);
  const writer = new DatabaseSync(file);
  writer.exec("INSERT INTO PERSON VALUES ('none', 'P8')");
  writer.close();
  const { json } = await facade.search(
    { type: 'Patient', parameters: [] },
    { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' },
  );
  const { entry }: { entry: readonly { resource: { id: string } }[] } = JSON.parse(json);
  expect(entry.map(({ resource }) => resource.id)).toEqual(IDS);
});

it.each(COLUMNS.flatMap(key => COLUMNS.map(reference => [key, reference] as const)))(
  'a caller of one patient sees the place of their visit: key in %s letters, reference in %s',
  async (key, reference) => {
    const place = (letters: Letters, row: number): string =>
      written('c0000000-0000-4000-8000-00000000000d', letters, row);
    const places = `CREATE TABLE PLACE (ID UUID NOT NULL PRIMARY KEY, NAME VARCHAR(9));
      INSERT INTO PLACE VALUES ('${place(key, 1)}', 'Ward'), ('${written(IDS[0] ?? '', key, 2)}', 'Other');
      CREATE TABLE BED (NO INTEGER NOT NULL PRIMARY KEY, PERSON UUID, PLACE UUID);
      CREATE INDEX BED_PERSON ON BED (PERSON);
      INSERT INTO BED VALUES (1, '${written(IDS[0] ?? '', reference, 1)}', '${place(reference, 2)}'),
        (2, '${written(IDS[1] ?? '', reference, 2)}', '${written(IDS[0] ?? '', reference, 1)}');`;
    const { facade } = await openSmallFacade(`${schema('small', 'small', 'UUID')} ${places}`, {
      ...PACK,
      'b.yaml': `mapping: places
resource: Organization
source: { table: PLACE, as: p, key: [ID] }
id: "{ID}"
elements: { name: { from: NAME } }
---
mapping: beds
resource: Encounter
source: { table: BED, as: b, key: [NO] }
id: "bed-{NO}"
elements:
  status: finished
  class: { system: uid, code: IMP }
  subject: { ref: people, on: { ID: PERSON } }
  serviceProvider: { ref: places, on: { ID: PLACE } }
`,
    });
    const ask = async (parameters: readonly (readonly [string, string])[]): Promise<readonly string[]> => {
      const { json } = await facade.search(
        { type: 'Organization', parameters },
        { access: accessToPatients('app', [IDS[0] ?? '']), base: 'http://127.0.0.1', handling: 'strict' },
      );
      const { entry = [] }: { entry?: readonly { resource: { name: string } }[] } = JSON.parse(json);
      return entry.map(({ resource }) => resource.name);
    };
    expect(await ask([])).toEqual(['Ward']);
    expect(await ask([['_id', 'c0000000-0000-4000-8000-00000000000d']])).toEqual(['Ward']);
  },
);
