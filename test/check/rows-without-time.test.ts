/** `check` counts resources without a time of change, because an export with `_since` never has them. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

async function problemsWith(changed: string, stamped: number, rows = 30): Promise<readonly string[]> {
  const made = smallClinic({
    'person.yaml': `mapping: people
resource: Patient
source: { table: OLD, as: o, key: [ID], changed: ${changed} }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
`,
    'weighing.yaml': '',
    'codes.yaml': '{}\n',
  });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(
    'CREATE TABLE OLD (ID INTEGER PRIMARY KEY, SURNAME VARCHAR(20) COLLATE RTRIM, MADE DATETIME NOT NULL, UPD DATETIME)',
  );
  const insert = writer.prepare('INSERT INTO OLD VALUES (?, ?, ?, ?)');
  for (let i = 0; i < rows; i++)
    insert.run(i, 'Nowak', '2024-03-10 08:30:00', i < stamped ? '2024-03-11 09:00:00' : null);
  writer.close();
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems;
}

test('many resources without a time of change are a warning, with their number', async () => {
  expect(await problemsWith('UPD', 5)).toEqual([
    'person.yaml:3:50: warning: 25 of 30 resources of people have no time of change: exports with `_since` leave them out;' +
      ' expected another column of times beside it, such as that of creation: `changed: [MADE_AT, CHANGED_AT]`',
  ]);
});

test('no warning for few of them, for few rows, and where another column has a time', async () => {
  expect(await problemsWith('UPD', 28)).toEqual([]);
  expect(await problemsWith('UPD', 0, 19)).toEqual([]);
  expect(await problemsWith('[UPD, MADE]', 0)).toEqual([]);
});
