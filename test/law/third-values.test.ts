import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localSecond } from '../../fixtures/third/spellings.ts';
import { allOf, type Resource } from '../../src/law/searches.ts';
import { openThird } from './third.ts';

/** A stored value as SQLite returns it: integers as BigInt. */
type Stored = string | number | bigint | Uint8Array | null;
/** The meaning of a stored value, in a form that is comparable with the served value; undefined: no value. */
type Meaning = string | number | undefined;

/** Reads a kind of value from the row and from the resource, without the server's code. */
interface Reading {
  readonly stored: (value: Stored) => Meaning;
  readonly served: (value: unknown) => Meaning;
}

const SENTINEL = /^(0000-00-00|9999-12-31)/;
const LOCAL = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2})(:\d{2})?(\.\d+)?$/;
const seconds = (epoch: number): string => `at ${Math.round(epoch)}`;

/** Instant of a local time; of two candidates the one at which clocks show it. */
function epochOfLocal(text: string): number | undefined {
  const asUtc = Date.parse(`${text.replace(' ', 'T')}Z`) / 1000;
  return [5, 6].map(hours => asUtc + hours * 3600).find(epoch => localSecond(epoch) === text);
}

const servedTime = (value: unknown): Meaning =>
  typeof value !== 'string' ? undefined : value.length > 10 ? seconds(Math.floor(Date.parse(value) / 1000)) : value;

/** A day, or a time in any spelling. */
const TIME: Reading = {
  stored(value) {
    if (typeof value !== 'string' || SENTINEL.test(value)) return undefined;
    if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return value;
    const [, day, minute, second = ':00'] = LOCAL.exec(value) ?? [];
    const epoch = day === undefined ? Date.parse(value) / 1000 : epochOfLocal(`${day} ${minute}${second}`);
    return epoch === undefined ? undefined : seconds(Math.floor(epoch));
  },
  served: servedTime,
};
/** An instant in a column that may hold days: a day counts as its midnight. */
const INSTANT: Reading = {
  stored(value) {
    const time = TIME.stored(value);
    return typeof time === 'string' && !time.startsWith('at') ? seconds(epochOfLocal(`${time} 00:00:00`) ?? 0) : time;
  },
  served: servedTime,
};
/** The day of a time. */
const DAY: Reading = {
  stored: value => (typeof value === 'string' && !SENTINEL.test(value) ? value.slice(0, 10) : undefined),
  served: value => (typeof value === 'string' ? value : undefined),
};
const EPOCH: Reading = { stored: value => (value === null ? undefined : seconds(Number(value))), served: servedTime };
const MILLISECONDS: Reading = {
  stored: value => (value === null ? undefined : seconds(Math.floor(Number(value) / 1000))),
  served: servedTime,
};
const NUMBER: Reading = {
  stored: value => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined),
  served: value => (typeof value === 'number' ? value : undefined),
};
/** Numeric results: `<20` is 20, with a comparator. */
const RESULT: Reading = {
  stored: value => (typeof value === 'string' && value.startsWith('<') ? Number(value.slice(1)) : NUMBER.stored(value)),
  served: NUMBER.served,
};
const TEXT: Reading = {
  stored: value => (value === null || String(value).trim() === '' ? undefined : String(value).trim()),
  served: value => (typeof value === 'string' ? value : undefined),
};
const UUID: Reading = {
  stored: value =>
    value instanceof Uint8Array
      ? Buffer.from(value)
          .toString('hex')
          .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
      : undefined,
  served: TEXT.served,
};

interface Compared {
  readonly type: string;
  /** Path of the element; `[n]` is an item, `[system=x]` the item with that member. */
  readonly path: string;
  /** `id` and `stored` of rows, including rows that are not served. */
  readonly rows: string;
  readonly as: Reading;
  readonly ids?: RegExp;
}

const HEX = (column: string): string =>
  `lower(substr(hex(${column}),1,8)||'-'||substr(hex(${column}),9,4)||'-'||substr(hex(${column}),13,4)||'-'||substr(hex(${column}),17,4)||'-'||substr(hex(${column}),21))`;
const PANEL = HEX('panel_uuid');
const VITAL = (variant: string, item: string): string =>
  `SELECT '${variant}-' || vit_id AS id, val AS stored FROM vital WHERE item = '${item}'`;
const vital = (variant: string, item: string): Compared => ({
  type: 'Observation',
  path: 'valueQuantity.value',
  rows: VITAL(variant, item),
  as: NUMBER,
  ids: new RegExp(`^${variant}-`),
});
const pressure = (item: string, index: number): Compared => ({
  type: 'Observation',
  path: `component.${index}.valueQuantity.value`,
  rows: `SELECT 'bp-' || set_id AS id, max(CASE item WHEN '${item}' THEN val END) AS stored FROM vital WHERE item IN ('SYS', 'DIA') GROUP BY set_id`,
  as: NUMBER,
  ids: /^bp-/,
});

