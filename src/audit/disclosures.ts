/**
 * Lists records of the audit by time, for the privacy officer. In: the file, and which records are wanted. Out: the
 * records one after the other, so that years of them need no memory. For one patient these are answers with the
 * patient's data, searches that named the patient, refused reads of the patient, and all export files, which may hold
 * anybody's data.
 */
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../common/reason.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { AuditError } from './writer.ts';

export interface Wanted {
  /** Logical id. */
  readonly patient?: string | undefined;
  /** Milliseconds since the epoch: at or after the first, before the second. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** A subject, a reference to a user (`Practitioner/7`), or a client. */
  readonly who?: string | undefined;
  /** Only records of requests that broke the glass, or tried to. */
  readonly glass?: boolean | undefined;
}

export interface Disclosure {
  /** ISO instant. */
  readonly time: string;
  readonly client: string;
  readonly subject: string | null;
  readonly issuer: string | null;
  /** Relative reference. */
  readonly user: string | null;
  readonly purpose: string | null;
  /** The reason given for break-glass; null: none. */
  readonly glass: string | null;
  readonly address: string;
  readonly interaction: string;
  readonly query: string;
  /** HTTP status. */
  readonly status: number;
  /** `listed`: `patient` lists them all; `unknown`: a file that may hold any patient's data. */
  readonly patients: 'listed' | 'unknown';
  readonly patient: readonly string[];
  /** Number of answers that the record stands for. */
  readonly answers: number;
  readonly request: string;
}

/** Yields the records. Throws AuditError if the file cannot be read. */
export function* disclosures(file: string, wanted: Wanted): Generator<Disclosure, void, undefined> {
  try {
    yield* read(file, wanted);
  } catch (error) {
    const { code } = reasonOf(error);
    throw code.startsWith('SQLITE_') ? new AuditError(false, code, file) : error;
  }
}

function* read(file: string, wanted: Wanted): Generator<Disclosure, void, undefined> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    // Without this column: no server of this version has opened the file yet.
    const columns = database.prepare("SELECT 1 FROM pragma_table_info('RECORD') WHERE name = 'GLASS'");
    if (wanted.glass === true && columns.get() === undefined) return;
    const { where, values } = conditionOf(wanted);
    const records = database.prepare(`SELECT * FROM RECORD r WHERE ${where} ORDER BY r.RECORDED, r.SEQ`);
    const patients = database.prepare('SELECT PATIENT FROM EVENT WHERE SEQ = ? AND PATIENT IS NOT NULL ORDER BY NO');
    for (const row of records.iterate(...values)) {
      const of = patients.all(row['SEQ'] ?? null).map(({ PATIENT }) => String(PATIENT));
      yield disclosureOf(row, of);
    }
  } finally {
    database.close();
  }
}

function conditionOf({ patient, since, until, who, glass }: Wanted): {
  readonly where: string;
  readonly values: readonly (string | number)[];
} {
  const conditions: readonly (readonly [text: string, ...values: (string | number | undefined)[]])[] = [
    ['r.RECORDED >= ?', since],
    ['r.RECORDED < ?', until],
    [
      `(r.SEQ IN (SELECT SEQ FROM EVENT WHERE PATIENT = ?) OR (r.RES_ID = ? AND r.RES_TYPE = '${COMPARTMENT_TYPE}')
        OR r.BULK = 1 AND NOT EXISTS (SELECT 1 FROM EVENT e WHERE e.SEQ = r.SEQ AND e.PATIENT IS NOT NULL))`,
      patient,
      patient,
    ],
    ["(r.SUBJECT = ? OR r.CLIENT = ? OR r.USR_TYPE || '/' || r.USR_ID = ?)", who, who, who],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const texts = [...given.map(([text]) => text), ...(glass === true ? ['r.GLASS IS NOT NULL'] : [])];
  return {
    where: texts.length === 0 ? '1' : texts.join(' AND '),
    values: given.flatMap(([, ...values]) => values.filter(value => value !== undefined)),
  };
}

function disclosureOf(row: Readonly<Record<string, unknown>>, patient: readonly string[]): Disclosure {
  const text = (name: string): string => String(row[name] ?? '');
  const optional = (name: string): string | null => (row[name] === null ? null : text(name));
  return {
    time: new Date(Number(row['RECORDED'])).toISOString(),
    client: text('CLIENT'),
    subject: optional('SUBJECT'),
    issuer: optional('ISSUER'),
    user: row['USR_TYPE'] === null ? null : `${text('USR_TYPE')}/${text('USR_ID')}`,
    purpose: optional('PURPOSE'),
    glass: row['GLASS'] === undefined ? null : optional('GLASS'),
    address: text('ADDRESS'),
    interaction: text('INTERACTION'),
    query: text('QUERY'),
    status: Number(row['STATUS']),
    patients: row['BULK'] === 1 && patient.length === 0 ? 'unknown' : 'listed',
    patient,
    answers: Number(row['ANSWERS']),
    request: text('REQUEST'),
  };
}
