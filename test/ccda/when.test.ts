/** Onset and time of an act, in every form that FHIR has: in the narrative's row and in the entry. */
import { expect, test } from 'vitest';
import { addAllergy } from '../../src/ccda/entries/allergy.ts';
import { addProblem } from '../../src/ccda/entries/problem.ts';
import { addProcedure } from '../../src/ccda/entries/procedure.ts';
import type { AllergyIntolerance, Condition, Procedure } from '../../src/ccda/fhir/record.ts';
import { LISTS } from '../../src/ccda/lists.ts';
import type { SectionWriter } from '../../src/ccda/section.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

const NONE = { resourceType: 'X', id: '1' } as const;

function written<Resource>(add: (resource: Resource, content: SectionWriter) => void, resource: Resource) {
  let [cells, xml]: [readonly string[], string] = [[], ''];
  const row = (...texts: readonly string[]): string => {
    cells = texts;
    return 'row';
  };
  add(resource, {
    ...{ resolve: () => undefined, patient: { resourceType: 'Patient', id: '1' }, row, markedRow: row },
    ...{ remarks: () => NOTHING, id: () => NOTHING },
    entry({ text }) {
      xml = text;
    },
  });
  return { cells, xml };
}

const AGE = { value: '40', system: 'http://unitsofmeasure.org', code: 'a' };
const MONTHS = { value: '18', unit: 'months', system: 'http://unitsofmeasure.org', code: 'mo' };

const FORMS: readonly (readonly [form: object, text: string, low: string])[] = [
  [{ onsetDateTime: '2019-04' }, '2019-04', 'value="201904"'],
  [{ onsetPeriod: { start: '2019-04-01', end: '2019-05-01' } }, '2019-04-01 to 2019-05-01', 'value="20190401"'],
  [{ onsetAge: AGE }, 'at the age of 40 years', 'nullFlavor="UNK"'],
  [{ onsetRange: { low: MONTHS, high: AGE } }, 'at the age of 18 months to 40 years', 'nullFlavor="UNK"'],
  [{ onsetString: 'since spring 2020' }, 'since spring 2020', 'nullFlavor="UNK"'],
];

test.each(FORMS)('a problem: %j', (form, text, low) => {
  const condition: Condition = { ...NONE, ...form, recordedDate: '2021-03-03' };
  const { cells, xml } = written(addProblem, condition);
  expect(cells).toContain(text);
  // The problem's own onset; the enclosing concern has the day on which it was recorded.
  expect(xml).toMatch(new RegExp(`<entryRelationship.*<effectiveTime><low ${low}/>`));
  expect(xml.includes('value="40" unit="a"')).toBe('onsetAge' in form);
  expect(LISTS.problems.span?.(condition)?.start).toBe(
    'onsetDateTime' in form ? '2019-04' : 'onsetPeriod' in form ? '2019-04-01' : undefined,
  );
});

test.each(FORMS)('an allergy: %j', (form, text, low) => {
  const allergy: AllergyIntolerance = { ...NONE, ...form, recordedDate: '2021-03-03' };
  const { cells, xml } = written(addAllergy, allergy);
  expect(cells).toContain(text);
  expect(xml).toMatch(new RegExp(`<entryRelationship.*<effectiveTime><low ${low}/>`));
  expect(LISTS.allergies.span?.(allergy)?.start).not.toBe('2021-03-03');
});

test('a problem without an onset begins at its recorded date', () => {
  expect(LISTS.problems.span?.({ ...NONE, recordedDate: '2021-03-03' })).toEqual({
    start: '2021-03-03',
    end: undefined,
  });
});

test.each([
  [{ abatementPeriod: { start: '2020-01-01', end: '2020-02-01' } }, '2020-01-01 to 2020-02-01', 'value="20200201"'],
  [{ abatementString: 'last winter' }, 'last winter', 'nullFlavor="UNK"'],
] as const)('its end: %j', (form, text, high) => {
  const clinicalStatus = {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'resolved' }],
  };
  const { cells, xml } = written(addProblem, { ...NONE, ...form, clinicalStatus, onsetDateTime: '2019' });
  expect(cells).toContain(text);
  expect(xml).toContain(`<low value="2019"/><high ${high}/>`);
});

test.each([
  [
    { performedPeriod: { start: '2019-04-01', end: '2019-04-02' } },
    '2019-04-01 to 2019-04-02',
    '<low value="20190401"/>',
  ],
  [{ performedString: 'as a child' }, 'as a child', '<effectiveTime nullFlavor="UNK"/>'],
  [{ performedAge: AGE }, 'at the age of 40 years', '<effectiveTime nullFlavor="UNK"/>'],
] as const)('a procedure: %j', (form, text, time) => {
  const procedure: Procedure = { ...NONE, ...form, status: 'completed' };
  const { cells, xml } = written(addProcedure, procedure);
  expect(cells).toContain(text);
  expect(xml).toContain(time);
});
