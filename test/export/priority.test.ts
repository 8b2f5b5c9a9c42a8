import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clinic, finished, kickOff, served } from './exporting.ts';

/** Niceness of each thread of this process: field 19 of its stat file, field 17 after the name. */
function niceness(): ReadonlyMap<string, number> {
  const tasks = '/proc/self/task';
  return new Map(
    readdirSync(tasks).map(task => {
      const stat = readFileSync(`${tasks}/${task}/stat`, 'utf8');
      return [task, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])] as const;
    }),
  );
}

test.runIf(process.platform === 'linux')('exports yield the processor to searches', async () => {
  const before = niceness();
  const { fhir } = await served(clinic(3));
  await finished(await kickOff(`${fhir}/$export`));
  const now = [...niceness()];
  // The process itself may have a niceness.
  expect(now.some(([task, nice]) => !before.has(task) && nice >= 10)).toBe(true);
  for (const [task, nice] of now) if (before.has(task)) expect(nice).toBe(before.get(task));
});
