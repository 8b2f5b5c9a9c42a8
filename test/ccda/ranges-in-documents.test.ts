import { expect, test } from 'vitest';
import { uuidOf } from '../../src/ccda/ids.ts';
import { openDemoDocuments } from './demo-documents.ts';
import { demoOfFile } from './demo-of-file.ts';
import { structureProblems } from './structure.ts';
import { all, at, templatesOf, textOf, withTemplate } from './xml-tree.ts';

const demo = demoOfFile(30);

const RANGES: readonly (readonly [first: string | undefined, last: string | undefined])[] = [
  ['2024-01-01', '2024-12-31'],
  ['2020-06-15', '2020-06-15'],
  [undefined, '2015-12-31'],
  ['2025-01-01', undefined],
  ['1999-01-01', '1999-12-31'],
  ['2090-01-01', '2090-12-31'],
];

/** Birth dates of the patients. */
const BORN: Readonly<Record<number, string>> = { 1: '1968-06-02', 3: '2025-04-12' };

const digits = (day: string | undefined, open: string): string => day?.replaceAll('-', '') ?? open;

test.each(RANGES)('results from %s to %s have dates within the range', async (first, last) => {
  for (const patient of [1, 6]) {
    const { root } = await demo.make('laboratory-results', patient, { range: { first, last } });
    const found = withTemplate(root, '4.2:2015-08-01').map(one => at(one, 'id')?.attributes['root']);
    const rows = demo.rows<{ RSLT_ID: number }>(
      `SELECT RSLT_ID FROM LAB_RSLT l JOIN PT_MST p ON p.MRN = l.MRN WHERE p.PT_NO = ? AND (l.DEL_FL IS NULL OR l.DEL_FL <> 'Y')
       AND RSLT_ID IS NOT NULL AND OBS_DT >= ? AND OBS_DT <= ? AND OBS_DT NOT LIKE '%00'`,
      patient,
      digits(first, '00000000'),
      digits(last, '99999999'),
    );
    const expected = rows.map(({ RSLT_ID }) => uuidOf('medkeep', 'Observation', `lab-${RSLT_ID}`, 'result'));
    expect(expected.filter(id => !found.includes(id))).toEqual([]);
    const numbered = demo
      .rows<{ RSLT_ID: number }>('SELECT RSLT_ID FROM LAB_RSLT WHERE RSLT_ID IS NOT NULL')
      .map(({ RSLT_ID }) => uuidOf('medkeep', 'Observation', `lab-${RSLT_ID}`, 'result'));
    const wanted = new Set(expected);
    const known = new Set(numbered);
    expect(found.filter(id => known.has(id ?? '') && !wanted.has(id ?? ''))).toEqual([]);
  }
});

test.each(RANGES)('problems from %s to %s are those active in the range', async (first, last) => {
  const { root } = await demo.make('problems', 1, { range: { first, last } });
  const found = withTemplate(root, '4.3:2015-08-01').map(one => at(one, 'id')?.attributes['root']);
  const rows = demo.rows<{ PRB_ID: number; onset: string | null; RSLV_DT: string | null; recorded: string | null }>(
    `SELECT PRB_ID, RSLV_DT, substr(replace(REC_DTM, '-', ''), 1, 8) AS recorded,
            CASE WHEN ONS_YR > 0 THEN printf('%04d%02d%02d', ONS_YR, coalesce(ONS_MO, 0), CASE WHEN coalesce(ONS_MO, 0) = 0 THEN 0 ELSE coalesce(ONS_DY, 0) END) END AS onset
     FROM PROB_LST WHERE PT_NO = 1 AND PRB_TYP = 'P' AND (ERR_FL IS NULL OR ERR_FL = 0)`,
  );
  const expected = rows.filter(({ onset, recorded, RSLV_DT }) => {
    // A month or a year counts from its first day as a start, and to its last day as an end.
    const start = (onset ?? recorded ?? '00000000').replace(/0000$/, '0101').replace(/00$/, '01');
    const resolved =
      /^[12]\d{7}$/.test(RSLV_DT?.trim() ?? '') && (RSLV_DT ?? '') < '20260701' ? (RSLV_DT ?? '') : undefined;
    const end = resolved?.replace(/0000$/, '1231').replace(/00$/, '31') ?? '99999999';
    return start <= digits(last, '99999999') && end >= digits(first, '00000000');
  });
  expect(found.toSorted()).toEqual(
    expected.map(({ PRB_ID }) => uuidOf('medkeep', 'Condition', String(PRB_ID), 'concern')).toSorted(),
  );
});

