import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOf } from '../../src/law/searches.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { shareOf } from '../share.ts';

type Found = Awaited<ReturnType<typeof allOf>>;

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 28 });
});
afterAll(() => demo.close());

const search = (type: string, query = ''): Promise<Found> =>
  allOf(demo.facade, type, [...new URLSearchParams(query).entries()]);

const idsOf = (found: Found): ReadonlySet<string> => new Set(found.map(({ id }) => id));

/** The values at a path of names; lists are flattened. */
function at(value: unknown, ...names: readonly string[]): readonly unknown[] {
  return names.reduce<readonly unknown[]>(
    (values, name) => values.flatMap(v => (v as Readonly<Record<string, unknown>> | undefined)?.[name] ?? []),
    [value],
  );
}

describe('measurements', () => {
  it.each([
    'Observation',
    'DiagnosticReport',
    'Specimen',
    'DocumentReference',
    'Media',
    'Binary',
    'QuestionnaireResponse',
  ])('%s conforms to its profiles', async type => {
    const found = await search(type);
    expect(found.length).toBeGreaterThan(0);
    expect([...new Set(shareOf(found, 4).flatMap(resource => validateResource(resource)))]).toEqual([]);
  });

  it('reads both blood pressures of one cell, with data-absent-reason for an unreadable one', async () => {
    const found = await search('Observation', 'patient=26&code=85354-9&date=2011-06-07');
    const pressures = found.map(({ component }) =>
      [component]
        .flat()
        .map(part => at(part, 'valueQuantity', 'value')[0] ?? at(part, 'dataAbsentReason', 'coding', 'code')[0]),
    );
    expect(pressures).toEqual([
      [120, 80],
      [118, 76],
      [140, 'unknown'],
      ['unknown', 90],
      ['unknown', 80],
      [99, 61],
    ]);
  });

  it('serves no missing measurement, and no oxygen flow without a saturation', async () => {
    const found = await search('Observation', 'patient=26&category=vital-signs&date=2025-05-06');
    const values = found
      .filter(({ id }) => !id.startsWith('pain') && !id.startsWith('bp'))
      .map(resource => at(resource, 'valueQuantity', 'value'));
    expect(values).toEqual([[94]]);
  });

  it.each([
    ['GLU', { value: 5, comparator: '<' }],
    ['EGFR', { value: 60, comparator: '>=' }],
    ['K', { value: 4.1 }],
    ['TRIG', { value: 148, unit: 'UNITS' }],
    ['CHOL', { unit: 'mg/dL', code: 'mg/dL', system: 'http://unitsofmeasure.org' }],
  ])('reads the result of %s as a quantity', async (test, quantity) => {
    const [result] = await search(
      'Observation',
      `patient=21&code=urn:oid:2.16.840.1.113883.3.9999.4|${test}&date=2025-10-07`,
    );
    expect(result?.['valueQuantity']).toMatchObject(quantity);
  });

  it.each([
    ['CL', 'valueString', '1e2'],
    ['ALP', 'valueString', 'SEE NOTE'],
    ['UAGLU', 'valueCodeableConcept', '260385009'],
    ['UALEU', 'valueCodeableConcept', 'WHAT'],
    ['ALB', 'dataAbsentReason', 'unknown'],
    ['LDL', 'dataAbsentReason', 'temp-unknown'],
  ])('reads the result of %s as %s', async (test, element, expected) => {
    const [result] = await search(
      'Observation',
      `patient=21&code=urn:oid:2.16.840.1.113883.3.9999.4|${test}&date=2025-10-07`,
    );
    const value = result?.[element];
    expect(typeof value === 'string' ? value : at(value, 'coding', 'code')[0]).toBe(expected);
  });

  it('serves a test of both bedside and laboratory from the laboratory only', async () => {
    const found = await search('Observation', 'patient=25&code=2823-3&date=2025-02-11');
    const [laboratory, bedside] = [
      found.filter(o => o.id.startsWith('lab-')),
      found.filter(o => o.id.startsWith('poc-')),
    ];
    expect(laboratory.length).toBeGreaterThanOrEqual(3);
    expect(bedside.map(o => at(o, 'valueQuantity', 'value'))).toEqual([[4.6]]);
  });

  it('keeps an industry as a component of its occupation', async () => {
    const jobs = await search('Observation', 'patient=1&code=11341-5');
    expect(at({ jobs }, 'jobs', 'component', 'valueCodeableConcept', 'coding', 'code')).toContain('611110');
    expect(await search('Observation', 'patient=1&code=86188-0')).toEqual([]);
  });
});