/** Compares a column of the history table, by the mapping for the kind of row and its form. */
const told = (what: 'P' | 'A' | 'S', how: string, path: string, column: string, as: Reading): Compared => ({
  type: { P: 'Condition', A: 'AllergyIntolerance', S: 'Procedure' }[what],
  path,
  rows: `SELECT 'told-' || told_id AS id, CASE how WHEN '${how}' THEN ${column} END AS stored FROM told_history WHERE what = '${what}'`,
  as,
  ids: /^told-/,
});

const COMPARED: readonly Compared[] = [
  { type: 'Patient', path: 'birthDate', rows: 'SELECT pid AS id, dob AS stored FROM person', as: DAY },
  { type: 'Patient', path: 'deceasedDateTime', rows: 'SELECT pid AS id, deceased_at AS stored FROM person', as: TIME },
  { type: 'Patient', path: 'meta.lastUpdated', rows: 'SELECT pid AS id, mod_ts AS stored FROM person', as: TIME },
  { type: 'Patient', path: 'identifier.0.value', rows: 'SELECT pid AS id, chart_no AS stored FROM person', as: TEXT },
  { type: 'Patient', path: 'identifier.1.value', rows: 'SELECT pid AS id, uuid AS stored FROM person', as: UUID },
  {
    type: 'Patient',
    path: 'address.0.postalCode',
    rows: "SELECT pid AS id, substr('00000' || zip, -5) AS stored FROM person_address WHERE seq = 1",
    as: TEXT,
  },
  {
    type: 'Patient',
    path: 'address.0.period.end',
    rows: 'SELECT pid AS id, valid_to AS stored FROM person_address WHERE seq = 1',
    as: DAY,
  },
  {
    type: 'Encounter',
    path: 'period.start',
    rows: "SELECT 'enc-' || enc_id AS id, start_ts AS stored FROM encounter",
    as: TIME,
  },
  {
    type: 'Encounter',
    path: 'period.end',
    rows: "SELECT 'enc-' || enc_id AS id, end_ts AS stored FROM encounter",
    as: TIME,
  },
  {
    type: 'Condition',
    path: 'recordedDate',
    rows: "SELECT 'prob-' || prob_uuid AS id, noted_at AS stored FROM problem",
    as: TIME,
    ids: /^prob-/,
  },
  {
    type: 'Condition',
    path: 'abatementDateTime',
    rows: "SELECT 'prob-' || prob_uuid AS id, resolved AS stored FROM problem",
    as: DAY,
    ids: /^prob-/,
  },
  {
    type: 'Condition',
    path: 'recordedDate',
    rows: "SELECT 'dx-' || enc_id || '-' || line_no AS id, start_ts AS stored FROM enc_diag JOIN encounter USING (enc_id)",
    as: TIME,
    ids: /^dx-/,
  },
  {
    type: 'AllergyIntolerance',
    path: 'onsetDateTime',
    rows: 'SELECT alg_id AS id, first_seen AS stored FROM allergy',
    as: TIME,
    ids: /^\d/,
  },
  {
    type: 'Immunization',
    path: 'doseQuantity.value',
    rows: 'SELECT imm_id AS id, dose_ml AS stored FROM immunization',
    as: NUMBER,
  },
  {
    type: 'Immunization',
    path: 'vaccineCode.coding.0.code',
    rows: "SELECT imm_id AS id, CASE WHEN cvx < 10 THEN '0' || cvx ELSE cvx END AS stored FROM immunization",
    as: TEXT,
  },
  {
    type: 'Procedure',
    path: 'performedPeriod.start',
    rows: 'SELECT proc_id AS id, start_ts AS stored FROM procedure_log',
    as: TIME,
    ids: /^\d/,
  },
  {
    type: 'Procedure',
    path: 'performedPeriod.end',
    rows: 'SELECT proc_id AS id, stop_ts AS stored FROM procedure_log',
    as: TIME,
    ids: /^\d/,
  },
  {
    type: 'MedicationRequest',
    path: 'authoredOn',
    rows: 'SELECT order_no AS id, written_at AS stored FROM med_order',
    as: EPOCH,
  },
  {
    type: 'MedicationRequest',
    path: 'dosageInstruction.0.timing.repeat.boundsPeriod.end',
    rows: 'SELECT order_no AS id, stop_at AS stored FROM med_order',
    as: EPOCH,
  },
  {
    type: 'MedicationRequest',
    path: 'dosageInstruction.0.timing.repeat.period',
    rows: 'SELECT order_no AS id, every_hours AS stored FROM med_order',
    as: NUMBER,
  },
  {
    type: 'MedicationRequest',
    path: 'dosageInstruction.0.doseAndRate.0.doseQuantity.value',
    rows: 'SELECT order_no AS id, dose AS stored FROM med_order',
    as: NUMBER,
  },
  {
    type: 'MedicationDispense',
    path: 'quantity.value',
    rows: "SELECT order_no || '-' || fill_no AS id, qty AS stored FROM dispense",
    as: NUMBER,
  },
  {
    type: 'MedicationDispense',
    path: 'daysSupply.value',
    rows: "SELECT order_no || '-' || fill_no AS id, days_supply AS stored FROM dispense",
    as: NUMBER,
  },
  {
    type: 'MedicationDispense',
    path: 'whenHandedOver',
    rows: "SELECT order_no || '-' || fill_no AS id, handed_at AS stored FROM dispense",
    as: MILLISECONDS,
  },
  {
    type: 'DiagnosticReport',
    path: 'effectiveDateTime',
    rows: `SELECT ${PANEL} AS id, collected AS stored FROM lab_panel`,
    as: TIME,
  },
  {
    type: 'DiagnosticReport',
    path: 'issued',
    rows: `SELECT ${PANEL} AS id, reported AS stored FROM lab_panel`,
    as: TIME,
  },
  {
    type: 'Observation',
    path: 'valueQuantity.value',
    rows: `SELECT ${PANEL} || '-' || line_no AS id, val AS stored FROM lab_result`,
    as: RESULT,
    ids: /^[0-9a-f]{8}-/,
  },
  {
    type: 'Observation',
    path: 'valueString',
    rows: `SELECT ${PANEL} || '-' || line_no AS id, CASE WHEN typeof(val) = 'text' AND val NOT LIKE '<%' THEN val END AS stored FROM lab_result`,
    as: TEXT,
    ids: /^[0-9a-f]{8}-/,
  },
  {
    type: 'Observation',
    path: 'effectiveDateTime',
    rows: `SELECT ${PANEL} || '-' || line_no AS id, (measured - 2440587.5) * 86400 AS stored FROM lab_result`,
    as: EPOCH,
    ids: /^[0-9a-f]{8}-/,
  },
  {
    type: 'ServiceRequest',
    path: 'authoredOn',
    rows: 'SELECT lab_order_id AS id, placed_at AS stored FROM lab_order',
    as: TIME,
  },
  { type: 'Goal', path: 'startDate', rows: 'SELECT goal_id AS id, date(start_jd) AS stored FROM goal', as: DAY },
  vital('temp', 'TEMPF'),
  vital('pulse', 'PULSE'),
  vital('weight', 'WTKG'),
  vital('height', 'HTCM'),
  pressure('SYS', 0),
  pressure('DIA', 1),
  {
    type: 'Observation',
    path: 'effectiveDateTime',
    rows: "SELECT 'temp-' || vit_id AS id, taken AS stored FROM vital WHERE item = 'TEMPF'",
    as: TIME,
    ids: /^temp-/,
  },
  {
    type: 'Observation',
    path: 'effectiveDateTime',
    rows: "SELECT 'smoke-' || soc_id AS id, asked AS stored FROM social_item",
    as: TIME,
    ids: /^smoke-/,
  },
  {
    type: 'DocumentReference',
    path: 'date',
    rows: `SELECT ${HEX('note_uuid')} AS id, written AS stored FROM note`,
    as: INSTANT,
  },
  {
    type: 'DocumentReference',
    path: 'meta.lastUpdated',
    rows: `SELECT ${HEX('note_uuid')} AS id, mod_ts AS stored FROM note`,
    as: INSTANT,
  },
  { type: 'Device', path: 'serialNumber', rows: 'SELECT implant_id AS id, serial AS stored FROM implant', as: TEXT },
  { type: 'Device', path: 'manufactureDate', rows: 'SELECT implant_id AS id, made_on AS stored FROM implant', as: DAY },
  { type: 'Goal', path: 'target.0.dueDate', rows: 'SELECT goal_id AS id, due AS stored FROM goal', as: DAY },
  { type: 'Appointment', path: 'start', rows: 'SELECT appt_id AS id, starts AS stored FROM appointment', as: INSTANT },
  {
    type: 'Appointment',
    path: 'end',
    rows: "SELECT appt_id AS id, datetime(starts, minutes || ' minutes') AS stored FROM appointment",
    as: INSTANT,
  },
  {
    type: 'Coverage',
    path: 'period.end',
    rows: "SELECT pid || '-' || policy_no AS id, stop_on AS stored FROM coverage",
    as: DAY,
  },
  told('P', 'D', 'onsetDateTime', 'from_day', DAY),
  told('P', 'P', 'onsetPeriod.start', 'from_day', DAY),
  told('P', 'P', 'onsetPeriod.end', 'to_day', DAY),
  told('P', 'A', 'onsetAge.value', 'from_age', NUMBER),
  told('P', 'R', 'onsetRange.high.value', 'to_age', NUMBER),
  told('P', 'W', 'onsetString', 'in_words', TEXT),
  told('P', 'D', 'abatementDateTime', 'over_day', DAY),
  told('P', 'P', 'abatementPeriod.end', 'over_to_day', DAY),
  told('P', 'A', 'abatementAge.value', 'over_age', NUMBER),
  told('P', 'R', 'abatementRange.low.value', 'over_age', NUMBER),
  told('P', 'W', 'abatementString', 'over_words', TEXT),
  told('A', 'P', 'onsetPeriod.start', 'from_day', DAY),
  told('A', 'A', 'onsetAge.value', 'from_age', NUMBER),
  told('A', 'R', 'onsetRange.low.value', 'from_age', NUMBER),
  told('A', 'W', 'onsetString', 'in_words', TEXT),
  told('S', 'P', 'performedPeriod.start', 'from_day', DAY),
  told('S', 'A', 'performedAge.value', 'from_age', NUMBER),
  told('S', 'R', 'performedRange.high.value', 'to_age', NUMBER),
  told('S', 'W', 'performedString', 'in_words', TEXT),
];

