/**
 * Prints a statement for people. In: a rendered statement. Out: its text in lines, and its parameters; neighbors of
 * the same type share a line.
 */
import { engineNamed } from '../sql/engines.ts';
import type { Parameter, Statement } from '../sql/plan.ts';

/** Maximum number of characters per line of a statement or a list. */
export const WIDTH = 110;

/**
 * Breaks a statement into a line per clause. A clause longer than `width` is broken before AND and OR, between columns,
 * in CASE and in parentheses, outermost first; never within a text or a name.
 */
export function sqlLines({ text }: Pick<Statement, 'text'>, width = WIDTH): readonly string[] {
  return text.split('\n').flatMap(clause => linesOf(partsOf(clause), '', width));
}

/** A word, a text, white space or a symbol; or a group in parentheses, or from CASE to END. */
type Part = string | Group;

interface Group {
  readonly opening: '(' | 'CASE';
  readonly parts: Part[];
}

const TOKEN = /'(?:[^']|'')*'|"[^"]*"|\[[^\]]*\]|[\w@$#.]+|\s+|./g;

function partsOf(text: string): readonly Part[] {
  const open: Part[][] = [[]];
  for (const [token] of text.matchAll(TOKEN)) {
    const parts = open.at(-1) ?? [];
    if (token === '(' || token === 'CASE') {
      const group: Group = { opening: token, parts: [] };
      parts.push(group);
      open.push(group.parts);
    } else if ((token === ')' || token === 'END') && open.length > 1) {
      open.pop();
    } else {
      parts.push(token);
    }
  }
  return open[0] ?? [];
}

const closing = ({ opening }: Group): string => (opening === '(' ? ')' : 'END');

function textOf(parts: readonly Part[]): string {
  return parts
    .map(part => (typeof part === 'string' ? part : `${part.opening}${textOf(part.parts)}${closing(part)}`))
    .join('');
}

const CLAUSES: ReadonlySet<string> = new Set(['FROM', 'WHERE', 'LEFT', 'INNER', 'CROSS', 'GROUP', 'ORDER', 'UNION']);
const OPERATORS: ReadonlySet<string> = new Set(['AND', 'OR']);
const BRANCHES: ReadonlySet<string> = new Set(['WHEN', 'ELSE']);

function linesOf(parts: readonly Part[], indent: string, width: number): readonly string[] {
  const whole = `${indent}${textOf(parts).trim()}`;
  if (whole.length <= width) return [whole];
  const deeper = `${indent}  `;
  const clauses = cutBefore(parts, CLAUSES);
  if (clauses.length > 1) return clauses.flatMap(clause => linesOf(clause, indent, width));
  for (const words of [OPERATORS, BRANCHES]) {
    const pieces = cutBefore(parts, words);
    if (pieces.length > 1) return pieces.flatMap((piece, i) => linesOf(piece, i === 0 ? indent : deeper, width));
  }
  const rows = filled(parts, width - deeper.length);
  if (rows.length > 1) return rows.flatMap((row, i) => linesOf(row, i === 0 ? indent : deeper, width));
  const lengths = parts.map(part => (typeof part === 'string' ? 0 : textOf(part.parts).length));
  const at = lengths.indexOf(Math.max(...lengths));
  const group = parts[at];
  if (group === undefined || typeof group === 'string') return [whole];
  return [
    `${indent}${textOf(parts.slice(0, at)).trimStart()}${group.opening}`,
    ...linesOf(group.parts, deeper, width),
    ...linesOf([closing(group), ...parts.slice(at + 1)], indent, width),
  ];
}

/** Cuts before these words. The AND of a BETWEEN does not count. */
function cutBefore(parts: readonly Part[], words: ReadonlySet<string>): readonly (readonly Part[])[] {
  const pieces: Part[][] = [[]];
  let between = false;
  for (const part of parts) {
    const isCut = typeof part === 'string' && words.has(part) && !(between && part === 'AND');
    if (isCut && textOf(pieces.at(-1) ?? []).trim() !== '') pieces.push([]);
    pieces.at(-1)?.push(part);
    if (part === 'BETWEEN') between = true;
    else if (part === 'AND') between = false;
  }
  return pieces;
}

/** Breaks a long list after commas outside of parentheses and texts. */
export function wrapped(list: string, width: number): readonly string[] {
  return filled(partsOf(list), width).map((row, i) => `${i === 0 ? '' : '  '}${textOf(row).trim()}`);
}

/** Fills each row with as many columns of a list as fit. */
function filled(list: readonly Part[], width: number): readonly (readonly Part[])[] {
  const rows: Part[][] = [[]];
  let column: Part[] = [];
  const take = (): void => {
    const row = rows.at(-1) ?? [];
    if (row.length > 0 && textOf([...row, ...column]).trim().length > width) rows.push(column);
    else row.push(...column);
    column = [];
  };
  for (const part of list) {
    column.push(part);
    if (part === ',') take();
  }
  if (column.length > 0) take();
  return rows;
}

/**
 * Prints parameters: a name or range of names, the type as the engine spells it, and on request the values. Repeated
 * values are abbreviated (`×3`).
 */
export function parameterLines(engine: string, parameters: readonly Parameter[], values: boolean): readonly string[] {
  const { printType } = engineNamed(engine);
  const runs: { readonly type: string; readonly names: string[]; readonly values: string[] }[] = [];
  for (const { name, type, value } of parameters) {
    const last = runs.at(-1);
    const printed = printType(type);
    const run = last?.type === printed ? last : { type: printed, names: [], values: [] };
    if (run !== last) runs.push(run);
    run.names.push(name);
    run.values.push(value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : JSON.stringify(value));
  }
  return runs.map(run => {
    const range = run.names.length === 1 ? run.names[0] : `${run.names[0]}–${run.names.at(-1)}`;
    return `${range} ${run.type}${values ? ` = ${withTimes(run.values).join(', ')}` : ''}`;
  });
}

function withTimes(values: readonly string[]): readonly string[] {
  const runs: { readonly value: string; times: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.value === value) last.times++;
    else runs.push({ value, times: 1 });
  }
  return runs.map(({ value, times }) => (times === 1 ? value : `${value} ×${times}`));
}
