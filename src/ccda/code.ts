/**
 * Writes coded values. In: a CodeableConcept and the code systems that the template allows. Out: a CD with the code of
 * an allowed system. Codes of other systems that have an OID become translations, and the words originalText. Without
 * an allowed code the nullFlavor is OTH if there are translations, otherwise UNK. C-CDA R2.1 Volume 1, sections 3.6 and
 * 4.2.5
 */
import { hasTheForm } from '../r4/check-digits.ts';
import { codeSystemOf, DATA_ABSENT, NULL_FLAVOR } from './code-systems.ts';
import type { CodeableConcept, Coding } from './fhir/datatypes.ts';
import { attribute, type Markup, NOTHING, xml } from './xml.ts';

export interface CodedOptions {
  /** Systems that the element may hold, most preferred first; any system if omitted. */
  readonly systems?: readonly string[];
  /** Codes that the element may hold, of any system; others become translations. */
  readonly only?: ReadonlySet<string>;
  /** Further attributes, such as `TYPE_CD`. */
  readonly attributes?: Markup;
  /** Id of the narrative cell that shows the value; without it the text itself is written. */
  readonly shown?: string;
  /** The nullFlavor if nothing is known; UNK if omitted. */
  readonly unknown?: string;
  /**
   * The template demands a translation if the code is of none of `systems`. If there is none, an unknown one is
   * written.
   */
  readonly translated?: true;
}

/** For elements whose values may have other types. */
export const TYPE_CD = xml` xsi:type="CD"`;

/** Writes the concept as an element of that name. */
export function coded(element: string, concept: CodeableConcept | undefined, options: CodedOptions = {}): Markup {
  const codings = usable(concept);
  const main = mainCoding(codings, options);
  const others = codings.filter(coding => coding !== main).map(codeAttributes);
  const translations = others
    .filter(({ text }, i) => text !== '' && others.findIndex(other => other.text === text) === i)
    .map(attributes => xml`<translation${attributes}/>`);
  const own =
    main === undefined
      ? attribute(
          'nullFlavor',
          nullFlavorOf(concept) ?? (translations.length === 0 ? (options.unknown ?? 'UNK') : 'OTH'),
        )
      : codeAttributes(main);
  const demanded =
    options.translated === true && main === undefined && translations.length === 0
      ? xml`<translation nullFlavor="UNK"/>`
      : NOTHING;
  const words = originalText(options.shown, main === undefined ? said(concept) : undefined);
  const inner = xml`${words}${translations}${demanded}`;
  const attributes = xml`${options.attributes}${own}`;
  return inner.isEmpty ? xml`<${element}${attributes}/>` : xml`<${element}${attributes}>${inner}</${element}>`;
}

/** True if a concept has a code of one of these systems. */
export function isCoded(concept: CodeableConcept | undefined, systems: readonly string[]): boolean {
  return mainCoding(usable(concept), { systems }) !== undefined;
}

/** Returns the coding that `coded` writes as the code; undefined if there is none. */
export function mainCoding(codings: readonly Coding[], { systems, only }: CodedOptions): Coding | undefined {
  const allowed = only === undefined ? codings : codings.filter(({ code }) => only.has(code ?? ''));
  if (systems === undefined) return allowed[0];
  for (const system of systems) {
    const found = allowed.find(coding => coding.system === system);
    if (found) return found;
  }
  return undefined;
}

/** Returns the code of a concept in a system. */
export function codeIn(concept: CodeableConcept | undefined, system: string): string | undefined {
  return concept?.coding?.find(coding => coding.system === system)?.code;
}

/** Returns the text for people: the concept's own text, else the first display, else the first code. */
export function labelOf(concept: CodeableConcept | undefined): string {
  const codings = concept?.coding ?? [];
  return (
    concept?.text?.trim() ||
    codings.find(({ display }) => display !== undefined)?.display ||
    codings.find(({ code }) => code !== undefined)?.code ||
    ''
  );
}

/** Returns a code of FHIR itself for people: `on-hold` → `on hold`. */
export function readableCode(code: string | undefined): string {
  return code?.replaceAll('-', ' ') ?? '';
}

/** Returns the words for originalText. Codes for "unknown" do not count as words. */
function said(concept: CodeableConcept | undefined): string {
  const coding = (concept?.coding ?? []).filter(({ system }) => system !== NULL_FLAVOR && system !== DATA_ABSENT);
  return labelOf({ ...(concept?.text === undefined ? {} : { text: concept.text }), coding });
}

/** Writes ` code="…" displayName="…" codeSystem="…" codeSystemName="…"`; nothing if the system has no OID. */
function codeAttributes({ system, code, display }: Coding): Markup {
  const known = codeSystemOf(system);
  if (known === undefined || code === undefined) return NOTHING;
  return xml`${[
    attribute('code', code.replace(/\s+/g, '')),
    attribute('displayName', isPlaceholder(display) ? undefined : display),
    attribute('codeSystem', known.oid),
    attribute('codeSystemName', known.name),
  ]}`;
}

/**
 * Returns the codings of systems with an OID, without null flavors and without codes that break the system's format.
 */
function usable(concept: CodeableConcept | undefined): readonly Coding[] {
  return (concept?.coding ?? []).filter(
    ({ system, code }) =>
      code !== undefined && codeSystemOf(system) !== undefined && hasTheForm(system, code) && !isPlaceholder(code),
  );
}

const ABSENT_REASONS: Readonly<Record<string, string>> = {
  unknown: 'UNK',
  'asked-unknown': 'ASKU',
  'temp-unknown': 'NAV',
  'not-asked': 'NASK',
  'asked-declined': 'ASKU',
  masked: 'MSK',
  'not-applicable': 'NA',
  unsupported: 'NI',
  'as-text': 'OTH',
  error: 'NI',
  'not-performed': 'NI',
  'not-permitted': 'MSK',
};

/** Returns the nullFlavor that a concept stands for: a code of NullFlavor, or a reason why data is absent. */
export function nullFlavorOf(concept: CodeableConcept | undefined): string | undefined {
  for (const { system, code = '' } of concept?.coding ?? []) {
    if (system === NULL_FLAVOR) return code;
    if (system === DATA_ABSENT) return ABSENT_REASONS[code] ?? 'UNK';
  }
  return undefined;
}

function originalText(shown: string | undefined, text: string | undefined): Markup {
  if (shown !== undefined) return xml`<originalText>${reference(shown)}</originalText>`;
  return text === undefined || text === '' ? NOTHING : xml`<originalText>${text}</originalText>`;
}

/** Writes the link from an entry to its row, or from a code to the narrative cell with its words. */
export function reference(shown: string): Markup {
  return xml`<reference value="#${shown}"/>`;
}

/** True for words that look like a missing value in a program. They may be real local codes, so the text keeps them. */
function isPlaceholder(text: string | undefined): boolean {
  return /^(?:null|none|undefined|nan)$/i.test(text?.trim() ?? '');
}
