/**
 * A resource type that no pack has yet, added as docs/extending.md describes: FamilyMemberHistory, by a file of the
 * pack alone; and its section in C-CDA documents, by the listed files.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { lintel } from '../cli/lintel.ts';
import { type SmallClinic, smallClinic } from '../cli/small-clinic.ts';
import { copiedTree, isListed } from './tree.ts';

const TABLE = `
CREATE TABLE FAMILY (
  NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, REL VARCHAR(8), DX VARCHAR(10), DX_TX VARCHAR(60),
  AGE SMALLINT, NOTED DATE, UPD DATETIME
);
CREATE INDEX FAMILY_PERSON ON FAMILY (PERSON_ID);
INSERT INTO FAMILY VALUES
  (1, 1, 'F', 'I21.9', 'Heart attack', 52, '2019-03-04', '2019-03-04 10:00:00.000'),
  (2, 1, 'M', 'E11.9', 'Diabetes', 60, '2020-03-04', '2020-03-04 10:00:00.000'),
  (3, 2, 'M', NULL, NULL, NULL, NULL, '2020-03-05 10:00:00.000');
`;

const MAPPING = `mapping: family-history
resource: FamilyMemberHistory
source: { table: FAMILY, as: f, key: [NO], changed: UPD }
id: "{NO}"
needs: [patient]
elements:
  status: completed
  patient: { ref: people, on: { ID: PERSON_ID } }
  date: { from: NOTED }
  relationship: { from: REL, via: relative, else: http://terminology.hl7.org/CodeSystem/v3-RoleCode#FAMMEMB }
  condition:
    - code:
        coding: [{ system: http://hl7.org/fhir/sid/icd-10-cm, code: { from: DX, via: code } }]
        text: { from: DX_TX }
      onsetAge: { value: { from: AGE }, unit: years, system: ucum, code: a }
      needs: [code]
`;

const CODES = `relative:
  system: http://terminology.hl7.org/CodeSystem/v3-RoleCode
  rows: { F: FTH father, M: MTH mother }
`;

const TEST = `mapping: family-history
rows:
  PERSON: [{ ID: "1" }]
  FAMILY: [{ NO: "7", PERSON_ID: "1", REL: M, DX: E11.9, AGE: "60" }]
resource: { relationship: { coding: [{ code: MTH }] }, condition: [{ onsetAge: { value: 60 } }] }
matches: [patient=1, relationship=MTH, code=E11.9]
misses: [relationship=FTH]
`;

function clinic(files: Readonly<Record<string, string>> = {}): SmallClinic {
  const made = smallClinic({
    'family-history.yaml': MAPPING,
    'family-history.codes.yaml': CODES,
    'family-history.test.yaml': TEST,
    ...files,
  });
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec(TABLE);
  database.close();
  return made;
}

test('a type needs one pack file, and gets searches, chains, includes, sorting, exports and compartments', async () => {
  const { environment } = clinic();
  expect(await lintel(environment, 'check')).toMatchObject({ code: 0 });
  const running = await startServer(
    readConfig(environment),
    { out: () => undefined, note: () => undefined },
    createLog({ level: 'silent', format: 'json', write: () => undefined }),
  );
  if (!running) throw new Error('the clinic is not served');
  onTestFinished(() => running.stop());
  const found = async (path: string): Promise<readonly string[]> => {
    const answer = await fetch(`${running.url}/fhir/${path}`);
    const { entry = [] } = (await answer.json()) as { entry?: { resource: { resourceType: string; id: string } }[] };
    return entry.map(({ resource: { resourceType, id } }) => `${resourceType}/${id}`);
  };
  const [father, mother] = ['FamilyMemberHistory/1', 'FamilyMemberHistory/2'];
  expect(await found('FamilyMemberHistory?patient=1&_sort=-date')).toEqual([mother, father]);
  expect(await found('FamilyMemberHistory?patient.family=kowal&code=I21.9&date=2019')).toEqual([father]);
  expect(await found('FamilyMemberHistory?code=E11.9&_include=FamilyMemberHistory:patient')).toEqual([
    mother,
    'Patient/1',
  ]);
  expect(await found('Patient?_has:FamilyMemberHistory:patient:code=E11.9')).toEqual(['Patient/1']);
  expect(await found('Patient/1/FamilyMemberHistory')).toEqual([father, mother]);
  expect(await found('Patient/1/$everything?_type=FamilyMemberHistory')).toEqual([father, mother]);
  const out = join(environment['DATA_DIR'] ?? '', 'out');
  const exported = await lintel(environment, 'export', out, '--type', 'FamilyMemberHistory');
  expect([exported.code, exported.out]).toEqual([0, expect.stringContaining('3 resources in 1 file')]);
});

test('check refuses a mapping of patient data without a reference to the patient', async () => {
  const flags = MAPPING.replace('FamilyMemberHistory', 'Flag')
    .replace('needs: [patient]\n', '')
    .replace('status: completed', 'status: active\n  code: { text: alert }\n  subject: { display: somebody }')
    .replace(/ {2}patient: [\s\S]*/, '');
  const { environment } = clinic({ 'family-history.yaml': flags, 'family-history.test.yaml': '' });
  const { code, out } = await lintel(environment, 'check');
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^family-history\.yaml:1:1: .* has no reference to the patient; .*LNT-513/m),
  ]);
});

