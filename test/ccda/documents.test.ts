import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { openDemo } from '../law/demo.ts';
import { type DemoDocuments, documentOf, openDemoDocuments } from './demo-documents.ts';
import { structureProblems } from './structure.ts';
import { all, at, templatesOf, textOf, withTemplate } from './xml-tree.ts';

const names = TOPICS.map(({ name }) => name);
/** Everything, nothing, children, the dead, sensitive, odd texts and dates, no MRN, no UID, not mapped codes. */
const PATIENTS = [1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29];

/** For many documents on a machine that does much else. */
const LONG = { timeout: 170_000 };

let demo: DemoDocuments;
beforeAll(async () => {
  demo = await openDemoDocuments(40);
});
afterAll(() => demo.close());

test.each(names)('%s is sound for every kind of chart', LONG, async name => {
  for (const patient of PATIENTS) {
    const { root } = await demo.make(name, patient);
    expect({ patient, problems: structureProblems(root) }).toEqual({ patient, problems: [] });
  }
});

test('a document of broken data is still sound', LONG, async () => {
  const spoiled = await openDemo({ patients: 30, spoiled: { perMille: 120, seed: 5 } });
  try {
    const { entries } = JSON.parse(
      (
        await spoiled.facade.search(
          { type: 'Patient', parameters: [['_elements', 'id']] },
          { access: { kind: 'all', caller: '' }, base: 'http://localhost/fhir', handling: 'strict' },
        )
      ).json.replace('"entry"', '"entries"'),
    ) as { entries: { resource: { id: string } }[] };
    expect(entries.length).toBeGreaterThan(15);
    for (const { resource } of entries) {
      const { root } = await documentOf(spoiled.facade, 'all-patient-data', Number(resource.id));
      expect({ patient: resource.id, problems: structureProblems(root) }).toEqual({
        patient: resource.id,
        problems: [],
      });
    }
  } finally {
    await spoiled.close();
  }
});

/** Section 4.4 of the interface: template of the section, templates of its entries. */
const SPECIFIED: readonly (readonly [topic: string, section: string, entries: readonly string[]])[] = [
  ['smoking-status', '2.17:2015-08-01', ['4.78:2014-06-09']],
  ['problems', '2.5.1:2015-08-01', ['4.3:2015-08-01']],
  ['medications', '2.1.1:2014-06-09', ['4.16:2014-06-09']],
  ['medication-allergies', '2.6.1:2015-08-01', ['4.30:2015-08-01']],
  ['laboratory-tests', '2.10:2014-06-09', ['4.44:2014-06-09']],
  ['laboratory-results', '2.3.1:2015-08-01', ['4.1:2015-08-01']],
  ['vital-signs', '2.4.1:2015-08-01', ['4.26:2015-08-01']],
  ['procedures', '2.7.1:2014-06-09', ['4.14:2014-06-09']],
  ['immunizations', '2.2.1:2015-08-01', ['4.52:2015-08-01']],
  ['udi-for-implantable-device', '2.23:2014-06-09', ['4.14:2014-06-09']],
  ['assessment-and-plan-of-treatment', '2.10:2014-06-09', ['4.39:2014-06-09', '4.44:2014-06-09']],
  ['goals', '2.60', ['4.121']],
  ['health-concerns', '2.58:2015-08-01', ['4.132:2015-08-01']],
];

test.each(SPECIFIED)('%s has section %s with entries %j', async (topic, sectionTemplate, entryTemplates) => {
  const { root } = await demo.make(topic, 1);
  const [section] = withTemplate(root, sectionTemplate);
  const found = new Set(
    (section?.children ?? [])
      .filter(({ name }) => name === 'entry')
      .flatMap(({ children }) => children.flatMap(templatesOf)),
  );
  for (const template of entryTemplates) expect(found).toContain(template);
  const sections = all(root, 'section').length;
  expect(sections).toBe(topic === 'assessment-and-plan-of-treatment' ? 2 : 1);
});

