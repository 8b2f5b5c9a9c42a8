/**
 * Numbers of more digits than a double holds are served and searched exactly; the check does not judge them, because it
 * reads resources by JSON.parse.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SEARCHES } from '../../src/check/searches.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

test.each([
  ['INTEGER', '9007199254740993', '9007199254740992'],
  ['DECIMAL(20,6)', "'12345678901234.567892'", "'12345678901234.567891'"],
])('no search by a number of a column of %s is called wrong', async (type, one, other) => {
  const made = smallClinic();
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`DROP TABLE WEIGHING;
    CREATE TABLE WEIGHING (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, TAKEN DATETIME, KG ${type});
    INSERT INTO WEIGHING VALUES (1, 1, NULL, ${one}), (2, 1, NULL, ${other}), (3, 1, NULL, 12)`);
  writer.close();
  const opened = await open(made, { looked: true });
  const reports = await check(opened, { sections: [SEARCHES], all: true });
  expect(told(reports)).toEqual([]);
  expect(reports[0]?.notes).toContain('Not searched by numbers, as they have one of more than 15 digits: 2 resources.');
  await opened.close();
});
