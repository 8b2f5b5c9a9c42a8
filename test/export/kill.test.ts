/**
 * Exports whose process is killed with SIGKILL at random moments, then started again, until they are complete. A few
 * kills in `npm test`; KILLS of them in `npm run test:faults`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../fixtures/random.ts';
import { runsOf } from '../share.ts';
import type { Clinic } from './clinic.ts';
import { clinic } from './exporting.ts';

const KILLS = Number(process.env['KILLS'] ?? runsOf(4));
const EXPORTER = new URL('./exporter.ts', import.meta.url).pathname;

async function started(where: Clinic, root: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EXPORTER, root], {
    env: where.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error('the exporter did not start');
  return child;
}

/** Name and text of every output file, in order. */
function outputOf(root: string): readonly (readonly [string, string])[] {
  return globSync('*/part-*-*.ndjson', { cwd: root })
    .toSorted()
    .map(name => [name.replace(/^.*\//, ''), readFileSync(join(root, name), 'utf8')]);
}

test(`after ${KILLS} random kills the files equal those of an uninterrupted export`, {
  timeout: 60_000 + KILLS * 60_000,
}, async () => {
  const where = clinic(40, 25);
  where.change('INSERT INTO LISTED SELECT 2, ID FROM PERSON WHERE ID % 3 > 0');
  const quiet = join(where.folder, 'quiet');
  const begun = await started(where, quiet);
  const at = performance.now();
  expect(await once(begun, 'exit')).toEqual([0, null]);
  const takes = performance.now() - at;
  const expected = outputOf(quiet);
  expect(expected.length).toBeGreaterThan(10);
  const chance = new Random(7);
  for (let kills = 0; kills < KILLS; ) {
    const root = join(where.folder, 'killed');
    for (;;) {
      const child = await started(where, root);
      const exited = once(child, 'exit');
      const timer = setTimeout(() => child.kill('SIGKILL'), kills < KILLS ? chance.next() * takes : 1e9);
      const [code] = await exited;
      clearTimeout(timer);
      if (code === 0) break;
      kills += 1;
      if (kills % 100 === 0) process.stderr.write(`${kills} kills\n`);
    }
    expect(outputOf(root)).toEqual(expected);
    rmSync(root, { recursive: true });
  }
});
