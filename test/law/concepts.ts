/**
 * Makes a schema with codes in a concept table, as in data warehouses. Facts refer to concepts by number, through an
 * item (two joins), through a list of codes with a composite text key, and through the newest of several rows; child
 * rows do the same. Some concepts are missing, invalid, blank or share a code. In: a number of facts. Out: a facade
 * over SQLite.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Facade } from '../../src/facade.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import type { PlaceholderValues, SqlPlan } from '../../src/sql/plan.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { facadeOver } from '../facade-over.ts';
import { NOW } from './law.ts';

const SCHEMA = `
CREATE TABLE CONCEPT (
  CONCEPT_ID INTEGER NOT NULL PRIMARY KEY, VOCAB VARCHAR(20) COLLATE RTRIM, CODE VARCHAR(50) COLLATE RTRIM,
  NAME VARCHAR(255) COLLATE RTRIM, INVALID CHAR(1) COLLATE RTRIM
);
CREATE TABLE ITEM (ITEM_ID INTEGER NOT NULL PRIMARY KEY, CONCEPT_ID INTEGER);
CREATE TABLE LIST (KIND VARCHAR(10) COLLATE RTRIM, SITE VARCHAR(4) COLLATE RTRIM, CD VARCHAR(10) COLLATE RTRIM,
  STD VARCHAR(20) COLLATE RTRIM, PRIMARY KEY (KIND, SITE, CD));
CREATE TABLE REVISION (FACT_ID INTEGER NOT NULL, REV INTEGER NOT NULL, STS VARCHAR(10) COLLATE RTRIM, PRIMARY KEY (FACT_ID, REV));
CREATE TABLE PERSON (PERSON_ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20) COLLATE RTRIM);
CREATE TABLE FACT (
  FACT_ID INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, CONCEPT_ID INTEGER, SOURCE_ID INTEGER, ITEM_ID INTEGER,
  SITE VARCHAR(4) COLLATE RTRIM, CAT VARCHAR(10) COLLATE RTRIM, DT DATE
);
CREATE INDEX FACT_CONCEPT ON FACT(CONCEPT_ID);
CREATE INDEX FACT_SOURCE ON FACT(SOURCE_ID);
CREATE INDEX FACT_ITEM ON FACT(ITEM_ID);
CREATE INDEX FACT_PERSON ON FACT(PERSON_ID);
CREATE TABLE PART (PART_ID INTEGER NOT NULL PRIMARY KEY, FACT_ID INTEGER NOT NULL, CONCEPT_ID INTEGER, QTY INTEGER);
CREATE INDEX PART_FACT ON PART(FACT_ID);
CREATE INDEX PART_CONCEPT ON PART(CONCEPT_ID);
`;

const PACK = {
  'pack.yaml': 'name: concepts\ntitle: Concepts\nzone: UTC\nsystems: { loinc: http://loinc.org, local: urn:local }\n',
  'codes.yaml': `vocabulary:
  rows: { LOINC: http://loinc.org, SNOMED: http://snomed.info/sct, Local: urn:local }
category:
  system: http://terminology.hl7.org/CodeSystem/observation-category
  rows: { LAB: laboratory, VIT: vital-signs, SURVEY: survey }
status:
  rows: { F: final, P: preliminary }
`,
  'people.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [PERSON_ID] }
id: "{PERSON_ID}"
elements:
  name: [{ family: { from: NAME } }]
`,
  'facts.yaml': `mapping: facts
resource: Observation
source:
  table: FACT
  as: o
  key: [FACT_ID]
  lookup:
    c: { table: CONCEPT, on: { CONCEPT_ID: o.CONCEPT_ID }, where: { INVALID: { not: D } } }
    sc: { table: CONCEPT, on: { CONCEPT_ID: o.SOURCE_ID } }
    i: { table: ITEM, on: { ITEM_ID: o.ITEM_ID } }
    m: { table: CONCEPT, on: { CONCEPT_ID: i.CONCEPT_ID } }
    l: { table: LIST, on: { SITE: o.SITE, CD: o.CAT }, where: { KIND: CAT } }
    r: { table: REVISION, on: { FACT_ID: o.FACT_ID }, pick: [-REV] }
id: "{FACT_ID}"
needs: [code]
elements:
  status: { from: r.STS, via: status, else: unknown }
  category:
    - { from: l.STD, via: category }
  code:
    first:
      - coding:
          - { system: { from: c.VOCAB, via: vocabulary }, code: { from: c.CODE }, display: { from: c.NAME } }
          - { system: local, code: { from: sc.CODE } }
      - { text: { from: sc.NAME } }
  method:
    coding: [{ system: { from: m.VOCAB, via: vocabulary }, code: { from: m.CODE } }]
  subject: { ref: people, on: { PERSON_ID: PERSON_ID } }
  effectiveDateTime: { from: DT }
  component:
    - each:
        { table: PART, as: t, on: { FACT_ID: o.FACT_ID }, order: [PART_ID], lookup: { tc: { table: CONCEPT, on: { CONCEPT_ID: t.CONCEPT_ID } } } }
      needs: [code]
      elements:
        code: { coding: [{ system: { from: tc.VOCAB, via: vocabulary }, code: { from: tc.CODE } }], text: { from: tc.NAME } }
        valueInteger: { from: t.QTY }
---
mapping: diagnoses
resource: Condition
source:
  table: FACT
  as: d
  key: [FACT_ID]
  where: { CAT: DX }
  lookup:
    c: { table: CONCEPT, on: { CONCEPT_ID: d.CONCEPT_ID }, where: { VOCAB: SNOMED }, required: true }
id: "dx-{FACT_ID}"
needs: [subject]
elements:
  code: { coding: [{ system: http://snomed.info/sct, code: { from: c.CODE }, display: { from: c.NAME } }] }
  subject: { ref: people, on: { PERSON_ID: PERSON_ID } }
`,
};

export interface Concepts {
  readonly facade: Facade;
  readonly catalog: Catalog;
  /** Statements sent so far, in order. */
  readonly sent: readonly {
    readonly plan: SqlPlan;
    readonly placeholders: PlaceholderValues | undefined;
    readonly now: number | undefined;
  }[];
  /** SQLite's query plan for the last statement on facts: `SEARCH o USING INDEX …`. */
  way(): readonly string[];
  close(): Promise<void>;
}

