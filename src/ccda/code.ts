/**
 * Writes coded values. In: a CodeableConcept and the code systems that the template allows. Out: a CD with the code of
 * an allowed system; codes of other systems that have an OID are translations, and the words are originalText.
 * Without an allowed code the nullFlavor is OTH if there are translations, and UNK if there are none. C-CDA R2.1
 * Volume 1, sections 3.6 and 4.2.5
 */
import { hasTheForm } from '../r4/check-digits.ts';
import { codeSystemOf, DATA_ABSENT, NULL_FLAVOR } from './code-systems.ts';
import type { CodeableConcept, Coding } from './fhir/datatypes.ts';
import { attribute, type Markup, NOTHING, xml } from './xml.ts';

export interface CodedOptions {
  /** Systems that the element may hold, the best first; any where left out. */
  readonly systems?: readonly string[];
  /** Codes that the element may hold, of whatever system; others become translations. */
  readonly only?: ReadonlySet<string>;
  /** Attributes beside the code's: `TYPE_CD`. */
  readonly attributes?: Markup;
  /** Id of what shows the value in the narrative; without it the text itself is written. */
  readonly shown?: string;
  /** A nullFlavor instead of UNK where nothing is known. */
  readonly unknown?: string;
  /** The template demands a translation where the code is of none of `systems`: an unknown one where there is none. */
  readonly translated?: true;
}

/** For elements that may hold values of other types. */
export const TYPE_CD = xml` xsi:type="CD"`;

/** The concept as an element of that name. */
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

/** Whether a concept has a code of one of these systems. */
export function isCoded(concept: CodeableConcept | undefined, systems: readonly string[]): boolean {
  return mainCoding(usable(concept), { systems }) !== undefined;
}

/** The coding that `coded` would write as the code; undefined where there is none. */
export function mainCoding(codings: readonly Coding[], { systems, only }: CodedOptions): Coding | undefined {
  const allowed = only === undefined ? codings : codings.filter(({ code }) => only.has(code ?? ''));
  if (systems === undefined) return allowed[0];
  for (const system of systems) {
    const found = allowed.find(coding => coding.system === system);
    if (found) return found;
  }
  return undefined;
}

/** The code of a concept in a system. */
export function codeIn(concept: CodeableConcept | undefined, system: string): string | undefined {
  return concept?.coding?.find(coding => coding.system === system)?.code;
}

/** What a person reads: the text as it was said, else the first display, else the first code. */
export function labelOf(concept: CodeableConcept | undefined): string {
  const codings = concept?.coding ?? [];
  return (
    concept?.text?.trim() ||
    codings.find(({ display }) => display !== undefined)?.display ||
    codings.find(({ code }) => code !== undefined)?.code ||
    ''
  );
}

/** What a person reads of a code of FHIR itself: `on-hold` → `on hold`. */
export function readableCode(code: string | undefined): string {
  return code?.replaceAll('-', ' ') ?? '';
}

/** What a person said, where no code says it; a code for "unknown" is not said. */
function said(concept: CodeableConcept | undefined): string {
  const coding = (concept?.coding ?? []).filter(({ system }) => system !== NULL_FLAVOR && system !== DATA_ABSENT);
  return labelOf({ ...(concept?.text === undefined ? {} : { text: concept.text }), coding });
}

/** ` code="…" displayName="…" codeSystem="…" codeSystemName="…"`; nothing for a system without an OID. */
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

/** Codings of a system with an OID, well-formed where the system has a rule; null flavours are none. */
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

/** The nullFlavor that a concept stands for: a code of NullFlavor, or a reason why data is absent. */
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

/** The link from an entry to its row, or from a code to the cell with the words that it stands for. */
export function reference(shown: string): Markup {
  return xml`<reference value="#${shown}"/>`;
}

/** Words that readers take for a value that a program forgot; a local code may be one of them. It stays in the text. */
function isPlaceholder(text: string | undefined): boolean {
  return /^(?:null|none|undefined|nan)$/i.test(text?.trim() ?? '');
}
