/**
 * A clinic of a few rows in a SQLite file that tests change while it is served, with a manual clock and a cache.
 * Persons and stays have a watermark, telephones and wards have none; a stay becomes finished once its end has passed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Access, OPEN_ACCESS } from '../../src/auth/access.ts';
import {
  type AnswerCache,
  type AnswerLimits,
  answerKey,
  createAnswerCache,
  hearPlans,
} from '../../src/cache/answers.ts';
import { type Freshness, freshnessOf } from '../../src/cache/freshness.ts';
import type { Facade } from '../../src/facade.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import type { Registry } from '../../src/mapping/model.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import type { Database } from '../../src/sql/database.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { facadeOver } from '../facade-over.ts';

const SCHEMA = `
CREATE TABLE PERSON (
  ID INTEGER NOT NULL PRIMARY KEY, SURNAME VARCHAR(40) COLLATE RTRIM, DELETED CHAR(1), CHANGED DATETIME
);
CREATE INDEX PERSON_CHANGED ON PERSON (CHANGED);
CREATE TABLE PHONE (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, NUMBER VARCHAR(20) COLLATE RTRIM);
CREATE INDEX PHONE_PERSON ON PHONE (PERSON_ID);
CREATE TABLE ALLERGY (
  NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, SUBSTANCE VARCHAR(60) COLLATE RTRIM, CHANGED DATETIME
);
CREATE INDEX ALLERGY_PERSON ON ALLERGY (PERSON_ID);
CREATE INDEX ALLERGY_CHANGED ON ALLERGY (CHANGED);
CREATE TABLE STAY (NO INTEGER NOT NULL PRIMARY KEY, ENDS DATETIME, CHANGED DATETIME);
CREATE INDEX STAY_CHANGED ON STAY (CHANGED);
CREATE TABLE WARD (NO INTEGER NOT NULL PRIMARY KEY, TITLE VARCHAR(60) COLLATE RTRIM, CHANGED DATETIME);
CREATE TABLE BED (NO INTEGER NOT NULL PRIMARY KEY, WARD_NO INTEGER NOT NULL, PERSON_ID INTEGER);
CREATE TABLE BED_LOG (BED_NO INTEGER NOT NULL PRIMARY KEY, CHANGED DATETIME);
CREATE INDEX BED_LOG_CHANGED ON BED_LOG (CHANGED);
CREATE VIEW WARD_VIEW AS SELECT NO, CHANGED, (SELECT SURNAME FROM PERSON WHERE ID = NO) AS HEAD FROM WARD;
`;

const PACK = {
  'pack.yaml': 'name: clinic\ntitle: Clinic\nzone: UTC\nabsent: { columns: { ALLERGY.CHANGED: ["9999-12-31"] } }\n',
  'person.yaml': `
mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { DELETED: { not: Y } }, changed: CHANGED }
id: "{ID}"
elements:
  name: [{ family: { from: SURNAME } }]
  telecom:
    - each: { table: PHONE, as: t, on: { PERSON_ID: ID }, order: [NO] }
      item: { system: phone, value: { from: t.NUMBER } }
`,
  'allergy.yaml': `
mapping: allergies
resource: AllergyIntolerance
source: { table: ALLERGY, as: a, key: [NO], changed: CHANGED }
id: "{NO}"
needs: [patient]
elements:
  code: { text: { from: SUBSTANCE } }
  patient: { ref: people, on: { ID: PERSON_ID } }
`,
  'stay.yaml': `
mapping: stays
resource: Encounter
source: { table: STAY, as: s, key: [NO], changed: CHANGED }
id: "{NO}"
elements:
  status: { first: [{ const: finished, if: { ENDS: { before: now } } }, in-progress] }
  class: { system: http://terminology.hl7.org/CodeSystem/v3-ActCode, code: IMP }
`,
  'view.yaml': `
mapping: heads
resource: Organization
source: { table: WARD_VIEW, as: v, key: [NO], changed: CHANGED }
id: "{NO}"
elements:
  name: { from: HEAD }
`,
  'head.yaml': `
mapping: teams
resource: HealthcareService
source: { table: WARD, as: w, key: [NO], changed: [CHANGED, h.CHANGED], lookup: { h: { table: WARD_VIEW, on: { NO: NO }, required: true } } }
id: "{NO}"
elements:
  name: { from: h.HEAD }
`,
  'bed.yaml': `
mapping: beds
resource: Device
source:
  table: BED
  as: b
  key: [NO]
  changed: l.CHANGED
  lookup: { w: { table: WARD, on: { NO: WARD_NO } }, l: { table: BED_LOG, on: { BED_NO: NO } } }
id: "{NO}"
elements:
  patient: { ref: people, on: { ID: PERSON_ID } }
`,
  'ward.yaml': `
mapping: wards
resource: Location
source: { table: WARD, as: w, key: [NO], changed: CHANGED }
id: "{NO}"
elements:
  name: { from: TITLE }
`,
};

const BASE = 'http://localhost/fhir';

/** The cached answers of the tests. */
export interface Text {
  readonly text: string;
  readonly bytes: number;
}

