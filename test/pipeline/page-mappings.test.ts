/**
 * Page links across changes of the mappings: two servers share a secret, and one has other mappings, as in a rolling
 * update.
 */
import { expect, test } from 'vitest';
import { openSmall } from '../plan/small-pack.ts';

const SCHEMA = `
CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, CD INTEGER NOT NULL, NM VARCHAR(20) COLLATE RTRIM, BORN DATETIME);
CREATE UNIQUE INDEX PERSON_CD ON PERSON (CD);
CREATE TABLE WARD (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO PERSON VALUES (1, 3, 'Ada', '1990-01-01'), (2, 2, 'Bo', '1980-01-01'), (3, 1, 'Cy', '1970-01-01');
`;

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  name: [{ family: { from: NM } }]
  birthDate: { from: BORN, via: date }
`;

const WARD = `mapping: wards
resource: Location
source: { table: WARD, as: w, key: [NO] }
id: "{NO}"
elements:
  name: { from: NM }
`;

const pack = (person: string, more: Readonly<Record<string, string>> = {}) => ({
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'person.yaml': person,
  ...more,
});

const SAME = {
  'a comment': pack(`# by hand\n${PERSON}`),
  'an element that is no sort key': pack(PERSON.replace('  birthDate', '  active: true\n  birthDate')),
  'a filter': pack(PERSON.replace('key: [NO]', 'key: [NO], where: { NM: { not: Zoe } }')),
  'a mapping of another type': pack(PERSON, { 'ward.yaml': WARD }),
};

const OTHER = {
  'the key of the rows': pack(PERSON.replace('key: [NO]', 'key: [CD]')),
  'the name of the mapping': pack(PERSON.replace('mapping: people', 'mapping: persons')),
};

const SORTS = ['', '&_sort=family', '&_sort=-birthdate'];

test('pages of two mappings have each resource once, in order, whatever the size of the page', async () => {
  const schema = `${SCHEMA}
CREATE TABLE GUEST (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM, BORN DATETIME);
INSERT INTO GUEST VALUES (4, 'Bo', '1980-01-01'), (5, 'Ada', '1970-01-01'), (6, 'Bo', NULL), (7, NULL, '1980-01-01');
INSERT INTO PERSON VALUES (8, 8, 'Bo', '1980-01-01'), (9, 9, 'Bo', NULL);`;
  const guest = PERSON.replace('people', 'guests').replace('PERSON', 'GUEST').replace('"{NO}"', '"g-{NO}"');
  const search = await openSmall(schema, pack(PERSON, { 'guest.yaml': guest }));
  for (const sort of [...SORTS, '&_sort=birthdate,-family']) {
    const { ids } = await search(`Patient?_count=50${sort}`);
    expect(ids.toSorted()).toEqual(['1', '2', '3', '8', '9', 'g-4', 'g-5', 'g-6', 'g-7']);
    for (let count = 1; count < ids.length; count++) {
      const seen: string[] = [];
      for (let next: string | undefined = `Patient?_count=${count}${sort}`; next !== undefined; ) {
        const page = await search(next);
        expect(page.ids.length).toBe(Math.min(count, ids.length - seen.length));
        seen.push(...page.ids);
        next = page.next;
      }
      expect(seen, `${count} by ${sort}`).toEqual(ids);
    }
  }
});

test.each(Object.entries(SAME))('%s may change between two pages', async (_what, changed) => {
  const [before, after] = [await openSmall(SCHEMA, pack(PERSON)), await openSmall(SCHEMA, changed)];
  for (const sort of SORTS) {
    const first = await before(`Patient?_count=1${sort}`);
    const second = await after(first.next ?? '');
    const third = await before(second.next ?? '');
    const all = await before(`Patient?${sort}`);
    expect([...first.ids, ...second.ids, ...third.ids]).toEqual(all.ids);
  }
});

test.each(Object.entries(OTHER))(
  '%s may not change between two pages, and the client gets that error',
  async (_what, changed) => {
    const [before, after] = [await openSmall(SCHEMA, pack(PERSON)), await openSmall(SCHEMA, changed)];
    for (const sort of SORTS) {
      const { next = '' } = await before(`Patient?_count=1${sort}`);
      await expect(after(next)).rejects.toThrow('the mappings have changed since this page link was made');
    }
  },
);

test('a changed sort element is refused for searches that sort by it', async () => {
  const other = pack(PERSON.replace('family: { from: NM }', 'family: { from: NM, via: code }'));
  const [before, after] = [await openSmall(SCHEMA, pack(PERSON)), await openSmall(SCHEMA, other)];
  const next = async (sort: string): Promise<string> => (await before(`Patient?_count=1${sort}`)).next ?? '';
  await expect(after(await next('&_sort=family'))).rejects.toThrow('the mappings have changed');
  expect((await after(await next('&_sort=birthdate'))).ids).toEqual(['2']);
});

test('a page link of another search and one of other mappings have different errors', async () => {
  const search = await openSmall(SCHEMA, pack(PERSON));
  const { next = '' } = await search('Patient?_count=1');
  await expect(search(`${next}&family=a`)).rejects.toThrow('this page link is not valid for this search');
});