export async function openConcepts(facts: number): Promise<Concepts> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-concepts-'));
  mkdirSync(join(folder, 'pack'));
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(folder, 'pack', name), text);
  const file = join(folder, 'concepts.sqlite');
  fill(file, facts);
  const database = openSqlite(file);
  const catalog = await database.catalog();
  const { registry, problems } = loadPack(join(folder, 'pack'), catalog);
  if (!registry) throw new Error(JSON.stringify(problems));
  const sent: { plan: SqlPlan; placeholders: PlaceholderValues | undefined; now: number | undefined }[] = [];
  const facade = facadeOver({
    registry,
    database,
    clock: () => NOW,
    onQuery: (plan, placeholders, now) => sent.push({ plan, placeholders, now }),
  });
  return {
    facade,
    catalog,
    sent,
    way() {
      const last = sent.findLast(({ plan }) => plan.from.table.name === 'FACT');
      if (!last) throw new Error('nothing has been sent');
      const { text, parameters } = database.render(last.plan, last.placeholders, last.now);
      const asked = new DatabaseSync(file, { readOnly: true });
      asked.function('lintel_fold', { deterministic: true }, text => text);
      const rows = asked.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...parameters.map(({ value }) => value));
      asked.close();
      return rows.map(({ detail }) => String(detail));
    },
    async close() {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Pseudo-random numbers, the same in each run. */
function draws(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A concept with few facts, whatever the total is. */
const RARE = 9000;
const RARE_FACTS = 10;

const VOCABULARIES = ['LOINC', 'SNOMED', 'Local', 'Unknown', null];

function fill(file: string, facts: number): void {
  const draw = draws(20_260_630);
  const written = new DatabaseSync(file);
  written.exec(`PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; ${SCHEMA} BEGIN`);
  const inserts = new Map<string, StatementSync>();
  const put = (table: string, ...values: (string | number | null)[]): void => {
    const insert =
      inserts.get(table) ?? written.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`);
    inserts.set(table, insert);
    insert.run(...values);
  };
  for (let i = 1; i <= 60; i++) {
    const code = i % 11 === 0 ? null : i % 13 === 0 ? '  ' : i % 7 === 0 ? 'shared' : `C${i}`;
    put(
      'CONCEPT',
      i * 7,
      VOCABULARIES[i % 5] ?? null,
      code,
      i % 9 === 0 ? null : `Name ${i}`,
      i % 10 === 0 ? 'D' : null,
    );
  }
  // More concepts of one code than a statement lists.
  for (let i = 0; i < 600; i++) put('CONCEPT', 10_000 + i, 'LOINC', 'edition', `Edition ${i}`, null);
  const concept = (): number | null =>
    [null, 0, 7 * (1 + draw(70)), 7 * (1 + draw(70)), 10_000 + draw(900)][draw(5)] ?? null;
  put('CONCEPT', RARE, 'LOINC', 'rare', 'Rare', null);
  for (let i = 1; i <= 20; i++) put('ITEM', i, i % 4 === 0 ? concept() : 7 * (i % 9));
  for (const site of ['A', 'B'])
    for (const [cd, std] of [
      ['L', 'LAB'],
      ['V', site === 'A' ? 'VIT' : 'SURVEY'],
      ['X', null],
    ] as const)
      put('LIST', 'CAT', site, cd, std);
  put('LIST', 'OTHER', 'A', 'L', 'SURVEY');
  for (let i = 1; i <= 10; i++) put('PERSON', i, `Person ${i}`);
  for (let i = 1; i <= facts; i++) {
    const own = i % Math.ceil(facts / RARE_FACTS) === 1 ? RARE : concept();
    const day = draw(8) === 0 ? null : `2024-0${1 + draw(9)}-1${draw(10)}`;
    put(
      ...(['FACT', i, draw(12), own, concept(), draw(25), ['A', 'B ', 'C', null][draw(4)] ?? null] as const),
      ...([['L', 'V', 'X', 'DX', null][draw(5)] ?? null, day] as const),
    );
    for (let rev = 0; rev < draw(3); rev++) put('REVISION', i, rev, ['F', 'P', 'Q', null][draw(4)] ?? null);
    for (let part = 0; part < draw(3); part++) put('PART', i * 10 + part, i, concept(), draw(100));
  }
  written.exec('COMMIT');
  written.close();
}
