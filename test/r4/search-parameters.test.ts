import { describe, expect, test } from 'vitest';
import { childOf, resourceTypes } from '../../src/r4/definitions.ts';
import { compilePath } from '../../src/r4/fhirpath.ts';
import {
  patientCompartmentOf,
  type SearchPath,
  type SearchStep,
  searchParameterOf,
  searchParametersOf,
} from '../../src/r4/search-parameters.ts';

const RACE = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race';

const RESOURCES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'a patient with everything': {
    resourceType: 'Patient',
    id: 'a',
    meta: { lastUpdated: '2024-01-01T00:00:00Z', profile: ['http://example.org/p'], tag: [{ code: 't' }] },
    extension: [
      { url: RACE, extension: [{ url: 'ombCategory', valueCoding: { code: '2106-3' } }] },
      { url: 'http://example.org/other', extension: [{ url: 'x', valueCoding: { code: 'no' } }] },
    ],
    name: [{ family: 'Muster', given: ['Ann', 'Bo'] }, { text: 'Ann' }],
    telecom: [
      { system: 'phone', value: '1' },
      { system: 'email', value: 'a@b' },
    ],
    deceasedDateTime: '2020-01-01',
    generalPractitioner: [{ reference: 'Practitioner/1' }, { reference: 'Organization/1' }],
    link: [{ other: { reference: 'Patient/2' }, type: 'seealso' }],
  },
  'a patient said to be alive': { resourceType: 'Patient', id: 'b', deceasedBoolean: false },
  'a patient said to be dead': { resourceType: 'Patient', id: 'c', deceasedBoolean: true },
  'an empty patient': { resourceType: 'Patient', id: 'd' },
  'an observation with components': {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ code: '85354-9' }] },
    subject: { reference: 'Patient/1' },
    valueCodeableConcept: { text: 'x', coding: [{ code: 'y' }] },
    component: [
      { code: { coding: [{ code: 'c1' }] }, valueQuantity: { value: 1 } },
      { code: { coding: [{ code: 'c2' }] }, valueString: 's' },
    ],
  },
  'an observation of a group': {
    resourceType: 'Observation',
    subject: { reference: 'Group/1' },
    valuePeriod: { start: '2020' },
  },
  'a condition': {
    resourceType: 'Condition',
    onsetAge: { value: 3 },
    abatementDateTime: '2020',
    subject: { reference: 'Patient/1' },
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate', valueDateTime: '2019' }],
  },
  'a goal': { resourceType: 'Goal', target: [{ dueDate: '2025-01-01' }, { dueDuration: { value: 1 } }] },
  'an order of a referenced medication': {
    resourceType: 'MedicationRequest',
    medicationReference: { reference: 'Medication/1' },
  },
};

