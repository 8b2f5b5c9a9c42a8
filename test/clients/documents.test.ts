/** The requests of a client for a patient's Continuity of Care Document, from `$docref` to the document. */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { validateResource } from '../../src/validation/validator.ts';
import { type StartedDemo, startDemo } from './started-demo.ts';

interface Entry {
  readonly fullUrl: string;
  readonly resource: {
    readonly id?: string;
    readonly type: { readonly coding: readonly { readonly code: string }[] };
    readonly content: readonly { readonly attachment: { readonly url?: string; readonly contentType: string } }[];
  };
}

let demo: StartedDemo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.stop());

const docref = async (query: string): Promise<readonly Entry[]> => {
  const response = await fetch(`${demo.base}/DocumentReference/$docref?${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly entry?: readonly Entry[] }).entry ?? [];
};

const made = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ fullUrl }) => fullUrl.startsWith('urn:uuid:'));

describe('the Continuity of Care Document', () => {
  test('is the first search result, and generated when its URL is fetched', async () => {
    const [first, ...others] = await docref('patient=1');
    expect(first?.resource.type.coding[0]?.code).toBe('34133-9');
    expect(first?.fullUrl).toMatch(/^urn:uuid:[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(`urn:uuid:${first?.resource.id}`).toBe(first?.fullUrl);
    expect(validateResource(first?.resource)).toEqual([]);
    expect(made(others)).toEqual([]);
    expect(others.length).toBeGreaterThan(0);
    const response = await fetch(first?.resource.content[0]?.attachment.url ?? '');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    const text = await response.text();
    expect(XMLValidator.validate(text)).toBe(true);
    expect(new XMLParser({ ignoreAttributes: false }).parse(text).ClinicalDocument.code['@_code']).toBe('34133-9');
  });

  test('is a Binary if FHIR is requested, in JSON and XML, by GET and POST', async () => {
    const url = `${demo.base}/Patient/1/$ccd`;
    const binary = (await (await fetch(url, { headers: { accept: 'application/fhir+json' } })).json()) as {
      readonly resourceType: string;
      readonly contentType: string;
      readonly data: string;
    };
    expect(binary).toMatchObject({ resourceType: 'Binary', contentType: 'application/xml' });
    expect(Buffer.from(binary.data, 'base64').toString('utf8')).toContain('<ClinicalDocument');
    expect(await (await fetch(`${url}?_format=xml`)).text()).toContain('<Binary xmlns="http://hl7.org/fhir">');
    const body = JSON.stringify({
      resourceType: 'Parameters',
      parameter: [{ name: 'start', valueDate: '2026-01-01' }],
    });
    const posted = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/fhir+json', accept: '*/*' },
    });
    expect(await posted.text()).toContain('<ClinicalDocument');
  });

  test('is found by type, without a type, on demand and in a range, on the first page only', async () => {
    for (const query of [
      'type=34133-9',
      'type=http://loinc.org|34133-9',
      'on-demand=true',
      'on-demand=true&type=34133-9',
    ])
      expect(made(await docref(`patient=1&${query}`)), query).toHaveLength(1);
    expect(await docref('patient=1&on-demand=true')).toHaveLength(1);
    for (const query of ['type=11506-3', 'type=urn:other|34133-9'])
      expect(made(await docref(`patient=1&${query}`)), query).toEqual([]);
    const [ranged] = await docref('patient=Patient/1&start=2025-01-01&end=2025-06-30');
    expect(ranged?.resource.content[0]?.attachment.url).toBe(
      `${demo.base}/Patient/1/$ccd?start=2025-01-01&end=2025-06-30`,
    );
    const page = await (await fetch(`${demo.base}/DocumentReference/$docref?patient=1&_count=2`)).json();
    const { link } = page as { readonly link: readonly { readonly relation: string; readonly url: string }[] };
    const next = link.find(({ relation }) => relation === 'next')?.url ?? '';
    const second = (await (await fetch(next)).json()) as { readonly entry: readonly Entry[] };
    expect(made(second.entry)).toEqual([]);
  });

  test('of an unknown patient is 404; a wrong range is 400, another method 405', async () => {
    expect(await docref('patient=nobody')).toEqual([]);
    for (const path of ['Patient/nobody/$ccd', 'Patient/%20/$ccd'])
      expect((await fetch(`${demo.base}/${path}`)).status).toBe(404);
    expect((await fetch(`${demo.base}/Patient/1/$ccd?start=2026-02-01&end=2026-01-01`)).status).toBe(400);
    expect((await fetch(`${demo.base}/Patient/1/$ccd?start=soon`)).status).toBe(400);
    expect((await fetch(`${demo.base}/Patient/1/$ccd`, { method: 'DELETE' })).status).toBe(405);
  });

  test('has an OperationDefinition that the CapabilityStatement references', async () => {
    const statement = (await (await fetch(`${demo.base}/metadata`)).json()) as {
      readonly rest: readonly {
        readonly resource: readonly {
          readonly type: string;
          readonly operation?: readonly { readonly name: string; readonly definition: string }[];
        }[];
      }[];
    };
    const operations = statement.rest[0]?.resource.find(({ type }) => type === 'Patient')?.operation;
    const definition = operations?.find(({ name }) => name === 'ccd')?.definition ?? '';
    const found = await (await fetch(definition)).json();
    expect(found).toMatchObject({ resourceType: 'OperationDefinition', code: 'ccd', instance: true });
    expect(validateResource(found)).toEqual([]);
  });
});
