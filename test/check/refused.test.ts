/** A statement that the database refuses ends only its own part of the check. */
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { type Database, DatabaseError } from '../../src/sql/database.ts';
import { smallClinic, WEIGHTS } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

/** The `database`, except that it refuses each statement whose text contains `part`. */
function refusing(database: Database, part: string): Database {
  return {
    ...database,
    query(plan, options) {
      if (!database.render(plan, options?.placeholders, 0).text.includes(part)) return database.query(plan, options);
      const error = new DatabaseError('failed', 'the test refuses it');
      error.mapping = options?.mapping;
      return Promise.reject(error);
    },
  };
}

const note = (reports: Awaited<ReturnType<typeof check>>, section: string): string | undefined =>
  reports.find(({ name }) => name === section)?.notes[0];

test('searches by one parameter that are refused leave the others', async () => {
  const { registry, database, close } = await open(smallClinic());
  const sound = await check({ registry, database });
  // Only the search by sex sends this comparison.
  const reports = await check({ registry, database: refusing(database, 'WHERE p.SEX COLLATE RTRIM = ?') });
  await close();
  expect(told(reports)).toEqual([
    expect.stringContaining(
      'the database refuses a statement: the test refuses it; not checked: searches by Patient.gender',
    ),
  ]);
  expect(note(reports, 'values')).toBe(note(sound, 'values'));
  expect(note(reports, 'rows')).toBe(note(sound, 'rows'));
  const asked = /by (\d+) of (\d+) parameters/;
  expect(asked.exec(note(reports, 'searches') ?? '')?.slice(1)).toEqual(
    asked.exec(note(sound, 'searches') ?? '')?.slice(1),
  );
});

test('a mapping whose statements are refused leaves the others', async () => {
  const { registry, database, close } = await open(smallClinic());
  const reports = await check({ registry, database: refusing(database, '\nFROM PERSON') });
  await close();
  expect(told(reports)).toEqual([
    expect.stringMatching(/^person\.yaml:1:1: .*not checked: values of people/),
    // Comparing a weighing reads its person.
    expect.stringMatching(/^weighing\.yaml:1:1: .*not checked: values of weights/),
    expect.stringMatching(/^person\.yaml:1:1: .*not checked: numbers of rows of people/),
  ]);
  expect(note(reports, 'rows')).toBe('1 source counted.');
});

test('after a refused count of one source the next source is still counted', async () => {
  const { registry, database, close } = await open(
    smallClinic({ 'weighing.yaml': WEIGHTS.replace('as: w,', 'as: p,') }),
  );
  const reports = await check({ registry, database: refusing(database, 'p.SURNAME') }, { sections: [ROWS] });
  await close();
  expect(told(reports)).toEqual([expect.stringMatching(/^person\.yaml:1:1: .*not checked: numbers of rows of people/)]);
  expect(note(reports, 'rows')).toBe('1 source counted.');
});
