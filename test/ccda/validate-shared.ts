/**
 * Run by hand: every document of every topic for every patient of the fixture, and of every listed encounter of some,
 * through the shared validator, a batch at a time. `node test/ccda/validate-shared.ts [patients] [first] [last]`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPICS } from '../../src/ccda/topics.ts';
import { openDemoDocuments } from './demo-documents.ts';
import { type Finding, findValidator, validate } from './shared-validator.ts';

const [patients = 120, first = 1, last = patients] = process.argv.slice(2).map(Number);
const BATCH = 40;

const validator = findValidator();
if (validator !== undefined) {
  const demo = await openDemoDocuments(patients);
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const counts = new Map<string, number>();
  let files: string[] = [];
  let total = 0;
  const flush = async (): Promise<void> => {
    const findings: readonly Finding[] =
      files.length === 0 ? [] : await validate(validator, files, join(folder, 'report.json'));
    for (const { severity, id, layer, message, file } of findings) {
      if (severity === 'E') console.log(`${file.slice(folder.length + 1)}: ${layer} ${id} ${message}`);
      counts.set(`${severity} ${id}`, (counts.get(`${severity} ${id}`) ?? 0) + 1);
    }
    for (const file of files) rmSync(file);
    total += files.length;
    files = [];
  };
  const people = demo.rows<{ PT_NO: number }>(
    "SELECT PT_NO FROM PT_MST WHERE (DEL_FL IS NULL OR DEL_FL <> 'Y') AND PT_NO BETWEEN ? AND ? ORDER BY PT_NO",
    first,
    last,
  );
  for (const { PT_NO } of people) {
    for (const { name } of TOPICS) {
      const file = join(folder, `${name}-${PT_NO}.xml`);
      writeFileSync(file, (await demo.make(name, PT_NO)).xml);
      files.push(file);
    }
    const [encounter] = demo.rows<{ ENC_NO: number }>(
      "SELECT ENC_NO FROM DOC_HDR WHERE PT_NO = ? AND SGN_FL = 'Y' AND AVL_FL = 1 AND ENC_NO IS NOT NULL LIMIT 1",
      PT_NO,
    );
    if (encounter !== undefined) {
      const file = join(folder, `encounter-${PT_NO}-${encounter.ENC_NO}.xml`);
      writeFileSync(file, (await demo.make('encounter-ccds', PT_NO, { encounterId: String(encounter.ENC_NO) })).xml);
      files.push(file);
    }
    if (files.length >= BATCH) await flush();
  }
  await flush();
  await demo.close();
  rmSync(folder, { recursive: true });
  for (const [rule, count] of [...counts].toSorted((a, b) => b[1] - a[1])) console.log(`${count} ${rule}`);
  console.log(`${total} documents of ${people.length} patients`);
}
