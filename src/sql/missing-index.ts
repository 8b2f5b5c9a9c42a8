/**
 * Writes and parses the lines of a plan in which an engine estimates what an index would save. The engine's folder
 * writes them, and callers look for them beside the CREATE INDEX text of that index.
 */

export interface MissingIndex {
  readonly table: string;
  /** The columns that the index would begin with, in the engine's order; `beside` are columns that it would include. */
  readonly columns: readonly string[];
  readonly beside: readonly string[];
  /** Percent of the statement's cost. */
  readonly saves: number;
}

const COST = 'estimated cost ';

/** Returns `estimated cost 3.21`: the cost of a whole statement, in the engine's own unit. */
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

/** True if the line names an index on these columns of the table, in any order; either list may be longer. */
export function speaksOf(line: string, table: string, columns: readonly string[]): boolean {
  const [, of = '', list = ''] = /^missing index on (.+?) \((.+?)\)/.exec(line) ?? [];
  const lower = (text: string): string => text.toLowerCase();
  const named = new Set(list.split(', ').map(lower));
  const bare = (name: string): string => lower(name).replace(/^.*\./, '');
  return bare(of) === bare(table) && columns.slice(0, named.size).every(column => named.has(lower(column)));
}
