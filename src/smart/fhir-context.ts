/**
 * Checks the `fhirContext` of a launch. In: what an EHR posts. Out: whether SMART App Launch 2.2 allows it.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html#fhircontext-exp
 */
import type { ContextItem } from './context.ts';

/** Maximum number of resources in a launch. */
const MOST_ITEMS = 20;
/** Maximum characters of a text. */
const LONGEST = 1000;

const REFERENCE = /^([A-Z][A-Za-z]{1,63})\/[A-Za-z0-9.-]{1,64}$/;
const TYPE = /^[A-Z][A-Za-z]{1,63}$/;
const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;

/** Types that have their own parameter in a token response, unless they play another role. */
const OWN_PLACE: ReadonlySet<string> = new Set(['Patient', 'Encounter']);
/** The default role of an item. */
const LAUNCH = 'launch';

const MEMBERS: Readonly<Record<keyof ContextItem, (value: unknown) => boolean>> = {
  reference: value => isText(value, REFERENCE),
  canonical: value => isText(value, URI),
  identifier: isIdentifier,
  type: value => isText(value, TYPE),
  role: value => value === LAUNCH || isText(value, URI),
};

export function isFhirContext(value: unknown): value is readonly ContextItem[] {
  return Array.isArray(value) && value.length <= MOST_ITEMS && value.every(isItem);
}

function isItem(one: unknown): boolean {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return false;
  const fits = Object.entries(one).every(
    ([name, value]) => Object.hasOwn(MEMBERS, name) && MEMBERS[name as keyof ContextItem](value),
  );
  if (!fits) return false;
  const { reference, canonical, identifier, type, role = LAUNCH } = one as ContextItem;
  if (reference === undefined && canonical === undefined && identifier === undefined) return false;
  const types = [REFERENCE.exec(reference ?? '')?.[1], type];
  return role !== LAUNCH || !types.some(name => name !== undefined && OWN_PLACE.has(name));
}

function isIdentifier(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { system, value: text, ...more } = value as Readonly<Record<string, unknown>>;
  return Object.keys(more).length === 0 && (system === undefined || isText(system, URI)) && isText(text, /\S/);
}

function isText(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && value.length <= LONGEST && form.test(value);
}
