/** `check` gives a notice for a local time that clocks skip in spring: it sorts by its text (docs/limits.md). */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SEARCHES } from '../../src/check/searches.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

/** Warsaw's clocks go from 02:00 to 03:00 on 31 March 2024. */
async function problemsWith(taken: string): Promise<readonly string[]> {
  const made = smallClinic();
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`INSERT INTO WEIGHING VALUES (9, 1, '${taken}', '63.50'), (10, 1, '2024-03-31 03:10:00.000', '63.00'),
    (11, 1, '2024-04-01 09:00:00.000', '63.00')`);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [SEARCHES], all: true }));
  await opened.close();
  return problems;
}

test('rows with a skipped time are a notice with their number, at the column', async () => {
  const problems = await problemsWith('2024-03-31 02:45:00.000');
  expect(problems).toEqual([
    'weighing.yaml:9:22: notice: Observation?_sort=date puts 1 sampled resource of weights by the written time, which' +
      ' clocks of Europe/Warsaw skip in spring, and not by the instant; expected local times of that zone: if the' +
      ' column is in another zone or in UTC, `zone` in pack.yaml or another codec says so',
  ]);
});

test('times that clocks show sort by their instants', async () => {
  expect(await problemsWith('2024-03-31 01:45:00.000')).toEqual([]);
});
