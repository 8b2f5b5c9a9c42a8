/**
 * Writes names, addresses and telecoms. In: FHIR data types. Out: C-CDA elements, with nullFlavor UNK for a part that
 * the template demands and the record lacks.
 * US Realm Address, Patient Name and Person Name: C-CDA R2.1 Volume 2, section 4
 */
import type { Address, ContactPoint, HumanName } from './fhir/datatypes.ts';
import { hl7Time } from './time.ts';
import { attribute, type Markup, NOTHING, textElement, xml } from './xml.ts';

const NAME_USES: Readonly<Record<string, string>> = { official: 'L', usual: 'ASGN', nickname: 'P', anonymous: 'A' };
const ADDRESS_USES: Readonly<Record<string, string>> = { home: 'HP', work: 'WP', temp: 'TMP', old: 'BAD' };
const TELECOM_USES: Readonly<Record<string, string>> = { home: 'HP', work: 'WP', mobile: 'MC' };
const SCHEMES: Readonly<Record<string, string>> = { phone: 'tel:', fax: 'fax:', email: 'mailto:', sms: 'tel:' };

/** Writes `name` with its parts; a missing name has nullFlavors. */
export function nameElement(name: HumanName | undefined): Markup {
  const maiden = attribute('qualifier', name?.use === 'maiden' ? 'BR' : undefined);
  const given = xml`${(name?.given ?? []).map(part => textElement('given', part))}`;
  const family = textElement('family', name?.family, maiden);
  return xml`
    <name${attribute('use', NAME_USES[name?.use ?? ''])}>
      ${(name?.prefix ?? []).map(part => textElement('prefix', part))}
      ${given.or(xml`<given nullFlavor="UNK"/>`)}
      ${family.or(xml`<family nullFlavor="UNK"/>`)}
      ${(name?.suffix ?? []).map(part => textElement('suffix', part))}
      ${validTime(name)}
    </name>`;
}

function validTime(name: HumanName | undefined): Markup {
  const start = hl7Time(name?.period?.start);
  const end = hl7Time(name?.period?.end);
  if (start === undefined && end === undefined) return NOTHING;
  const low = start && xml`<low value="${start}"/>`;
  const high = end && xml`<high value="${end}"/>`;
  return xml`<validTime>${low}${high}</validTime>`;
}

/**
 * Writes `addr` of one address, with the given use if the address has none. Missing street and city, and in the United
 * States missing state and zip, are nullFlavor UNK.
 */
export function addressElement(address: Address | undefined, use?: 'WP'): Markup {
  const lines = address?.line ?? (address?.text === undefined ? [] : [address.text]);
  // The template allows four lines.
  const streets = lines.length > 4 ? [...lines.slice(0, 3), lines.slice(3).join(', ')] : lines;
  // C-CDA takes an address without a country for American. The document does not say so where the record does not.
  const american = /^USA?$/i.test(address?.country?.trim() ?? 'US');
  const country = american && address?.country !== undefined ? 'US' : address?.country;
  const part = (element: string, text: string | undefined, required: boolean): Markup =>
    textElement(element, text).or(required ? xml`<${element} nullFlavor="UNK"/>` : NOTHING);
  return xml`
    <addr${attribute('use', ADDRESS_USES[address?.use ?? ''] ?? (address === undefined ? undefined : use))}>
      ${xml`${streets.map(line => textElement('streetAddressLine', line))}`.or(xml`<streetAddressLine nullFlavor="UNK"/>`)}
      ${part('city', address?.city, true)}
      ${part('state', address?.state, american)}
      ${part('postalCode', address?.postalCode, american)}
      ${textElement('country', country)}
    </addr>`;
}

/** Writes a `telecom` per number or address that can be written as a URL; an unknown one if there is none. */
export function telecomElements(points: readonly ContactPoint[] | undefined): Markup {
  const written = xml`${(points ?? []).map(telecomElement)}`;
  return written.or(xml`<telecom nullFlavor="UNK"/>`);
}

function telecomElement({ system, value, use }: ContactPoint): Markup {
  const scheme = SCHEMES[system ?? ''];
  const text = scheme === 'mailto:' ? value?.trim() : numberIn(value ?? '');
  if (scheme === undefined || text === undefined || !/[\d@]/.test(text)) return NOTHING;
  return xml`<telecom${attribute('use', TELECOM_USES[use ?? ''])}${attribute('value', scheme + encodeURI(text))}/>`;
}

/** Matches from the first digit to the first letter or list separator; then an extension. */
const NUMBER = /(\+?\(?\d[^\p{L}#,;]*)(?:[,;]?\s*(?:x|ext|extension|#)[.:=\s]*(\d{1,6})(?!\d))?/iu;

/**
 * Extracts the first phone number: `(H)303 555 9525 x12` → `3035559525;ext=12`. Digits of an extension or of a second
 * number must not become part of it. https://datatracker.ietf.org/doc/html/rfc3966#section-5.3
 */
function numberIn(text: string): string | undefined {
  const [, whole, extension] = NUMBER.exec(text) ?? [];
  const number = whole?.replace(/[^\d+().-]/g, '').replace(/[^\d]+$/, '');
  return extension === undefined ? number : `${number};ext=${extension}`;
}

/** Returns a name for people: `Dr. Anna M. Keller, MD`. */
export function readableName(name: HumanName | undefined): string {
  if (name === undefined) return '';
  const own = [...(name.prefix ?? []), ...(name.given ?? []), name.family ?? ''].filter(part => part.trim() !== '');
  const text = own.join(' ') || (name.text ?? '');
  return [text, ...(name.suffix ?? [])].filter(part => part !== '').join(', ');
}

/** Returns an address for people: `17 Lantern Ln, Apt 4, Port Ellery, ME 04999`. */
export function readableAddress(address: Address | undefined): string {
  if (address === undefined) return '';
  const place = [address.state, address.postalCode].filter(part => part !== undefined).join(' ');
  return [...(address.line ?? [address.text]), address.city, place, address.country]
    .filter(part => part !== undefined && part.trim() !== '')
    .join(', ');
}
