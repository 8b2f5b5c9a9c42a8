/** `lintel coverage`: of the demo, against a list checked by hand; and the gaps of a pack with two mappings. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Coverage, coverageOf, type ProfileCoverage } from '../../src/coverage/coverage.ts';
import { documentsOf } from '../../src/coverage/documents.ts';
import { usCore, VERSIONS, type Version } from '../../src/coverage/guide.ts';
import { coverageLines } from '../../src/coverage/text.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { loadWhole } from '../../src/start/setup.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';

describe('of the demo', () => {
  let demo: Demo;
  const byRows = new Map<Version, Coverage>();
  const byPack = new Map<Version, Coverage>();
  beforeAll(async () => {
    demo = await openDemo({ patients: 29 });
    const { registry, database } = demo;
    const catalog = await database.catalog();
    for (const version of VERSIONS) {
      const rows = { database, now: NOW, sample: 400, seconds: 60 };
      byRows.set(version, await coverageOf({ registry, catalog, guide: usCore(version), rows }));
      byPack.set(version, await coverageOf({ registry, catalog, guide: usCore(version), rows: undefined }));
    }
  });
  afterAll(() => demo.close());

  const profile = (name: string, of = byRows, version: Version = '6.1.0'): ProfileCoverage => {
    const found = of.get(version)?.profiles.find(one => one.profile === name);
    if (!found) throw new Error(`${name} is not there`);
    return found;
  };

  test.each(VERSIONS)('the demo lacks nothing for certification by US Core %s', version => {
    for (const coverage of [byRows.get(version), byPack.get(version)]) {
      expect(coverage?.certification).toEqual([
        { name: '(g)(10) single patient API', verdict: 'ready', missing: [] },
        { name: '(g)(10) multi-patient API (bulk export)', verdict: 'ready', missing: [] },
      ]);
      expect(coverage?.profiles.filter(({ verdict }) => verdict !== 'ready')).toEqual([]);
    }
  });

  test.each<readonly [profile: string, mappings: readonly string[]]>([
    ['us-core-patient', ['patients']],
    ['us-core-allergyintolerance', ['allergies', 'allergies-release-1']],
    ['us-core-blood-pressure', ['vital-signs.bp']],
    ['us-core-implantable-device', ['implants']],
    ['us-core-medicationrequest', ['prescriptions', 'reported-medications']],
    ['us-core-organization', ['facilities', 'payers']],
    ['us-core-procedure', ['procedures', 'past-surgeries']],
  ])('%s is claimed by its mappings', (name, mappings) => {
    expect(profile(name).mappings).toEqual(mappings);
  });

  test('elements equal those read from the mappings by hand', () => {
    const states = Object.fromEntries(
      profile('us-core-documentreference').elements.map(one => [one.element, one.state]),
    );
    // document.yaml gives each content a URL and never the bytes; one of both suffices.
    expect(states).toMatchObject({
      'content.attachment.url': 'filled',
      'content.attachment.data': 'other',
      'context.period': 'filled',
      'category:uscore': 'filled',
    });
    // Every organization except the payers has an NPI.
    const npi = profile('us-core-organization').elements.find(({ element }) => element === 'identifier:NPI');
    expect(npi?.state).toBe('filled');
    expect(npi?.resources).toBeLessThan(profile('us-core-organization').resources ?? 0);
    expect(npi?.at?.file).toBe('organization.yaml');
  });

  test.each(VERSIONS)(
    'the elements found in resources equal those derived from the mappings, by US Core %s',
    version => {
      const wrong = (byRows.get(version)?.profiles ?? []).flatMap(({ profile: name, elements }) => {
        const said = new Map(profile(name, byPack, version).elements.map(one => [one.element, one.state]));
        return elements
          .filter(({ element, state }) => state === 'filled' && said.get(element) !== 'mapped')
          .map(one => [name, one]);
      });
      expect(wrong).toEqual([]);
    },
  );

  test('tables and columns that no mapping reads', () => {
    const unused = byRows.get('6.1.0')?.unused;
    expect(unused?.tables).toEqual([{ table: 'SYS_PARM', rows: 3, columns: 2 }]);
    const columns = Object.fromEntries((unused?.columns ?? []).map(one => [one.table, one.columns]));
    expect(columns['PT_MST']?.toSorted()).toEqual(['CRT_DTM', 'PRTL_PWD', 'PRTL_USR', 'RV', 'SSN']);
    expect(columns['USR_LGN']).toContain('PWD_HASH');
    expect(columns['ALLRGY']).toBeUndefined();
    const rows = (unused?.columns ?? []).map(one => one.rows ?? 0);
    expect(rows).toEqual(rows.toSorted((a, b) => b - a));
  });

  test('a mapping that exceeds the time budget is named, without statements on its rows', async () => {
    const { registry, database } = demo;
    const rows = { database, now: NOW, sample: 400, seconds: 0 };
    const coverage = await coverageOf({ registry, catalog: await database.catalog(), guide: usCore('6.1.0'), rows });
    expect(coverage.unreached).toContain('vital-signs.bp');
    expect(coverage.profiles.find(one => one.profile === 'us-core-patient')).toMatchObject({
      verdict: 'ready',
      resources: null,
    });
    expect(coverageLines(coverage).join('\n')).toMatch(
      /^The time budget ended before resources of these were read: patients, /m,
    );
  });

  test('the test kit would pass each group that it has', () => {
    for (const coverage of [...byRows.values(), ...byPack.values()]) {
      const kits = coverage.profiles.map(({ kit }) => kit);
      expect(kits.filter(kit => kit !== null && kit.verdict !== 'pass')).toEqual([]);
      expect(kits.filter(kit => kit !== null).length).toBeGreaterThan(20);
    }
  });

  test('every C-CDA document has its lists, with records in them', async () => {
    const content = loadWhole(readPackFiles('mappings/medkeep'), undefined).content;
    const topics = await documentsOf(content, demo.facade);
    expect(topics.filter(({ verdict }) => verdict !== 'ready')).toEqual([]);
    expect(topics.find(({ name }) => name === 'medication-allergies')?.lists).toEqual([
      { list: 'allergies', type: 'AllergyIntolerance', state: 'filled' },
    ]);
    expect(topics.find(({ name }) => name === 'all-patient-data')?.lists.length).toBeGreaterThan(20);
  });

  test('fits 100 columns', () => {
    for (const coverage of [...byRows.values(), ...byPack.values()])
      expect(coverageLines(coverage).filter(line => line.length > 100)).toEqual([]);
  });
});

const PATIENTS = `mapping: people
resource: Patient
profile: us-core-patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [{ system: urn:oid:1.2.3, value: { from: ID } }]
  name: [ { family: { from: SURNAME }, period: { end: { from: BORN } } } ]
  gender: { from: SEX, via: sex, else: unknown }
`;

const WEIGHTS = `mapping: weights
resource: Observation
profile: us-core-body-weight
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
needs: [subject]
elements:
  status: final
  category: [http://terminology.hl7.org/CodeSystem/observation-category#vital-signs]
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  valueQuantity: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
`;

/** A clinic whose two mappings claim profiles, a table that none reads, and no birth dates. */
function clinic(): ReturnType<typeof smallClinic> {
  const small = smallClinic({ 'person.yaml': PATIENTS, 'weighing.yaml': WEIGHTS });
  const database = new DatabaseSync(join(small.folder, 'clinic.sqlite'));
  database.exec(`CREATE TABLE FRIDGE (DAY DATE, DEGREES REAL); INSERT INTO FRIDGE VALUES ('2024-01-01', 4), ('2024-01-02', 5);
    UPDATE PERSON SET BORN = NULL; ALTER TABLE PERSON ADD COLUMN EYES VARCHAR(9)`);
  database.close();
  return small;
}

