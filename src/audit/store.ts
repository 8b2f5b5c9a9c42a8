/**
 * Stores the audit in a SQLite file in DATA_DIR that only its owner can read. In: lists of records. Out: each list is
 * written as a whole, or an error and nothing of it. It is synchronous; worker.ts is the thread that waits for the
 * disk.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { touchPrivate } from '../auth/private-file.ts';
import { isResourceType } from '../r4/definitions.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { ADMINISTRATION, type AuditRecord, outcomeOf } from './record.ts';

export interface StoreOptions {
  readonly path: string;
  /** Maximum bytes of the file; beyond that, writing fails. Undefined: no limit. */
  readonly bytes: number | undefined;
  /** What a written record survives: a power cut, or only the end of the process. */
  readonly survives: 'power' | 'process';
}

export interface AuditStore {
  /** Writes all of the records or none. Throws SQLite's errors. */
  append(records: readonly AuditRecord[]): void;
  /** Removes up to `most` records from before an instant (milliseconds since the epoch). Returns their number. */
  expire(before: number, most: number): number;
  /** Returns the bytes in use, without those of removed records. */
  used(): number;
  close(): void;
}

/**
 * RECORD: one row per answer. EVENT: one row per AuditEvent, for one patient, or for none (PATIENT is NULL, NO is 0).
 * Both are mapped by pack/events.yaml, and EVENT repeats the instant, so that its index gives the order by time.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS RECORD (
  SEQ INTEGER PRIMARY KEY,
  RECORDED BIGINT NOT NULL,
  REQUEST VARCHAR(64) NOT NULL,
  CLIENT VARCHAR(200) NOT NULL,
  SUBJECT VARCHAR(200),
  ISSUER VARCHAR(400),
  USR_TYPE VARCHAR(64),
  USR_ID VARCHAR(64),
  USR_PATIENT VARCHAR(64),
  PURPOSE VARCHAR(1000),
  ADDRESS VARCHAR(100) NOT NULL,
  SERVER VARCHAR(300) NOT NULL,
  ACTION CHAR(1) NOT NULL,
  INTERACTION VARCHAR(30) NOT NULL,
  ROUTE VARCHAR(300) NOT NULL,
  STATUS INTEGER NOT NULL,
  OUTCOME CHAR(1) NOT NULL,
  QUERY TEXT NOT NULL,
  RES_TYPE VARCHAR(64),
  RES_ID VARCHAR(64),
  BULK BIT NOT NULL,
  KEPT BIT NOT NULL,
  ANSWERS INTEGER NOT NULL,
  GLASS VARCHAR(500)
);
CREATE INDEX IF NOT EXISTS RECORD_RECORDED ON RECORD (RECORDED);
CREATE INDEX IF NOT EXISTS RECORD_RESOURCE ON RECORD (RES_ID, RES_TYPE) WHERE RES_ID IS NOT NULL;
CREATE TABLE IF NOT EXISTS EVENT (
  SEQ INTEGER NOT NULL,
  NO INTEGER NOT NULL,
  RECORDED BIGINT NOT NULL,
  PATIENT VARCHAR(64),
  PRIMARY KEY (SEQ, NO)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS EVENT_PATIENT ON EVENT (PATIENT, RECORDED);
CREATE INDEX IF NOT EXISTS EVENT_RECORDED ON EVENT (RECORDED);
`;

/** Columns that files of earlier versions lack. */
const ADDED = { GLASS: 'VARCHAR(500)' } as const;

function addColumns(database: DatabaseSync): void {
  const names = new Set(
    database
      .prepare("SELECT name FROM pragma_table_info('RECORD')")
      .all()
      .map(row => row['name']),
  );
  for (const [name, type] of Object.entries(ADDED))
    if (!names.has(name)) database.exec(`ALTER TABLE RECORD ADD COLUMN ${name} ${type}`);
}

const PAGE_BYTES = 4096;
/** Milliseconds to wait while another process writes. */
const BUSY = 5000;
/**
 * Actions: reading a resource, executing a query or an operation, or updating who has access.
 * https://hl7.org/fhir/R4/codesystem-audit-event-action.html
 */
