import { expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Facade } from '../../src/facade.ts';
import { COMPARTMENT_TYPE, patientCompartmentOf } from '../../src/r4/search-parameters.ts';
import { openDemo } from '../law/demo.ts';

interface Reference {
  readonly reference?: string;
}

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly lastUpdated?: string };
  readonly target?: readonly Reference[];
  readonly recorded?: string;
}

/** Lists of patients are in nobody's chart, and Provenance has no Provenance of its own. */
const OTHERS = ['Group', 'Provenance'];

async function allOf(facade: Facade, type: string): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  let parameters: readonly (readonly [string, string])[] | undefined = [['_count', '1000']];
  while (parameters) {
    const { json } = await facade.search(
      { type, parameters },
      { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' },
    );
    const bundle: {
      readonly entry?: readonly { readonly resource: Resource }[];
      readonly link: readonly { readonly relation: string; readonly url: string }[];
    } = JSON.parse(json);
    found.push(...(bundle.entry ?? []).map(({ resource }) => resource));
    const next = bundle.link.find(({ relation }) => relation === 'next');
    parameters = next && [...new URL(next.url).searchParams];
  }
  return found;
}

test('every clinical record has one Provenance, with the instant of its last change', async () => {
  const demo = await openDemo({ patients: 8 });
  const recorded = new Map<string, (string | undefined)[]>();
  for (const { target, recorded: instant } of await allOf(demo.facade, 'Provenance')) {
    const record = target?.[0]?.reference ?? '';
    recorded.set(record, [...(recorded.get(record) ?? []), instant]);
  }
  const inCharts = demo.facade.offers.types.filter(
    type => type === COMPARTMENT_TYPE || (patientCompartmentOf(type).length > 0 && !OTHERS.includes(type)),
  );
  expect(inCharts.length).toBeGreaterThan(15);
  const expected = new Map<string, (string | undefined)[]>();
  for (const type of inCharts) {
    for (const { id, meta } of await allOf(demo.facade, type)) {
      if (meta?.lastUpdated !== undefined) expected.set(`${type}/${id}`, [meta.lastUpdated]);
    }
  }
  await demo.close();
  const ofCharts = new Map([...recorded].filter(([record]) => inCharts.includes(record.split('/')[0] ?? '')));
  expect(ofCharts).toEqual(expected);
});
