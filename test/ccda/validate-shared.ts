/**
 * Validates, when run by hand, every document of every topic, and of the first listed encounters, for patients of the
 * fixture, with the shared validator, in batches. Prints errors, warnings that docs/ccds-documents.md does not explain,
 * and totals. `node test/ccda/validate-shared.ts [patients] [first] [last] [encounters of each]`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { TOPICS } from '../../src/ccda/topics.ts';
import { type DocumentOptions, openDemoDocuments } from './demo-documents.ts';
import { explainedWarnings } from './explained-warnings.ts';
import { findValidator, validate } from './shared-validator.ts';

const [patients = 120, first = 1, last = patients, encounters = 1] = process.argv.slice(2).map(Number);
const BATCH = 40;

const validator = findValidator();
if (validator !== undefined) {
  const began = performance.now();
  const demo = await openDemoDocuments(patients);
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const explained = explainedWarnings(readFileSync(new URL('../../docs/ccds-documents.md', import.meta.url), 'utf8'));
  const warnings = new Map<string, number>();
  const files: string[] = [];
  let documents = 0;
  let errors = 0;
  const check = async (): Promise<void> => {
    const findings = await validate(validator, files, join(folder, 'report.json'));
    for (const { severity, id, layer, message, file, path } of findings) {
      const known = warnings.has(id);
      if (severity === 'W') warnings.set(id, (warnings.get(id) ?? 0) + 1);
      else errors++;
      if (severity === 'E' || !(known || explained.has(id))) {
        console.log(`${severity} ${basename(file)}: ${layer} ${id} ${message} ${path}`);
      }
    }
    documents += files.length;
    for (const file of files.splice(0)) rmSync(file);
  };
  const add = async (topic: string, patient: number, options: DocumentOptions = {}): Promise<void> => {
    const file = join(folder, `${topic}-${patient}-${options.encounterId ?? ''}.xml`);
    writeFileSync(file, (await demo.make(topic, patient, options)).xml);
    files.push(file);
    if (files.length === BATCH) await check();
  };
  const people = demo.rows<{ PT_NO: number }>(
    "SELECT PT_NO FROM PT_MST WHERE (DEL_FL IS NULL OR DEL_FL <> 'Y') AND PT_NO BETWEEN ? AND ? ORDER BY PT_NO",
    first,
    last,
  );
  for (const { PT_NO } of people) {
    for (const { name } of TOPICS) await add(name, PT_NO);
    const listed = demo.rows<{ ENC_NO: number }>(
      `SELECT DISTINCT ENC_NO FROM DOC_HDR
       WHERE PT_NO = ? AND SGN_FL = 'Y' AND AVL_FL = 1 AND ENC_NO IS NOT NULL ORDER BY ENC_NO LIMIT ?`,
      PT_NO,
      encounters,
    );
    for (const { ENC_NO } of listed) await add('encounter-ccds', PT_NO, { encounterId: String(ENC_NO) });
  }
  if (files.length > 0) await check();
  await demo.close();
  rmSync(folder, { recursive: true });
  for (const [rule, count] of [...warnings].toSorted((a, b) => b[1] - a[1])) console.log(`${count} ${rule}`);
  const total = [...warnings.values()].reduce((sum, count) => sum + count, 0);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${documents} documents of ${people.length} patients: ${errors} errors, ${total} warnings of ${warnings.size} rules, ${seconds} s`,
  );
}