describe('search parameters', () => {
  test.each(Object.entries(RESOURCES))('select the same in %s as their FHIRPath', (_name, resource) => {
    const type = String(resource['resourceType']);
    for (const parameter of searchParametersOf(type)) {
      // The next test lists the parameters without a path.
      if (parameter.paths === undefined) continue;
      const expected = compilePath(oracle(parameter.expression))(resource);
      // An expression over a missing value is empty; the step says false.
      const steps = parameter.paths.flatMap(path => walk(resource, path));
      expect({ [parameter.code]: steps.map(plain) }).toEqual({ [parameter.code]: expected.map(plain) });
    }
  });

  test('have steps, except for phonetic, distance and Bundle entry parameters', () => {
    const without = resourceTypes().flatMap(type =>
      searchParametersOf(type).flatMap(parameter => (parameter.paths ? [] : [`${type}.${parameter.code}`])),
    );
    const phonetic = ['InsurancePlan', 'Organization', 'Patient', 'Person', 'Practitioner', 'RelatedPerson'];
    expect(without.toSorted()).toEqual(
      ['Bundle.composition', 'Bundle.message', 'Location.near', ...phonetic.map(type => `${type}.phonetic`)].toSorted(),
    );
  });

  test('name only elements of the element tables', () => {
    for (const type of resourceTypes()) {
      for (const { code, paths, components } of searchParametersOf(type)) {
        for (const path of paths ?? []) {
          const ends = ending(path, [type]);
          expect(ends, `${type}.${code}`).not.toEqual([]);
          for (const component of components ?? []) {
            if (component.expression.startsWith('%resource')) continue;
            const parts = (component.paths ?? []).flatMap(part => ending(part, ends));
            expect(parts, `${type}.${code} ${component.code}`).not.toEqual([]);
          }
        }
      }
    }
  });

  test('split the expression that several types share', () => {
    expect(searchParameterOf('Observation', 'date')).toEqual({
      code: 'date',
      type: 'date',
      url: 'http://hl7.org/fhir/SearchParameter/clinical-date',
      expression: 'Observation.effective',
      paths: [[{ element: 'effective' }]],
      targets: [],
    });
  });

  test('limit reference targets to those of the element', () => {
    expect(searchParameterOf('Observation', 'patient')?.targets).toEqual(['Patient']);
    expect(searchParameterOf('Encounter', 'subject')?.targets).toEqual(['Group', 'Patient']);
    expect(searchParameterOf('Provenance', 'target')?.targets).toEqual([]);
  });

  test('offer the parameters of all resources on each type and those of US Core where R4 has none', () => {
    const codes = searchParametersOf('Binary').map(parameter => parameter.code);
    expect(codes).toEqual(['_id', '_lastUpdated', '_profile', '_security', '_source', '_tag']);
    expect(searchParameterOf('Patient', 'race')?.url).toBe('http://hl7.org/fhir/us/core/SearchParameter/us-core-race');
    expect(searchParameterOf('Patient', 'name')?.url).toBe('http://hl7.org/fhir/SearchParameter/Patient-name');
    expect(searchParameterOf('CareTeam', 'role')?.type).toBe('token');
  });

  test('hold the parts of a composite', () => {
    const composite = searchParameterOf('Observation', 'component-code-value-quantity');
    expect(composite?.paths).toEqual([[{ element: 'component' }]]);
    expect(composite?.components?.map(part => [part.code, part.type, part.paths])).toEqual([
      ['component-code', 'token', [[{ element: 'code' }]]],
      ['component-value-quantity', 'quantity', [[{ element: 'value', type: 'Quantity' }]]],
    ]);
  });

  test('have the relationship composite with a reference to the target and a token of the code', () => {
    const composite = searchParameterOf('DocumentReference', 'relationship');
    expect(composite?.components?.map(part => [part.code, part.type, part.paths])).toEqual([
      ['relatesto', 'reference', [[{ element: 'target' }]]],
      ['relation', 'token', [[{ element: 'code' }]]],
    ]);
  });

  test.each(['Nothing', 'constructor', '__proto__'])('know nothing of the type %s', type => {
    expect(searchParametersOf(type)).toEqual([]);
    expect(patientCompartmentOf(type)).toEqual([]);
  });

  test('have the compartment membership of each type', () => {
    expect(patientCompartmentOf('AllergyIntolerance')).toEqual(['patient', 'recorder', 'asserter']);
    expect(patientCompartmentOf('Location')).toEqual([]);
    for (const type of resourceTypes()) {
      for (const code of patientCompartmentOf(type)) expect(searchParameterOf(type, code)?.type).toBe('reference');
    }
  });
});

/** The engine cannot resolve references here; a literal reference contains its type. */
function oracle(expression: string): string {
  return expression.replace(/resolve\(\) is (\w+)/g, "reference.startsWith('$1/')");
}

function walk(value: unknown, path: SearchPath): readonly unknown[] {
  return path.reduce<readonly unknown[]>((values, step) => take(values, step), [value]);
}

function take(values: readonly unknown[], step: SearchStep): readonly unknown[] {
  if ('exists' in step) return [values.length > 0 && values.every(value => String(value) !== step.exists.except)];
  if ('resolves' in step) {
    return values.filter(value => children(value, 'reference').some(text => `${text}`.startsWith(`${step.resolves}/`)));
  }
  if ('where' in step) return values.filter(value => children(value, step.where.element).includes(step.where.equals));
  return values.flatMap(value => children(value, step.element, step.type));
}

function children(value: unknown, name: string, type?: string): readonly unknown[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value)
    .filter(([key]) => (type === undefined ? key === name || choiceOf(key, name) : key === nameOfChoice(name, type)))
    .flatMap(([, child]) => child);
}

function choiceOf(key: string, name: string): boolean {
  return /^(value|onset|abatement|deceased|effective|medication|due)$/.test(name) && key.startsWith(name);
}

function nameOfChoice(name: string, type: string): string {
  return name + type.charAt(0).toUpperCase() + type.slice(1);
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Type paths at the end of the steps. */
function ending(path: SearchPath, start: readonly string[]): readonly string[] {
  return path.reduce((types, step) => {
    if (!('element' in step)) return 'exists' in step ? ['boolean'] : types;
    return types.flatMap(type => {
      const { element } = childOf(type, step.element) ?? {};
      return (element?.types ?? []).filter(found => step.type === undefined || found === step.type);
    });
  }, start);
}