test.each([
  [1, 'vital-signs', 'NA', 'Nothing from 1999-01-01 to 1999-12-31; the record has entries of other days'],
  [1, 'smoking-status', undefined, 'Nothing from 1999-01-01 to 1999-12-31; the record has entries of other days'],
  [2, 'vital-signs', 'NI', 'No information'],
  [2, 'smoking-status', 'NI', 'No information'],
])('a range without data of patient %i gives valid %s that say %s: %s', async (patient, topic, flavor, words) => {
  const { root } = await demo.make(topic, patient, { range: { first: '1999-01-01', last: '1999-12-31' } });
  expect(structureProblems(root)).toEqual([]);
  const [section] = all(root, 'section');
  expect(section?.attributes['nullFlavor']).toBe(flavor);
  expect(textOf(at(section ?? root, 'text'))).toBe(words);
});

test('a range does not filter demographics and the care team', async () => {
  for (const topic of ['patient-info', 'care-team-members']) {
    const [whole, narrow] = [
      await demo.make(topic, 1),
      await demo.make(topic, 1, { range: { first: '1999-01-01', last: '1999-01-01' } }),
    ];
    expect(narrow.xml).toBe(whole.xml);
  }
});

test.each(RANGES)('all data from %s to %s is valid, and its service event has this range', async (first, last) => {
  for (const patient of [1, 3]) {
    const { root } = await demo.make('all-patient-data', patient, { range: { first, last } });
    expect(structureProblems(root)).toEqual([]);
    const time = at(root, 'documentationOf', 'serviceEvent', 'effectiveTime') ?? root;
    const [low, high] = ['low', 'high'].map(end => at(time, end)?.attributes['value'] ?? '');
    const born = BORN[patient] ?? '';
    if (last !== undefined && last < born) {
      expect([low, high]).toEqual(['', '']);
      continue;
    }
    if (first !== undefined) expect(low).toBe(digits(first < born ? born : first, ''));
    if (last !== undefined) expect(high).toBe(digits(last, ''));
    expect((low ?? '') <= (high ?? '')).toBe(true);
  }
});

test.each([
  [1, '1850-01-01', undefined, '19680602'],
  [1, '0001-01-01', '2020-12-31', '19680602'],
  [1, '1850-01-01', '1860-12-31', undefined],
  [1, undefined, '1860-12-31', undefined],
  // The birth date of patient 29 is unknown.
  [29, '1753-01-01', '1860-12-31', undefined],
])('a document of patient %i has no care before birth, from %s to %s', async (patient, first, last, expected) => {
  const { root } = await demo.make('all-patient-data', patient, { range: { first, last } });
  expect(structureProblems(root)).toEqual([]);
  const low = at(root, 'documentationOf', 'serviceEvent', 'effectiveTime', 'low')?.attributes;
  expect(low).toEqual(expected === undefined ? { nullFlavor: 'NA' } : { value: expected });
});

test('the document of an encounter has the resources that refer to it, and none of other encounters', async () => {
  const { root } = await demo.make('encounter-ccds', 1, { encounterId: '49' });
  expect(structureProblems(root)).toEqual([]);
  expect(templatesOf(root)).toContain('1.2:2015-08-01');
  const ids = (template: string): readonly (string | undefined)[] =>
    withTemplate(root, template).map(one => at(one, 'id')?.attributes['root']);
  expect(ids('4.49:2015-08-01')).toEqual([uuidOf('medkeep', 'Encounter', '49', '')]);
  const results = demo.rows<{ RSLT_ID: number }>(
    "SELECT RSLT_ID FROM LAB_RSLT WHERE ENC_NO = 49 AND (DEL_FL IS NULL OR DEL_FL <> 'Y')",
  );
  for (const { RSLT_ID } of results) {
    expect(ids('4.2:2015-08-01')).toContain(uuidOf('medkeep', 'Observation', `lab-${RSLT_ID}`, 'result'));
  }
  const others = demo.rows<{ RSLT_ID: number }>('SELECT RSLT_ID FROM LAB_RSLT WHERE ENC_NO <> 49 OR ENC_NO IS NULL');
  const strange = new Set(others.map(({ RSLT_ID }) => uuidOf('medkeep', 'Observation', `lab-${RSLT_ID}`, 'result')));
  expect(ids('4.2:2015-08-01').filter(id => strange.has(id ?? ''))).toEqual([]);
  const orders = demo.rows<{ RX_NO: number }>(
    "SELECT RX_NO FROM RX_ORD WHERE ENC_NO = 49 AND (ERR_FL IS NULL OR ERR_FL <> 'Y')",
  );
  const ordered = orders.map(({ RX_NO }) => uuidOf('medkeep', 'MedicationRequest', String(RX_NO), ''));
  expect(ids('4.16:2014-06-09')).toEqual(expect.arrayContaining(ordered));
  expect(at(root, 'componentOf', 'encompassingEncounter')).toBeDefined();
});

