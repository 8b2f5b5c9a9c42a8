import { expect, test } from 'vitest';
import { at, type Element, withTemplate } from '../xml-tree.ts';
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
  TODAY,
  value,
  ymd8,
} from './legacy.ts';

const demo = legacyDemo();

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
  const found = await entries(demo, 'procedures', patient, '4.14:2014-06-09', entry => {
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
  const found = await entries(demo, 'immunizations', patient, '4.52:2015-08-01', entry => {
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

test.each(PATIENTS)('the care team of patient %i', async patient => {
  const rows = demo.rows<{ TM_NO: number; members: number }>(
    `SELECT t.TM_NO, (SELECT count(*) FROM CARE_TM_MBR m WHERE m.TM_NO = t.TM_NO) AS members
     FROM CARE_TM t WHERE PT_NO = ? AND (TM_STS IS NULL OR TM_STS <> 'E')`,
    patient,
  );
  const found = await entries(demo, 'care-team-members', patient, '4.500:2022-06-01', entry => ({
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
    const period = start && end ? `${start} to ${end}` : start ? `from ${start} on` : end ? `until ${end}` : '';
    const member = MBR_ID?.trim() || SUBS_ID?.trim() || '';
    return [payer?.trim() ?? '', member, over ? 'cancelled' : 'active', period].join(' | ');
  });
  expect(told?.toSorted()).toEqual(expected.toSorted());
});

type EncounterRow = {
  ENC_NO: number;
  PT_CLS: string | null;
  ADM_DT: string | null;
  DSCH_DTM: string | null;
  SCHD_DTM: string | null;
  CXL_FL: string | null;
  NOSHW: number | null;
  DX: string | null;
};

/** Status of a row that counts: cancelled, planned, finished or in progress. */
function encounterStatus({ PT_CLS, ADM_DT, DSCH_DTM, CXL_FL, NOSHW }: EncounterRow): string {
  if (CXL_FL === 'Y' || NOSHW === 1) return 'cancelled';
  if (dayOf(DSCH_DTM) !== undefined) return 'finished';
  if (ADM_DT === null || /^(0{8}|\s*)$/.test(ADM_DT)) return 'planned';
  return ['I', 'S', 'E'].includes((PT_CLS ?? '').toUpperCase()) ? 'in-progress' : 'finished';
}

test.each(PATIENTS)('encounters of patient %i, done and planned', async patient => {
  const rows = demo.rows<EncounterRow>(
    `SELECT e.*, (SELECT group_concat(DX_SEQ) FROM (SELECT DX_SEQ FROM ENC_DX d
       WHERE d.ENC_NO = e.ENC_NO AND (d.DEL_FL IS NULL OR d.DEL_FL <> 'Y') ORDER BY DX_SEQ)) AS DX
     FROM ENC_HDR e WHERE PT_NO = ?
     AND NOT EXISTS (SELECT 1 FROM REC_VOID v WHERE v.TBL_NM = 'ENC_HDR' AND v.REC_KEY = e.ENC_NO)`,
    patient,
  );
  const { root } = await demo.make('all-patient-data', patient);
  const times = (entry: Element): Facts => ({
    start: day(value(at(entry, 'effectiveTime', 'low'))),
    end: day(value(at(entry, 'effectiveTime', 'high'))),
  });
  compare(
    entriesOf(root, '4.49:2015-08-01', entry => ({
      ...times(entry),
      diagnoses: withTemplate(entry, '4.80:2015-08-01')
        .map(one => at(one, 'id')?.attributes['root'])
        .toSorted()
        .join(),
    })),
    new Map(
      rows
        .filter(row => ['finished', 'in-progress'].includes(encounterStatus(row)))
        .map((row): [string, Facts] => {
          const [start, end] = [ymd8(row.ADM_DT) ?? dayOf(row.SCHD_DTM), dayOf(row.DSCH_DTM)];
          const diagnoses = (row.DX?.split(',') ?? []).map(sequence =>
            rootOf('Condition', `dx-${row.ENC_NO}-${sequence}`, 'encounter-diagnosis'),
          );
          return [rootOf('Encounter', row.ENC_NO), { start, end, diagnoses: diagnoses.toSorted().join() }];
        }),
    ),
  );
  compare(
    entriesOf(root, '4.40:2014-06-09', entry => ({ start: day(value(at(entry, 'effectiveTime', 'low'))) })),
    new Map(
      rows
        .filter(row => encounterStatus(row) === 'planned')
        .map((row): [string, Facts] => [rootOf('Encounter', row.ENC_NO, 'planned'), { start: dayOf(row.SCHD_DTM) }]),
    ),
  );
});
