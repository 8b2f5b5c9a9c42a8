import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codesAbove, codesBelow, codesOfValueSet, systemsWithHierarchy } from '../../src/r4/terminology.ts';
import { readHl7 } from '../../tools/r4/generate/sources.ts';
import { hierarchies, listedValueSets } from '../../tools/r4/generate/terminology.ts';

const CLINICAL = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
const ACT = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';

describe('hierarchies', () => {
  test('a code subsumes itself and all descendants', () => {
    expect(codesBelow(CLINICAL, 'active')).toEqual(['active', 'recurrence', 'relapse']);
    expect(codesBelow(CLINICAL, 'recurrence')).toEqual(['recurrence']);
    const below = codesBelow(ACT, '_ActEncounterCode') ?? [];
    expect(below).toContain('ACUTE'); // below IMP
    for (const code of below) expect(codesAbove(ACT, code)).toContain('_ActEncounterCode');
  });

  test('above is the inverse of below', () => {
    expect(codesAbove(CLINICAL, 'remission')).toEqual(['remission', 'inactive']);
    expect(codesAbove(CLINICAL, 'inactive')).toEqual(['inactive']);
  });

  test('unknown systems, unknown codes and object property names have no hierarchy', () => {
    for (const [system, code] of [
      ['http://loinc.org', '8302-2'],
      [CLINICAL, 'nothing'],
      [CLINICAL, '__proto__'],
      ['__proto__', 'active'],
      ['constructor', 'name'],
    ] as const) {
      expect(codesBelow(system, code)).toBeUndefined();
      expect(codesAbove(system, code)).toBeUndefined();
    }
    expect(systemsWithHierarchy('recurrence')).toEqual([CLINICAL]);
    expect(systemsWithHierarchy('__proto__')).toEqual([]);
  });
});

describe('value sets', () => {
  test('value sets of R4 and US Core are found by URL if all their codes can be listed', () => {
    expect(codesOfValueSet('http://hl7.org/fhir/ValueSet/administrative-gender')).toEqual([
      ['http://hl7.org/fhir/administrative-gender', ['male', 'female', 'other', 'unknown']],
    ]);
    const [vitals] = codesOfValueSet('http://hl7.org/fhir/us/core/ValueSet/us-core-vital-signs') ?? [];
    expect(vitals?.[0]).toBe('http://loinc.org');
    expect(vitals?.[1]).toContain('85354-9');
    expect(codesOfValueSet('http://hl7.org/fhir/ValueSet/condition-code')).toBeUndefined();
    expect(codesOfValueSet('http://hl7.org/fhir/ValueSet/mimetypes')).toBeUndefined();
    expect(codesOfValueSet('toString')).toBeUndefined();
  });
});

test('the table equals the output of the generator', () => {
  const stored = JSON.parse(readFileSync(new URL('../../src/r4/terminology.json', import.meta.url), 'utf8'));
  const hl7 = readHl7();
  expect(stored.below).toEqual(hierarchies(hl7));
  // US Core's packages are not part of the repository.
  const own = Object.entries(stored.valueSets).filter(([url]) => !url.includes('/us/core/'));
  expect(listedValueSets(hl7, [])).toMatchObject(
    Object.fromEntries(own.filter(([url]) => url.startsWith('http://hl7.org/fhir/ValueSet/'))),
  );
});
