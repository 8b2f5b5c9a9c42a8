/**
 * What people read of a section: one table. In: rows of plain text. Out: the table as CDA narrative, whose rows entries
 * link to by ID, and as HTML, from the same rows. CDA R2 section 4.3.5
 */
import { escapeXml } from './xml.ts';

export interface Row {
  /** Unique in the document. */
  readonly id: string;
  /** One per column; line ends are kept. */
  readonly cells: readonly string[];
  /** What a reader must not miss. */
  readonly marked?: boolean;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A day, perhaps with a time: it is not broken into lines. */
const TIME = /\b\d{4}-\d{2}(?:-\d{2}(?: \d{2}:\d{2})?)?\b/g;

/** More without a blank than a column has room for, as a unique device identifier. */
const LONG = /[^\s<>]{28,}/g;

/** Content of a section's `text`, row by row. `nothing` stands where there are no rows. */
export function* narrativeXml({ columns, rows }: Table, nothing: string): Generator<string> {
  if (rows.length === 0) return yield `<paragraph>${escapeXml(nothing)}</paragraph>`;
  yield `<table><thead><tr>${columns.map(name => `<th>${escapeXml(name)}</th>`).join('')}</tr></thead><tbody>`;
  for (const { id, cells, marked } of rows) {
    const style = marked === true ? ' styleCode="Bold"' : '';
    yield `<tr ID="${id}"${style}>${cells.map(cell => `<td>${lines(cell, '<br/>')}</td>`).join('')}</tr>`;
  }
  yield '</tbody></table>';
}

/** The same as HTML. */
export function* narrativeHtml({ columns, rows }: Table, nothing: string): Generator<string> {
  if (rows.length === 0) return yield `<p class="nothing">${escapeXml(nothing)}</p>`;
  const names = columns.map(name => `<th scope="col">${escapeXml(name)}</th>`);
  // On a phone a row is a list, in which each value has its name before it.
  const openings = columns.map(name => `<td data-name="${escapeXml(name)}">`);
  yield `<div class="table"><table><thead><tr>${names.join('')}</tr></thead><tbody>`;
  for (const { id, cells, marked } of rows) {
    const style = marked === true ? ' class="marked"' : '';
    const shown = cells.map((cell, i) =>
      i === 0 ? `<td>${head(cell)}</td>` : `${openings[i]}${htmlLines(cell)}</td>`,
    );
    yield `<tr id="${id}"${style}>${shown.join('')}</tr>`;
  }
  yield '</tbody></table></div>';
}

/** The first line says what the row is about. */
function head(cell: string): string {
  const [first = '', ...more] = htmlLines(cell).split('<br>');
  return [`<b>${first}</b>`, ...more].join('<br>');
}

/** Times stay whole; words without end are broken anywhere. */
function htmlLines(cell: string): string {
  return lines(cell, '<br>').replace(LONG, '<span>$&</span>').replace(TIME, '<time>$&</time>');
}

function lines(text: string, end: string): string {
  const escaped = escapeXml(text.trim());
  return escaped.includes('\n') ? escaped.replace(/(?:&#13;)?\n/g, end) : escaped;
}
