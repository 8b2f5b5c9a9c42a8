/**
 * A validator cannot see an untrue document. Here each entry is compared with the legacy rows themselves, read by SQL that
 * knows nothing of the mappings: each row that counts stands there once, with its code, dates, value and status, and nothing
 * else does.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidOf } from '../../src/ccda/ids.ts';
import { type DemoDocuments, openDemoDocuments } from './demo-documents.ts';
import { at, type Element, withTemplate } from './xml-tree.ts';

const PATIENTS = [1, 3, 4, 5, 6, 9, 10, 12, 13, 16, 17, 18, 21, 24, 25, 26, 27, 28, 30, 35];

let demo: DemoDocuments;
beforeAll(async () => {
  demo = await openDemoDocuments(40);
});
afterAll(() => demo.close());

type Facts = Readonly<Record<string, string | undefined>>;

/** Root of an entry's id. */
const rootOf = (type: string, id: number | string, part = ''): string => uuidOf('medkeep', type, String(id), part);

/** Entries with a template by the root of their id. */
async function entries(
  topic: string,
  patient: number,
  template: string,
  facts: (entry: Element) => Facts,
): Promise<ReadonlyMap<string, Facts>> {
  const { root } = await demo.make(topic, patient);
  const found = withTemplate(root, template);
  const map = new Map(found.map(entry => [at(entry, 'id')?.attributes['root'] ?? '', facts(entry)]));
  expect(map.size).toBe(found.length);
  return map;
}

function compare(found: ReadonlyMap<string, Facts>, expected: ReadonlyMap<string, Facts>): void {
  const sorted = (map: ReadonlyMap<string, Facts>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(found)).toEqual(sorted(expected));
}

const value = (element: Element | undefined, name = 'value') => element?.attributes[name];
const day = (time: string | undefined) => time?.slice(0, 8);

/** `20200400` → `202004`; nothing for what is no date. */
function ymd8(text: string | number | null): string | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})$/.exec(String(text ?? '').trim());
  if (!match || ['0000', '1753', '9999'].includes(match[1] ?? '')) return undefined;
  const [, year = '', month = '', date = ''] = match;
  if (month === '00') return date === '00' ? year : undefined;
  if (Number(month) > 12) return undefined;
  if (date === '00') return year + month;
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date))).getUTCDate() === Number(date);
  return exists ? year + month + date : undefined;
}

/** `2020-04-01 10:30:00.000` → `20200401`. */
const dayOf = (stamp: string | null): string | undefined => {
  const text = stamp?.slice(0, 10).replaceAll('-', '');
  return text === undefined || text.startsWith('1753') || text.startsWith('9999') ? undefined : text;
};

