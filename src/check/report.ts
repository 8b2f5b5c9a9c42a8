/**
 * Prints the report of a check. In: problems and sections. Out: the JSON of `--json`, whose shape docs/check.md
 * describes, and lines for a terminal.
 */
import { type Problem, problemCode } from '../mapping/load/problem.ts';
import type { SectionReport } from './run.ts';
import type { Table } from './section.ts';

export interface CheckReport {
  /** Undefined if the pack has errors; the rows were then not examined. */
  readonly pack: string | undefined;
  /** Time of the check, as an ISO instant. */
  readonly at: string;
  readonly seed: number;
  readonly budgetSeconds: number | undefined;
  readonly problems: readonly Problem[];
  readonly sections: readonly SectionReport[];
}

/** Returns the object that `--json` prints. */
export function reportJson({ pack, at, seed, budgetSeconds, problems, sections }: CheckReport): object {
  return {
    pack: pack ?? null,
    at,
    seed,
    budgetSeconds: budgetSeconds ?? null,
    errors: countOf(problems, 'error'),
    warnings: countOf(problems, 'warning'),
    notices: countOf(problems, 'notice'),
    problems: problems.map(problem => {
      const { severity, position, message, expected, found, suggestion } = problem;
      return { severity, code: problemCode(problem), ...position, message, ...{ expected, found, suggestion } };
    }),
    sections: sections.map(({ name, title, seconds, notes, tables }) => ({
      name,
      title,
      seconds: Number(seconds.toFixed(2)),
      notes,
      tables,
    })),
  };
}

export function countOf(problems: readonly Problem[], severity: Problem['severity']): number {
  return problems.filter(problem => problem.severity === severity).length;
}

/** Returns the lines of a table: texts left-aligned, numbers right-aligned. */
export function tableLines({ title, columns, rows }: Table): readonly string[] {
  const cells = [columns, ...rows].map(row => row.map(String));
  const widths = columns.map((_, i) => Math.max(...cells.map(row => row[i]?.length ?? 0)));
  const isNumber = columns.map((_, i) => rows.length > 0 && rows.every(row => typeof row[i] === 'number'));
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ');
  return [title, ...cells.map(row => `  ${line(row).trimEnd()}`)];
}
