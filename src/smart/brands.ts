/**
 * Makes the User-access Brand Bundle, from which apps show the hospital to people who look for their record. In:
 * `brand:` of pack.yaml and the address of the FHIR interface. Out: one Organization and one Endpoint as a Bundle,
 * which anybody may read.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/brands.html
 */
import { hash } from 'node:crypto';
import type { Facade } from '../facade.ts';

type Pack = Facade['registry']['pack'];
type Brand = NonNullable<Pack['brand']>;

export interface Identifier {
  readonly system: string;
  readonly value: string;
}

export interface BrandBundle {
  readonly json: string;
  /** Weak, as the guide requires. */
  readonly etag: string;
}

/** Ids within the Bundle. */
const IDS = { organization: 'brand', endpoint: 'fhir-r4' } as const;

const EXTENSION = 'http://hl7.org/fhir/StructureDefinition';
const CATEGORIES = 'http://hl7.org/fhir/smart-app-launch/CodeSystem/user-access-category';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';

const ENDPOINT = { reference: `Endpoint/${IDS.endpoint}` } as const;

/**
 * Returns the identifier by which apps recognize the hospital, whoever publishes it: one of its own, or the address of
 * its website.
 */
export function brandIdentifier({ identifiers, website }: Brand): Identifier {
  return (
    identifiers?.[0] ?? {
      system: 'urn:ietf:rfc:3986',
      value: website.replace(/^https:\/\/(?:www\.)?([^/?#]+).*$/, 'https://$1'),
    }
  );
}

/**
 * Makes the Bundle. `fhirBase`: of the FHIR interface; `place`: address of the Bundle without its extension, to which
 * the addresses of its entries are relative; `changed`: ISO instant of the last change of the pack.
 */
export function brandBundle(pack: Pack, brand: Brand, fhirBase: string, place: string, changed: string): BrandBundle {
  const entries = [organization(pack, brand), endpoint(brand, fhirBase)];
  const json = JSON.stringify({
    resourceType: 'Bundle',
    id: 'brands',
    type: 'collection',
    timestamp: changed,
    entry: entries.map(resource => ({ fullUrl: `${place}/${resource.resourceType}/${resource.id}`, resource })),
  });
  const digest = hash('sha256', json, 'base64url');
  return { json, etag: `W/"${digest.slice(0, 22)}"` };
}

function organization(pack: Pack, brand: Brand) {
  const { name, website, alias = [], categories = [], addresses = [], portals = [] } = brand;
  return {
    resourceType: 'Organization',
    id: IDS.organization,
    ...filled('extension', [...extensionOf('organization-brand', logos('brand', brand)), ...portals.flatMap(portalOf)]),
    identifier: brand.identifiers ?? [brandIdentifier(brand)],
    active: true,
    ...filled(
      'type',
      categories.map(code => ({ coding: [{ system: CATEGORIES, code }] })),
    ),
    name: name ?? pack.publisher ?? pack.title,
    ...filled('alias', [alias].flat()),
    telecom: [{ system: 'url', value: website }],
    ...filled(
      'address',
      addresses.map(({ zip, ...address }) => ({ ...address, ...(zip !== undefined && { postalCode: zip }) })),
    ),
    endpoint: [ENDPOINT],
  };
}

type Pictures = Pick<Brand, 'logo' | 'logo-license'>;

interface Extension {
  readonly url: string;
  readonly [value: `value${string}`]: unknown;
}

function logos(of: 'brand' | 'portal', { logo, 'logo-license': license }: Pictures): readonly Extension[] {
  return [...valued(`${of}Logo`, 'Url', logo), ...valued(`${of}LogoLicense`, 'Url', license)];
}

function portalOf(portal: NonNullable<Brand['portals']>[number]) {
  const { name, description, url } = portal;
  return extensionOf('organization-portal', [
    ...valued('portalName', 'String', name),
    ...valued('portalDescription', 'Markdown', description),
    ...valued('portalUrl', 'Url', url),
    ...logos('portal', portal),
    { url: 'portalEndpoint', valueReference: ENDPOINT },
  ]);
}

/** Returns nothing without parts. */
function extensionOf(name: string, parts: readonly Extension[]) {
  return parts.length === 0 ? [] : [{ url: `${EXTENSION}/${name}`, extension: parts }];
}

function valued(url: string, type: string, value: string | undefined): readonly Extension[] {
  return value === undefined ? [] : [{ url, [`value${type}`]: value }];
}

/** Omits an empty list, which FHIR does not allow. */
function filled<T>(key: string, items: readonly T[]): object {
  return items.length === 0 ? {} : { [key]: items };
}

function endpoint({ website, developers = website }: Brand, fhirBase: string) {
  return {
    resourceType: 'Endpoint',
    id: IDS.endpoint,
    extension: [{ url: `${EXTENSION}/endpoint-fhir-version`, valueCode: '4.0.1' }],
    status: 'active',
    connectionType: { system: `${TERMINOLOGY}/endpoint-connection-type`, code: 'hl7-fhir-rest' },
    name: 'FHIR R4',
    managingOrganization: { reference: `Organization/${IDS.organization}` },
    contact: [{ system: 'url', value: developers }],
    payloadType: [{ coding: [{ system: `${TERMINOLOGY}/endpoint-payload-type`, code: 'none' }] }],
    address: fhirBase,
  };
}
