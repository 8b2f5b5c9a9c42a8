import { expect, test } from 'vitest';
import { at, withTemplate } from '../xml-tree.ts';
import {
  compare,
  day,
  dayOf,
  entries,
  type Facts,
  legacyDemo,
  PATIENTS,
  rootOf,
  TODAY,
  value,
  ymd8,
} from './legacy.ts';

const demo = legacyDemo();

test.each(PATIENTS)('problems of patient %i', async patient => {
  type Row = {
    PRB_ID: number;
    SYS_NO: number | null;
    TRM_CD: string | null;
    ONS_YR: number | null;
    ONS_MO: number | null;
    ONS_DY: number | null;
    RSLV_DT: string | null;
    STS: string | null;
    PRB_TX: string | null;
  };
  const rows = demo.rows<Row>(
    `SELECT * FROM PROB_LST p LEFT JOIN VOC_TRM t ON t.TRM_NO = p.TRM_NO
     WHERE PT_NO = ? AND PRB_TYP = 'P' AND (ERR_FL IS NULL OR ERR_FL = 0)`,
    patient,
  );
  const expected = rows
    .filter(row => row.PRB_TX !== null || row.TRM_CD !== null)
    .map((row): [string, Facts] => {
      const resolved = ymd8(row.RSLV_DT);
      const past = resolved !== undefined && resolved.padEnd(8, '0') < TODAY;
      const status = (row.STS ?? '').trim().toUpperCase();
      const over = ['INACTIVE', 'I', 'RESOLVED', 'R', 'REMISSION'].includes(status) || past;
      const year = row.ONS_YR ? String(row.ONS_YR) : undefined;
      const month = year && row.ONS_MO ? String(row.ONS_MO).padStart(2, '0') : '';
      const date = month && row.ONS_DY ? String(row.ONS_DY).padStart(2, '0') : '';
      const onset = year && ymd8(`${year}${month || '00'}${date || '00'}`);
      return [
        rootOf('Condition', row.PRB_ID, 'concern'),
        {
          code: row.SYS_NO === 1 ? (row.TRM_CD?.trim() ?? undefined) : undefined,
          onset,
          abated:
            past && !(onset && onset.length === 8 && resolved.length === 8 && resolved < onset) ? resolved : undefined,
          status: over ? 'completed' : 'active',
        },
      ];
    });
  const found = await entries(demo, 'problems', patient, '4.3:2015-08-01', entry => {
    const observation = at(entry, 'entryRelationship', 'observation');
    return {
      code: value(at(observation ?? entry, 'value'), 'code'),
      onset: value(at(observation ?? entry, 'effectiveTime', 'low')),
      abated: value(at(observation ?? entry, 'effectiveTime', 'high')),
      status: value(at(entry, 'statusCode'), 'code'),
    };
  });
  compare(found, new Map(expected));
});

test.each(PATIENTS)('medications of patient %i', async patient => {
  type Order = {
    RX_NO: number;
    DC_DTM: string | null;
    HOLD_FL: string | null;
    STOP_DT: number | null;
    STRT_DT: number | null;
    ORD_DTM: string | null;
    RXN_CD: string | null;
  };
  const orders = demo.rows<Order>(
    `SELECT x.*, d.RXN_CD FROM RX_ORD x LEFT JOIN RX_DRUG d ON d.DRUG_NO = x.DRUG_NO
     WHERE PT_NO = ? AND (ERR_FL IS NULL OR ERR_FL <> 'Y')`,
    patient,
  );
  const told = demo.rows<{ RPT_ID: string; INACT_FL: string | null; RPT_DTM: string | null; CDS: string | null }>(
    `SELECT r.* FROM RX_RPT r JOIN PT_MST p ON p.PT_UID = r.PT_UID
     WHERE p.PT_NO = ? AND NOT EXISTS (SELECT 1 FROM RX_ORD x WHERE x.RX_NO = r.MTCH_RX_NO)`,
    patient,
  );
  const expected = [
    ...orders.map((row): [string, Facts] => {
      const planned = ymd8(row.STOP_DT);
      const stop = dayOf(row.DC_DTM) ?? planned;
      const start = ymd8(row.STRT_DT) ?? dayOf(row.ORD_DTM);
      const status =
        dayOf(row.DC_DTM) !== undefined
          ? 'aborted'
          : row.HOLD_FL === 'Y'
            ? 'suspended'
            : planned !== undefined && planned < TODAY
              ? 'completed'
              : 'active';
      return [
        rootOf('MedicationRequest', row.RX_NO),
        {
          mood: 'INT',
          code: row.RXN_CD?.trim() || undefined,
          start,
          end: stop && start && stop < start ? undefined : stop,
          status,
        },
      ];
    }),
    ...told.map((row): [string, Facts] => [
      rootOf('MedicationRequest', row.RPT_ID.toLowerCase()),
      {
        mood: 'EVN',
        code: /RXN:(\d+)/.exec(row.CDS ?? '')?.[1],
        start: undefined,
        end: undefined,
        status: row.INACT_FL === 'Y' ? 'aborted' : 'active',
      },
    ]),
  ];
  const found = await entries(demo, 'medications', patient, '4.16:2014-06-09', entry => ({
    mood: value(entry, 'moodCode'),
    code: value(at(entry, 'consumable', 'manufacturedProduct', 'manufacturedMaterial', 'code'), 'code'),
    start: day(value(at(entry, 'effectiveTime', 'low'))),
    end: day(value(at(entry, 'effectiveTime', 'high'))),
    status: value(at(entry, 'statusCode'), 'code'),
  }));
  compare(found, new Map(expected));
});

