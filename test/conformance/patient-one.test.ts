/**
 * Certification requirements for the chart of patient 1 beyond the elements of profiles: each category and, if a search
 * takes several statuses, several of them; units of measure; references with targets.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupsOf, VERSIONS } from '../../src/coverage/guide.ts';
import { claimsOf, type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

const UCUM = 'http://unitsofmeasure.org';

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo();
});
afterAll(() => demo.close());

interface Coded {
  readonly coding?: readonly { readonly system?: string; readonly code?: string }[];
}
interface Reference {
  readonly reference?: string;
}
interface Quantity {
  readonly unit?: string;
  readonly system?: string;
  readonly code?: string;
}

/** Resources of patient 1, by any element that names the patient. */
function ofPatientOne<T>(type: string): readonly (Resource & T)[] {
  const all = (demo.resources.get(type) ?? []) as readonly (Resource & T)[];
  return all.filter(({ subject, patient, beneficiary }) =>
    [subject, patient, beneficiary].some(one => (one as Reference | undefined)?.reference === 'Patient/1'),
  );
}

function codesOf(concepts: readonly Coded[] | undefined): readonly string[] {
  return (concepts ?? []).flatMap(({ coding }) => (coding ?? []).map(({ code }) => code ?? ''));
}

describe.each(VERSIONS)('US Core %s', version => {
  test('every category in the observation tests has an observation', () => {
    const observations = ofPatientOne<{ readonly category?: readonly Coded[] }>('Observation');
    const found = new Set(observations.flatMap(({ category }) => codesOf(category)));
    const tried = groupsOf(version)
      .filter(({ type }) => type === 'Observation')
      .flatMap(({ searches }) => searches.flatMap(({ parameters }) => parameters))
      .flatMap(({ code, values }) => (code === 'category' ? values : []));
    expect(tried).toContain('activity');
    expect(tried.filter(category => !found.has(category))).toEqual([]);
  });

  test('each type whose status is searched by several values has resources with several', () => {
    const types = groupsOf(version).flatMap(({ type, searches }) =>
      searches.some(({ parameters }) => parameters.some(({ code, list }) => code === 'status' && list)) ? [type] : [],
    );
    expect(types).toContain('Procedure');
    const lone = [...new Set(types)].filter(
      type => new Set(ofPatientOne<{ readonly status?: string }>(type).map(({ status }) => status)).size < 2,
    );
    expect(lone).toEqual([]);
  });
});

test.each([
  ['function', '54522-8'],
  ['disability', '69858-9'],
  ['cognition', '11332-4'],
  ['alcohol', '11331-6'],
  ['drugs', '11343-1'],
])('%s has the category survey besides its own', (_, code) => {
  const found = ofPatientOne<{ readonly category?: readonly Coded[]; readonly code?: Coded }>('Observation').filter(
    one => codesOf([one.code ?? {}]).includes(code),
  );
  expect(found.length).toBeGreaterThan(0);
  for (const one of found) {
    expect(codesOf(one.category)).toEqual([expect.not.stringMatching(/^survey$/), 'survey']);
    expect(claimsOf(one)).toEqual(['us-core-simple-observation']);
  }
});

test('exercise has the category activity and the unit days/week', () => {
  const found = ofPatientOne<{ readonly category?: readonly Coded[]; readonly code?: Coded }>('Observation').filter(
    one => codesOf([one.code ?? {}]).includes('89555-7'),
  );
  expect(found.map(({ category, valueQuantity }) => [codesOf(category), valueQuantity])).toEqual([
    [['activity'], { value: expect.anything(), unit: 'days/week', system: UCUM, code: '{days}/wk' }],
  ]);
});

test('ordered, dosed and dispensed amounts have UCUM units; a word without a UCUM unit stays text', () => {
  const amounts: Quantity[] = [];
  for (const type of ['MedicationRequest', 'MedicationDispense']) {
    for (const one of (demo.resources.get(type) ?? []) as readonly {
      readonly quantity?: Quantity;
      readonly dispenseRequest?: { readonly quantity?: Quantity };
      readonly dosageInstruction?: readonly {
        readonly doseAndRate?: readonly { readonly doseQuantity?: Quantity }[];
      }[];
    }[]) {
      const doses = (one.dosageInstruction ?? []).flatMap(({ doseAndRate = [] }) => doseAndRate);
      for (const amount of [one.quantity, one.dispenseRequest?.quantity, ...doses.map(dose => dose.doseQuantity)])
        if (amount !== undefined) amounts.push(amount);
    }
  }
  const coded = amounts.filter(({ code }) => code !== undefined);
  expect(coded.filter(({ system }) => system !== UCUM)).toEqual([]);
  expect(amounts.filter(({ unit }) => unit === 'tablet').length).toBeGreaterThan(100);
  expect(new Set(amounts.filter(({ code }) => code === undefined).map(({ unit }) => unit))).toEqual(
    new Set(['CUP', undefined]),
  );
});

test('a questionnaire has a computer name, a problem its encounter, the first care team role an endpoint', () => {
  const names = (demo.resources.get('Questionnaire') ?? []).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(name).toMatch(/^[A-Z]([A-Za-z0-9_]){0,254}$/);

  const problems = ofPatientOne<{ readonly category?: readonly Coded[]; readonly encounter?: Reference }>('Condition');
  const withEncounter = problems.filter(
    ({ category, encounter }) => codesOf(category).includes('problem-list-item') && encounter !== undefined,
  );
  expect(withEncounter.length).toBeGreaterThan(0);

  const members = ofPatientOne<{ readonly participant?: readonly { readonly member?: Reference }[] }>('CareTeam')
    .flatMap(({ participant = [] }) => participant.map(({ member }) => member?.reference ?? ''))
    .filter(at => at.startsWith('PractitionerRole/'));
  const [first] = members;
  const role = (demo.resources.get('PractitionerRole') ?? []).find(({ id }) => `PractitionerRole/${id}` === first);
  expect(role?.['endpoint']).toEqual([{ reference: 'Endpoint/1' }]);
});
