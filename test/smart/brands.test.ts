/**
 * The brand of the hospital as apps read it: from an analyst's pack.yaml to a public Bundle.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/brands.html
 */
import { expect, onTestFinished, test } from 'vitest';
import { brandBundle, brandIdentifier } from '../../src/smart/brands.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { problemsOf } from '../mapping/load/problems-of.ts';
import { serveSmart } from './served.ts';

const WHOLE = {
  website: 'https://www.clinic.example.org/home?x=1',
  name: 'The Clinic',
  alias: ['The Small Clinic'],
  identifiers: [{ system: 'urn:oid:1.2.3', value: '7' }],
  categories: ['clinical', 'lab'],
  logo: 'data:image/svg+xml;base64,PHN2Zy8+',
  'logo-license': 'https://clinic.example.org/license',
  addresses: [{ line: ['1 Way'], city: 'Springfield', state: 'MA', zip: '01999', country: 'US' }, { zip: '01998' }],
  portals: [
    {
      name: 'My Clinic',
      description: 'For *all*',
      url: 'https://my.clinic.example.org',
      logo: 'https://my.clinic.example.org/logo.svg',
    },
    { name: 'Children' },
  ],
  developers: 'https://developers.clinic.example.org',
} as const;

const PACK = { name: 'small', title: 'A small clinic', zone: 'UTC', systems: {} };

interface Entry {
  readonly fullUrl: string;
  readonly resource: Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string };
}

/** pack.yaml of the small clinic with a brand. */
const packWith = (brand: string): string => `name: small
title: A small clinic
zone: Europe/Warsaw
systems: { loinc: http://loinc.org, ucum: http://unitsofmeasure.org }
${brand}
`;

const brandProblems = (brand: string): readonly string[] =>
  problemsOf({ 'pack.yaml': packWith(brand) }).filter(one => !one.includes('no mapping'));

test.each([
  ['with all that can be said', WHOLE],
  ['with the least', { website: 'https://clinic.example.org' }],
])('a Bundle %s is valid R4, and its references lead to its entries', (_title, written) => {
  const brand = written as Parameters<typeof brandIdentifier>[0];
  const { json } = brandBundle(
    PACK,
    brand,
    'https://x.example/fhir',
    'https://x.example/auth/brands',
    '2026-03-01T10:00:00.000Z',
  );
  const bundle = JSON.parse(json) as { readonly entry: readonly Entry[] };
  expect(validateResource(bundle)).toEqual([]);
  for (const { resource } of bundle.entry) expect(validateResource(resource)).toEqual([]);
  const [organization, endpoint] = bundle.entry.map(({ resource }) => resource);
  expect(organization?.['identifier']).toContainEqual(brandIdentifier(brand));
  expect(organization?.['endpoint']).toEqual([{ reference: `Endpoint/${endpoint?.id}` }]);
  expect(endpoint?.['managingOrganization']).toEqual({ reference: `Organization/${organization?.id}` });
  expect(organization?.['active']).toBe(true);
  expect(endpoint?.['address']).toBe('https://x.example/fhir');
  expect(
    bundle.entry.map(({ fullUrl, resource }) => fullUrl.endsWith(`/${resource.resourceType}/${resource.id}`)),
  ).toEqual([true, true]);
});

test('without an identifier the hospital is identified by the host of its website', () => {
  const value = (website: string) => brandIdentifier({ website }).value;
  expect(value('https://www.clinic.example.org/home?x=1')).toBe('https://clinic.example.org');
  expect(value('https://clinic.example.org')).toBe('https://clinic.example.org');
  expect(brandIdentifier(WHOLE as unknown as Parameters<typeof brandIdentifier>[0])).toEqual({
    system: 'urn:oid:1.2.3',
    value: '7',
  });
});

test('errors in `brand` are reported at their place', () => {
  expect(brandProblems('brand: { website: "http://clinic.example.org" }')).toEqual([
    expect.stringContaining('not a URL that begins with https://'),
  ]);
  expect(brandProblems('brand: { name: X }')).toEqual([expect.stringContaining('key `website` is missing')]);
  expect(brandProblems('brand: { website: "https://a.example", categories: [hospital] }')).toEqual([
    expect.stringContaining('not one of the values allowed'),
  ]);
  expect(brandProblems('brand: { website: "https://a.example", logo: "javascript:alert(1)" }')).toHaveLength(1);
  expect(brandProblems('brand: { website: "https://a.example", addresses: [{}] }')).toHaveLength(1);
  expect(brandProblems('brand: { website: "https://a.example" }')).toEqual([]);
});

test('discovery links the Bundle, which is public and cacheable', async () => {
  const served = await serveSmart(
    {},
    { 'pack.yaml': packWith('brand: { website: "https://www.clinic.example.org" }') },
  );
  onTestFinished(() => served.stop());
  const configuration = (await (await fetch(`${served.fhir}/.well-known/smart-configuration`)).json()) as Readonly<
    Record<string, unknown>
  >;
  const identifier = configuration['user_access_brand_identifier'];
  expect(identifier).toEqual({ system: 'urn:ietf:rfc:3986', value: 'https://clinic.example.org' });
  const url = String(configuration['user_access_brand_bundle']);
  const response = await fetch(url, { headers: { origin: 'https://elsewhere.example.org' } });
  const bundle = (await response.json()) as { readonly timestamp: string; readonly entry: readonly Entry[] };
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
  expect(response.headers.get('pragma')).toBeNull();
  expect(Number.isNaN(Date.parse(bundle.timestamp))).toBe(false);
  const organizations = bundle.entry
    .map(({ resource }) => resource)
    .filter(({ resourceType }) => resourceType === 'Organization');
  expect(
    organizations.filter(one => JSON.stringify(one['identifier']).includes('https://clinic.example.org')),
  ).toHaveLength(1);
  expect(bundle.entry.some(({ resource }) => resource['address'] === served.fhir)).toBe(true);

  const etag = response.headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"/);
  const again = await fetch(url, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await fetch(url, { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(200);
});

test('a pack without a brand publishes none', async () => {
  const served = await serveSmart();
  onTestFinished(() => served.stop());
  const configuration = (await (await fetch(`${served.fhir}/.well-known/smart-configuration`)).json()) as object;
  expect(Object.keys(configuration).filter(key => key.startsWith('user_access'))).toEqual([]);
  expect((await fetch(`${served.auth}/brands.json`)).status).toBe(404);
});

test('discovery claims launch contexts only of types that are served', async () => {
  const served = await serveSmart({}, {});
  onTestFinished(() => served.stop());
  const configuration = (await (await fetch(`${served.fhir}/.well-known/smart-configuration`)).json()) as {
    readonly capabilities: readonly string[];
  };
  expect(configuration.capabilities).toContain('context-ehr-patient');
  expect(configuration.capabilities.filter(one => one.endsWith('-encounter'))).toEqual([]);
});