/** Rows that must be served, counted independently. */
const SERVED: readonly (readonly [type: string, sql: string])[] = [
  ['Patient', 'FROM person WHERE coalesce(voided, 0) <> 1'],
  [
    'Encounter',
    "FROM encounter JOIN person USING (pid) WHERE coalesce(void_flag, '') <> 'x' AND coalesce(voided, 0) <> 1",
  ],
  [
    'AllergyIntolerance',
    "FROM (SELECT pid FROM allergy a WHERE NOT EXISTS (SELECT 1 FROM void_log WHERE tab = 'allergy' AND row_key = a.alg_id) UNION ALL SELECT pid FROM told_history WHERE what = 'A') JOIN person USING (pid) WHERE coalesce(voided, 0) <> 1",
  ],
  ['MedicationRequest', "FROM med_order JOIN person USING (pid) WHERE is_active = 'Y' AND coalesce(voided, 0) <> 1"],
  [
    'DocumentReference',
    "FROM note JOIN person ON uuid = person_uuid WHERE state <> 'ERR' AND coalesce(voided, 0) <> 1",
  ],
  ['Immunization', 'FROM immunization JOIN person USING (pid) WHERE coalesce(voided, 0) <> 1'],
  ['DiagnosticReport', 'FROM lab_panel JOIN person USING (pid) WHERE coalesce(voided, 0) <> 1'],
  ['Device', 'FROM implant JOIN person USING (pid) WHERE coalesce(voided, 0) <> 1'],
  ['Appointment', 'FROM appointment'],
];