test('the document of an encounter has the problems active at that time, although they refer to no encounter', async () => {
  const { root } = await demo.make('encounter-ccds', 1, { encounterId: '49' });
  const [problems] = withTemplate(root, '2.5.1:2015-08-01');
  const found = withTemplate(problems ?? root, '4.3:2015-08-01').map(one => at(one, 'id')?.attributes['root']);
  const { root: ofThatDay } = await demo.make('problems', 1, { range: { first: '2026-05-12', last: '2026-05-12' } });
  const expected = withTemplate(ofThatDay, '4.3:2015-08-01').map(one => at(one, 'id')?.attributes['root']);
  expect(expected.length).toBeGreaterThan(2);
  expect(found).toEqual(expected);
});

test('the document of an encounter has the medications taken at that time, whichever encounter ordered them', async () => {
  const day = { first: '2026-05-12', last: '2026-05-12' };
  const idsOf = async (topic: string, options: Parameters<typeof demo.make>[2]) =>
    withTemplate((await demo.make(topic, 1, options)).root, '4.16:2014-06-09').map(one => ({
      id: at(one, 'id')?.attributes['root'],
      status: at(one, 'statusCode')?.attributes['code'],
    }));
  const running = (await idsOf('medications', { range: day })).filter(({ status }) => status === 'active');
  const found = await idsOf('encounter-ccds', { encounterId: '49' });
  expect(running.length).toBeGreaterThan(2);
  expect(found).toEqual(expect.arrayContaining(running));
  const before = await idsOf('encounter-ccds', { encounterId: '1' });
  expect(before.length).toBeLessThan(found.length);
});

test('the document of an encounter has the medications that it ordered, whenever they were taken', async () => {
  const early = await openDemoDocuments(3, legacy => {
    legacy.exec("UPDATE RX_ORD SET STRT_DT = '19990101', STOP_DT = '19990105' WHERE PT_NO = 1");
  });
  try {
    const [order] = early.rows<{ RX_NO: number; ENC_NO: number }>(
      "SELECT RX_NO, ENC_NO FROM RX_ORD WHERE PT_NO = 1 AND ENC_NO > 0 AND (ERR_FL IS NULL OR ERR_FL <> 'Y') LIMIT 1",
    );
    const { root } = await early.make('encounter-ccds', 1, { encounterId: String(order?.ENC_NO) });
    const found = withTemplate(root, '4.16:2014-06-09').map(one => at(one, 'id')?.attributes['root']);
    expect(found).toContain(uuidOf('medkeep', 'MedicationRequest', String(order?.RX_NO), ''));
  } finally {
    await early.close();
  }
});

test('without a birth date the service event begins at the first record', async () => {
  const unborn = await openDemoDocuments(3, legacy => {
    legacy.exec("UPDATE PT_MST SET DOB = '00000000' WHERE PT_NO = 1");
  });
  try {
    const { root } = await unborn.make('all-patient-data', 1);
    expect(at(root, 'recordTarget', 'patientRole', 'patient', 'birthTime')?.attributes['nullFlavor']).toBe('UNK');
    const low = at(root, 'documentationOf', 'serviceEvent', 'effectiveTime', 'low')?.attributes['value'] ?? '';
    expect(low).toMatch(/^\d{8}$/);
    expect(low < '2020').toBe(true);
  } finally {
    await unborn.close();
  }
});

test('the document of an encounter says "no information" only of sections without any record', async () => {
  const { root: visit } = await demo.make('encounter-ccds', 1, { encounterId: '1' });
  const { root: whole } = await demo.make('all-patient-data', 1);
  const flavours = (root: typeof visit) =>
    new Map(all(root, 'section').map(one => [textOf(at(one, 'title')), one.attributes['nullFlavor']]));
  const known = flavours(whole);
  expect([...known.values()].filter(flavour => flavour !== undefined)).toEqual([]);
  const found = flavours(visit);
  expect([...found.values()].filter(flavour => flavour === 'NI')).toEqual([]);
  expect(found.get('Immunizations')).toBe('NA');
  const words = all(visit, 'paragraph').map(textOf);
  expect(words.length).toBeGreaterThan(2);
  expect(new Set(words)).toEqual(new Set(['Nothing of this encounter; the record has entries of other times']));
  // Patient 2 has an empty chart.
  const { root: empty } = await demo.make('all-patient-data', 2, { range: { first: '2020-01-01', last: undefined } });
  expect(new Set(all(empty, 'paragraph').map(textOf))).toEqual(new Set(['No information']));
});

test('an encounter of another patient gives no document', async () => {
  await expect(demo.make('encounter-ccds', 2, { encounterId: '49' })).rejects.toThrow(RangeError);
});
