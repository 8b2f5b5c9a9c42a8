/** Two mappings of a table with mutually exclusive conditions may share ids: searches find all, in order. */
import { expect, test } from 'vitest';
import { OPEN_CONTEXT } from '../../src/auth/access.ts';
import { SEARCHES } from '../../src/check/searches.ts';
import { VALUES } from '../../src/check/values.ts';
import { PEOPLE, smallClinic } from '../cli/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';
import { check, open, told } from './opened.ts';

test('ids of both mappings are read, searched and sorted', async () => {
  const where = (name: string, condition: string): string =>
    PEOPLE.replace('mapping: people', `mapping: ${name}`).replace('key: [ID] }', `key: [ID], where: ${condition} }`);
  const made = smallClinic({
    'person.yaml': `${where('women', '{ SEX: F }')}---\n${where('men', '{ none: { SEX: F } }')}`,
    'weighing.yaml': '',
  });
  const opened = await open(made);
  expect(told(await check(opened, { sections: [VALUES, SEARCHES], all: true }))).toEqual([]);
  const facade = facadeOver(opened);
  const ids = await Promise.all(
    ['1', '2', '3'].map(async id => (await facade.read('Patient', id, [], OPEN_CONTEXT))?.id),
  );
  expect(ids).toEqual(['1', '2', undefined]);
  await opened.close();
});
