/**
 * Makes documents of the demo for tests. In: the number of patients. Out: a function that makes any document, and the
 * database below it.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { type Content, readContent } from '../../src/ccda/content.ts';
import { type Document, documentXml, makeDocument } from '../../src/ccda/document.ts';
import { ENCOUNTER_TOPIC, TOPICS } from '../../src/ccda/topics.ts';
import type { Facade } from '../../src/facade.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { facadeOver } from '../facade-over.ts';
import { writeFixture } from '../fixtures/built.ts';
import { registryOver } from '../law/demo-pack.ts';
import { type Element, parseXml } from './xml-tree.ts';

/** A moment after all events of the demo. */
export const NOW = Date.UTC(2026, 6, 1, 16);

export interface MadeDocument {
  readonly document: Document;
  readonly xml: string;
  readonly root: Element;
  /** Number of SQL statements. */
  readonly statements: number;
}

export interface DocumentOptions {
  readonly range?: { readonly first: string | undefined; readonly last: string | undefined };
  readonly encounterId?: string;
}

export interface DemoDocuments {
  readonly facade: Facade;
  make(topic: string, patientId: number, options?: DocumentOptions): Promise<MadeDocument>;
  /** Rows of the legacy database, read without the mappings. */
  rows<T>(sql: string, ...parameters: readonly SQLInputValue[]): readonly T[];
  close(): Promise<void>;
}

/** Builds the fixture in a temporary folder. `change` may write to the legacy database before it is served. */
export async function openDemoDocuments(
  patients: number,
  change?: (legacy: DatabaseSync) => void,
): Promise<DemoDocuments> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const file = join(folder, 'fixture.sqlite');
  writeFixture(patients, file);
  if (change) {
    const legacy = new DatabaseSync(file);
    change(legacy);
    legacy.close();
  }
  const database = openSqlite(file);
  const registry = registryOver(await database.catalog());
  let statements = 0;
  const facade = facadeOver({
    registry,
    database,

    clock: () => NOW,
    onQuery: () => {
      statements++;
    },
  });
  const legacy = new DatabaseSync(file, { readOnly: true });
  return {
    facade,
    async make(topic, patientId, options) {
      statements = 0;
      const made = await documentOf(facade, topic, patientId, options);
      const taken = statements;
      return {
        document: made.document,
        xml: made.xml,
        get root() {
          return made.root;
        },
        statements: taken,
      };
    },
    rows: <T>(sql: string, ...parameters: readonly SQLInputValue[]) => legacy.prepare(sql).all(...parameters) as T[],
    async close() {
      legacy.close();
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Reads the choice of documents of the demo's pack, or of another. */
export function demoContent({ registry }: Facade, pack = DEMO_PACK): Content {
  const path = 'ccds.yaml';
  const text = readFileSync(join(pack, path), 'utf8');
  const { content, problems } = readContent({ path, text }, registry.pack, () => []);
  if (!content) throw new Error(problems.map(({ message }) => message).join('\n'));
  return content;
}

/** Makes a document of the demo pack, or of another, over any facade of it. Throws a RangeError if there is none. */
export async function documentOf(
  facade: Facade,
  name: string,
  patientId: number,
  { range, encounterId }: DocumentOptions = {},
  content = demoContent(facade),
): Promise<Omit<MadeDocument, 'statements'>> {
  const topic = [...TOPICS, ENCOUNTER_TOPIC].find(one => one.name === name);
  if (!topic) throw new RangeError(`no topic ${name}`);
  const document = await makeDocument(
    {
      topic,
      patientId: String(patientId),
      range,
      encounterId,
      context: { access: OPEN_ACCESS, base: 'http://localhost/fhir' },
      now: NOW,
    },
    { facade, content, software: { name: 'Lintel', version: '0' } },
  );
  if (!document) throw new RangeError(`no document ${name} of ${patientId}`);
  const xml = [...documentXml(document)].join('');
  let root: Element | undefined;
  return {
    document,
    xml,
    get root() {
      root ??= parseXml(xml);
      return root;
    },
  };
}
