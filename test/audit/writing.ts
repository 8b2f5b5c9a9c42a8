/**
 * Writes the audit without a pause, as a process to be killed. In: the file, and the name of the round. Out: on
 * standard output, a line with the name of each record whose promise has resolved: a server would have sent its answer.
 */
import { openAudit } from '../../src/audit/audit.ts';
import { createLog } from '../../src/log.ts';
import { record } from './records.ts';

const [file = '', round = ''] = process.argv.slice(2);
const settings = { mode: 'required', file, keep: 86_400_000, bytes: 1_000_000_000, survives: 'process' } as const;
const audit = await openAudit(settings, createLog({ level: 'silent', format: 'json' }));
let next = 0;

/** Number of answers in flight. */
async function bulkhead(): Promise<void> {
  for (;;) {
    const name = `${round}-${next++}`;
    await audit.write(record({ who: { client: name }, patients: ['1', '2'] }));
    process.stdout.write(`${name}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, bulkhead));
