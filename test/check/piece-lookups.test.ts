/** The check follows the lookups of pieces: existing rows, missing rows, and required ones. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const people = (required: string): string => `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name:
    - each: { split: SURNAME, by: "/", as: n, lookup: { o: { table: PERSON, on: { ID: n.piece }${required} }, w: { table: WEIGHING, on: { NO: n.piece } } } }
      item: { given: [{ from: o.SURNAME }], family: { first: [{ from: w.NO }, { from: n.piece }] } }
`;

test.each(['', ', required: true'])('lookups of pieces are validated and searched%s', async required => {
  const made = smallClinic({ 'person.yaml': people(required) });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec("INSERT INTO PERSON (ID, SURNAME) VALUES (3, '1/7/x'), (4, '2'), (5, 'none/8'), (6, '/'), (9, NULL)");
  writer.close();
  const opened = await open(made);
  const reports = await check(opened);
  const sound = told(reports);
  expect(reports.flatMap(({ notes }) => notes).join(' ')).not.toContain('not judged');
  await opened.close();
  expect(sound).toEqual([]);
});
