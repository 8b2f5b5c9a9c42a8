/** A key that is unique only under `where`: rows that `where` excludes share it with rows that are served. */
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

/** Only the newest of several rows counts; the others have the same id. */
const NEWEST = KINDS.replace(
  'key: [PERSON_ID], where: { NO: 8 }',
  'key: [NO], where: { missing: { table: WEIGHING, as: n, on: { PERSON_ID: PERSON_ID }, where: { NO: { gt: w.NO } } } }',
);

test.each([
  ['its key', KINDS],
  ['its id and another key', NEWEST],
])('a row excluded by `where` is not reported as served if another row has %s', async (_, mapping) => {
  const opened = await open(smallClinic({ 'person.yaml': NAMELESS, 'weighing.yaml': mapping }));
  expect(told(await check(opened, { sections: [VALUES, SEARCHES], all: true }))).toEqual([]);
  await opened.close();
});