describe('the served values are the stored ones of the third database', () => {
  let third: Awaited<ReturnType<typeof openThird>>;
  let db: DatabaseSync;
  const resources = new Map<string, readonly Resource[]>();
  beforeAll(async () => {
    third = await openThird();
    db = new DatabaseSync(third.file, { readOnly: true });
    for (const type of third.facade.offers.types) resources.set(type, await allOf(third.facade, type, []));
  });
  afterAll(async () => {
    db.close();
    await third.close();
  });

  test.each(COMPARED.map(one => [`${one.type}.${one.path}`, one] as const))(
    '%s',
    (_, { type, path, rows, as, ids }) => {
      const statement = db.prepare(rows);
      statement.setReadBigInts(true);
      const stored = new Map(statement.all().map(row => [String(row['id']), as.stored(row['stored'] ?? null)]));
      const served = (resources.get(type) ?? []).filter(({ id }) => ids === undefined || ids.test(id));
      expect(served.length).toBeGreaterThan(0);
      expect(new Map(served.map(one => [one.id, as.served(valueAt(one, path.split('.')))]))).toEqual(
        new Map(served.map(({ id }) => [id, stored.get(id)])),
      );
      expect(new Set(stored.values()).size).toBeGreaterThan(1);
    },
  );

  test.each(SERVED)('%s has as many resources as rows', (type, sql) => {
    expect(resources.get(type)?.length).toBe(Number(db.prepare(`SELECT count(*) AS n ${sql}`).get()?.['n']));
  });

  test('the file of a note has no script', () => {
    const files = (resources.get('DocumentReference') ?? []).map(one =>
      Buffer.from(String(valueAt(one, ['content', '0', 'attachment', 'data'])), 'base64').toString('utf8'),
    );
    expect(files.filter(text => !text.includes('Patient seen. Plan: rest'))).toEqual([]);
    expect(files.filter(text => text.includes('x()'))).toEqual([]);
  });
});

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || value === null || typeof value !== 'object') return value;
  return valueAt((value as Readonly<Record<string, unknown>>)[name], rest);
}