const TODAY = '20260701';

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
  const found = await entries('problems', patient, '4.3:2015-08-01', entry => {
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
      const stop = ymd8(row.STOP_DT);
      const start = ymd8(row.STRT_DT) ?? dayOf(row.ORD_DTM);
      const status =
        dayOf(row.DC_DTM) !== undefined
          ? 'aborted'
          : row.HOLD_FL === 'Y'
            ? 'suspended'
            : stop !== undefined && stop < TODAY
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
        start: dayOf(row.RPT_DTM),
        end: undefined,
        status: row.INACT_FL === 'Y' ? 'aborted' : 'active',
      },
    ]),
  ];
  const found = await entries('medications', patient, '4.16:2014-06-09', entry => ({
    mood: value(entry, 'moodCode'),
    code: value(at(entry, 'consumable', 'manufacturedProduct', 'manufacturedMaterial', 'code'), 'code'),
    start: day(value(at(entry, 'effectiveTime', 'low'))),
    end: day(value(at(entry, 'effectiveTime', 'high'))),
    status: value(at(entry, 'statusCode'), 'code'),
  }));
  compare(found, new Map(expected));
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
  const found = await entries('medication-allergies', patient, '4.30:2015-08-01', entry => ({
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
    // Odd codes are escaped in ids: those are looked up by what the id can be.
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
  // What else is there are tests at the bedside and reports that are nothing but text.
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

test.each(PATIENTS)('procedures of patient %i', async patient => {
  type Row = { id: string; status: string; STRT: string | null; code: string | null };
  const rows = demo.rows<Row>(
    `SELECT CAST(PRC_ID AS TEXT) AS id, upper(trim(coalesce(PRC_STS, ''))) AS status, STRT_DTM AS STRT,
            CASE WHEN t.SYS_NO = 1 THEN t.TRM_CD END AS code
     FROM PROC_HX p LEFT JOIN VOC_TRM t ON t.TRM_NO = p.TRM_NO
     WHERE PT_NO = ? AND NOT EXISTS (SELECT 1 FROM REC_VOID v WHERE v.TBL_NM = 'PROC_HX' AND v.REC_KEY = p.PRC_ID)
     UNION ALL
     SELECT 'sx-' || PRB_ID, 'DONE', NULL, CASE WHEN t.SYS_NO = 1 THEN t.TRM_CD END
     FROM PROB_LST p LEFT JOIN VOC_TRM t ON t.TRM_NO = p.TRM_NO
     WHERE PT_NO = ? AND PRB_TYP = 'S' AND (ERR_FL IS NULL OR ERR_FL = 0)`,
    patient,
    patient,
  );
  const expected = rows.map(({ id, status, STRT, code }): [string, Facts] => [
    rootOf('Procedure', id),
    {
      status: status === 'CXL' ? 'cancelled' : ['INPROG', 'PREP'].includes(status) ? 'active' : 'completed',
      negated: status === 'CXL' ? 'true' : undefined,
      when: id.startsWith('sx-') ? undefined : dayOf(STRT),
      snomed: code?.trim() ?? undefined,
    },
  ]);
  const found = await entries('procedures', patient, '4.14:2014-06-09', entry => {
    const id = at(entry, 'id')?.attributes['root'];
    const surgery = rows.some(row => row.id.startsWith('sx-') && rootOf('Procedure', row.id) === id);
    const time = at(entry, 'effectiveTime');
    const code = at(entry, 'code');
    return {
      status: value(at(entry, 'statusCode'), 'code'),
      negated: value(entry, 'negationInd'),
      when: surgery ? undefined : day(value(time) ?? value(at(time ?? entry, 'low'))),
      snomed: value(code, 'codeSystem') === '2.16.840.1.113883.6.96' ? value(code, 'code') : undefined,
    };
  });
  compare(found, new Map(expected));
});

test.each(PATIENTS)('immunizations of patient %i', async patient => {
  type Row = {
    IMM_ID: number;
    CVX_CD: string | null;
    ADM_DT: string | null;
    REFUS_FL: string | null;
    LOT_NO: string | null;
  };
  const rows = demo.rows<Row>("SELECT * FROM IMM_HX WHERE PT_NO = ? AND (ERR_FL IS NULL OR ERR_FL <> 'Y')", patient);
  const expected = rows.map((row): [string, Facts] => {
    const cvx = (row.CVX_CD ?? '').trim();
    return [
      rootOf('Immunization', row.IMM_ID),
      {
        code: cvx === '' || cvx === '998' || cvx === '999' ? undefined : cvx.padStart(2, '0'),
        when: ymd8(row.ADM_DT),
        refused: String(row.REFUS_FL === 'Y'),
        lot: row.LOT_NO?.trim() || undefined,
      },
    ];
  });
  const found = await entries('immunizations', patient, '4.52:2015-08-01', entry => {
    const material = at(entry, 'consumable', 'manufacturedProduct', 'manufacturedMaterial') ?? entry;
    return {
      code: value(at(material, 'code'), 'code'),
      when: day(value(at(entry, 'effectiveTime'))),
      refused: value(entry, 'negationInd'),
      lot: at(material, 'lotNumberText')?.text,
    };
  });
  compare(found, new Map(expected));
});

test.each(PATIENTS)('implants of patient %i', async patient => {
  type Row = { DEV_NO: number; UDI_HRF: string | null; UDI_DI: string | null };
  const rows = demo.rows<Row>(
    "SELECT d.* FROM IMPL_DEV d JOIN PT_MST p ON p.MRN = d.MRN WHERE p.PT_NO = ? AND (DEV_STS IS NULL OR DEV_STS <> 'E')",
    patient,
  );
  const { root } = await demo.make('udi-for-implantable-device', patient);
  const found = withTemplate(root, '4.37').map(instance => {
    const id = at(instance, 'id')?.attributes;
    return id?.['root'] === '2.16.840.1.113883.3.3719' ? id['extension'] : id?.['root'];
  });
  const expected = rows.map(row =>
    row.UDI_DI?.trim() ? row.UDI_HRF?.trim() || row.UDI_DI.trim() : rootOf('Device', row.DEV_NO),
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
});

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
  const found = await entries('laboratory-tests', patient, '4.44:2014-06-09', entry => ({
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
  const found = await entries('goals', patient, '4.121', entry => ({
    status: value(at(entry, 'statusCode'), 'code'),
    since: value(at(entry, 'effectiveTime', 'low')),
    loinc:
      value(at(entry, 'code'), 'codeSystem') === '2.16.840.1.113883.6.1' ? value(at(entry, 'code'), 'code') : undefined,
  }));
  compare(found, new Map(expected));
});

test.each(PATIENTS)('health concerns of patient %i', async patient => {
  const rows = demo.rows<{ PRB_ID: number }>(
    `SELECT PRB_ID FROM PROB_LST p LEFT JOIN VOC_TRM t ON t.TRM_NO = p.TRM_NO
     WHERE PT_NO = ? AND PRB_TYP IN ('C', 'D') AND (ERR_FL IS NULL OR ERR_FL = 0) AND (PRB_TX IS NOT NULL OR t.TRM_CD IS NOT NULL)`,
    patient,
  );
  const found = await entries('health-concerns', patient, '4.132:2015-08-01', () => ({}));
  compare(found, new Map(rows.map(({ PRB_ID }) => [rootOf('Condition', PRB_ID, 'health-concern'), {}])));
});

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
  const found = await entries('smoking-status', patient, '4.78:2014-06-09', entry => ({
    code: value(at(entry, 'value'), 'code'),
    when: day(value(at(entry, 'effectiveTime'))),
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
  // What is over has no entry, but is told.
  const plan = document.sections.find(({ definition }) => definition.key === 'plan');
  const planned = withTemplate(root, '4.44:2014-06-09').length + withTemplate(root, '4.40:2014-06-09').length;
  const requests = withTemplate(root, '4.39:2014-06-09').length - found.length;
  expect(plan?.table.rows.length).toBe(rows.length + planned + requests);
});

test.each(PATIENTS)('the care team of patient %i', async patient => {
  const rows = demo.rows<{ TM_NO: number; members: number }>(
    `SELECT t.TM_NO, (SELECT count(*) FROM CARE_TM_MBR m WHERE m.TM_NO = t.TM_NO) AS members
     FROM CARE_TM t WHERE PT_NO = ? AND (TM_STS IS NULL OR TM_STS <> 'E')`,
    patient,
  );
  const found = await entries('care-team-members', patient, '4.500:2022-06-01', entry => ({
    members: String(withTemplate(entry, '4.500.1:2022-06-01').length),
  }));
  const expected = rows
    .filter(({ members }) => members > 0)
    .map(({ TM_NO, members }): [string, Facts] => [rootOf('CareTeam', TM_NO), { members: String(members) }]);
  compare(found, new Map(expected));
});

test.each(PATIENTS)('insurance of patient %i', async patient => {
  type Row = {
    payer: string | null;
    name: string | null;
    MBR_ID: string | null;
    SUBS_ID: string | null;
    CXL_FL: string | null;
    EFF_DT: string | null;
    TERM_DT: string | null;
  };
  const rows = demo.rows<Row>(
    `SELECT c.*, y.PYR_NM AS payer, p.LST_NM AS name FROM INS_COV c JOIN PT_MST p ON p.MRN = c.MRN
     LEFT JOIN INS_PYR y ON y.PYR_NO = c.PYR_NO WHERE p.PT_NO = ?`,
    patient,
  );
  const { document } = await demo.make('all-patient-data', patient);
  const section = document.sections.find(({ definition }) => definition.key === 'payers');
  const told = section?.table.rows.map(({ cells: [payer, , , member, , status, period] }) =>
    [payer, member, status, period].join(' | '),
  );
  const expected = rows.map(({ payer, MBR_ID, SUBS_ID, CXL_FL, EFF_DT, TERM_DT }) => {
    const [start, end] = [EFF_DT, TERM_DT].map(date => (dayOf(date) === undefined ? undefined : date));
    const over = CXL_FL === 'Y' || (dayOf(TERM_DT) ?? TODAY) < TODAY;
    const period = start && end ? `${start} to ${end}` : start ? `since ${start}` : end ? `until ${end}` : '';
    const member = MBR_ID?.trim() || SUBS_ID?.trim() || '';
    return [payer?.trim() ?? '', member, over ? 'cancelled' : 'active', period].join(' | ');
  });
  expect(told?.toSorted()).toEqual(expected.toSorted());
});
