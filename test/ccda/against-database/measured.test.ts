import { expect, test } from 'vitest';
import { at, withTemplate } from '../xml-tree.ts';
import {
  compare,
  day,
  dayOf,
  entries,
  entriesOf,
  type Facts,
  legacyDemo,
  PATIENTS,
  rootOf,
  value,
  ymd8,
} from './legacy.ts';

const demo = legacyDemo();

test.each(PATIENTS)('laboratory results of patient %i', async patient => {
  type Row = {
    RSLT_ID: number | null;
    ACC_NO: string;
    TST_CD: string;
    RPT_SEQ: number;
    RSLT_TX: string | null;
    RSLT_CD: string | null;
    RSLT_STS: string | null;
    OBS_DT: string;
    LN_CD: string | null;
    LOINC: string | null;
  };
  const rows = demo.rows<Row>(
    `SELECT l.*, t.LOINC FROM LAB_RSLT l JOIN PT_MST p ON p.MRN = l.MRN LEFT JOIN LAB_TST t ON t.TST_CD = l.TST_CD
     WHERE p.PT_NO = ? AND (l.DEL_FL IS NULL OR l.DEL_FL <> 'Y')`,
    patient,
  );
  const expected = rows.map((row): [string, Facts] => {
    const status = (row.RSLT_STS ?? '').toUpperCase();
    const number = /^(-?\d+(?:\.\d+)?)$/.exec(row.RSLT_TX?.trim() ?? '')?.[1];
    return [
      row.RSLT_ID === null ? `${row.ACC_NO}.${row.TST_CD.trim()}.${row.RPT_SEQ}` : String(row.RSLT_ID),
      {
        status: status === 'X' ? 'cancelled' : ['P', 'I'].includes(status) ? 'active' : 'completed',
        when: ymd8(row.OBS_DT),
        code: row.LN_CD?.trim() || row.LOINC?.trim() || undefined,
        number: (row.RSLT_CD ?? '').trim() === '' ? number : undefined,
      },
    ];
  });
  const { root } = await demo.make('laboratory-results', patient);
  const observations = new Map(
    withTemplate(root, '4.2:2015-08-01').map(one => [at(one, 'id')?.attributes['root'] ?? '', one] as const),
  );
  expect(observations.size).toBe(withTemplate(root, '4.2:2015-08-01').length);
  const used = new Set<string>();
  for (const [key, facts] of expected) {
    // Ids escape odd codes, so the test computes the possible id.
    const id = rootOf('Observation', `lab-${key}`, 'result');
    const one = observations.get(id);
    if (one === undefined && !/^[A-Za-z0-9.-]+$/.test(key)) continue;
    used.add(id);
    const found = at(one ?? root, 'value');
    const exact =
      found?.attributes['xsi:type'] === 'PQ' || found?.attributes['xsi:type'] === 'REAL' ? value(found) : undefined;
    const asText = found?.attributes['xsi:type'] === 'ST' ? /^-?\d+(?:\.\d+)?/.exec(found.text)?.[0] : undefined;
    expect({
      key,
      status: value(at(one ?? root, 'statusCode'), 'code'),
      when: day(value(at(one ?? root, 'effectiveTime'))),
      code: value(at(one ?? root, 'code'), 'code'),
      number: facts['number'] === undefined ? undefined : (exact ?? asText),
    }).toEqual({ key, ...facts });
  }
  // The other entries are point-of-care tests and text-only reports.
  const bedside = demo.rows<{ POC_ID: string }>(
    `SELECT POC_ID FROM POC_RSLT b JOIN PT_MST p ON p.PT_UID = b.PT_UID WHERE p.PT_NO = ? AND DEPT_CD = 'POC'`,
    patient,
  );
  const reports = demo.rows<{ RPT_NO: number }>(
    'SELECT RPT_NO FROM LAB_RPT r JOIN PT_MST p ON p.MRN = r.MRN WHERE p.PT_NO = ?',
    patient,
  );
  for (const { POC_ID } of bedside) used.add(rootOf('Observation', `poc-${POC_ID.toLowerCase()}`, 'result'));
  for (const { RPT_NO } of reports) used.add(rootOf('DiagnosticReport', `lab-${RPT_NO}`, 'result'));
  const strange = [...observations.keys()].filter(id => !used.has(id));
  expect(strange.length).toBeLessThanOrEqual(expected.filter(([key]) => !/^[A-Za-z0-9.-]+$/.test(key)).length);
});

const MEASURED: readonly (readonly [column: string, variant: string, code: string])[] = [
  ['HT_IN', 'height', '8302-2'],
  ['WT_LB', 'weight', '29463-7'],
  ['BMI', 'bmi', '39156-5'],
  ['TEMP_F', 'temp', '8310-5'],
  ['PULSE', 'pulse', '8867-4'],
  ['RESP', 'resp', '9279-1'],
  ['SPO2', 'spo2', '59408-5'],
  ['HC_IN', 'head', '9843-4'],
  ['HC_PCT', 'head-pct', '8289-1'],
  ['BMI_PCT', 'bmi-pct', '59576-9'],
  ['WFL_PCT', 'wfl-pct', '77606-2'],
];

