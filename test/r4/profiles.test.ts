import { describe, expect, test } from 'vitest';
import { elementsOf } from '../../src/r4/definitions.ts';
import { profileNames, profileOf, profileUrl } from '../../src/r4/profiles.ts';

describe('profiles', () => {
  test('are found by the short name that mappings use', () => {
    expect(profileUrl('us-core-allergyintolerance')).toBe(
      'http://hl7.org/fhir/us/core/StructureDefinition/us-core-allergyintolerance',
    );
    expect(profileOf('bp')).toEqual({
      url: 'http://hl7.org/fhir/StructureDefinition/bp',
      type: 'Observation',
      usCore: [],
    });
    expect(profileOf('us-core-race')?.type).toBe('Extension');
    expect(profileOf('toString')).toBeUndefined();
  });

  test('say which US Core versions define them', () => {
    expect(profileOf('us-core-patient')?.usCore).toEqual(['3.1.1', '6.1.0', '7.0.0']);
    expect(profileOf('us-core-condition')?.usCore).toEqual(['3.1.1']);
    expect(profileOf('us-core-average-blood-pressure')?.usCore).toEqual(['7.0.0']);
  });

  test('constrain a type of the element tables', () => {
    for (const name of profileNames()) expect(elementsOf(profileOf(name)?.type ?? ''), name).not.toEqual([]);
  });
});
