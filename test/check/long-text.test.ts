import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

test('a text that is longer than a search may be is not searched for', async () => {
  const { environment } = smallClinic();
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.prepare('UPDATE PERSON SET SURNAME = ? WHERE ID = 2').run(`A, ${'b'.repeat(4000)} c`);
  database.close();
  expect((await lintel(environment, 'check', '--all')).out).toMatch(/0 errors, 0 warnings$/);
});
