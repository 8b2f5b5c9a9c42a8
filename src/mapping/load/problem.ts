/**
 * What is wrong with a pack, said so that the analyst can mend it: where, what was expected, what was found, and the
 * nearest right spelling. In: reports of every loading stage. Out: all problems at once, in the order of the files.
 */
import type { Position } from '../model.ts';
import { nearest } from './spelling.ts';

export interface Problem {
  /** A pack with an error is not served; a warning is. */
  readonly severity: 'error' | 'warning';
  readonly position: Position;
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  readonly suggestion?: string;
  /** Only rows can prove or refute it: a check of the rows leaves it out and counts instead. */
  readonly provenBy?: 'rows';
}

export interface Detail {
  readonly expected?: string;
  readonly found?: string;
  readonly suggestion?: string;
  readonly provenBy?: 'rows';
  /** Names among which the nearest to `found` becomes the suggestion. */
  readonly among?: Iterable<string>;
}

/** Collects problems; each is kept once however often a macro repeats it. */
export interface Report {
  error(at: Position, message: string, detail?: Detail): void;
  warning(at: Position, message: string, detail?: Detail): void;
  /** Adds those of another report. */
  take(problems: readonly Problem[]): void;
  /** All problems so far, by file, line and column. */
  problems(): readonly Problem[];
}

export function createReport(): Report {
  const kept = new Map<string, Problem>();
  const add = (severity: Problem['severity'], position: Position, message: string, detail: Detail = {}): void => {
    const { expected, found, provenBy } = detail;
    const suggestion =
      detail.suggestion ?? (found !== undefined && detail.among ? nearest(found, detail.among) : undefined);
    const problem: Problem = {
      severity,
      position,
      message,
      ...(expected === undefined ? {} : { expected }),
      ...(found === undefined ? {} : { found }),
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(provenBy === undefined ? {} : { provenBy }),
    };
    kept.set(formatProblem(problem), problem);
  };
  return {
    error: (at, message, detail) => add('error', at, message, detail),
    warning: (at, message, detail) => add('warning', at, message, detail),
    take(problems) {
      for (const problem of problems) kept.set(formatProblem(problem), problem);
    },
    problems: () => [...kept.values()].sort((a, b) => comparePositions(a.position, b.position)),
  };
}

/** The order of problems: by file, line and column. */
export function comparePositions(a: Position, b: Position): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** `file:line:column: message; expected …; found …; did you mean …?`, warnings marked as such. */
export function formatProblem(problem: Problem): string {
  const { file, line, column } = problem.position;
  const parts = [`${file}:${line}:${column}: ${problem.severity === 'warning' ? 'warning: ' : ''}${problem.message}`];
  if (problem.expected !== undefined) parts.push(`expected ${problem.expected}`);
  if (problem.found !== undefined) parts.push(`found ${problem.found}`);
  if (problem.suggestion !== undefined) parts.push(`did you mean ${problem.suggestion}?`);
  return parts.join('; ');
}
