import { expect, test } from 'vitest';
import { at, withTemplate } from '../xml-tree.ts';
import { compare, dayOf, entries, type Facts, legacyDemo, PATIENTS, rootOf, TODAY, value, ymd8 } from './legacy.ts';

const demo = legacyDemo();

test.each(PATIENTS)('laboratory tests that patient %i waits for', async patient => {
  const rows = demo.rows<{ ORD_NO: number; LN_NO: number; OCC_FR: string | null }>(
    `SELECT d.* FROM ORD_DTL d JOIN ORD_HDR h ON h.ORD_NO = d.ORD_NO
     WHERE h.PT_NO = ? AND h.ORD_TYP = 'L' AND (h.CXL_DTM IS NULL OR h.CXL_DTM < '1754-01-01' OR h.CXL_DTM > '9998-01-01')
     AND coalesce(trim(d.LN_STS), '') NOT IN ('C', 'X')`,
    patient,
  );
  const expected = rows.map((row): [string, Facts] => [
    rootOf('ServiceRequest', `${row.ORD_NO}-${row.LN_NO}`),
    { when: dayOf(row.OCC_FR), status: 'active', mood: 'RQO' },
  ]);
  const found = await entries(demo, 'laboratory-tests', patient, '4.44:2014-06-09', entry => ({
    when: value(at(entry, 'effectiveTime', 'low')),
    status: value(at(entry, 'statusCode'), 'code'),
    mood: value(entry, 'moodCode'),
  }));
  compare(found, new Map(expected));
});

test.each(PATIENTS)('goals of patient %i', async patient => {
  const STATUS: Readonly<Record<string, string>> = {
    PROPOSED: 'new',
    PLANNED: 'new',
    ACCEPTED: 'active',
    ACTIVE: 'active',
    '': 'active',
    ONHOLD: 'suspended',
    COMPLETED: 'completed',
    CANCELLED: 'cancelled',
    REJECTED: 'cancelled',
  };
  const rows = demo.rows<{ GOAL_NO: number; LIF_STS: string | null; STRT_DT: string | null; MEAS_LN: string | null }>(
    'SELECT * FROM GOAL_LST WHERE PT_NO = ?',
    patient,
  );
  const expected = rows.flatMap((row): [string, Facts][] => {
    const status = STATUS[(row.LIF_STS ?? '').trim().toUpperCase()];
    if (status === undefined) return [];
    return [
      [rootOf('Goal', row.GOAL_NO), { status, since: ymd8(row.STRT_DT), loinc: row.MEAS_LN?.trim() || undefined }],
    ];
  });
  const found = await entries(demo, 'goals', patient, '4.121', entry => ({
    status: value(at(entry, 'statusCode'), 'code'),
    since: value(at(entry, 'effectiveTime', 'low')),
    loinc:
      value(at(entry, 'code'), 'codeSystem') === '2.16.840.1.113883.6.1' ? value(at(entry, 'code'), 'code') : undefined,
  }));
  compare(found, new Map(expected));
});

test.each(PATIENTS)('plans of patient %i', async patient => {
  const rows = demo.rows<{ PLN_ID: number; PLN_STS: string | null; END_DT: number | null }>(
    "SELECT * FROM CARE_PLN WHERE PT_NO = ? AND (PLN_STS IS NULL OR PLN_STS <> 'EE')",
    patient,
  );
  const pending = rows.filter(({ PLN_STS, END_DT }) => {
    const status = (PLN_STS ?? '').trim();
    const end = ymd8(END_DT);
    return status === '' ? end === undefined || end.padEnd(8, '0') >= TODAY : !['CP', 'RV'].includes(status);
  });
  const { root, document } = await demo.make('assessment-and-plan-of-treatment', patient);
  const found = withTemplate(root, '4.39:2014-06-09')
    .filter(({ attributes }) => attributes['moodCode'] === 'INT')
    .map(entry => at(entry, 'id')?.attributes['root']);
  expect(found.toSorted()).toEqual(pending.map(({ PLN_ID }) => rootOf('CarePlan', PLN_ID)).toSorted());
  // Finished plans have no entry, but a row in the narrative.
  const plan = document.sections.find(({ definition }) => definition.key === 'plan');
  const planned = withTemplate(root, '4.44:2014-06-09').length + withTemplate(root, '4.40:2014-06-09').length;
  const requests = withTemplate(root, '4.39:2014-06-09').length - found.length;
  expect(plan?.table.rows.length).toBe(rows.length + planned + requests);
});