describe('what a topic demands of its entries', () => {
  test('every organizer of results holds results, every one of vital signs vital signs', async () => {
    const results = await demo.make('laboratory-results', 1);
    for (const organizer of withTemplate(results.root, '4.1:2015-08-01')) {
      expect(withTemplate(organizer, '4.2:2015-08-01').length).toBeGreaterThan(0);
    }
    const vitals = await demo.make('vital-signs', 1);
    for (const organizer of withTemplate(vitals.root, '4.26:2015-08-01')) {
      expect(withTemplate(organizer, '4.27:2014-06-09').length).toBeGreaterThan(0);
    }
  });

  test('tests of the laboratory are requests', async () => {
    const { root } = await demo.make('laboratory-tests', 1);
    const moods = withTemplate(root, '4.44:2014-06-09').map(({ attributes }) => attributes['moodCode']);
    expect(new Set(moods)).toEqual(new Set(['RQO']));
  });

  test('an implant is a device participant with its UDI', async () => {
    const { root } = await demo.make('udi-for-implantable-device', 1);
    const [participant] = all(root, 'participant');
    expect(participant?.attributes['typeCode']).toBe('DEV');
    const [instance] = withTemplate(root, '4.37');
    expect(at(instance ?? root, 'id')?.attributes['root']).toBe('2.16.840.1.113883.3.3719');
    expect(at(instance ?? root, 'id')?.attributes['extension']).toMatch(/^\(01\)/);
  });

  test('the care team is told in the header', async () => {
    const { root } = await demo.make('care-team-members', 1);
    for (const name of ['informationRecipient', 'legalAuthenticator', 'authenticator', 'participant']) {
      expect(root.children.filter(one => one.name === name).length).toBeGreaterThan(0);
    }
    expect(all(root, 'performer').filter(({ attributes }) => attributes['typeCode'] === 'PRF').length).toBeGreaterThan(
      1,
    );
  });

  test('of a patient without a name the header says that nobody knows it, and the birth date', async () => {
    const { root, xml } = await demo.make('all-patient-data', 29);
    const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
    for (const unknown of [['name', 'given'], ['name', 'family'], ['birthTime'], ['raceCode'], ['ethnicGroupCode']])
      expect([unknown, at(patient, ...unknown)?.attributes['nullFlavor']]).toEqual([unknown, 'UNK']);
    expect(at(patient, 'administrativeGenderCode')?.attributes['code']).toBe('M');
    expect(withTemplate(root, '4.26:2015-08-01').length).toBeGreaterThan(0);
    expect(xml).not.toMatch(/>\s*UNK\s*</);
  });

  test('the header tells who the patient is', async () => {
    const { root } = await demo.make('patient-info', 1);
    const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
    expect(at(patient, 'name', 'family')?.text).toBe('Okonkwo-Reyes');
    expect(at(patient, 'administrativeGenderCode')?.attributes['code']).toBe('F');
    expect(at(patient, 'birthTime')?.attributes['value']).toBe('19680602');
    expect(at(patient, 'raceCode')?.attributes['code']).toBe('2106-3');
    expect(at(patient, 'sdtc:raceCode')?.attributes['code']).toBe('2039-6');
    expect(at(patient, 'ethnicGroupCode')?.attributes['code']).toBe('2135-2');
    expect(at(patient, 'languageCommunication', 'languageCode')?.attributes['code']).toBe('es');
  });

  test('whoever died is told to be dead', async () => {
    const { root } = await demo.make('patient-info', 5);
    const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
    expect(at(patient, 'sdtc:deceasedTime')?.attributes['value']).toBe('20250814032000-0400');
  });
});

test('all data is a CCD with the parts that testers look for', async () => {
  const { root } = await demo.make('all-patient-data', 1);
  expect(templatesOf(root)).toContain('1.2:2015-08-01');
  for (const template of [
    '2.6.1:2015-08-01',
    '2.1.1:2014-06-09',
    '2.5.1:2015-08-01',
    '2.3.1:2015-08-01',
    '2.4.1:2015-08-01',
  ]) {
    expect(withTemplate(root, template)).toHaveLength(1);
  }
  for (const template of ['2.17:2015-08-01', '2.8', '2.10:2014-06-09', '2.60', '2.58:2015-08-01', '4.37']) {
    expect(withTemplate(root, template).length).toBeGreaterThan(0);
  }
});

test.each(names)('an empty chart gives a valid %s that claims nothing', async name => {
  const { root, xml } = await demo.make(name, 2);
  for (const section of all(root, 'section')) {
    if (templatesOf(section).includes('2.17:2015-08-01')) continue;
    expect(section.children.filter(one => one.name === 'entry')).toEqual([]);
    expect(textOf(at(section, 'text'))).toContain('No information');
  }
  expect(xml).not.toContain('negationInd="true"');
});

