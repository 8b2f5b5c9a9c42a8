import { readFileSync } from 'node:fs';
import r4Model from 'fhirpath/fhir-context/r4/index.js';
import { describe, expect, test } from 'vitest';
import {
  childOf,
  type ElementDefinition,
  elementAt,
  elementsOf,
  isPrimitive,
  isResourceType,
  jsonKindOf,
  primitivePattern,
  requiredValueSet,
  resourceTypes,
} from '../../src/r4/definitions.ts';
import { requiredValueSets } from '../../tools/r4/generate/code-lists.ts';
import { elementTable, requiredBindings } from '../../tools/r4/generate/elements.ts';
import { readHl7 } from '../../tools/r4/generate/sources.ts';

describe('element tables', () => {
  test('list inherited elements first and keep the order of the specification', () => {
    expect(elementsOf('Patient').map(element => element.name)).toEqual([
      ...['id', 'meta', 'implicitRules', 'language', 'text', 'contained', 'extension', 'modifierExtension'],
      ...['identifier', 'active', 'name', 'telecom', 'gender', 'birthDate', 'deceased', 'address', 'maritalStatus'],
      ...['multipleBirth', 'photo', 'contact', 'communication', 'generalPractitioner', 'managingOrganization', 'link'],
    ]);
    expect(elementsOf('Age').map(element => element.name)).toEqual(
      ['id', 'extension', 'value', 'comparator', 'unit', 'system', 'code'], // of Quantity
    );
  });

  test('resolve a choice by its expanded name to a type and by its base name without one', () => {
    expect(childOf('Observation', 'valueQuantity')?.type).toBe('Quantity');
    expect(childOf('Observation', 'value')?.type).toBeUndefined();
    expect(childOf('Observation', 'value')?.element).toBe(childOf('Observation', 'valueQuantity')?.element);
    expect(childOf('Observation', 'valueMoney')).toBeUndefined();
    expect(childOf('Observation', 'value[x]')).toBeUndefined();
  });

  test('follow data types, nested elements and content references along a path', () => {
    expect(elementAt('Observation.component.valueQuantity.code')?.element.path).toBe('Quantity.code');
    expect(elementAt('Observation.component')?.type).toBe('Observation.component');
    expect(elementAt('Observation.component.referenceRange')?.type).toBe('Observation.referenceRange');
    expect(elementAt('Observation.component.referenceRange.low')?.type).toBe('Quantity');
    expect(elementAt('Timing.repeat.boundsPeriod.start')?.type).toBe('dateTime');
    expect(elementsOf('Patient.name')).toEqual(elementsOf('HumanName'));
  });

  test.each(['Patient.nothing', 'Nobody.id', 'Observation.value.code', '', 'Patient..name', 'constructor.name'])(
    'know no element at %j',
    path => {
      expect(elementAt(path)).toBeUndefined();
      expect(elementsOf(path)).toEqual([]);
    },
  );

  test('hold cardinality, summary, modifier, XML attribute and reference targets', () => {
    const status = elementAt('Observation.status')?.element;
    expect(status).toMatchObject({ min: 1, max: '1', isSummary: true, isModifier: true, isXmlAttribute: false });
    expect(elementAt('Patient.name')?.element.max).toBe('*');
    expect(elementAt('Extension.url')?.element.isXmlAttribute).toBe(true);
    expect(elementAt('Encounter.subject')?.element.targets).toEqual(['Patient', 'Group']);
    expect(elementAt('Provenance.target')?.element.targets).toEqual([]);
  });

  test('list the codes of required bindings with their systems', () => {
    expect(valueSetOf('Patient.gender')).toEqual({
      'http://hl7.org/fhir/administrative-gender': ['male', 'female', 'other', 'unknown'],
    });
    expect(valueSetOf('AllergyIntolerance.clinicalStatus')).toEqual({
      'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical': ['active', 'inactive', 'resolved'],
    });
    expect(valueSetOf('Attachment.contentType')).toEqual({ 'urn:ietf:bcp:13': undefined });
    expect(valueSetOf('Observation.code')).toBeUndefined();
  });

  test('tell primitives from other types, and their JSON and text form', () => {
    expect(['date', 'positiveInt', 'xhtml'].every(isPrimitive)).toBe(true);
    expect(['Period', 'Patient', 'toString', 'Observation.component'].some(isPrimitive)).toBe(false);
    expect(['date', 'positiveInt', 'boolean'].map(jsonKindOf)).toEqual(['string', 'number', 'boolean']);
    expect(primitivePattern('date')?.test('1970-02')).toBe(true);
    expect(primitivePattern('date')?.test('1970-13')).toBe(false);
    expect(primitivePattern('id')?.test('a_b')).toBe(false);
    expect(primitivePattern('xhtml')).toBeUndefined();
  });

  test('take a no-break space for a character of a text', () => {
    expect(primitivePattern('string')?.test('5\u00a0mg')).toBe(true);
    expect(primitivePattern('markdown')?.test('5\u00a0mg')).toBe(true);
    expect(primitivePattern('string')?.test('')).toBe(false);
  });

  test('name the resource types that have instances', () => {
    expect(isResourceType('Patient')).toBe(true);
    expect(['Resource', 'DomainResource', 'HumanName', 'patient', 'constructor'].some(isResourceType)).toBe(false);
    expect(resourceTypes()).toHaveLength(146);
  });

  test('agree with the R4 model of the fhirpath package on every element of every resource type', () => {
    const differences: string[] = [];
    for (const type of resourceTypes()) {
      for (const element of ownElements(type)) {
        const expected = modelTypes(element.path);
        if (expected.join() !== [...element.types].sort().join()) differences.push(`${element.path}: ${expected}`);
      }
    }
    expect(differences).toEqual([]);
  });

  test('equal the output of the generator', () => {
    const hl7 = readHl7();
    expect(committed('elements.json')).toEqual(elementTable(hl7.structures));
    expect(committed('value-sets.json')).toEqual(requiredValueSets(requiredBindings(hl7.structures), hl7));
  });
});

function committed(file: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../src/r4/${file}`, import.meta.url), 'utf8'));
}

function valueSetOf(path: string): Record<string, readonly string[] | undefined> | undefined {
  const element = elementAt(path)?.element;
  const valueSet = element === undefined ? undefined : requiredValueSet(element);
  return valueSet && Object.fromEntries(valueSet.systems.map(({ system, codes }) => [system, codes && [...codes]]));
}

/** Elements that a type defines itself, with nested ones. */
function ownElements(type: string): readonly ElementDefinition[] {
  const own = elementsOf(type).filter(element => element.path.startsWith(`${type}.`));
  return own.flatMap(element => [element, ...(element.types[0] === element.path ? ownElements(element.path) : [])]);
}

/** The model's types of a path, in the notation of the tables. */
function modelTypes(path: string): readonly string[] {
  const choice = r4Model.choiceTypePaths[path];
  if (choice !== undefined) {
    return choice.map(type => [type, type.charAt(0).toLowerCase() + type.slice(1)].find(isPrimitive) ?? type).sort();
  }
  const type = r4Model.pathsDefinedElsewhere[path] ?? r4Model.path2Type[path] ?? 'none';
  return [type === 'BackboneElement' || type === 'Element' ? path : type];
}