test('the reported start of a drug is in the narrative and in the entry, as the patient worded it', async () => {
  type Told = { PT_NO: number; SINCE_TX: string };
  const [told] = demo.rows<Told>(
    `SELECT p.PT_NO, r.SINCE_TX FROM RX_RPT r JOIN PT_MST p ON p.PT_UID = r.PT_UID
     WHERE r.SINCE_TX = 'spring 2020' AND p.PT_NO <= ${Math.max(...PATIENTS)} AND (p.DEL_FL IS NULL OR p.DEL_FL <> 'Y')
       AND NOT EXISTS (SELECT 1 FROM RX_ORD x WHERE x.RX_NO = r.MTCH_RX_NO)`,
  );
  expect(told).toBeDefined();
  const { xml } = await demo.make('medications', told?.PT_NO ?? 0);
  expect(xml).toMatch(/<td[^>]*>Since spring 2020<\/td>/);
  expect(xml).toMatch(/<text>Since spring 2020<reference/);
});

test.each(PATIENTS)('allergies of patient %i', async patient => {
  type Row = { ALG_ID: number; STS: string | null; ONSET_DT: string | null; CRIT: string | null; reactions: number };
  const rows = demo.rows<Row>(
    `SELECT a.*, (SELECT count(*) FROM ALLRGY_RXN r WHERE r.ALG_ID = a.ALG_ID AND (r.DEL_FL IS NULL OR r.DEL_FL <> 'Y')) AS reactions
     FROM ALLRGY a WHERE PT_NO = ? AND (DEL_FL IS NULL OR DEL_FL <> 'Y') AND (STS IS NULL OR STS <> 'E')
     AND (trim(coalesce(ALG_CD, '')) <> '' OR trim(coalesce(ALG_TX, '')) <> '')`,
    patient,
  );
  const old = demo.rows<{ SEQ_NO: number; MRN: string; ACTV: string | null }>(
    `SELECT o.* FROM ALLRGY_V1 o JOIN PT_MST p ON p.MRN = o.MRN
     WHERE p.PT_NO = ? AND NOT EXISTS (SELECT 1 FROM ALLRGY a WHERE a.ALG_ID = o.CNV_ALG_ID)`,
    patient,
  );
  const expected = [
    ...rows.map((row): [string, Facts] => [
      rootOf('AllergyIntolerance', row.ALG_ID, 'concern'),
      {
        status: ['I', 'R'].includes(row.STS ?? '') ? 'completed' : 'active',
        onset: ymd8(row.ONSET_DT),
        reactions: String(row.reactions),
      },
    ]),
    ...old.map((row): [string, Facts] => [
      rootOf('AllergyIntolerance', `v1-${row.SEQ_NO}-${row.MRN}`, 'concern'),
      { status: row.ACTV === 'N' ? 'completed' : 'active', onset: undefined, reactions: undefined },
    ]),
  ];
  const found = await entries(demo, 'medication-allergies', patient, '4.30:2015-08-01', entry => ({
    status: value(at(entry, 'statusCode'), 'code'),
    onset: value(at(entry, 'entryRelationship', 'observation', 'effectiveTime', 'low')),
    reactions: String(withTemplate(entry, '4.9:2014-06-09').length),
  }));
  const v1 = new Set(old.map(row => rootOf('AllergyIntolerance', `v1-${row.SEQ_NO}-${row.MRN}`, 'concern')));
  compare(
    new Map([...found].map(([root, facts]) => [root, v1.has(root) ? { ...facts, reactions: undefined } : facts])),
    new Map(expected),
  );
});

test.each(PATIENTS)('health concerns of patient %i', async patient => {
  const rows = demo.rows<{ PRB_ID: number }>(
    `SELECT PRB_ID FROM PROB_LST p LEFT JOIN VOC_TRM t ON t.TRM_NO = p.TRM_NO
     WHERE PT_NO = ? AND PRB_TYP IN ('C', 'D') AND (ERR_FL IS NULL OR ERR_FL = 0) AND (PRB_TX IS NOT NULL OR t.TRM_CD IS NOT NULL)`,
    patient,
  );
  const found = await entries(demo, 'health-concerns', patient, '4.132:2015-08-01', () => ({}));
  compare(found, new Map(rows.map(({ PRB_ID }) => [rootOf('Condition', PRB_ID, 'health-concern'), {}])));
});

test.each(PATIENTS)('past history of patient %i', async patient => {
  const rows = demo.rows<{ HX_SEQ: number; ICD9_CD: string | null; MRN: string; HX_TX: string; HX_YR: number | null }>(
    `SELECT h.* FROM PT_HX h JOIN PT_MST p ON p.MRN = h.MRN
     WHERE p.PT_NO = ? AND NOT EXISTS (SELECT 1 FROM PROB_LST b WHERE b.PRB_ID = h.PRB_ID)`,
    patient,
  );
  const { document } = await demo.make('all-patient-data', patient);
  const section = document.sections.find(({ definition }) => definition.key === 'past-history');
  const told = section?.table.rows.map(({ cells: [what, , , , onset] }) => `${what}, ${onset}`);
  const expected = rows.map(({ HX_TX, HX_YR }) => `${HX_TX.trim()}, ${HX_YR || ''}`);
  expect(told?.toSorted()).toEqual(expected.toSorted());
  expect(section?.entries.count).toBe(rows.length);
});