export interface SmallClinic {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly database: Database;
  readonly facade: Facade;
  readonly freshness: Freshness;
  readonly cache: AnswerCache<Text>;
  /** Milliseconds. */
  readonly time: { now: number };
  /** Tables of the statements sent for answers, and the number of all statements sent. */
  readonly sent: { plans: SqlPlan[]; statements: number };
  /** Path of the database's file. */
  readonly file: string;
  write(sql: string): void;
  /** Returns the text of an answer, and its origin in the cache. */
  ask(query: string, access?: Access): Promise<{ readonly text: string; readonly origin: string }>;
  /** The same, bypassing the cache. */
  look(query: string, access?: Access): Promise<string>;
  close(): Promise<void>;
}

export const LIMITS: AnswerLimits = { bytes: 1_000_000, maxAge: 30_000, ttl: 5000, interval: 1000 };

/** `query`: `Patient?family=a`, `Patient/1`. */
export async function smallClinic(limits: Partial<AnswerLimits> = {}): Promise<SmallClinic> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  mkdirSync(join(folder, 'pack'));
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(folder, 'pack', name), text);
  const writer = new DatabaseSync(join(folder, 'clinic.sqlite'));
  // The file need not survive a crash of the machine.
  writer.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; ${SCHEMA}`);
  const opened = openSqlite(join(folder, 'clinic.sqlite'));
  const sent: SmallClinic['sent'] = { plans: [], statements: 0 };
  const database: Database = {
    ...opened,
    query(plan, options) {
      sent.statements++;
      return opened.query(plan, options);
    },
  };
  const catalog = await database.catalog();
  const { registry, problems } = loadPack(join(folder, 'pack'), catalog);
  if (!registry) throw new Error(JSON.stringify(problems));
  const time = { now: 1_000_000 };
  const facade = facadeOver({ registry, database, pageMax: 50, clock: () => time.now });
  const freshness = freshnessOf(registry, catalog, database, () => time.now);
  const cache = createAnswerCache<Text>({ ...LIMITS, ...limits }, () => time.now);
  cache.serve(freshness);

  const answer = async (query: string, access: Access, onQuery?: (plan: SqlPlan) => void): Promise<string> => {
    const context = { access, base: BASE, handling: 'strict', ...(onQuery ? { onQuery } : {}) } as const;
    const [path = '', parameters = ''] = query.split('?');
    const [type = '', id] = path.split('/');
    if (id !== undefined) return (await facade.read(type, id, [], context))?.json ?? 'none';
    return (await facade.search({ type, parameters: [...new URLSearchParams(parameters)] }, context)).json;
  };

  return {
    ...{ registry, catalog, database, facade, freshness, cache, time, sent, file: join(folder, 'clinic.sqlite') },
    write: sql => writer.exec(sql),
    look: (query, access = OPEN_ACCESS) => answer(query, access),
    async ask(query, access = OPEN_ACCESS) {
      const { answer: kept, origin } = await cache.answer({
        key: answerKey({
          ...{ version: registry.version, access, base: BASE, handling: 'strict', accept: undefined, target: query },
        }),
        kind: query.replace(/=[^&]*/g, ''),
        freshness,
        signal: undefined,
        async make(_signal, touch) {
          const hear = hearPlans(touch);
          const text = await answer(query, access, plan => {
            sent.plans.push(plan);
            hear(plan);
          });
          return { text, bytes: text.length };
        },
      });
      return { text: kept.text, origin: origin.kind === 'made' ? origin.why : origin.kind };
    },
    async close() {
      await database.close();
      writer.close();
      rmSync(folder, { recursive: true });
    },
  };
}