const READ = 'R';
const EXECUTE = 'E';
const UPDATE = 'U';

function actionOf(interaction: AuditRecord['interaction']): string {
  if (interaction === ADMINISTRATION) return UPDATE;
  return interaction === 'read' || interaction === 'vread' ? READ : EXECUTE;
}

/** Opens the file, and makes it if there is none. Throws errors of SQLite or the file system. */
export function openStore({ path, bytes, survives }: StoreOptions): AuditStore {
  const database = openWritable(path);
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${survives === 'power' ? 'FULL' : 'NORMAL'}`);
    database.exec(`PRAGMA journal_size_limit = ${16 * 1024 * 1024}`);
    database.exec(SCHEMA);
    addColumns(database);
    if (bytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.max(100, Math.floor(bytes / PAGE_BYTES))}`);
    return storeOf(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the file, privately: SQLite gives its other files the permissions of this one. */
function openWritable(path: string): DatabaseSync {
  touchPrivate(path);
  return new DatabaseSync(path, { timeout: BUSY });
}

function storeOf(database: DatabaseSync): AuditStore {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const record = database.prepare(
    `INSERT INTO RECORD (RECORDED, REQUEST, CLIENT, SUBJECT, ISSUER, USR_TYPE, USR_ID, USR_PATIENT, PURPOSE, ADDRESS, SERVER, ACTION, INTERACTION, ROUTE,
      STATUS, OUTCOME, QUERY, RES_TYPE, RES_ID, BULK, KEPT, ANSWERS, GLASS) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const event = database.prepare('INSERT INTO EVENT (SEQ, NO, RECORDED, PATIENT) VALUES (?, ?, ?, ?)');
  const oldest = database.prepare(
    // The last record stays, so that SQLite reuses no number: sinks and readers identify records by number.
    'SELECT SEQ FROM RECORD WHERE RECORDED < ? AND SEQ < (SELECT MAX(SEQ) FROM RECORD) ORDER BY RECORDED LIMIT ?',
  );
  const forget = ['RECORD', 'EVENT'].map(table => database.prepare(`DELETE FROM ${table} WHERE SEQ = ?`));

  const together = <T>(work: () => T): T => {
    begin.run();
    try {
      const made = work();
      commit.run();
      return made;
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };

  return {
    append: records =>
      together(() => {
        for (const one of records) insert(one, record, event);
      }),
    expire: (before, most) =>
      together(() => {
        const gone = oldest.all(before, most);
        for (const { SEQ = null } of gone) for (const one of forget) one.run(SEQ);
        return gone.length;
      }),
    used() {
      const pragma = (name: string): number => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
      return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
    },
    close: () => database.close(),
  };
}

/** Returns type and id of a relative reference; nothing for other texts. */
function named(reference = ''): readonly string[] {
  const parts = reference.split('/', 2);
  return isResourceType(parts[0] ?? '') ? parts : [];
}

function insert(one: AuditRecord, record: StatementSync, event: StatementSync): void {
  const { at, who, status, interaction, patients } = one;
  const [userType, userId] = named(who.user);
  const [type, id] = named(one.resource);
  const { lastInsertRowid: seq } = record.run(
    at,
    one.request,
    who.client,
    who.subject ?? null,
    who.issuer ?? null,
    userType ?? null,
    userId ?? null,
    userType === COMPARTMENT_TYPE ? (userId ?? null) : null,
    who.purpose ?? null,
    one.address,
    one.server,
    actionOf(interaction),
    interaction,
    one.route,
    status,
    outcomeOf(status),
    one.query,
    type ?? null,
    id ?? null,
    one.bulk === undefined ? 0 : 1,
    one.kept === undefined ? 0 : 1,
    one.count ?? 1,
    one.glass ?? null,
  );
  if (patients.length === 0) event.run(seq, 0, at, null);
  for (const [i, patient] of patients.entries()) event.run(seq, i + 1, at, patient);
}
