/**
 * A statement for a person to read. In: a rendered statement. Out: its text broken into lines, and its parameters with
 * neighbours of one type on one line.
 */
import { engineNamed } from '../sql/engines.ts';
import type { Parameter, Statement } from '../sql/plan.ts';

/** A line for each clause and, in the outer levels below SELECT, for each operand of AND and OR. */
export function sqlLines({ text }: Pick<Statement, 'text'>): readonly string[] {
  let depth = 0;
  let quoted = false;
  let selecting = true;
  let lines = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === "'") quoted = !quoted;
    if (!quoted && character === '(') depth++;
    if (!quoted && character === ')') depth--;
    if (character === '\n') selecting = false;
    const inBetween = /BETWEEN \S+$/.test(text.slice(Math.max(0, i - 20), i));
    const isOperand = !quoted && !inBetween && !selecting && depth <= 2 && /^ (?:AND|OR) /.test(text.slice(i, i + 5));
    lines += isOperand ? `\n${'  '.repeat(depth + 1)}` : character;
  }
  return lines.split('\n');
}

/** A long list of columns on several lines: a comma outside of all parentheses may end one. */
export function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const column of columnsOf(line)) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(column);
    else if (`${last},${column}`.length <= width) lines.splice(-1, 1, `${last},${column}`);
    else lines.splice(-1, 1, `${last},`, ` ${column}`);
  }
  return lines;
}

function columnsOf(line: string): readonly string[] {
  const ends = [...line].flatMap((character, i) => (character === ',' ? [i] : []));
  const opened = (text: string): number => text.split('(').length - text.split(')').length;
  const columns: string[] = [];
  let from = 0;
  for (const end of ends) {
    if (opened(line.slice(from, end)) > 0) continue;
    columns.push(line.slice(from, end));
    from = end + 1;
  }
  return [...columns, line.slice(from)];
}

/** Name or range of names, type as the engine spells it, and values if they are asked for; lists filled up with their last value are short. */
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
