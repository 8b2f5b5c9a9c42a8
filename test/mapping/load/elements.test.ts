import { describe, expect, test } from 'vitest';
import { HEAD, problemsOf, problemsOfElements } from './problems-of.ts';

describe('the content of elements is checked against FHIR', () => {
  test('an unknown element is reported with the nearest spelling', () => {
    expect(problemsOfElements('  gendr: male')).toEqual([
      'm.yaml:6:3: unknown element of Patient; found gendr; did you mean gender?',
    ]);
  });

  test('a constant outside a required binding is rejected', () => {
    expect(problemsOfElements('  gender: mail')).toEqual([
      'm.yaml:6:11: code outside the required binding of Patient.gender; expected one of male, female, other, unknown; found mail',
    ]);
  });

  test('a constant that is invalid for its type is rejected', () => {
    expect(problemsOfElements('  birthDate: 1980-13-01')).toEqual([
      'm.yaml:6:14: not a date for Patient.birthDate; found 1980-13-01',
    ]);
  });

  test('a list under an element that occurs once is rejected', () => {
    expect(problemsOfElements('  birthDate: [{ from: DOB, via: ymd8 }]')).toEqual([
      'm.yaml:6:14: a list under Patient.birthDate, which occurs once',
    ]);
  });

  test('each under an element that occurs once is rejected', () => {
    expect(
      problemsOfElements(
        '  birthDate: { each: { table: dbo.ALLRGY, on: { PT_NO: PT_NO } }, item: { from: ONSET_DT, via: ymd8 } }',
      ),
    ).toEqual([
      'm.yaml:6:22: `each` gives many items and is not allowed under Patient.birthDate; expected an item of a repeating element',
    ]);
  });

  test('a list within a list is rejected', () => {
    expect(problemsOfElements('  name: [[{ family: A }]]')).toEqual([
      'm.yaml:6:10: a list within the list of Patient.name',
    ]);
  });

  test('extensions stand beside a primitive that occurs once, under its name with an underscore', () => {
    const display = '{ url: http://example.org/display, valueString: { from: LST_NM } }';
    expect(problemsOfElements(`  _birthDate: { extension: [${display}] }`)).toEqual([]);
    expect(problemsOfElements(`  _maritalStatus: { extension: [${display}] }`)).toEqual([
      'm.yaml:6:3: unknown element of Patient; found _maritalStatus; did you mean maritalStatus?',
    ]);
    expect(problemsOfElements('  _birthDate: { value: x }')[0]).toContain('unknown element of Element');
  });

  test('a choice without its type is rejected', () => {
    expect(problemsOfElements('  deceased: { from: DTH_DTM }')).toEqual([
      'm.yaml:6:3: Patient.deceased is a choice of types; expected deceasedBoolean or deceasedDateTime; found deceased',
    ]);
  });

  test('a choice with two types is rejected', () => {
    expect(
      problemsOfElements(`  first: [{ deceasedBoolean: "true" }]
  deceasedDateTime: { from: DTH_DTM }`),
    ).toEqual(['m.yaml:7:21: Patient.deceased is given twice; expected `first: [{…}, {…}]` around the alternatives']);
  });

  test('a concept without alias and code is rejected', () => {
    expect(problemsOfElements('  maritalStatus: M')).toEqual([
      'm.yaml:6:18: not a CodeableConcept for Patient.maritalStatus; expected `alias#code Display` with an alias of `systems`; found M',
    ]);
  });

  test('an alternative among elements after one that is never absent is rejected', () => {
    expect(
      problemsOfElements('  first: [{ deceasedBoolean: "false" }, { deceasedDateTime: { from: DTH_DTM } }]'),
    ).toEqual(['m.yaml:6:61: alternative that is never reached: the one before it is never absent']);
    expect(
      problemsOfElements('  first: [{ deceasedDateTime: { from: DTH_DTM } }, { deceasedBoolean: "false" }]'),
    ).toEqual([]);
  });

  test('a system that is neither an alias nor an address is rejected', () => {
    expect(problemsOfElements('  identifier: [{ system: loink, value: { from: MRN, via: code } }]')).toEqual([
      'm.yaml:6:26: unknown system; expected an alias of `systems` in pack.yaml or an absolute URI; found loink; did you mean loinc?',
    ]);
    expect(
      problemsOfElements('  identifier: [{ system: "http//a.example", value: { from: MRN, via: code } }]'),
    ).toHaveLength(1);
    expect(problemsOfElements('  identifier: [{ system: "urn:x:y", value: { from: MRN, via: code } }]')).toEqual([]);
  });

  test('a concept of an unknown code system is rejected', () => {
    expect(problemsOfElements('  maritalStatus: loink#12 Married')).toEqual([
      'm.yaml:6:18: unknown system; expected an alias of `systems` in pack.yaml or an absolute URI; found loink; did you mean loinc?',
    ]);
  });

  test('a single value for a complex type is rejected', () => {
    expect(problemsOfElements('  name: Smith')).toEqual([
      'm.yaml:6:9: Patient.name is a HumanName and no single value; expected a map of elements; found Smith',
    ]);
  });

  test('elements of a primitive are rejected', () => {
    expect(problemsOfElements('  gender: { text: male }')).toEqual([
      'm.yaml:6:11: Patient.gender is a code and has no elements; expected a constant or a binding {from: COL}',
    ]);
  });

  test('an empty value is rejected', () => {
    expect(problemsOfElements('  name: { family: }')).toEqual([
      'm.yaml:6:19: not a string for Patient.name.family; found nothing',
    ]);
  });

  test('an object without elements is rejected', () => {
    expect(problemsOfElements('  contact: {}')).toEqual(['m.yaml:6:12: no elements for Patient.contact']);
  });

  test('the id as an element is rejected', () => {
    expect(problemsOfElements('  id: "1"')).toEqual([
      'm.yaml:6:3: `id` is no element of a mapping; expected `id:` of the mapping',
    ]);
  });

  test('a required element that is missing is rejected', () => {
    expect(problemsOfElements('  communication: { preferred: "true" }')).toEqual([
      'm.yaml:6:18: required element Patient.communication.language is missing',
    ]);
  });

  test('a needed item that the mapping does not write is rejected', () => {
    const needing = (needs: string): readonly string[] =>
      problemsOf({ 'm.yaml': `${HEAD}needs: [${needs}]\nelements:\n  name: [{ family: { from: LST_NM } }]\n` });
    expect(needing('name.0')).toEqual([]);
    expect(needing('name.1')).toEqual(['m.yaml:5:9: no such item of name; expected a number below 1; found name.1']);
    expect(needing('nam.0')).toEqual([
      'm.yaml:5:9: `needs` names an element that is not mapped; found nam; did you mean name?',
    ]);
  });

  test('a needed element of several alternatives has these below itself', () => {
    const chosen = (elements: string) =>
      problemsOf({ 'm.yaml': `${HEAD}needs: [birthDate]\nelements:\n${elements}\n` });
    const inside = '{ birthDate: { from: DOB, via: ymd8 } }, { birthDate: "1900" }';
    expect(chosen(`  first: [${inside}]`)).toEqual([
      'm.yaml:5:9: a later alternative of `first` cannot be needed by itself; expected `birthDate: { first: [ … ] }`: alternatives of the element itself; found birthDate',
    ]);
    expect(chosen('  birthDate: { first: [{ from: DOB, via: ymd8 }, { const: "1900", if: { SEX: M } }] }')).toEqual([]);
  });

  test('a required element that may be absent requires a `needs`', () => {
    expect(problemsOfElements('  communication: { language: { text: { from: LST_NM } } }')).toEqual([
      'm.yaml:6:30: required element Patient.communication.language may be absent; expected `needs: [language]` of the object, or an `else` that is never absent',
    ]);
  });

  test('a need that names no element is reported with the nearest spelling', () => {
    expect(problemsOfElements('  name: { needs: [famly], family: { from: LST_NM } }')).toEqual([
      'm.yaml:6:19: `needs` names an element that is not mapped; found famly; did you mean family?',
    ]);
  });

  test('an alternative after one that is never absent is rejected', () => {
    expect(problemsOfElements('  active: { first: ["true", { const: "false", if: { SEX: M } }] }')).toEqual([
      'm.yaml:6:38: alternative that is never reached: the one before it is never absent',
    ]);
  });

  test('const around a binding is rejected', () => {
    expect(problemsOfElements('  active: { const: { from: SEX, via: { boolean: { true: M, false: F } } } }')).toEqual([
      'm.yaml:6:20: `const` holds constants only',
    ]);
  });

  test('an unknown extension is reported with the nearest spelling', () => {
    expect(problemsOfElements('  extension: { url: us-core-rase, valueString: { from: LST_NM } }')).toEqual([
      'm.yaml:6:21: unknown profile or extension for Patient.extension.url; expected a short name of US Core or R4, or an absolute URL; found us-core-rase; did you mean us-core-race?',
    ]);
  });

  test('a join under an element that is no text is rejected', () => {
    expect(problemsOfElements('  birthDate: { join: [{ from: LST_NM }] }')).toEqual([
      'm.yaml:6:14: Patient.birthDate is a date and no text',
    ]);
  });

  test('rows of numbers as text, and under an element that is no text, are rejected', () => {
    const lines = (from: string): string =>
      `{ rows-as-text: { table: dbo.ALLRGY, as: a, on: { PT_NO: PT_NO }, order: [ALG_ID] }, from: ${from} }`;
    expect(problemsOfElements(`  name: { text: ${lines('ALG_TXT')} }`)).toEqual([]);
    expect(problemsOfElements(`  name: { text: ${lines('ALG_ID')} }`)).toEqual([
      'm.yaml:6:108: column ALG_ID is no text',
    ]);
    expect(problemsOfElements(`  active: ${lines('ALG_TXT')}`)[0]).toContain('m.yaml:6:11: no default codec');
  });

  test('a template without a value and with a loose brace is rejected', () => {
    expect(problemsOfElements('  name: { text: { template: "{LST_NM" } }')).toEqual([
      'm.yaml:6:29: template without a value; expected "{COL} of {COL|codec}"',
      'm.yaml:6:29: template with a loose brace; found {LST_NM',
    ]);
  });

  test('a directive among elements is rejected', () => {
    expect(problemsOfElements('  name: { else: A, family: { from: LST_NM } }')).toEqual([
      'm.yaml:6:11: `else` is not allowed here; expected an element, or a directive of another node (an element of this name goes under `elements:`)',
    ]);
  });
});
