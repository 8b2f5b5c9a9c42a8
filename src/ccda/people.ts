/**
 * Names, addresses and ways to reach somebody. In: FHIR data types. Out: the C-CDA elements; what nobody has written down
 * is nullFlavor UNK where the template insists. US Realm Address, Patient Name and Person Name: R2.1 Volume 2, section 4
 */
import type { Address, ContactPoint, HumanName } from './fhir/datatypes.ts';
import { hl7Time } from './time.ts';
import { attribute, textElement } from './xml.ts';

const NAME_USES: Readonly<Record<string, string>> = { official: 'L', usual: 'ASGN', nickname: 'P', anonymous: 'A' };
const ADDRESS_USES: Readonly<Record<string, string>> = { home: 'HP', work: 'WP', temp: 'TMP', old: 'BAD' };
const TELECOM_USES: Readonly<Record<string, string>> = { home: 'HP', work: 'WP', mobile: 'MC' };
const SCHEMES: Readonly<Record<string, string>> = { phone: 'tel:', fax: 'fax:', email: 'mailto:', sms: 'tel:' };

/** `name` with its parts; with nullFlavors for a name that has none. */
export function nameElement(name: HumanName | undefined): string {
  const maiden = name?.use === 'maiden' ? ' qualifier="BR"' : '';
  const given = (name?.given ?? []).map(part => textElement('given', part)).join('');
  const family = textElement(`family${maiden}`, name?.family);
  const inner =
    (name?.prefix ?? []).map(part => textElement('prefix', part)).join('') +
    (given === '' ? '<given nullFlavor="UNK"/>' : given) +
    (family === '' ? '<family nullFlavor="UNK"/>' : family) +
    (name?.suffix ?? []).map(part => textElement('suffix', part)).join('');
  return `<name${attribute('use', NAME_USES[name?.use ?? ''])}>${inner}${validTime(name)}</name>`;
}

function validTime(name: HumanName | undefined): string {
  const start = hl7Time(name?.period?.start);
  const end = hl7Time(name?.period?.end);
  const low = start === undefined ? '' : `<low value="${start}"/>`;
  const high = end === undefined ? '' : `<high value="${end}"/>`;
  return low + high === '' ? '' : `<validTime>${low}${high}</validTime>`;
}

/** `addr` of one address, with a use where it says none itself; street, city, and in the United States state and zip, are nullFlavor UNK where they lack. */
export function addressElement(address: Address | undefined, use?: 'WP'): string {
  const lines = address?.line ?? (address?.text === undefined ? [] : [address.text]);
  // The template has room for four lines.
  const streets = lines.length > 4 ? [...lines.slice(0, 3), lines.slice(3).join(', ')] : lines;
  const country = /^USA?$/i.test(address?.country?.trim() ?? 'US') ? 'US' : address?.country;
  const american = country === 'US';
  const part = (element: string, text: string | undefined, required: boolean): string =>
    textElement(element, text) || (required ? `<${element} nullFlavor="UNK"/>` : '');
  return (
    `<addr${attribute('use', ADDRESS_USES[address?.use ?? ''] ?? (address === undefined ? undefined : use))}>` +
    (streets.map(line => textElement('streetAddressLine', line)).join('') || '<streetAddressLine nullFlavor="UNK"/>') +
    part('city', address?.city, true) +
    part('state', address?.state, american) +
    part('postalCode', address?.postalCode, american) +
    (address === undefined ? '' : textElement('country', country)) +
    '</addr>'
  );
}

/** `telecom` per number or address that can be written as a URL; one that is unknown where there is none. */
export function telecomElements(points: readonly ContactPoint[] | undefined): string {
  const written = (points ?? []).map(telecomElement).join('');
  return written === '' ? '<telecom nullFlavor="UNK"/>' : written;
}

function telecomElement({ system, value, use }: ContactPoint): string {
  const scheme = SCHEMES[system ?? ''];
  const text = scheme === 'mailto:' ? value?.trim() : value?.replace(/[^\d+().-]/g, '');
  if (scheme === undefined || text === undefined || !/[\d@]/.test(text)) return '';
  return `<telecom${attribute('use', TELECOM_USES[use ?? ''])}${attribute('value', scheme + encodeURI(text))}/>`;
}

/** What a person reads: `Dr. Anna M. Keller, MD`. */
export function readableName(name: HumanName | undefined): string {
  if (name === undefined) return '';
  const own = [...(name.prefix ?? []), ...(name.given ?? []), name.family ?? ''].filter(part => part.trim() !== '');
  const text = own.join(' ') || (name.text ?? '');
  return [text, ...(name.suffix ?? [])].filter(part => part !== '').join(', ');
}

/** What a person reads: `17 Lantern Ln, Apt 4, Port Ellery, ME 04999`. */
export function readableAddress(address: Address | undefined): string {
  if (address === undefined) return '';
  const place = [address.state, address.postalCode].filter(part => part !== undefined).join(' ');
  return [...(address.line ?? [address.text]), address.city, place, address.country]
    .filter(part => part !== undefined && part.trim() !== '')
    .join(', ');
}
