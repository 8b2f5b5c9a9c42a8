/**
 * `_revinclude`, strictly: for every type and every reverse include of the CapabilityStatement, a page has exactly what
 * the search by that parameter over its matches finds.
 * https://hl7.org/fhir/R4/search.html#revinclude
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { allIds } from '../../src/law/searches.ts';
import { drawer, type Sample, sampleFor } from '../engines/sample.ts';
import { type Demo, openDemo } from './demo.ts';

interface Statement {
  readonly rest: readonly [
    { readonly resource: readonly { readonly type: string; readonly searchRevInclude?: readonly string[] }[] },
  ];
}

interface Bundle {
  readonly entry?: readonly {
    readonly resource: { readonly resourceType: string; readonly id: string };
    readonly search: { readonly mode: string };
  }[];
}

const CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
const MATCHES = '7';

let demo: Demo;
let sample: Sample;
beforeAll(async () => {
  demo = await openDemo({ patients: 8 });
  sample = sampleFor(demo.database, 'reverse includes');
});
afterAll(() => demo.close());

test('each adds what the search by its parameter finds, unless the page reports truncation', {
  timeout: 600_000,
}, async () => {
  const { rest } = demo.facade.capabilities({ base: CONTEXT.base }) as Statement;
  let asked = 0;
  let found = 0;
  const cut: string[] = [];
  for (const { type, searchRevInclude = [] } of rest[0].resource) {
    for (const include of drawer(sample)(searchRevInclude.filter(one => !one.endsWith(':*')))) {
      const [source = '', code = ''] = include.split(':');
      const parameters = [
        ['_count', MATCHES] as const,
        ['_elements', 'id'] as const,
        ['_revinclude', include] as const,
      ];
      const { entry = [] } = JSON.parse((await demo.facade.search({ type, parameters }, CONTEXT)).json) as Bundle;
      const named = (mode: string): readonly string[] =>
        entry
          .filter(({ search }) => search.mode === mode)
          .map(({ resource }) => `${resource.resourceType}/${resource.id}`)
          .toSorted();
      const matches = named('match');
      if (matches.length === 0) continue;
      const ids = await allIds(demo.facade, source, [
        [code, matches.join()],
        ['_elements', 'id'],
      ]);
      const wanted = ids.map(id => `${source}/${id}`).filter(one => !matches.includes(one));
      const included = named('include');
      if (named('outcome').length > 0) {
        expect(included.length, include).toBeLessThan(wanted.length);
        expect(included.filter(one => !wanted.includes(one))).toEqual([]);
        cut.push(`${type} ${include}`);
      } else expect(included, `${type}?_revinclude=${include}`).toEqual(wanted.toSorted());
      asked++;
      found += included.length;
    }
  }
  expect(asked).toBeGreaterThan(100 / sample.oneIn);
  expect(found).toBeGreaterThan(asked);
  // Truncated results say so, and most are complete.
  expect(cut.length).toBeLessThan(asked / 10);
});
