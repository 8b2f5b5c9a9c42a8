/** Tests what documents say of single records, and in which order. */
import { expect, test } from 'vitest';
import { demoOfFile } from './demo-of-file.ts';
import { all, at, withTemplate } from './xml-tree.ts';

const demo = demoOfFile(40);

test('denied facts are negated: no known allergies', async () => {
  const [denied] = demo.rows<{ PT_NO: number }>(
    "SELECT PT_NO FROM ALLRGY WHERE ALG_CD = 'NKA' AND (DEL_FL IS NULL OR DEL_FL <> 'Y') AND STS = 'A' LIMIT 1",
  );
  const { root } = await demo.make('medication-allergies', denied?.PT_NO ?? 0);
  const observation = withTemplate(root, '4.7:2014-06-09').find(one => one.attributes['negationInd'] === 'true');
  expect(at(observation ?? root, 'value')?.attributes['code']).toBe('419199007');
  expect(at(observation ?? root, 'participant', 'participantRole', 'playingEntity', 'code')?.attributes).toEqual({
    nullFlavor: 'NA',
  });
});

test('current entries come before ended ones, each newest first', async () => {
  for (const [topic, past] of [
    ['problems', /^(Resolved|Inactive)$/],
    ['medication-allergies', /^(Resolved|Inactive)$/],
    ['medications', /^(completed|stopped|cancelled)/],
  ] as const) {
    const { document } = await demo.make(topic, 1);
    const [section] = document.sections;
    const column = section?.definition.columns.indexOf('Status') ?? -1;
    const over = section?.table.rows.map(({ cells }) => past.test(cells[column] ?? '')) ?? [];
    expect(new Set(over)).toEqual(new Set([true, false]));
    expect(over).toEqual(over.toSorted((a, b) => Number(a) - Number(b)));
  }
});

test('a result that is flagged as abnormal is a marked row, and no other is', async () => {
  const { root, document } = await demo.make('laboratory-results', 1);
  const [section] = document.sections;
  const flag = section?.definition.columns.indexOf('Flag') ?? -1;
  const marked = section?.table.rows.filter(one => one.marked).map(({ cells }) => cells[flag]);
  expect(new Set(marked)).toEqual(new Set(['High', 'Low', 'Abnormal']));
  const unmarked = section?.table.rows.filter(one => !one.marked).map(({ cells }) => cells[flag]) ?? [];
  expect(unmarked.filter(text => marked?.includes(text))).toEqual([]);
  expect(all(root, 'tr').filter(({ attributes }) => attributes['styleCode'] === 'Bold')).toHaveLength(
    marked?.length ?? 0,
  );
});

test('an indication that refers to a problem has the onset of the problem', async () => {
  const { root } = await demo.make('medications', 1);
  const since = new Set(
    withTemplate(root, '4.19:2014-06-09').map(one => at(one, 'effectiveTime', 'low')?.attributes['value']),
  );
  const onsets = demo.rows<{ onset: string }>(
    `SELECT printf('%04d', ONS_YR) AS onset FROM PROB_LST p
     WHERE ONS_YR > 0 AND EXISTS (SELECT 1 FROM RX_ORD x WHERE x.PT_NO = 1 AND x.RSN_PRB_ID = p.PRB_ID)`,
  );
  expect(onsets.length).toBeGreaterThan(0);
  for (const { onset } of onsets) expect([...since].some(time => time?.startsWith(onset))).toBe(true);
  // An indication without a problem (free text) has no onset.
  expect(since).toContain(undefined);
});

test('a clinician with several roles is listed once', async () => {
  const { root } = await demo.make('all-patient-data', 1);
  for (const encounter of withTemplate(root, '4.49:2015-08-01')) {
    const ids = encounter.children
      .filter(({ name }) => name === 'performer')
      .map(one => JSON.stringify(at(one, 'assignedEntity', 'id')?.attributes));
    expect(new Set(ids).size).toBe(ids.length);
  }
});
