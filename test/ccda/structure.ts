/**
 * Checks rules that no schema covers, for every document: links, ids, sections, dates, completeness. In: a document.
 * Out: problems. It runs on every machine; the schematrons of ../shared run if they exist.
 */
import { all, at, type Element, everything, templatesOf, textOf } from './xml-tree.ts';

const HEADER = [
  'realmCode',
  'typeId',
  'templateId',
  'id',
  'code',
  'title',
  'effectiveTime',
  'confidentialityCode',
  'languageCode',
  'setId',
  'versionNumber',
  'recordTarget',
  'author',
  'custodian',
  'component',
];

/** Acts that are nested in entries. */
const ACTS = new Set([
  'act',
  'observation',
  'organizer',
  'procedure',
  'substanceAdministration',
  'supply',
  'encounter',
]);

/** Templates of the entries that each section of C-CDA R2.1 and its Companion Guide describes. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  '2.1': ['4.16'],
  '2.2': ['4.52'],
  '2.3': ['4.1'],
  '2.4': ['4.26', '4.310'],
  '2.5': ['4.3', '4.5'],
  '2.6': ['4.30'],
  '2.7': ['4.12', '4.13', '4.14'],
  '2.8': ['4.202'],
  '2.10': ['4.39', '4.40', '4.41', '4.42', '4.43', '4.44', '4.120', '4.121', '4.130', '4.146', '4.202'],
  '2.17': ['4.38', '4.69', '4.78', '4.85', '4.72', '4.109', '4.111', '4.200', '4.217', '4.503', '15.3.8'],
  '2.18': ['4.60'],
  '2.20': ['4.4'],
  '2.22': ['4.49'],
  '2.23': ['4.14', '4.50', '4.135'],
  '2.58': ['4.5', '4.132', '4.136'],
  '2.60': ['4.121'],
  '2.65': ['4.202'],
  '2.500': ['4.500'],
};

const TIME = /^\d{4}(\d{2}(\d{2}(\d{2}(\d{2}(\d{2}(\.\d{1,4})?)?)?[+-]\d{4})?)?)?$/;
const FORGOTTEN = /\b(undefined|NaN|\[object Object\])\b/;

export function structureProblems(root: Element): readonly string[] {
  const problems: string[] = [];
  const wrong = (holds: boolean, what: string): void => {
    if (!holds) problems.push(what);
  };
  wrong(
    root.name === 'ClinicalDocument' && root.attributes['xmlns'] === 'urn:hl7-org:v3',
    'the root is no ClinicalDocument',
  );
  for (const name of HEADER) wrong(at(root, name) !== undefined, `no ${name}`);
  wrong(templatesOf(root).includes('1.1:2015-08-01'), 'no US Realm Header (V3)');
  checkLinks(root, wrong);
  checkWords(root, wrong);
  checkIds(root, wrong);
  for (const section of all(root, 'section')) checkSection(section, wrong);
  for (const element of everything(root)) checkElement(element, wrong);
  return problems;
}

type Wrong = (holds: boolean, what: string) => void;

function checkLinks(root: Element, wrong: Wrong): void {
  const ids = everything(root).flatMap(({ attributes }) => (attributes['ID'] === undefined ? [] : [attributes['ID']]));
  wrong(new Set(ids).size === ids.length, 'an ID stands twice');
  const known = new Set(ids);
  for (const reference of all(root, 'reference')) {
    const to = reference.attributes['value'] ?? '';
    wrong(to.startsWith('#') && known.has(to.slice(1)), `a link leads nowhere: ${to}`);
  }
}

/** Sections in which some rows describe more than the code that refers to them. */
const OF_SEVERAL = ['2.22', '2.23'];

/** A code's text refers to a cell, and not to the whole row with its dates and people. */
function checkWords(root: Element, wrong: Wrong): void {
  const cells = new Map(all(root, 'td').map(cell => [cell.attributes['ID'], textOf(cell).trim()]));
  for (const section of all(root, 'section')) {
    if (OF_SEVERAL.some(template => templatesOf(section).includes(template))) continue;
    for (const { attributes } of all(section, 'originalText').flatMap(words => all(words, 'reference'))) {
      const words = cells.get(attributes['value']?.slice(1) ?? '');
      wrong(words !== undefined, `originalText is no cell: ${attributes['value']}`);
      wrong(words !== '', `originalText is a blank cell: ${attributes['value']}`);
    }
  }
}

