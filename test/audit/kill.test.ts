import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { rowsOf } from './records.ts';

const PROGRAM = fileURLToPath(new URL('./writing.ts', import.meta.url));
/** `npm run test:faults` kills it a thousand times. */
const KILLS = Number(process.env['KILLS'] ?? 6);
/** Maximum number of lines before a round is killed. */
const LINES = 400;

/**
 * Runs the program until it has printed a random number of records, then kills it. Out: the records that it printed.
 */
async function round(file: string, name: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [PROGRAM, file, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const after = 1 + Math.floor(Math.random() * LINES);
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > after) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  // A truncated line does not count as printed.
  return text.split('\n').slice(0, -1);
}

test(
  'a killed process loses no record of an answer that was sent',
  async () => {
    const file = join(temporaryFolder(), 'audit.sqlite');
    let told = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const names = await round(file, `r${kill}`);
      told += names.length;
      const found = rowsOf(
        file,
        `SELECT CLIENT, (SELECT COUNT(*) FROM EVENT e WHERE e.SEQ = r.SEQ) AS N FROM RECORD r WHERE CLIENT LIKE 'r${kill}-%'`,
      );
      const events = new Map(found.map(({ CLIENT, N }) => [CLIENT, N]));
      expect(events.size, 'no record twice').toBe(found.length);
      expect(names.filter(name => events.get(name) !== 2)).toEqual([]);
    }
    expect(told).toBeGreaterThanOrEqual(KILLS);
  },
  Math.max(120_000, KILLS * 5000),
);
