import { describe, expect, test } from 'vitest';
import { ACTIVE, ALLERGIES, HEAD, problemsOf } from './problems-of.ts';

describe('references are checked against their target mappings', () => {
  test('an unknown mapping is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: peple, on: { PT_NO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual([
      'n.yaml:7:19: reference to an unknown mapping; found peple; did you mean people?',
    ]);
  });

  test('a type that the element cannot refer to is rejected', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }
  encounter: { ref: people, on: { PT_NO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual([
      'n.yaml:8:21: AllergyIntolerance.encounter cannot refer to a Patient; expected Encounter; found Patient',
    ]);
  });

  test('a reference under an element of another type is rejected', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }
  code: { ref: people, on: { PT_NO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual([
      'n.yaml:8:9: AllergyIntolerance.code is a CodeableConcept and takes no reference',
    ]);
  });

  test('a reference without columns is rejected', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: {} }
`,
    };
    expect(problemsOf(files)).toEqual(['n.yaml:7:31: `on` names no column; expected {THEIRS: ours}']);
  });

  test('an unknown column of the target is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PTNO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual(['n.yaml:7:33: unknown column of dbo.PT; found PTNO; did you mean PT_NO?']);
  });

  test('a reference without a lookup requires all columns of the id', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { MRN: ALG_TXT }, exists: false }
`,
    };
    expect(problemsOf(files)).toEqual([
      'n.yaml:7:31: with `exists: false` the id of people is made of `on` alone; expected all of p.PT_NO on the left',
    ]);
  });

  test('a reference to a mapping in error is not reported a second time', () => {
    const files = {
      'm.yaml': ACTIVE.replace(
        'source: { table: dbo.PT, as: p, key: [PT_NO] }',
        'source: { table: dbo.PX, as: p, key: [PT_NO] }',
      ),
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:3:18: unknown table; found dbo.PX; did you mean dbo.PT?']);
  });

  test('a required reference that may be absent requires a `needs`', () => {
    const files = {
      'm.yaml': ACTIVE,
      'n.yaml': `mapping: allergies
resource: AllergyIntolerance
source: { table: dbo.ALLRGY, as: a, key: [ALG_ID] }
id: "{ALG_ID}"
elements:
  patient: { ref: people, on: { PT_NO: PT_NO } }
`,
    };
    expect(problemsOf(files)).toEqual([
      'n.yaml:6:12: required element AllergyIntolerance.patient may be absent; expected `needs: [patient]` of the mapping, or an `else` that is never absent',
    ]);
  });

  test('mappings that need each other in a cycle are rejected', () => {
    const files = {
      'm.yaml': `${HEAD}needs: [link]
elements:
  link: { needs: [other], other: { ref: people, on: { PT_NO: PT_NO } }, type: seealso }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:1:1: mappings need each other in a cycle: people → people']);
  });
});