/** No two acts with the same templates share an id. */
function checkIds(root: Element, wrong: Wrong): void {
  const seen = new Set<string>();
  for (const act of everything(root)) {
    if (!ACTS.has(act.name) || templatesOf(act).length === 0) continue;
    for (const { name, attributes } of act.children) {
      if (name !== 'id' || attributes['root'] === undefined) continue;
      const key = [templatesOf(act).join(), attributes['root'], attributes['extension']].join('|');
      wrong(!seen.has(key), `an id stands twice: ${key}`);
      seen.add(key);
    }
  }
}

function checkSection(section: Element, wrong: Wrong): void {
  const title = textOf(at(section, 'title'));
  wrong(templatesOf(section).length > 0, `section ${title} has no template`);
  wrong(at(section, 'code')?.attributes['code'] !== undefined, `section ${title} has no code`);
  wrong(title !== '', 'a section has no title');
  wrong(textOf(at(section, 'text')).trim() !== '', `section ${title} has no text`);
  const entries = section.children.filter(({ name }) => name === 'entry');
  const rows = all(section, 'tr').filter(({ attributes }) => attributes['ID'] !== undefined);
  const { nullFlavor } = section.attributes;
  const unknown = nullFlavor === 'NI';
  wrong(
    nullFlavor === undefined || (entries.length === 0 && rows.length === 0),
    `section ${title} has entries and says ${nullFlavor}`,
  );
  // Entries of other days are not unknown data, but some templates require a null flavor all the same.
  const elsewhere = rows.length === 0 && /the record has entries of other (?:days|times)$/.test(textOf(section));
  wrong(!elsewhere || !unknown, `section ${title} says NI of what the record has`);
  wrong(nullFlavor !== 'NA' || elsewhere, `section ${title} says NA and not why`);
  wrong(
    unknown || elsewhere || rows.length > 0 || templatesOf(section).includes('2.8'),
    `section ${title} has no rows and does not say NI`,
  );
  const columns = all(section, 'th').length;
  for (const row of rows) wrong(row.children.length === columns, `a row of ${title} has ${row.children.length} cells`);
  for (const entry of entries) {
    const [act] = entry.children;
    wrong(
      act !== undefined && ACTS.has(act.name) && templatesOf(act).length > 0,
      `an entry of ${title} has no template`,
    );
    wrong(isOfSection(act, section), `section ${title} has no entries of ${act && templatesOf(act).join()}`);
    wrong(all(entry, 'reference').length > 0, `an entry of ${title} is not linked to a row`);
  }
}

/** True if a template of the section describes entries with a template of this act. */
function isOfSection(act: Element | undefined, section: Element): boolean {
  const described = new Set(templatesOf(section).flatMap(template => ENTRIES[rootOf(template)] ?? []));
  return act !== undefined && templatesOf(act).some(template => described.has(rootOf(template)));
}

/** `4.4:2015-08-01` → `4.4`, and `2.5.1` → `2.5`, whose entries are the same. */
function rootOf(template: string): string {
  return (template.split(':')[0] ?? '').replace(/^(2\.\d+)\.1$/, '$1');
}

function checkElement({ name, attributes, children, text }: Element, wrong: Wrong): void {
  for (const [attribute, value] of Object.entries(attributes)) {
    wrong(value !== '', `${name}/@${attribute} is empty`);
    wrong(!FORGOTTEN.test(value) && value !== 'null', `${name}/@${attribute} is ${value}`);
  }
  wrong(!FORGOTTEN.test(text), `${name} says ${text}`);
  const { value } = attributes;
  if (['effectiveTime', 'time', 'birthTime', 'sdtc:deceasedTime'].includes(name)) {
    wrong(value === undefined || TIME.test(value), `${name} is ${value}`);
    const [low, high] = ['low', 'high'].map(end => children.find(one => one.name === end)?.attributes['value']);
    for (const end of [low, high]) wrong(end === undefined || TIME.test(end), `${name} has ${end}`);
    const comparable = (low?.length ?? 0) >= 8 && (high?.length ?? 0) >= 8;
    wrong(!comparable || (low ?? '').slice(0, 8) <= (high ?? '').slice(0, 8), `${name} runs from ${low} to ${high}`);
  }
  if (name === 'statusCode') wrong(attributes['code'] !== undefined, 'statusCode without code');
  if (name === 'code' || name === 'translation') {
    wrong(
      attributes['code'] === undefined
        ? attributes['nullFlavor'] !== undefined || children.length > 0
        : attributes['codeSystem'] !== undefined,
      `${name} without system`,
    );
  }
}
