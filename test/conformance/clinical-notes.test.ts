/**
 * Clinical notes as US Core requires them, tested like the certification tests: the types of notes, the categories of
 * reports, and attachments that both resource types refer to and that can be read.
 * https://hl7.org/fhir/us/core/STU6.1/clinical-notes.html
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo(['DocumentReference']);
});
afterAll(() => demo.close());

interface Attachment {
  readonly contentType?: string;
  readonly url?: string;
}
interface Document {
  readonly subject: { readonly reference: string };
  readonly content: readonly { readonly attachment: Attachment }[];
}
interface Report {
  readonly subject: { readonly reference: string };
  readonly presentedForm?: readonly Attachment[];
}

const OWN = 'http://127.0.0.1/fhir/';

async function search(query: string): Promise<readonly Resource[]> {
  const response = await demo.app.request(`${OWN}${query}`, { headers: { Prefer: 'handling=strict' } });
  expect(response.status, query).toBe(200);
  const { entry = [] } = (await response.json()) as { entry?: readonly { readonly resource: Resource }[] };
  return entry.map(({ resource }) => resource);
}

test.each([
  ['Consult note', '11488-4'],
  ['Discharge summary', '18842-5'],
  ['History and physical note', '34117-2'],
  ['Procedure note', '28570-0'],
  ['Progress note', '11506-3'],
  ['Diagnostic imaging study', '18748-4'],
  ['Laboratory report', '11502-2'],
  ['Pathology study', '11526-1'],
])('%s: documents of this type are found, with an attachment', async (_, code) => {
  const documents = (await search(`DocumentReference?type=http://loinc.org|${code}&category=clinical-note`)) as unknown;
  const attachments = (documents as readonly Document[]).flatMap(({ content }) => content.map(one => one.attachment));
  expect(attachments.filter(({ url }) => url !== undefined)).not.toEqual([]);
});

test.each([
  ['Cardiology', 'LP29708-2'],
  ['Pathology', 'LP7839-6'],
  ['Radiology', 'LP29684-5'],
])('%s: reports of this category are found, with a document of the same patient', async (_, code) => {
  const reports = (await search(`DiagnosticReport?category=http://loinc.org|${code}`)) as unknown as readonly Report[];
  const shown = reports.flatMap(({ subject, presentedForm = [] }) =>
    presentedForm.map(({ url }) => `${subject.reference} ${url}`),
  );
  expect(shown).not.toEqual([]);
  const documents = (demo.resources.get('DocumentReference') ?? []) as unknown as readonly Document[];
  const known = new Set(
    documents.flatMap(({ subject, content }) => content.map(one => `${subject.reference} ${one.attachment.url}`)),
  );
  expect(shown.filter(one => !known.has(one))).toEqual([]);
});

test('attachments of every media type are read by their address, as they are and as Binary', async () => {
  const documents = (demo.resources.get('DocumentReference') ?? []) as unknown as readonly Document[];
  const byType = new Map<string, string>();
  for (const { contentType = '', url = '' } of documents.flatMap(({ content }) => content.map(one => one.attachment))) {
    if (url.startsWith(OWN)) byType.set(contentType, url);
  }
  expect(byType.size).toBeGreaterThan(3);
  for (const [contentType, url] of byType) {
    const [mediaType = ''] = contentType.split(';');
    const itself = await demo.app.request(url, { headers: { Accept: mediaType } });
    expect([itself.status, itself.headers.get('content-type')?.split(';')[0]], url).toEqual([200, mediaType]);
    const bytes = Buffer.from(await itself.arrayBuffer());
    expect(bytes.length, url).toBeGreaterThan(0);
    const binary = await demo.app.request(url, { headers: { Accept: 'application/fhir+json' } });
    const { data } = (await binary.json()) as { readonly data: string };
    expect(Buffer.from(data, 'base64').equals(bytes), url).toBe(true);
  }
});
