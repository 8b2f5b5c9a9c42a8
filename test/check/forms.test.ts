import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';

async function checked(rows: string, ...asked: readonly string[]): Promise<string> {
  const { environment } = smallClinic();
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(rows);
  database.close();
  const { out } = await lintel(environment, 'check', ...(asked.length > 0 ? asked : ['--rows']));
  return out;
}

test('non-dates in a date column are reported by count and form, never by value', async () => {
  const out = await checked(`UPDATE WEIGHING SET TAKEN = 1710059400 WHERE NO = 7;
    INSERT INTO WEIGHING VALUES (9, 1, 'some day in May', 60), (10, 1, '0000-00-00 00:00:00', 60), (11, 1, '2024-05-10', 60)`);
  expect(out).toContain(
    'column WEIGHING.TAKEN holds no date in 2 rows, where it is absent; expected `via: epoch` or `via: julian`, which say ' +
      'what the numbers count; found a text that is no date (1), a whole number (1)',
  );
  expect(out).toContain(
    'column WEIGHING.TAKEN holds a day alone in 1 row, which is served with the time 00:00:00; expected ' +
      '`via: {datetime: {midnight: date}}`, or `via: date` where no row has a time',
  );
  expect(out).not.toContain('May');
  expect(out).not.toContain('17100');
  expect(out).toMatch(/WEIGHING\.TAKEN +DATETIME .*YYYY-MM-DD HH:MM:SS\.FFF \(1\).* through its canonical text/);
});

test('a column of one form is compared directly, without a warning', async () => {
  const out = await checked("UPDATE WEIGHING SET TAKEN = replace(substr(TAKEN, 1, 16), ' ', 'T')");
  expect(out).toMatch(/WEIGHING\.TAKEN +DATETIME +YYYY-MM-DDTHH:MM \(2\) +as it stands/);
  expect(out).toMatch(/PERSON\.BORN +DATE +YYYY-MM-DD \(1\) +as it stands/);
  expect(out).toMatch(/0 errors, 0 warnings$/);
});

test('a column of one form beside zero dates and blanks is compared directly, without a warning', async () => {
  const out = await checked(
    `INSERT INTO WEIGHING VALUES (9, 1, '0000-00-00 00:00:00', 60), (10, 1, '', 60), (11, 1, '0000-00-00', 60)`,
    ...['--rows', '--all'],
  );
  expect(out).toMatch(
    /WEIGHING\.TAKEN +DATETIME .*a zero date \(2\).* as it stands +all dates and times have one form, and what is none/,
  );
  expect(out).toMatch(/0 errors, 0 warnings$/);
});

test('non-numbers in a column of numbers are reported, numbers of any form are not', async () => {
  const out = await checked(`UPDATE WEIGHING SET KG = 'about 70' WHERE NO = 7;
    INSERT INTO WEIGHING VALUES (9, 1, NULL, 61.505), (10, 1, NULL, 9e999), (11, 1, NULL, 60), (12, 1, NULL, '')`);
  expect(out).toContain(
    'column WEIGHING.KG holds no number in 2 rows, where it is absent; expected numbers; found a text (1), an infinite number (1)',
  );
  expect(out).not.toContain('about');
  expect(out).toMatch(
    /WEIGHING\.KG +DECIMAL\(6,2\) +.*a number with more digits than declared \(1\).* as its number, or none/,
  );
});

test('a column of UUIDs and other texts is reported with its rows and its comparison', async () => {
  const { environment } = smallClinic({
    'item.yaml': `mapping: items
resource: Device
source: { table: ITEM, as: i, key: [NO] }
id: "{NO}"
compartment: { none: things }
elements:
  identifier: [{ system: https://clinic.example.org/item, value: { from: UID } }]
  distinctIdentifier: { from: LABEL }
`,
  });
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(`CREATE TABLE ITEM (NO INTEGER NOT NULL PRIMARY KEY, UID UUID, LABEL STRING);
    INSERT INTO ITEM VALUES (1, '6fa459ea-ee8a-3ca4-894e-db77e160355e', 12), (2, '6FA459EA-EE8A-3CA4-894E-DB77E160355F', 'A'),
      (3, 'secret', x'00')`);
  database.close();
  const { out } = await lintel(environment, 'check', '--rows', '--all');
  expect(out).toContain(
    'column ITEM.UID holds no UUID in 1 row, where it is absent; expected UUIDs such as ' +
      '6fa459ea-ee8a-3ca4-894e-db77e160355e; found a text that is no UUID (1)',
  );
  expect(out).toContain(
    'column ITEM.LABEL holds no text in 1 row, where it is absent; expected texts, or numbers, which are read as texts; found bytes (1)',
  );
  expect(out).not.toContain('secret');
  expect(out).toMatch(/ITEM\.UID +UUID .* not all in upper case, or all in lower case/);
  expect(out).toMatch(/ITEM\.LABEL +STRING .* as a text +rows hold numbers too/);
  expect(out).toMatch(/0 errors, 2 warnings$/);
});

test('a key that is bytes in a column of UUIDs is no NULL', async () => {
  const { environment } = smallClinic({
    'item.yaml': `mapping: items
resource: Device
source: { table: ITEM, as: i, key: [UID] }
id: "{UID}"
compartment: { none: things }
elements: { distinctIdentifier: { from: LABEL } }
`,
  });
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(`CREATE TABLE ITEM (UID UUID NOT NULL PRIMARY KEY, LABEL VARCHAR(9));
    INSERT INTO ITEM VALUES ('{6fa459ea-ee8a-3ca4-894e-db77e160355e}', 'a'), (x'6FA459EAEE8A3CA4894EDB77E160355F', 'b')`);
  database.close();
  const { out } = await lintel(environment, 'check');
  expect(out).toContain('the key of items is NULL, or no UUID, in 1 row; expected columns with a value in every row');
});

test('an independent implementation reads such rows the same way', async () => {
  const out = await checked(
    `UPDATE WEIGHING SET KG = 'about 70' WHERE NO = 7;
    INSERT INTO WEIGHING VALUES (9, 1, NULL, 61.505), (10, 1, NULL, 9e999), (11, 1, NULL, 1e-7), (12, 1, NULL, '')`,
    '--all',
  );
  expect(out).toMatch(/0 errors, 1 warning$/);
});

test('rows of pack tests may have other forms than the rows of the database', async () => {
  const { environment } = smallClinic({
    'w.test.yaml': `mapping: weights
rows:
  PERSON: [{ ID: "1" }]
  WEIGHING: [{ NO: "5", PERSON_ID: "1", TAKEN: "2024-03-10T08:30" }]
resource: { effectiveDateTime: "2024-03-10T08:30:00+01:00" }
matches: [date=2024-03-10]
misses: [date=2024-03-11]
`,
  });
  const { out } = await lintel(environment, 'check');
  expect(out).toMatch(/^1 test of mappings ran\n.*0 errors, 0 warnings$/);
});
