import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerHeaders } from '../../src/http/middleware/answer.ts';

const name = fc.constantFrom('Vary', 'vary', 'ETag', 'Cache-Control', 'X-Request-Id', 'x-request-id');
const value = fc.constantFrom('Accept', 'Accept-Encoding', 'no-store', 'W/"1"');
const change = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), name, value }),
  fc.record({ kind: fc.constant('append' as const), name, value }),
  fc.record({ kind: fc.constant('delete' as const), name, value }),
);

const sorted = (headers: Headers) => [...headers].toSorted(([a], [b]) => (a < b ? -1 : 1));

test('they equal the Headers of the platform after any changes', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.array(change), (first, changes) => {
      const own = new AnswerHeaders(first);
      const platform = new Headers();
      for (const [name, value] of Object.entries(first)) platform.set(name, value);
      for (const { kind, name, value } of changes) {
        for (const headers of [own, platform]) headers[kind](name, value);
      }
      expect(sorted(own)).toEqual([...platform]);
      expect([...own.keys()].toSorted()).toEqual([...platform.keys()]);
      expect([...own.values()].toSorted()).toEqual([...platform.values()].toSorted());
      const seen: string[][] = [];
      own.forEach((value, name) => {
        seen.push([name, value]);
      });
      expect(seen).toEqual([...own]);
      for (const name of ['vary', 'VARY', 'Etag', 'missing']) {
        expect([own.get(name), own.has(name)]).toEqual([platform.get(name), platform.has(name)]);
      }
      // As a response takes them: the platform's, the adapter's, and a copy.
      expect(sorted(new Response(null, { headers: own }).headers)).toEqual([...platform]);
      expect([...new Headers(own)]).toEqual([...platform]);
    }),
  );
});
