/** Tests errors of the loader that a pack meets seldom: each by the smallest pack that has it. */
import { expect, test } from 'vitest';
import { createReport, formatProblem } from '../../../src/mapping/load/problem.ts';
import { readJson } from '../../../src/mapping/load/read/json.ts';
import { ACTIVE, HEAD, PEOPLE, problemsOf, problemsOfElements } from './problems-of.ts';

test('an id of more than 64 characters', () => {
  const id = `${'x'.repeat(64)}{PT_NO}`;
  expect(problemsOf({ 'm.yaml': ACTIVE.replace('{PT_NO}', id) })).toEqual([
    `m.yaml:4:5: id of more than 64 characters; expected what FHIR allows: 64. Two UUIDs do not fit; a view can give each row a short key; found ${id}`,
  ]);
});

test('SQL for an element that is no primitive', () => {
  expect(problemsOfElements('  name: [{ sql: "{LST_NM}", type: nvarchar(40) }]')).toEqual([
    'm.yaml:6:10: Patient.name is a HumanName and cannot be an SQL expression',
  ]);
});

test('another key beside `patch`', () => {
  const patch =
    'mapping: people\nonly: { schema: "4.1" }\nid: "{PT_NO}"\npatch: { elements.active: { const: false } }\n';
  expect(problemsOf({ 'm.yaml': ACTIVE, 'p.yaml': patch })).toEqual(['p.yaml:3:1: `id` is not allowed with `patch`']);
});

test('a name of a macro without `$`', () => {
  const rows = PEOPLE.replace('mapping: people\n', 'mapping: people\nwith: [sex]\nrows: [[male]]\n');
  expect(problemsOf({ 'm.yaml': `${rows}  gender: male\n` })).toEqual([
    'm.yaml:2:8: not a macro name; expected $name; found sex',
    'm.yaml:2:8: sex is never used',
  ]);
});

test('rows that are joined with a piece by a column of times', () => {
  const rows =
    '{ each: { table: dbo.VIT, as: v, on: { VIT_DTM: d.piece }, order: [VIT_ID] }, elements: { value: { from: v.RES } } }';
  const contact = `  contact: { each: { split: RACE_CD, by: ";", as: d }, item: { telecom: ${rows} } }`;
  expect(problemsOfElements(contact)).toEqual([
    'm.yaml:6:81: a piece cannot be joined with a datetime column; expected a column of text or whole numbers; found VIT_DTM',
  ]);
});

test('a key that is no text, and a column that has no name', () => {
  expect(problemsOf({ 'm.yaml': `${HEAD}elements:\n  ? [a]\n  : b\n` })).toEqual(['m.yaml:6:5: key that is no text']);
  expect(problemsOfElements('  birthDate: { from: "" }')).toEqual([
    'm.yaml:6:22: not a column; expected COL or alias.COL; found nothing',
  ]);
});

test('files of more than four million characters', () => {
  const comment = `# ${'x'.repeat(4_000_000)}`;
  expect(problemsOf({ 'm.yaml': `${ACTIVE}${comment}` })).toEqual(['m.yaml:1:1: file of more than 4000000 characters']);
  const report = createReport();
  expect(readJson('a.json', `{}${' '.repeat(4_000_000)}`, report)).toBeUndefined();
  expect(report.problems().map(formatProblem)).toEqual(['a.json:1:1: file of more than 4000000 characters']);
});
