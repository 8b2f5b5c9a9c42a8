/** A key that is unique under `where` alone: rows that `where` takes away share it with those that are served. */
import { expect, test } from 'vitest';
import { SEARCHES } from '../../src/check/searches.ts';
import { VALUES } from '../../src/check/values.ts';
import { NAMELESS, smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const KINDS = `mapping: kinds
resource: Observation
source: { table: WEIGHING, as: w, key: [PERSON_ID], where: { NO: 8 } }
id: "w-{PERSON_ID}"
elements:
  status: final
  code: { text: Weight }
  effectiveDateTime: { from: TAKEN }
`;

test('a row that is taken away is not told as served, where another row has its key', async () => {
  const opened = await open(smallClinic({ 'person.yaml': NAMELESS, 'weighing.yaml': KINDS }));
  expect(told(await check(opened, { sections: [VALUES, SEARCHES], all: true }))).toEqual([]);
  await opened.close();
});
