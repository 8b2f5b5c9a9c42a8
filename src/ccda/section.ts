/**
 * One section: its codes and templates, and the rows and entries that a builder adds. In: a section's definition and the
 * chart. Out: the section with its narrative table and the XML of its entries. Without rows it says that there is no
 * information. C-CDA R2.1 Volume 1, section 3.6 and 4.2
 */
import type { Chart } from './chart.ts';
import type { Resource } from './fhir/datatypes.ts';
import type { Patient } from './fhir/people.ts';
import { uuidOf } from './ids.ts';
import { narrativeXml, type Row, type Table } from './narrative.ts';
import type { Resolve } from './participants.ts';
import { comment, remarksIn } from './remark.ts';
import { keepTexts, type Texts } from './texts.ts';
import { escapeXml, templateIds } from './xml.ts';

export interface SectionDefinition {
  /** Begins the ids of its rows. */
  readonly key: string;
  readonly title: string;
  /** LOINC. */
  readonly code: string;
  readonly codeName: string;
  /** `root:extension` under 2.16.840.1.113883.10.20.22. */
  readonly templates: readonly string[];
  readonly columns: readonly string[];
  /** True where a nullFlavor may not stand: the section has no entries that it must have. */
  readonly narrativeOnly?: boolean;
  /** Left out where it has no rows, as no template demands it. */
  readonly optional?: true;
  build(content: SectionWriter, chart: Chart): Promise<void>;
}

/** What entries are written with. */
export interface SectionWriter {
  readonly resolve: Resolve;
  readonly patient: Patient;
  /** Adds a row to the table; returns its id, for links. */
  row(...cells: readonly string[]): string;
  /** A row that a reader must not miss. */
  markedRow(...cells: readonly string[]): string;
  /**
   * What was remarked on a resource: its notes, and `more`. Adds them to the row; the table has a column for remarks where a
   * row has any. Returns a Comment Activity each, as entryRelationship.
   */
  remarks(row: string, resource: Resource, more?: readonly (string | undefined)[]): string;
  entry(xml: string): void;
  /** `<id root="…"/>` of an entry: the same for the same resource in every call. */
  id(resource: Resource, part?: string): string;
}

export interface Section {
  readonly definition: SectionDefinition;
  readonly table: Table;
  /** XML; as many as were added. */
  readonly entries: Texts;
}

export interface SectionSource {
  readonly chart: Chart;
  readonly patient: Patient;
  /** What sets the ids of this record apart from those of others. */
  readonly namespace: string;
}

export async function buildSection(definition: SectionDefinition, source: SectionSource): Promise<Section> {
  const { chart, patient, namespace } = source;
  const rows: Row[] = [];
  const remarks = new Map<string, string>();
  const entries = keepTexts();
  const add = (cells: readonly string[], marked?: true): string => {
    const id = `${definition.key}-${rows.length + 1}`;
    rows.push({ id, cells, ...(marked && { marked }) });
    return id;
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
        return texts
          .map(
            text => `<entryRelationship typeCode="SUBJ" inversionInd="true">${comment(text, row)}</entryRelationship>`,
          )
          .join('');
      },
      entry(xml) {
        entries.add(`<entry>${xml}</entry>`);
      },
      id: ({ resourceType, id }, part = '') => `<id root="${uuidOf(namespace, resourceType, id, part)}"/>`,
    },
    chart,
  );
  return { definition, table: withRemarks({ columns: definition.columns, rows }, remarks), entries };
}

/** The table with a column for remarks, if a row has any. */
function withRemarks({ columns, rows }: Table, remarks: ReadonlyMap<string, string>): Table {
  if (remarks.size === 0) return { columns, rows };
  return {
    columns: [...columns, 'Remarks'],
    rows: rows.map(row => ({ ...row, cells: [...row.cells, remarks.get(row.id) ?? ''] })),
  };
}

/** The section as XML, within its `component`, in pieces. `nothing` is what an empty one says. */
export function* sectionXml({ definition, table, entries }: Section, nothing: string): Generator<string> {
  const { title, code, codeName, templates } = definition;
  const empty = table.rows.length === 0 && definition.narrativeOnly !== true ? ' nullFlavor="NI"' : '';
  yield `<component><section${empty}>${templateIds(...templates)}`;
  yield `<code code="${code}" displayName="${escapeXml(codeName)}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>`;
  yield `<title>${escapeXml(title)}</title><text>`;
  yield* narrativeXml(table, nothing);
  yield '</text>';
  yield* entries;
  yield '</section></component>\n';
}
