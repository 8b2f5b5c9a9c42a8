/**
 * Makes one section. In: its definition (codes, templates, builder) and the chart. Out: the section with its narrative
 * table and the XML of its entries.
 * An empty section says whether the record has nothing of its kind at all, or nothing in the range or encounter of the
 * document. C-CDA R2.1 Volume 1, sections 3.6 and 4.2
 */
import { shownCell } from './attachment.ts';
import type { Chart } from './chart.ts';
import type { Resource } from './fhir/datatypes.ts';
import type { Patient } from './fhir/people.ts';
import { uuidOf } from './ids.ts';
import type { ListName } from './lists.ts';
import { headOf, narrativeXml, type Row, secondOf, type Table } from './narrative.ts';
import type { Resolve } from './participants.ts';
import { comment, remarksIn } from './remark.ts';
import { keepTexts, type Texts } from './texts.ts';
import { attribute, type Markup, NOTHING, templateIds, xml } from './xml.ts';

export interface SectionDefinition {
  /** Prefix of the ids of its rows. */
  readonly key: string;
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  readonly codeName: string;
  /** `root:extension` under 2.16.840.1.113883.10.20.22, the strictest first: some readers see only the first. */
  readonly templates: readonly string[];
  readonly columns: readonly string[];
  /** True if no nullFlavor is allowed, because the section requires no entries. */
  readonly narrativeOnly?: boolean;
  /** True if the template demands an entry or a nullFlavor. */
  readonly entriesRequired?: boolean;
  /** The section is left out if it has no rows; no template demands it. */
  readonly optional?: true;
  build(content: SectionWriter, chart: Chart): Promise<void>;
}

/** Adds rows and entries to a section. */
export interface SectionWriter {
  readonly resolve: Resolve;
  readonly patient: Patient;
  /** Adds a row to the table; returns its id, for links. */
  row(...cells: readonly string[]): string;
  /** Adds a row that a reader must not miss. */
  markedRow(...cells: readonly string[]): string;
  /**
   * Adds the remarks on a resource (its notes, and `more`) to the row. The table has a column for remarks if any row
   * has some. Returns one Comment Activity per remark, as entryRelationship.
   */
  remarks(row: string, resource: Resource, more?: readonly (string | undefined)[]): Markup;
  entry(entry: Markup): void;
  /** Writes `<id root="…"/>` of an entry: the same for the same resource in every call. */
  id(resource: Resource, part?: string): Markup;
}

export interface Section {
  readonly definition: SectionDefinition;
  readonly table: Table;
  /** XML of the entries, one text per entry. */
  readonly entries: Texts;
  /** True if the section is empty but its lists hold records of other days or encounters. */
  readonly elsewhere: boolean;
}

/** Texts of empty sections. */
export interface EmptyWords {
  /** If the record holds nothing of the kind. */
  readonly nothing: string;
  /** If the record holds some, but none in the range or encounter of the document. */
  readonly elsewhere: string;
}

export interface SectionSource {
  readonly chart: Chart;
  readonly patient: Patient;
  /** Makes the ids of this record differ from those of others. */
  readonly namespace: string;
}

export async function buildSection(definition: SectionDefinition, source: SectionSource): Promise<Section> {
  const { chart, patient, namespace } = source;
  const rows: Row[] = [];
  const remarks = new Map<string, string>();
  const entries = keepTexts();
  const blanks = new Set<string>();
  const add = (cells: readonly string[], marked?: true): string => {
    const id = `${definition.key}-${rows.length + 1}`;
    const shown = cells.map(shownCell);
    rows.push({ id, cells: shown, ...(marked && { marked }) });
    chart.spend(shown.reduce((sum, cell) => sum + cell.length, 0));
    if (cells[0]?.trim() === '') blanks.add(headOf(id));
    if (cells[1]?.trim() === '') blanks.add(secondOf(id));
    return id;
  };
  const asked = new Set<ListName>();
  const noting: Chart = {
    ...chart,
    list(name) {
      asked.add(name);
      return chart.list(name);
    },
  };
  await definition.build(
    {
      resolve: chart.resolve,
      patient,
      row: (...cells) => add(cells),
      markedRow: (...cells) => add(cells, true),
      remarks(row, { note }, more = []) {
        const texts = remarksIn([...(note ?? []).map(({ text }) => text), ...more]);
        if (texts.length > 0) remarks.set(row, [remarks.get(row) ?? '', ...texts].filter(Boolean).join('\n'));
        return xml`${texts.map(
          text => xml`<entryRelationship typeCode="SUBJ" inversionInd="true">${comment(text, row)}</entryRelationship>`,
        )}`;
      },
      entry(entry) {
        const text = withoutBlankWords(xml`<entry>${entry}</entry>`.text, blanks);
        chart.spend(text.length);
        entries.add(text);
      },
      id: ({ resourceType, id }, part = '') => xml`<id root="${uuidOf(namespace, resourceType, id, part)}"/>`,
    },
    noting,
  );
  const elsewhere = rows.length === 0 && definition.optional !== true && (await holdsAny(asked, chart));
  return { definition, table: withRemarks({ columns: definition.columns, rows }, remarks), entries, elsewhere };
}

const LINKED_WORDS = /<originalText>\s*<reference value="#([^"]+)"\/>\s*<\/originalText>/g;

/** The entry without links from codes to cells that are blank: their words are not known. */
function withoutBlankWords(entry: string, blanks: ReadonlySet<string>): string {
  if (blanks.size === 0) return entry;
  return entry.replace(LINKED_WORDS, (link, cell: string) => (blanks.has(cell) ? '' : link));
}

/** True if the record has entries of some lists that the range or encounter left out. */
async function holdsAny(names: Iterable<ListName>, chart: Chart): Promise<boolean> {
  if (chart.range === undefined && chart.encounterId === undefined) return false;
  for (const name of names) if (await chart.holds(name)) return true;
  return false;
}

export function emptyText({ elsewhere }: Section, words: EmptyWords): string {
  return elsewhere ? words.elsewhere : words.nothing;
}

/** Returns the table, with a column for remarks if any row has some. */
function withRemarks({ columns, rows }: Table, remarks: ReadonlyMap<string, string>): Table {
  if (remarks.size === 0) return { columns, rows };
  return {
    columns: [...columns, 'Remarks'],
    rows: rows.map(row => ({ ...row, cells: [...row.cells, remarks.get(row.id) ?? ''] })),
  };
}

/** Yields the section as XML, within its `component`, in pieces. `words` are the texts of empty sections. */
export function* sectionXml(section: Section, words: EmptyWords): Generator<string> {
  const { definition, table, entries } = section;
  const { title, code, codeName, templates } = definition;
  yield xml`
    <component>
      <section${nullFlavor(section)}>
        ${templateIds(...templates)}
        <code code="${code}" displayName="${codeName}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>
        <title>${title}</title>
        <text>`.text;
  yield* narrativeXml(table, emptyText(section, words));
  yield '</text>';
  yield* entries;
  yield '</section></component>\n';
}

/**
 * Returns NI only if nothing is known. If the record has more than the document covers, the text says so; a template
 * that demands entries then needs NA, because it does not allow missing entries without a nullFlavor.
 */
function nullFlavor({ definition, table, elsewhere }: Section): Markup {
  if (table.rows.length > 0 || definition.narrativeOnly === true) return NOTHING;
  if (!elsewhere) return attribute('nullFlavor', 'NI');
  return definition.entriesRequired === true ? attribute('nullFlavor', 'NA') : NOTHING;
}