test('what the record denies is negated: no known allergies', async () => {
  const [denied] = demo.rows<{ PT_NO: number }>(
    "SELECT PT_NO FROM ALLRGY WHERE ALG_CD = 'NKA' AND (DEL_FL IS NULL OR DEL_FL <> 'Y') AND STS = 'A' LIMIT 1",
  );
  const { root } = await demo.make('medication-allergies', denied?.PT_NO ?? 0);
  const observation = withTemplate(root, '4.7:2014-06-09').find(one => one.attributes['negationInd'] === 'true');
  expect(at(observation ?? root, 'value')?.attributes['code']).toBe('419199007');
  expect(at(observation ?? root, 'participant', 'participantRole', 'playingEntity', 'code')?.attributes).toEqual({
    nullFlavor: 'NA',
  });
});

test('what is still so is told before what is over, each the newest first', async () => {
  for (const [topic, past] of [
    ['problems', /^(Resolved|Inactive)$/],
    ['medication-allergies', /^(Resolved|Inactive)$/],
    ['medications', /^(completed|stopped|cancelled)/],
  ] as const) {
    const { document } = await demo.make(topic, 1);
    const [section] = document.sections;
    const column = section?.definition.columns.indexOf('Status') ?? -1;
    const over = section?.table.rows.map(({ cells }) => past.test(cells[column] ?? '')) ?? [];
    expect(new Set(over)).toEqual(new Set([true, false]));
    expect(over).toEqual(over.toSorted((a, b) => Number(a) - Number(b)));
  }
});

test('a result that is flagged as abnormal is a marked row, and no other is', async () => {
  const { root, document } = await demo.make('laboratory-results', 1);
  const [section] = document.sections;
  const flag = section?.definition.columns.indexOf('Flag') ?? -1;
  const marked = section?.table.rows.filter(one => one.marked).map(({ cells }) => cells[flag]);
  expect(new Set(marked)).toEqual(new Set(['High', 'Low', 'Abnormal']));
  const unmarked = section?.table.rows.filter(one => !one.marked).map(({ cells }) => cells[flag]) ?? [];
  expect(unmarked.filter(text => marked?.includes(text))).toEqual([]);
  expect(all(root, 'tr').filter(({ attributes }) => attributes['styleCode'] === 'Bold')).toHaveLength(
    marked?.length ?? 0,
  );
});

test('a reason that a record stands for says since when it is so', async () => {
  const { root } = await demo.make('medications', 1);
  const since = new Set(
    withTemplate(root, '4.19:2014-06-09').map(one => at(one, 'effectiveTime', 'low')?.attributes['value']),
  );
  const onsets = demo.rows<{ onset: string }>(
    `SELECT printf('%04d', ONS_YR) AS onset FROM PROB_LST p
     WHERE ONS_YR > 0 AND EXISTS (SELECT 1 FROM RX_ORD x WHERE x.PT_NO = 1 AND x.RSN_PRB_ID = p.PRB_ID)`,
  );
  expect(onsets.length).toBeGreaterThan(0);
  for (const { onset } of onsets) expect([...since].some(time => time?.startsWith(onset))).toBe(true);
  // What somebody only said has no beginning.
  expect(since).toContain(undefined);
});

test('whoever saw the patient in several roles is named once', async () => {
  const { root } = await demo.make('all-patient-data', 1);
  for (const encounter of withTemplate(root, '4.49:2015-08-01')) {
    const ids = encounter.children
      .filter(({ name }) => name === 'performer')
      .map(one => JSON.stringify(at(one, 'assignedEntity', 'id')?.attributes));
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test('a document is the same in every call, but for its time', async () => {
  const [one, other] = [await demo.make('all-patient-data', 1), await demo.make('all-patient-data', 1)];
  expect(other.xml).toBe(one.xml);
  const id = ({ root }: typeof one): string => at(root, 'id')?.attributes['root'] ?? '';
  const narrow = await demo.make('all-patient-data', 1, { range: { first: '2020-01-01', last: '2020-12-31' } });
  expect(id(narrow)).not.toBe(id(one));
  const act = ({ root }: typeof one): readonly string[] =>
    withTemplate(root, '4.3:2015-08-01').map(entry => at(entry, 'id')?.attributes['root'] ?? '');
  for (const kept of act(narrow)) expect(act(one)).toContain(kept);
});

test('the confidentiality of a document is the highest of what is in it', async () => {
  const code = async (topic: string, patient: number): Promise<string | undefined> =>
    at((await demo.make(topic, patient)).root, 'confidentialityCode')?.attributes['code'];
  expect(await code('all-patient-data', 1)).toBe('N');
  expect(await code('all-patient-data', 13)).toBe('V');
  expect(await code('patient-info', 13)).toBe('R');
});