test.each(PATIENTS)('vital signs of patient %i', async patient => {
  const rows = demo.rows<Record<string, number | string | null>>(
    "SELECT * FROM VIT_SGN WHERE PT_NO = ? AND (STS IS NULL OR STS <> 'E')",
    patient,
  );
  const expected = new Map<string, Facts>();
  for (const row of rows) {
    const when = dayOf(String(row['VIT_DTM']));
    for (const [column, variant, code] of MEASURED) {
      const number = row[column];
      if (number === null || number === undefined || Number(number) === 0) continue;
      expected.set(rootOf('Observation', `${variant}-${row['VIT_ID']}`, 'vital-sign'), {
        code,
        when,
        number: String(Number(number)),
      });
    }
  }
  const { root } = await demo.make('vital-signs', patient);
  const codes = new Set(MEASURED.map(([, , code]) => code));
  const found = new Map(
    withTemplate(root, '4.27:2014-06-09')
      .filter(one => codes.has(value(at(one, 'code'), 'code') ?? ''))
      .map((one): [string, Facts] => [
        at(one, 'id')?.attributes['root'] ?? '',
        {
          code: value(at(one, 'code'), 'code'),
          when: day(value(at(one, 'effectiveTime'))),
          number: String(Number(value(at(one, 'value')))),
        },
      ]),
  );
  compare(found, expected);
});

test.each(PATIENTS)('blood pressures of patient %i', async patient => {
  const rows = demo.rows<{ VIT_ID: number; BP_SYS: number | null; BP_DIA: number | null }>(
    `SELECT * FROM VIT_SGN WHERE PT_NO = ? AND (STS IS NULL OR STS <> 'E') AND BP_SYS > 0`,
    patient,
  );
  const { root } = await demo.make('vital-signs', patient);
  const found = new Map(
    withTemplate(root, '4.27:2014-06-09').map(one => [
      at(one, 'id')?.attributes['root'] ?? '',
      at(one, 'value')?.attributes,
    ]),
  );
  for (const row of rows) {
    expect(found.get(rootOf('Observation', `bp-${row.VIT_ID}`, 'vital-signcomponent-0'))).toMatchObject({
      value: String(row.BP_SYS),
      unit: 'mm[Hg]',
    });
    expect(found.get(rootOf('Observation', `bp-${row.VIT_ID}`, 'vital-signcomponent-1'))).toMatchObject(
      row.BP_DIA ? { value: String(row.BP_DIA) } : { nullFlavor: 'UNK' },
    );
  }
});

test.each(PATIENTS)('the vital signs of patient %i have no other entries', async patient => {
  const rows = demo.rows<{ VIT_ID: number }>(
    "SELECT VIT_ID FROM VIT_SGN WHERE PT_NO = ? AND (STS IS NULL OR STS <> 'E')",
    patient,
  );
  const averages = demo.rows<{ GRP_NO: number }>('SELECT DISTINCT GRP_NO FROM FLW_AVG WHERE PT_NO = ?', patient);
  const PARTS = ['', ...Array.from({ length: 4 }, (_, i) => `component-${i}`)];
  const VARIANTS = [...MEASURED.map(([, variant]) => variant), 'bp', 'pain'];
  const known = new Set([
    ...rows.flatMap(({ VIT_ID }) =>
      VARIANTS.flatMap(variant =>
        PARTS.map(part => rootOf('Observation', `${variant}-${VIT_ID}`, `vital-sign${part}`)),
      ),
    ),
    ...averages.flatMap(({ GRP_NO }) =>
      PARTS.map(part => rootOf('Observation', `avgbp-${GRP_NO}`, `vital-sign${part}`)),
    ),
  ]);
  const found = await entries(demo, 'vital-signs', patient, '4.27:2014-06-09', () => ({}));
  expect([...found.keys()].filter(id => !known.has(id))).toEqual([]);
});

test.each(PATIENTS)('measurements of departments of patient %i', async patient => {
  type Row = {
    POC_ID: string;
    DEPT_CD: string;
    LN_CD: string | null;
    VAL_NUM: number | null;
    VAL_CD: string | null;
    OBS_DTM: string | null;
  };
  const rows = demo.rows<Row>(
    `SELECT b.* FROM POC_RSLT b JOIN PT_MST p ON p.PT_UID = b.PT_UID
     WHERE p.PT_NO = ? AND DEPT_CD <> 'POC' AND (STS IS NULL OR STS <> 'E')
     AND NOT EXISTS (SELECT 1 FROM LAB_RSLT l WHERE l.ACC_NO = b.LIS_ACC_NO AND (l.DEL_FL IS NULL OR l.DEL_FL <> 'Y'))`,
    patient,
  );
  const { root } = await demo.make('all-patient-data', patient);
  const found = entriesOf(root, '4.2:2015-08-01', entry => ({
    code: value(at(entry, 'code'), 'code'),
    when: day(value(at(entry, 'effectiveTime'))),
    number: at(entry, 'value')?.attributes['value'],
  }));
  const expected = rows.map((row): [string, Facts] => [
    rootOf('Observation', `poc-${row.POC_ID.toLowerCase()}`, 'result'),
    {
      code: row.LN_CD?.trim() || undefined,
      when: dayOf(row.OBS_DTM),
      number: row.VAL_CD?.trim() || row.VAL_NUM === null ? undefined : String(Number(row.VAL_NUM)),
    },
  ]);
  const own = new Set(expected.map(([id]) => id));
  compare(
    new Map(
      [...found]
        .filter(([id]) => own.has(id))
        .map(([id, facts]) => [id, { ...facts, number: facts['number'] && String(Number(facts['number'])) }]),
    ),
    new Map(expected),
  );
});
