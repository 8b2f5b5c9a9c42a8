/** Sorting by more constants than a search has parts: they share one part. */
import { expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE FACT (NO INTEGER NOT NULL PRIMARY KEY, KIND CHAR(1));
INSERT INTO FACT VALUES (1, 'N'), (2, 'Y'), (3, 'X');
`;

const code = (name: string, kind: string): string =>
  `{ coding: [{ system: 'urn:example:kinds', code: ${name} }], if: { KIND: ${kind} } }`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: {}\n',
  'codes.yaml': '{}\n',
  'facts.yaml': `mapping: facts
resource: Observation
source: { table: FACT, as: f, key: [NO] }
compartment: { none: invented facts }
id: "{NO}"
elements:
  status: final
  code: { text: fact }
  category:
    - ${code('b', 'N')}
    - ${code('c', 'Y')}
    - ${code('a', 'Y')}
${Array.from({ length: 40 }, (_, i) => `    - ${code(`z${i}`, 'Z')}`).join('\n')}
`,
};

test('a row with several of them sorts by the first in the requested order', async () => {
  const search = await openSmall(SCHEMA, PACK);
  // The second row has c and a, the first only b, the third none.
  expect((await search('Observation?_sort=category')).ids).toEqual(['2', '1', '3']);
  expect((await search('Observation?_sort=-category')).ids).toEqual(['2', '1', '3']);
});

test.each(['_sort=name', '_sort=-name'])(
  'a row sorts by its first value, some written in the mapping: %s',
  async sort => {
    const names = ['NULL', "'alpha'", "'Beta'", "'beta'", "'gamma'"];
    const rows = names.flatMap((one, i) => names.map((two, j) => `(${i * names.length + j}, ${one}, ${two})`));
    const search = await openSmall(
      `CREATE TABLE PLACE (NO INTEGER NOT NULL PRIMARY KEY, N1 VARCHAR(20), N2 VARCHAR(20));
     INSERT INTO PLACE VALUES ${rows.join()};`,
      {
        'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
        'places.yaml': `mapping: places
resource: Location
source: { table: PLACE, as: p, key: [NO] }
id: "{NO}"
elements:
  alias: [{ from: N1 }, Beta, { from: N2 }]
`,
      },
    );
    const found: string[] = [];
    const ids = new Set<string>();
    for (let next: string | undefined = `Location?${sort}&_count=3`; next !== undefined; ) {
      const page = await search(next);
      for (const resource of page.resources) {
        const aliases = Array.isArray(resource['alias'])
          ? resource['alias'].map(alias => String(alias).toUpperCase())
          : [];
        found.push(aliases.toSorted().at(sort.includes('=-') ? -1 : 0) ?? '');
        ids.add(resource.id);
      }
      next = page.next;
    }
    expect([ids.size, found.length]).toEqual([rows.length, rows.length]);
    expect(found).toEqual(sort.includes('=-') ? found.toSorted().reverse() : found.toSorted());
  },
);
