/** Sorting by more constants than a search has parts: they are sorted as one. */
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
  // The second row has c and a, the first b alone, the third none.
  expect((await search('Observation?_sort=category')).ids).toEqual(['2', '1', '3']);
  expect((await search('Observation?_sort=-category')).ids).toEqual(['2', '1', '3']);
});
