/** Free text that FHIR serves also occurs in the patient's document: in its narrative and in an entry. */
import { expect, test } from 'vitest';
import { plainText } from '../../src/mapping/codecs/html.ts';
import { demoOfFile } from './demo-of-file.ts';
import { all, at, type Element, textOf, withTemplate } from './xml-tree.ts';

const demo = demoOfFile(40);

interface Served {
  readonly id: string;
  readonly resourceType: string;
  readonly status?: string;
  readonly data?: string;
  readonly content?: readonly { readonly attachment: { readonly url: string; readonly contentType: string } }[];
}

interface Told {
  readonly where: string;
  readonly text: string;
}

/** Remarks, conclusions and comments, anywhere in a resource. */
function wordsOf(value: unknown, where: string): readonly Told[] {
  if (Array.isArray(value)) return value.flatMap(one => wordsOf(one, where));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (name === 'note') return (inner as { text: string }[]).map(({ text }) => ({ where: `${where}.note`, text }));
    if (name === 'conclusion' || name === 'comment') return [{ where: `${where}.${name}`, text: String(inner) }];
    return wordsOf(inner, `${where}.${name}`);
  });
}

async function served(type: string, parameters: readonly [string, string][]): Promise<readonly Served[]> {
  const { json } = await demo.facade.search(
    { type, parameters: [...parameters, ['_count', '1000']] },
    { access: { kind: 'all', caller: '' }, base: 'http://localhost/fhir', handling: 'strict' },
  );
  const { entry = [] } = JSON.parse(json) as { entry?: { resource: Served }[] };
  return entry.map(({ resource }) => resource);
}

/** The texts of signed notes and of reports, if they are plain text. */
async function notesOf(patient: number): Promise<readonly Told[]> {
  const urls = new Set<string>();
  for (const { content } of await served('DocumentReference', [
    ['patient', `Patient/${patient}`],
    ['status', 'current'],
  ])) {
    for (const { attachment } of content ?? []) {
      if (/^(?:text\/|application\/rtf)/i.test(attachment.contentType)) urls.add(attachment.url);
    }
  }
  const ids = [...urls].filter(url => url.includes('/Binary/')).map(url => url.split('/').at(-1) ?? '');
  if (ids.length === 0) return [];
  return (await served('Binary', [['_id', ids.join(',')]])).flatMap(({ id, data }) =>
    data === undefined
      ? []
      : [{ where: `Binary/${id}`, text: plainText(Buffer.from(data, 'base64').toString('utf8')) }],
  );
}

const bare = (text: string): string => text.replace(/\s+/g, '');

function saidIn(elements: readonly Element[]): string {
  return bare(elements.map(textOf).join('\n'));
}

/** No document has completed orders; documents have their results. */
const isDone = ({ resourceType, status }: Served): boolean =>
  resourceType === 'ServiceRequest' && !['active', 'on-hold', 'unknown'].includes(status ?? '');

async function toldOf(patient: number): Promise<readonly Told[]> {
  const told: Told[] = [...(await notesOf(patient))];
  for (const type of demo.facade.offers.types) {
    const by = ['patient', 'subject'].find(name => demo.facade.offers.find(type, name) !== undefined);
    if (by === undefined) continue;
    for (const resource of await served(type, [[by, `Patient/${patient}`]])) {
      if (!isDone(resource) && !/entered-in-error/.test(JSON.stringify(resource)))
        told.push(...wordsOf(resource, type));
    }
  }
  return told;
}

test('every text of a chart is in its document: in the narrative and in an entry', async () => {
  const kinds = new Set<string>();
  for (const patient of [1, 3, 4, 5, 9, 10, 12, 14, 15, 16, 18, 20, 22, 24, 26, 28]) {
    const told = await toldOf(patient);
    for (const { where } of told) kinds.add(where.replace(/\/.*/, ''));
    const { root } = await demo.make('all-patient-data', patient);
    const sections = all(root, 'section');
    const narrative = saidIn(sections.map(section => at(section, 'text') ?? section));
    const entries = saidIn(sections.flatMap(section => section.children.filter(({ name }) => name === 'entry')));
    const missing = told.filter(({ text }) => !narrative.includes(bare(text)) || !entries.includes(bare(text)));
    expect({ patient, missing: missing.map(({ where }) => where) }).toEqual({ patient, missing: [] });
  }
  expect([...kinds].sort()).toEqual([
    'AllergyIntolerance.note',
    'Binary',
    'DiagnosticReport.conclusion',
    'DiagnosticReport.media.comment',
    'MedicationRequest.note',
    'Observation.note',
    'Procedure.note',
    'ServiceRequest.note',
  ]);
});

test('a note is a Note Activity with its type, its author and its text; a scan is a row with its format', async () => {
  const { root } = await demo.make('all-patient-data', 1);
  const [section] = withTemplate(root, '2.65:2016-11-01');
  const notes = withTemplate(section ?? root, '4.202:2016-11-01');
  expect(notes.length).toBeGreaterThan(20);
  for (const note of notes) {
    expect(at(note, 'author', 'time')?.attributes['value']).toMatch(/^\d{8}/);
    expect(at(note, 'text', 'reference')).toBeDefined();
  }
  const kinds = notes.flatMap(note => at(note, 'code', 'translation')?.attributes['code'] ?? []);
  expect(kinds).toContain('11506-3');
  expect(kinds.length).toBeGreaterThan(notes.length / 2);
  const rtf = notes.map(note => textOf(at(note, 'text'))).filter(text => /rtf1|<p>/.test(text));
  expect(rtf).toEqual([]);
});

test('a note of a report is in the results; the document of a visit has no note of other visits', async () => {
  const { root } = await demo.make('encounter-ccds', 1, { encounterId: '49' });
  const titles = withTemplate(root, '2.65:2016-11-01').flatMap(section => all(section, 'tr').map(textOf));
  expect(titles.some(text => text.includes('CONSULTATION'))).toBe(true);
  expect(titles.some(text => text.includes('MAMMOGRAM'))).toBe(false);
  const ofVisit = demo.rows<{ n: number }>(
    "SELECT count(*) AS n FROM DOC_HDR WHERE ENC_NO = 49 AND SGN_FL = 'Y' AND AVL_FL = '1' AND DOC_STS <> 'S'",
  );
  expect(titles.length - 1).toBeLessThanOrEqual(ofVisit[0]?.n ?? 0);
});
