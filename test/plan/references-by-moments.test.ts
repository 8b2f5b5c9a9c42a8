/**
 * A reference that joins on a date and time in the target's id: search and resource agree, whatever layouts the two
 * tables use.
 */
import { expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const TAKEN = ['2024-03-10 08:30:00', '2024-03-10 08:30:01'];

const layouts: Readonly<Record<string, (moment: string) => string>> = {
  seconds: moment => moment,
  milliseconds: moment => `${moment}.000`,
  'hundreds of nanoseconds': moment => `${moment}.0000000`,
  'a T': moment => moment.replace(' ', 'T'),
};

const schemaOf = (theirs: (moment: string) => string, ours: (moment: string) => string): string => `
CREATE TABLE MEAS (VISIT INTEGER NOT NULL, TAKEN DATETIME NOT NULL, PRIMARY KEY (VISIT, TAKEN));
CREATE TABLE REPORT (NO INTEGER NOT NULL PRIMARY KEY, VISIT INTEGER, TAKEN DATETIME);
INSERT INTO MEAS VALUES ${TAKEN.map(moment => `(7, '${theirs(moment)}')`).join()};
INSERT INTO REPORT VALUES (1, 7, '${ours(TAKEN[0] ?? '')}'), (2, 7, '${ours(TAKEN[1] ?? '')}'),
  (3, 7, '${ours('2024-03-10 08:30:02')}'), (4, 7, NULL);
`;

const packOf = (exists: boolean): Readonly<Record<string, string>> => ({
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { loinc: http://loinc.org }\n',
  'm.yaml': `mapping: measures
resource: Observation
source: { table: MEAS, as: m, key: [VISIT, TAKEN] }
compartment: { none: of nobody }
id: "{VISIT}-{TAKEN}"
elements: { status: final, code: loinc#8310-5, effectiveDateTime: { from: TAKEN } }
---
mapping: reports
resource: DiagnosticReport
source: { table: REPORT, as: r, key: [NO] }
compartment: { none: of nobody }
id: "{NO}"
elements:
  status: final
  code: loinc#58410-2
  result: [{ ref: measures, on: { VISIT: VISIT, TAKEN: TAKEN }${exists ? '' : ', exists: false'} }]
  effectiveDateTime: { from: TAKEN }
`,
});

const pairs = Object.keys(layouts).flatMap(theirs => Object.keys(layouts).map(ours => [theirs, ours] as const));

test.each(pairs)('of %s, to which %s refer', async (theirs, ours) => {
  const search = await openSmall(schemaOf(layouts[theirs] ?? String, layouts[ours] ?? String), packOf(true));
  const { resources } = await search('DiagnosticReport');
  expect(resources.map(({ effectiveDateTime }) => effectiveDateTime)).toEqual([
    ...[0, 1, 2].map(second => `2024-03-10T08:30:0${second}Z`),
    undefined,
  ]);
  expect(resources.map(({ result }) => result)).toEqual([
    [{ reference: 'Observation/7-20240310T083000' }],
    [{ reference: 'Observation/7-20240310T083001' }],
    undefined,
    undefined,
  ]);
  expect((await search('DiagnosticReport?result=Observation/7-20240310T083001')).ids).toEqual(['2']);
  expect((await search('DiagnosticReport?result:missing=true')).ids).toEqual(['3', '4']);
  expect((await search('DiagnosticReport?result.date=2024-03-10T08:30:01')).ids).toEqual(['2']);
  const withTarget = await search('DiagnosticReport?_id=1&_include=DiagnosticReport:result');
  expect(withTarget.ids).toEqual(['1', '7-20240310T083000']);
  const withSource = await search('Observation?date=2024-03-10T08:30:01&_revinclude=DiagnosticReport:result');
  expect(withSource.ids).toEqual(['7-20240310T083001', '2']);
});

test.each(pairs)('of %s, to which %s refer unseen', async (theirs, ours) => {
  const search = await openSmall(schemaOf(layouts[theirs] ?? String, layouts[ours] ?? String), packOf(false));
  const { resources } = await search('DiagnosticReport');
  expect(resources.map(({ result }) => result)).toEqual([
    [{ reference: 'Observation/7-20240310T083000' }],
    [{ reference: 'Observation/7-20240310T083001' }],
    [{ reference: 'Observation/7-20240310T083002' }],
    undefined,
  ]);
  expect((await search('DiagnosticReport?result=Observation/7-20240310T083002')).ids).toEqual(['3']);
});
