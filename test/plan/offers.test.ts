import { expect, test } from 'vitest';
import { lookAhead, makeOffers } from '../../src/plan/offers.ts';
import { searchParametersOf } from '../../src/r4/search-parameters.ts';
import type { Offers } from '../../src/search/offers.ts';
import { ALLERGIES, load, PEOPLE } from '../mapping/load/problems-of.ts';

function offered(files: Readonly<Record<string, string>>, type: string): readonly string[] {
  const { registry, problems } = load(files);
  if (!registry) throw new Error(problems.map(({ message }) => message).join('\n'));
  return makeOffers(registry)
    .of(type)
    .map(({ parameter }) => parameter.code);
}

/** The searches offered for Observations of one code whose quantities have this value. */
function offeredOfVitals(value: string): readonly string[] {
  const vitals = `mapping: vitals
resource: Observation
source: { table: dbo.VIT, as: v, key: [VIT_ID] }
id: "{VIT_ID}"
elements:
  status: final
  code: loinc#8867-4
  valueQuantity: { value: ${value}, system: ucum, code: /min }
`;
  return offered({ 'm.yaml': vitals }, 'Observation');
}

test('an identifier whose value is a template is not offered, as its system alone could be searched', () => {
  const identifier = (value: string) => ({
    'm.yaml': `${PEOPLE}  identifier: [{ system: "urn:x", value: ${value} }]\n`,
  });
  expect(offered(identifier('{ from: MRN, via: code }'), 'Patient')).toContain('identifier');
  expect(offered(identifier('{ template: "{MRN}/{PT_NO}" }'), 'Patient')).not.toContain('identifier');
});

test('a quantity whose value is for output only is not offered, whatever its unit', () => {
  expect(offeredOfVitals('{ from: PULSE }')).toContain('value-quantity');
  const ranges = offeredOfVitals('{ from: RES, via: range-text.low }');
  expect(ranges).not.toContain('value-quantity');
  expect(ranges).toContain('code');
});

test('the state of an address is searched as text, also if it comes from a code map', () => {
  const files = {
    'codes.yaml': 'state: { rows: { A: ME, B: VT } }\n',
    'p.yaml': `${PEOPLE}  address: [{ state: { from: SEX, via: state } }]\n  gender: { from: SEX, via: state-of-sex, else: unknown }\n`,
    'm.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }\n`,
  };
  files['codes.yaml'] += 'state-of-sex: { rows: { M: male } }\n';
  expect(offered(files, 'Patient')).toEqual(expect.arrayContaining(['address', 'address-state', 'gender']));
});

test('a composite is offered if each of its components is mapped and can be searched', () => {
  const composites = (value: string) => offeredOfVitals(value).filter(code => code.startsWith('code-value-'));
  expect(composites('{ from: PULSE }')).toEqual(['code-value-quantity']);
  expect(composites('{ from: RES, via: range-text.low }')).toEqual([]);
});

test.each(['{ from: LST_NM }', '{ from: LST_NM, via: code }', '{ from: SEX, via: form }', '{ from: UID, via: uuid }'])(
  'a URL that is %s is searchable with :below and :above',
  url => {
    const files = {
      'codes.yaml': 'form: { rows: { A: "http://example.org/forms/a" } }\n',
      'm.yaml': `${PEOPLE.replace('Patient', 'Questionnaire')}  url: ${url}\n  status: active\n`,
    };
    const { registry, problems } = load(files);
    if (!registry) throw new Error(problems.map(({ message }) => message).join('\n'));
    const modifiers = makeOffers(registry).find('Questionnaire', 'url')?.modifiers;
    expect([...(modifiers ?? [])].toSorted()).toEqual(['above', 'below', 'missing']);
  },
);

test('parameters are prepared before requests, one per turn of the event loop, until stopped', async () => {
  const asked: string[] = [];
  const offers: Offers = {
    types: ['Patient', 'Group'],
    find: (type, code) => void asked.push(`${type}?${code}`),
    of: () => [],
    valueSet: () => undefined,
    isNeverGiven: () => false,
    hierarchies: undefined,
  };
  const all = offers.types.flatMap(type => searchParametersOf(type).map(({ code }) => `${type}?${code}`));
  const seen: number[] = [];
  const look = (): void => {
    seen.push(asked.length);
    if (asked.length < all.length) setImmediate(look);
  };
  setImmediate(look);
  await lookAhead(offers, () => true);
  expect(asked).toEqual(all);
  expect(new Set(seen).size).toBeGreaterThan(all.length / 2);
  asked.length = 0;
  await lookAhead(offers, () => asked.length < 3);
  expect(asked).toEqual(all.slice(0, 3));
});
