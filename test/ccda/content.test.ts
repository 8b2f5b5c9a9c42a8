import { expect, test } from 'vitest';
import { readContent } from '../../src/ccda/content.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { lintel } from '../cli/lintel.ts';
import { PLACES, smallClinic, VISITS } from '../cli/small-clinic.ts';

const PACK = { name: 'small', title: 'Small', zone: 'UTC', systems: { mrn: 'urn:oid:1.2.3' } };

function read(text: string) {
  const { content, problems } = readContent({ path: 'ccds.yaml', text }, PACK, ({ parameters }) =>
    parameters.some(([name]) => name === 'nonsense')
      ? [{ severity: 'error', message: 'Condition has no parameter nonsense' }]
      : [],
  );
  return { content, problems: problems.map(formatProblem) };
}

test('lists, the record number and the listed encounters are read', () => {
  const { content, problems } = read(`
mrn: mrn
custodian: Organization?_id=main
listed-encounters: Encounter?_has:DocumentReference:encounter:status=current,superseded
lists:
  problems: Condition?category=problem-list-item
  medications: [MedicationRequest, "MedicationRequest?status=active&intent=order"]
`);
  expect(problems).toEqual([]);
  expect(content?.mrn).toEqual(['urn:oid:1.2.3']);
  expect(content?.custodian).toEqual({
    type: 'Organization',
    parameters: [['_id', 'main']],
    at: { file: 'ccds.yaml', line: 3, column: 12 },
  });
  expect(content?.listed?.parameters).toEqual([['_has:DocumentReference:encounter:status', 'current,superseded']]);
  expect(content?.lists.get('medications')).toEqual([
    { type: 'MedicationRequest', parameters: [] },
    {
      type: 'MedicationRequest',
      parameters: [
        ['status', 'active'],
        ['intent', 'order'],
      ],
    },
  ]);
});

test('every problem is reported with its place and the nearest spelling', () => {
  const { content, problems } = read(`mrm: mrn
lists:
  problem: Condition
  goals: Condition
  problems: Condition?nonsense=1
`);
  expect(content).toBeUndefined();
  expect(problems).toEqual([
    'ccds.yaml:1:1: unknown key; found mrm; did you mean mrn?',
    'ccds.yaml:3:3: unknown key; found problem; did you mean problems?',
    'ccds.yaml:4:10: not a search of the right type; expected Goal?…; found Condition',
    'ccds.yaml:5:13: Condition has no parameter nonsense',
  ]);
});

test('`lintel check` tries each search and reports its problems', async () => {
  const clinic = smallClinic({ 'ccds.yaml': 'lists: { vital-signs: "Observation?code=29463-7&flavour=sour" }\n' });
  const { code, out } = await lintel(clinic.environment, 'check');
  expect(code).toBe(1);
  expect(out).toMatch(/ccds\.yaml:1:23: .*flavour/);
});

test('`lintel check` reports searches, and single values, that can never find anything', async () => {
  const clinic = smallClinic({
    'ccds.yaml': `lists:
  vital-signs:
    - Observation?status=finale
    - Observation?code=29463-7,29463-8
    - Observation?code=29463-7&status:not=finale&_sort=date
    - Observation?patient=1,99
`,
  });
  const { code, out } = await lintel(clinic.environment, 'check');
  expect(code).toBe(1);
  const told = out.split('\n').filter(line => line.includes('gives'));
  expect(told.map(line => line.replace(/^.*ccds\.yaml:/, ''))).toEqual([
    '3:7: status: no mapping of Observation gives finale [LNT-415]',
    '4:7: warning: code: no mapping of Observation gives 29463-8 [LNT-415]',
  ]);
});

test('`lintel check` reports a custodian that matches no row or several', async () => {
  const clinic = (custodian: string) =>
    smallClinic({
      'ccds.yaml': `custodian: ${custodian}\n`,
      'place.yaml': PLACES,
      'visits.yaml': VISITS,
    });
  const told = async (custodian: string) => {
    const { code, out } = await lintel(clinic(custodian).environment, 'check');
    return { code, lines: out.split('\n').filter(line => line.includes('ccds.yaml')) };
  };
  expect(await told('Organization?_id=place-2')).toEqual({ code: 0, lines: [] });
  expect(await told('Organization?_id=place-99')).toEqual({
    code: 0,
    lines: [
      "ccds.yaml:1:12: warning: no Organization is the custodian: documents name the patient's, or the pack's publisher [LNT-416]",
    ],
  });
  expect(await told('Organization?active=true')).toEqual({
    code: 0,
    lines: ['ccds.yaml:1:12: warning: 2 Organizations are the custodian: documents name the first [LNT-416]'],
  });
});

test('a record number whose system no patient has is reported', async () => {
  const clinic = (mrn: string) =>
    smallClinic({
      'pack.yaml':
        'name: small\ntitle: Small\nzone: UTC\nsystems: { loinc: "http://loinc.org", chart: "urn:oid:1.2.3", other: "urn:oid:1.2.4" }\n',
      'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [{ system: chart, value: { from: ID } }]
  gender: { from: SEX, via: sex }
`,
      'ccds.yaml': `mrn: ${mrn}\n`,
      'visits.yaml': VISITS,
    });
  const told = async (mrn: string) =>
    (await lintel(clinic(mrn).environment, 'check')).out.split('\n').filter(line => line.includes('ccds.yaml'));
  expect(await told('chart')).toEqual([]);
  expect(await told('other')).toEqual([
    'ccds.yaml:1:6: warning: no mapping of Patient gives a record number of this system that can be searched; found other [LNT-416]',
  ]);
});