describe('documents', () => {
  it('are served only if signed and available, without drafts and administrative ones', async () => {
    const titles = at({ found: await search('DocumentReference', 'patient=1') }, 'found', 'description');
    expect(titles).toContain('Living will');
    expect(titles).not.toContain('Draft');
    expect(titles).not.toContain('Insurance card');
    expect(at({ found: await search('DocumentReference', 'patient=9') }, 'found', 'description')).not.toContain(
      'Type not in the table of types',
    );
  });

  it('have their content at their attachment URL, and no content without a document', async () => {
    const [documents, contents] = [await search('DocumentReference'), await search('Binary')];
    const urls = at({ documents }, 'documents', 'content', 'attachment', 'url').map(String);
    const own = urls.filter(url => url.startsWith('http://127.0.0.1/fhir/Binary/')).map(url => url.split('/').at(-1));
    expect(own.length).toBeGreaterThan(100);
    expect([...idsOf(contents)].filter(id => id.startsWith('doc-')).toSorted()).toEqual(own.toSorted());
  });

  it('have the last version of their content', async () => {
    const [addendum] = (await search('DocumentReference', 'patient=1')).filter(d => d['description'] === 'Addendum');
    const [content] = await search('Binary', `_id=doc-${addendum?.id}`);
    expect(Buffer.from(String(content?.['data']), 'base64').toString()).toContain('the one that counts');
  });

  it('of a department are reports with the attachment, measurements and images', async () => {
    const reports = await search('DiagnosticReport', 'patient=1&category=LP29684-5,LP29708-2,LP7839-6');
    const documents = await search('DocumentReference', 'patient=1');
    const ofDocuments = new Set(at({ documents }, 'documents', 'content', 'attachment', 'url'));
    for (const url of at({ reports }, 'reports', 'presentedForm', 'url')) expect(ofDocuments).toContain(url);
    for (const element of ['result', 'media', 'basedOn', 'performer'])
      expect(at({ reports }, 'reports', element).length).toBeGreaterThan(0);
  });
});

describe('questionnaires', () => {
  it('show groups with their questions, and every answer once', async () => {
    const [response] = await search('QuestionnaireResponse', 'patient=1&questionnaire=http://loinc.org/q/96777-8');
    expect(at(response, 'item', 'linkId')).toEqual(['LIV', 'FOOD', 'TRANS', 'UTIL']);
    expect(at(response, 'item', 'answer')).toEqual([]);
    const nested = at(response, 'item', 'item', 'linkId');
    expect(nested).toEqual(['71802-3', '88122-7', '88123-5', '93030-5', '96779-4']);
    expect(at(response, 'item', 'item', 'answer').length).toBe(nested.length);
  });

  it('show a question that follows up an answer under that answer, and nowhere else', async () => {
    const [needs] = await search('QuestionnaireResponse', 'patient=1&questionnaire=http://loinc.org/q/96777-8');
    expect(at(needs, 'item', 'item', 'answer', 'item', 'linkId')).toEqual(['FOOD.1']);
    const moods = await search('QuestionnaireResponse', 'patient=1&questionnaire=http://loinc.org/q/44249-1');
    expect(new Set(at({ moods }, 'moods', 'item', 'answer', 'item', 'linkId'))).toEqual(new Set(['44259-0.1']));
    expect(at({ moods }, 'moods', 'item', 'linkId')).not.toContain('44259-0.1');
  });

  it('have a panel whose members are the answers', async () => {
    const [panel] = await search('Observation', 'patient=1&code=96777-8');
    const members = at(panel, 'hasMember', 'reference').map(reference => String(reference).replace('Observation/', ''));
    expect(members.length).toBe(6);
    expect(idsOf(await search('Observation', `_id=${members.join()}`))).toEqual(new Set(members));
  });
});
