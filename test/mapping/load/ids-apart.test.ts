import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IdPart } from '../../../src/mapping/id-rule.ts';
import { parseId } from '../../../src/plan/identity.ts';
import { runsOf } from '../../share.ts';
import { HEAD, load } from './problems-of.ts';

function partsOf(id: string): readonly IdPart[] {
  const { registry, problems } = load({
    'm.yaml': `${HEAD.replace('"{PT_NO}"', `"${id}"`).replace('dbo.PT', 'dbo.CD_LKUP').replace('PT_NO', 'CD')}elements: { active: "true" }\n`,
  });
  if (!registry) throw new Error(problems.map(({ message }) => message).join('\n'));
  const [parts = []] = registry.mappings[0]?.id.alternatives ?? [];
  return parts;
}

function print(parts: readonly IdPart[], raws: readonly string[]): string | undefined {
  const values = raws.values();
  const printed = parts.map(part =>
    part.kind === 'literal' ? part.text : part.codec.print(values.next().value ?? ''),
  );
  return printed.includes(undefined) || printed.join('').length > 64 ? undefined : printed.join('');
}

test.each([
  '{CD|escaped}-{ALT_CD|escaped}',
  'x-{CD|escaped}-{ALT_CD|escaped}-{STD_SYS|escaped}',
  '{CD}-{ALT_CD|escaped}-{STD_SYS|escaped}',
  '{DESCR|uuid}-{CD|escaped}',
  '{CD}-{DESCR|uuid}',
  '{CD|escaped}-{DESCR|uuid}-{ALT_CD}',
])('a composite text id identifies one row and is parsed unambiguously: %s', id => {
  const parts = partsOf(id);
  const columns = parts.filter(part => part.kind === 'column');
  const text = fc.string({ unit: fc.constantFrom('-', 'A', '2', 'D', '.', 'é'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.tuple(...columns.map(({ codec }) => (codec.isUuid ? fc.uuid() : text))), raws => {
      const printed = print(parts, raws);
      if (printed === undefined) return;
      expect(parseId(parts, printed)).toEqual(raws);
    }),
    { numRuns: runsOf(2000) },
  );
});

test('an escaped part keeps its hyphens if no hyphen separates parts', () => {
  expect(print(partsOf('{CD|escaped}'), ['A-1'])).toBe('A-1');
  expect(print(partsOf('x-{CD}.{ALT_CD|escaped}'), ['A', 'B-2'])).toBe('x-A.B-2');
  expect(print(partsOf('{CD|escaped}-{ALT_CD|escaped}'), ['A-1', 'B-2'])).toBe('A.2D1-B-2');
});

test('a UUID in a text ends after 36 characters, so the other text keeps its hyphens', () => {
  const uuid = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';
  const moment = '2016-09-27T07:48:18Z';
  expect(print(partsOf('{DESCR|uuid}-{CD|escaped}'), [uuid, moment])).toBe(`${uuid}-2016-09-27T07.3A48.3A18Z`);
  expect(print(partsOf('{DESCR|uuid}-{CD}'), [uuid, 'A-1'])).toBe(`${uuid}-A-1`);
});