describe('of a pack with two mappings', () => {
  const covered = async (...options: readonly string[]): Promise<Coverage> => {
    const { environment } = clinic();
    const { out, code } = await lintel(environment, 'coverage', '--json', ...options);
    expect(code).toBe(0);
    return JSON.parse(out);
  };

  test('gaps are elements that no mapping makes and searches that are not offered', async () => {
    const { profiles } = await covered();
    const weight = profiles.find(one => one.profile === 'us-core-body-weight');
    expect(weight).toMatchObject({ verdict: 'gaps', resources: 2, mappings: ['weights'] });
    expect(weight?.gaps).toEqual([
      'not mapped: effectiveDateTime',
      'search patient+category+date[gt ge lt le]: date is not offered',
      'search _revinclude=Provenance:target: no Provenance has Observation as its target',
    ]);
    const patient = profiles.find(one => one.profile === 'us-core-patient');
    const [unmapped = ''] = patient?.gaps ?? [];
    expect(unmapped).toMatch(/^not mapped: name\.given, name\.suffix, telecom, birthDate, deceasedDateTime, address, /);
    expect(unmapped).toMatch(/\bextension:race\b/);
    // A former name needs either its use or the end of its period: the latter is mapped, and no row has it.
    expect(patient?.elements.find(({ element }) => element === 'name.use=old')?.state).toBe('other');
    expect(unmapped).not.toMatch(/name\.family|telecom\./);
    expect(patient?.withoutData).toEqual(['name.period', 'name.period.end']);
    expect(patient?.searches.find(({ search }) => search === 'birthdate+name')?.lacks).toEqual([
      'birthdate is not offered',
    ]);
    expect(profiles.find(one => one.profile === 'us-core-goal')).toMatchObject({
      verdict: 'not mapped',
      gaps: ['no mapping claims the profile'],
    });
  });

  test('the certification verdict lists missing parts', async () => {
    const { certification } = await covered('--guide', 'us-core-7.0.0');
    expect(certification.map(({ verdict }) => verdict)).toEqual(['gaps', 'gaps']);
    const [single, multi] = certification;
    expect(single?.missing[0]).toMatch(/^no mapping makes AllergyIntolerance, .*\bGoal\b/);
    expect(single?.missing[1]).toMatch(/^Observation: no mapping claims us-core-.*\bus-core-heart-rate\b/);
    expect(single?.missing.slice(0, 2).join()).not.toMatch(/us-core-(?:goal|body-weight|patient)\b/);
    expect(single?.missing[2]).toMatch(
      /^us-core-patient: not mapped: .*; search birthdate\+name: birthdate is not offered/,
    );
    expect(multi?.missing[0]).toBe('Group is not mapped: Group/[id]/$export has no group to export');
    expect(multi?.missing.join('\n')).not.toContain('search');
  });

  test('profiles that no mapping claims stand together by type, and no line is longer than a terminal', async () => {
    const { environment } = clinic();
    const { out } = await lintel(environment, 'coverage', '--guide', 'us-core-7.0.0');
    const lines = out.split('\n');
    const [tested, others] = ['Profiles of the (g)(10) tests', 'Other profiles'].map(one =>
      lines.indexOf(`${one} that no mapping claims`),
    );
    expect(lines[(tested ?? 0) + 1]).toBe('  AllergyIntolerance    us-core-allergyintolerance');
    expect(lines.slice(tested, others).join('\n')).toMatch(/^ {2}Observation {11}us-core-[\s\S]*us-core-heart-rate/m);
    expect(lines.slice(others).join('\n')).toContain('us-core-simple-observation');
    expect(lines.filter(line => line.length > 100)).toEqual([]);
    expect(out).not.toContain(': not mapped\n');
    expect(out).toMatch(/bulk export\): gaps\n {2}- Group is not mapped[\s\S]*\n {2}- and 3 that stand above\n/);
  });

  test('tables that no mapping reads are listed by number of rows', async () => {
    const { unused } = await covered();
    expect(unused).toEqual({
      tables: [{ table: 'FRIDGE', rows: 2, columns: 2 }],
      columns: [
        { table: 'PERSON', rows: 2, columns: ['EYES'] },
        { table: 'WEIGHING', rows: 2, columns: ['TAKEN'] },
      ],
    });
  });

  test('--locked sends no query, and reports from the pack alone', async () => {
    const { environment, pack } = clinic();
    expect((await lintel(environment, 'lock')).code).toBe(0);
    const { out, code } = await lintel({ MAPPINGS: pack }, 'coverage', '--locked');
    expect(code).toBe(0);
    expect(out).toMatch(/^small against us-core-6\.1\.0, by what the pack says, without rows$/m);
    expect(out).toMatch(/^us-core-body-weight \(Observation\): gaps\n {2}mapped by weights\n {2}mapped {7}status, /m);
    expect(out).toMatch(/^ {2}not mapped {3}effectiveDateTime$/m);
    expect(out).not.toContain('FRIDGE');
  });

  test('--html writes one page, with and without rows, with the names of the data', async () => {
    const { environment, pack, folder } = clinic();
    const file = join(folder, 'coverage.html');
    const page = async (...options: string[]): Promise<string> => {
      expect((await lintel(environment, 'coverage', '--html', file, ...options)).code).toBe(0);
      return readFileSync(file, 'utf8');
    };
    const withRows = await page();
    expect(withRows).toContain('<title>small against us-core-6.1.0</title>');
    expect(withRows).toContain('<tr><td>FRIDGE</td><td class="number">2</td><td class="number">2</td></tr>');
    expect(withRows).toMatch(/<h2>us-core-body-weight: gaps<\/h2>/);
    expect(withRows).toMatch(/<td>effectiveDateTime<\/td><td>not mapped<\/td>/);
    expect(withRows).toMatch(/<td>status<\/td><td>filled<\/td><td class="number">100<\/td>/);
    expect(withRows).not.toMatch(/<script|https?:\/\/[^<]*\.(css|js)/);
    expect((await lintel(environment, 'lock')).code).toBe(0);
    expect(await page(pack, '--locked')).toMatch(/<td>status<\/td><td>mapped<\/td><td>-<\/td>/);
  });

  test('an unknown guide and a pack with errors are reported', async () => {
    const { environment, pack } = clinic();
    const wrong = await lintel(environment, 'coverage', '--guide', 'us-core-5');
    expect(wrong.code).not.toBe(0);
    expect(wrong.notes).toContain('--guide takes us-core-6.1.0 or us-core-7.0.0');
    writeFileSync(join(pack, 'person.yaml'), PATIENTS.replace('SURNAME', 'SURNAM'));
    const broken = await lintel(environment, 'coverage');
    expect(broken.code).toBe(1);
    expect(broken.notes).toMatch(/^person\.yaml:8:.*SURNAM/m);
  });
});
