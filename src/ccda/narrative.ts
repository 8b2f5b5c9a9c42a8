/**
 * Writes the table of a section. In: rows of plain text. Out: the same table as CDA narrative, whose rows the entries
 * refer to by ID, and as HTML. CDA R2 section 4.3.5
 */
import { attribute, html, type Markup, NOTHING, xml } from './xml.ts';

export interface Row {
  /** Id, unique in the document. */
  readonly id: string;
  /** One per column; line ends are kept. */
  readonly cells: readonly string[];
  /** True for a row that a reader must not miss. */
  readonly marked?: boolean;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** Id of the first cell of a row: its subject. */
export const headOf = (row: string): string => `${row}-1`;
/** Id of the second cell. */
export const secondOf = (row: string): string => `${row}-2`;
const CELL_IDS = [headOf, secondOf];

/** A month or day; line breaks within it are prevented. */
const DAY = /(\b\d{4}-\d{2}(?:-\d{2})?\b)/;

/** A word longer than a column is wide, such as a unique device identifier. */
const LONG = /([^\s<>]{28,})/;

/** Yields the content of a section's `text`, row by row. `nothing` is the text if there are no rows. */
export function* narrativeXml({ columns, rows }: Table, nothing: string): Generator<string> {
  if (rows.length === 0) return yield xml`<paragraph>${nothing}</paragraph>`.text;
  yield xml`<table><thead><tr>${columns.map(name => xml`<th>${name}</th>`)}</tr></thead><tbody>`.text;
  for (const { id, cells, marked } of rows) {
    const style = marked === true ? attribute('styleCode', 'Bold') : NOTHING;
    const shown = cells.map(
      (cell, i) => xml`<td${attribute('ID', CELL_IDS[i]?.(id))}>${lines(cell).map(xmlLine)}</td>`,
    );
    yield xml`<tr ID="${id}"${style}>${shown}</tr>`.text;
  }
  yield '</tbody></table>';
}

function xmlLine(line: string, at: number): Markup {
  return at === 0 ? xml`${line}` : xml`<br/>${line}`;
}

/** Most characters of a cell that may become as narrow as its longest word. */
const SHORT = 40;

/** Yields the same as HTML. */
export function* narrativeHtml({ columns, rows }: Table, nothing: string): Generator<string> {
  if (rows.length === 0) return yield html`<p class="nothing">${nothing}</p>`.text;
  const names = columns.map(name => html`<th scope="col">${name}</th>`);
  yield html`<div class="table"><table><thead><tr>${names}</tr></thead><tbody>`.text;
  for (const { id, cells, marked } of rows) {
    const style = marked === true ? attribute('class', 'marked') : NOTHING;
    // On a phone each row becomes a list; the column name precedes each value.
    const shown = cells.map((cell, i) => {
      if (i === 0) return html`<td>${lines(cell).map(headLine)}</td>`;
      const width = attribute('class', cell.length > SHORT ? 'long' : undefined);
      return html`<td data-name="${columns[i]}"${width}>${lines(cell).map(htmlLine)}</td>`;
    });
    yield html`<tr id="${id}"${style}>${shown}</tr>`.text;
  }
  yield '</tbody></table></div>';
}

/** Emphasizes the first line, which names the subject of the row. */
function headLine(line: string, at: number): Markup {
  return at === 0 ? html`<b>${wrapped(line)}</b>` : htmlLine(line, at);
}

function htmlLine(line: string, at: number): Markup {
  return at === 0 ? wrapped(line) : html`<br>${wrapped(line)}`;
}

/** Keeps days on one line; lets long words break anywhere. */
function wrapped(line: string): Markup {
  return html`${line.split(LONG).map((part, i) => (i % 2 === 0 ? timed(part) : html`<span>${timed(part)}</span>`))}`;
}

function timed(text: string): Markup {
  return html`${text.split(DAY).map((part, i) => (i % 2 === 0 ? html`${part}` : html`<time>${part}</time>`))}`;
}

function lines(text: string): readonly string[] {
  return text.trim().split(/\r?\n/);
}
