import { expect, test } from 'vitest';
import { at } from '../xml-tree.ts';
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

test.each(PATIENTS)('smoking status of patient %i', async patient => {
  const rows = demo.rows<{ SOC_ID: number; STD_CD: string | null; EFF_DT: string | null; REC_DTM: string | null }>(
    `SELECT s.*, c.STD_CD FROM SOC_HX s LEFT JOIN CD_LKUP c ON c.TBL_ID = 'SMK' AND c.CD = s.VAL_CD
     WHERE PT_NO = ? AND ITM_CD = 'SMK' AND (INACT_FL IS NULL OR INACT_FL <> 'Y')`,
    patient,
  );
  const expected = rows.map((row): [string, Facts] => [
    rootOf('Observation', `soc-${row.SOC_ID}`),
    { code: row.STD_CD?.trim() || '266927001', when: ymd8(row.EFF_DT) ?? dayOf(row.REC_DTM) },
  ]);
  const found = await entries(demo, 'smoking-status', patient, '4.78:2014-06-09', entry => ({
    code: value(at(entry, 'value'), 'code'),
    when: day(value(at(entry, 'effectiveTime'))),
  }));
  compare(found, new Map(expected));
});

test.each(PATIENTS)('social history of patient %i', async patient => {
  type Row = { SOC_ID: number; ITM_CD: string; VAL_NUM: number | null; VAL_CD: string | null; EFF_DT: string | null };
  const rows = demo.rows<Row>(
    `SELECT s.* FROM SOC_HX s WHERE PT_NO = ? AND ITM_CD <> 'SMK' AND (INACT_FL IS NULL OR INACT_FL <> 'Y')
     AND NOT (ITM_CD = 'IND' AND EXISTS (SELECT 1 FROM SOC_HX o WHERE o.GRP_NO = s.GRP_NO AND o.PT_NO = s.PT_NO
       AND o.ITM_CD = 'OCC' AND (o.INACT_FL IS NULL OR o.INACT_FL <> 'Y')))`,
    patient,
  );
  const { root } = await demo.make('all-patient-data', patient);
  compare(
    entriesOf(root, '4.38:2015-08-01', entry => {
      const time = at(entry, 'effectiveTime');
      const number = at(entry, 'value')?.attributes['value'];
      return {
        when: day(value(time) ?? value(at(time ?? entry, 'low'))),
        number: /^[\d.]+$/.test(number ?? '') ? String(Number(number)) : undefined,
      };
    }),
    new Map(
      rows.map((row): [string, Facts] => [
        rootOf('Observation', `${row.ITM_CD === 'OCC' ? 'occ' : 'soc'}-${row.SOC_ID}`),
        {
          when: ymd8(row.EFF_DT),
          number: row.VAL_CD?.trim() || row.VAL_NUM === null ? undefined : String(Number(row.VAL_NUM)),
        },
      ]),
    ),
  );
});

test.each(PATIENTS)('questionnaires of patient %i', async patient => {
  const panels = demo.rows<{ RSP_NO: number; TOT_SCR: number | null; CMPL_DTM: string | null }>(
    "SELECT * FROM QST_RSP WHERE PT_NO = ? AND (RSP_STS IS NULL OR RSP_STS <> 'E')",
    patient,
  );
  const answers = demo.rows<{ RSP_NO: number; ITM_NO: number; ANS_SEQ: number }>(
    `SELECT a.* FROM QST_ANS a JOIN QST_RSP r ON r.RSP_NO = a.RSP_NO
     WHERE r.PT_NO = ? AND (RSP_STS IS NULL OR RSP_STS <> 'E')`,
    patient,
  );
  const { root } = await demo.make('all-patient-data', patient);
  const scales = entriesOf(root, '4.69', entry => ({
    when: day(value(at(entry, 'effectiveTime'))),
    score: at(entry, 'value')?.attributes['value'],
  }));
  const within = entriesOf(root, '4.86', () => ({}));
  for (const { RSP_NO, TOT_SCR, CMPL_DTM } of panels) {
    expect(scales.get(rootOf('Observation', `panel-${RSP_NO}`))).toEqual({
      when: dayOf(CMPL_DTM),
      score: TOT_SCR === null || TOT_SCR === -1 ? undefined : String(TOT_SCR),
    });
  }
  const expected = [
    ...panels.map(({ RSP_NO }) => rootOf('Observation', `panel-${RSP_NO}`)),
    ...answers.map(({ RSP_NO, ITM_NO, ANS_SEQ }) => rootOf('Observation', `answer-${RSP_NO}.${ITM_NO}.${ANS_SEQ}`)),
  ];
  expect([...scales.keys(), ...within.keys()].toSorted()).toEqual(expected.toSorted());
});