const ENTRY = `/** Family history. In: FamilyMemberHistory. Out: Family History Organizer with an observation of each condition. */
import { coded, labelOf, reference, TYPE_CD } from '../code.ts';
import { SNOMED } from '../code-systems.ts';
import type { FamilyMemberHistory } from '../fhir/record.ts';
import type { SectionWriter } from '../section.ts';
import { whenOf } from '../when.ts';
import { templateIds, xml } from '../xml.ts';

export const FAMILY_HISTORY_COLUMNS = ['Relative', 'Condition', 'Onset'];

export function addFamilyHistory(history: FamilyMemberHistory, content: SectionWriter): void {
  const { relationship, condition = [] } = history;
  const row = content.row(
    labelOf(relationship),
    condition.map(({ code }) => labelOf(code)).join('\\n'),
    condition.map(one => whenOf(one, 'onset').text).join('\\n'),
  );
  content.entry(xml\`
    <organizer classCode="CLUSTER" moodCode="EVN">
      \${templateIds('4.45', '4.45:2015-08-01')}
      \${content.id(history)}
      <statusCode code="completed"/>
      <subject><relatedSubject classCode="PRS">\${coded('code', relationship)}</relatedSubject></subject>
      \${condition.map(
        ({ code }, i) => xml\`
      <component>
        <observation classCode="OBS" moodCode="EVN">
          \${templateIds('4.46', '4.46:2015-08-01')}
          \${content.id(history, \`condition-\${i}\`)}
          <code code="64572001" displayName="Condition" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>
          <text>\${reference(row)}</text>
          <statusCode code="completed"/>
          \${coded('value', code, { systems: [SNOMED], attributes: TYPE_CD, row })}
        </observation>
      </component>\`,
      )}
    </organizer>\`);
}
`;

const RESOURCE = `export interface FamilyMemberHistory extends Clinical {
  readonly date?: string;
  readonly relationship?: CodeableConcept;
  readonly condition?: readonly ({ readonly code?: CodeableConcept } & When<'onset'>)[];
}

`;

const SECTION = `export const FAMILY_HISTORY: SectionDefinition = {
  key: 'family-history',
  title: 'Family History',
  code: '10157-6',
  codeName: 'History of family member diseases Narrative',
  templates: ['2.15', '2.15:2015-08-01'],
  columns: FAMILY_HISTORY_COLUMNS,
  build: eachOf('family-history', addFamilyHistory),
};

`;

const CCDS = 'lists: { family-history: FamilyMemberHistory }\n';

test('its C-CDA section needs the listed files', async () => {
  const { environment } = clinic({ 'ccds.yaml': CCDS });
  const tree = copiedTree();
  const before = await tree.lintel(environment, 'check', '--budget', '1');
  expect(before.out).toMatch(/^ccds\.yaml:1:10: .*family-history/m);

  tree.insert('src/ccda/fhir/record.ts', 'export interface Encounter ', RESOURCE);
  tree.add('src/ccda/entries/family-history.ts', ENTRY);
  tree.insert('src/ccda/lists.ts', '  Immunization,\n  MedicationRequest,', '  FamilyMemberHistory,\n');
  tree.insert('src/ccda/lists.ts', '  readonly notes: Doc', "  readonly 'family-history': FamilyMemberHistory;\n");
  tree.insert(
    'src/ccda/lists.ts',
    '  notes: {\n',
    `  'family-history': {
    type: 'FamilyMemberHistory',
    span: ({ date }) => ({ start: date }),
    encounter: undefined,
    references: () => [],
  },
`,
  );
  const oneList = 'src/ccda/sections/one-list.ts';
  tree.insert(
    oneList,
    'import { addGoal',
    "import { addFamilyHistory, FAMILY_HISTORY_COLUMNS } from '../entries/family-history.ts';\n",
  );
  tree.insert(oneList, 'export const PAYERS', SECTION);
  tree.insert('src/ccda/topics.ts', '  GOALS,\n  HEALTH_CONCERNS,\n  IMM', '  FAMILY_HISTORY,\n');
  tree.insert('src/ccda/topics.ts', '    PAYERS,\n', '    FAMILY_HISTORY,\n');
  expect(await tree.lintel(environment, 'check', '--budget', '1')).toMatchObject({ code: 0 });
  const shown = await tree.lintel(environment, 'preview', 'family-history', '1', '--ccda', '--values');
  expect(shown.out).toContain('Family History');
  expect(shown.out).toMatch(/father.*Heart attack.*at the age of 52 years/s);
  expect(shown.out).toContain('root="2.16.840.1.113883.10.20.22.4.46" extension="2015-08-01"');
  expect(tree.touched().filter(file => !isListed('A resource type')(file))).toEqual([]);
});
