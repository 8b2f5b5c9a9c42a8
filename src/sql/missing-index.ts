/**
 * Lines of a plan by which an engine says what an index would save, in its own estimate; written by the engine's folder
 * and found again beside the CREATE INDEX text of that index.
 */

export interface MissingIndex {
  readonly table: string;
  /** Columns that it would begin with, in the engine's order; those beside them are read from it. */
  readonly columns: readonly string[];
  readonly beside: readonly string[];
  /** Percent of the statement's cost. */
  readonly saves: number;
}

const COST = 'estimated cost ';

/** `estimated cost 3.21`: of a whole statement, in the engine's own unit. */
export function costLine(cost: number): string {
  return `${COST}${cost}`;
}

export function isCostLine(line: string): boolean {
  return line.startsWith(COST);
}

export function missingIndexLine({ table, columns, beside, saves }: MissingIndex): string {
  const more = beside.length > 0 ? ` with ${beside.join(', ')} beside` : '';
  return `missing index on ${table} (${columns.join(', ')})${more}: would save ${saves} % of the estimated cost`;
}

/** Whether the line speaks of an index on these columns of the table, in whatever order, or of one that begins so. */
export function speaksOf(line: string, table: string, columns: readonly string[]): boolean {
  const [, of = '', list = ''] = /^missing index on (.+?) \((.+?)\)/.exec(line) ?? [];
  const lower = (text: string): string => text.toLowerCase();
  const named = new Set(list.split(', ').map(lower));
  const bare = (name: string): string => lower(name).replace(/^.*\./, '');
  return bare(of) === bare(table) && columns.slice(0, named.size).every(column => named.has(lower(column)));
}
