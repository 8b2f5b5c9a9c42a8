import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IdPart } from '../../../src/mapping/id-rule.ts';
import { parseId, parseLegalId } from '../../../src/plan/identity.ts';
import { idName, idReader, legalIds, placeholdersFor, withoutImplied } from '../../../src/plan/reuse/id-parameters.ts';
import { INTEGER, UNICODE } from '../../../src/sql/column-type.ts';
import { runsOf } from '../../share.ts';
import { idPart } from '../id-part.ts';

/** A rule such as `lab-{K}` or `{K}.{K}`; some of the literals begin with others. */
const rule = fc
  .tuple(
    fc.constantFrom('', 'a', 'a-', 'a-b-', 'b-'),
    fc.array(fc.constantFrom(idPart(INTEGER), idPart(UNICODE)), { minLength: 1, maxLength: 2 }),
  )
  .map(([start, columns]): readonly IdPart[] => [
    ...(start === '' ? [] : [{ kind: 'literal', text: start } as const]),
    ...columns.flatMap((column, i) => (i === 0 ? [column] : [{ kind: 'literal', text: '.' } as const, column])),
  ]);

const id = fc
  .tuple(fc.constantFrom('', 'a', 'a-', 'a-b-', 'b-', 'c'), fc.constantFrom('1', '23', 'x', '1.2', 'x.y', 'é'))
  .map(([start, rest]) => start + rest);
const ids = fc.tuple(id, id).map(legalIds);

test('without implied guards a plan serves the same ids with the same values', () => {
  let dropped = 0;
  let served = 0;
  const counted = { minLength: 1, maxLength: 4 };
  fc.assert(
    fc.property(fc.array(rule, counted), ids, fc.array(ids, counted), (rules, planned, others) => {
      const reader = idReader(planned);
      for (const parts of rules) for (const i of planned.keys()) reader.read(parts, idName(i));
      const guards = withoutImplied(reader.guards);
      dropped += reader.guards.length - guards.length;
      expect(placeholdersFor(guards, planned)).toEqual(reader.placeholders);
      for (const other of others) {
        const placeholders = placeholdersFor(reader.guards, other);
        if (placeholders) served++;
        expect(placeholdersFor(guards, other)).toEqual(placeholders);
      }
    }),
    { numRuns: runsOf(2000) },
  );
  expect(dropped).toBeGreaterThan(runsOf(200));
  expect(served).toBeGreaterThan(runsOf(200));
});

test.each([`a-${'x'.repeat(63)}`, 'a-é', 'a-x y', ''])('a text that is no FHIR id is parsed by no rule: %s', text => {
  const parts: readonly IdPart[] = [{ kind: 'literal', text: 'a-' }, idPart(UNICODE)];
  const [legal = 'none'] = legalIds([text]);
  expect(parseId(parts, 'a-x')).toEqual(['x']);
  expect(parseId(parts, text)).toBeUndefined();
  expect(parseLegalId(parts, legal)).toBeUndefined();
});
