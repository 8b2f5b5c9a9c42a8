/**
 * Collects the problems of a pack in words for analysts: where, what was expected, what was found, and the nearest
 * correct spelling. In: reports of every stage. Out: all problems at once, in the order of the files.
 */
import { escapeInLine } from '../../common/markup.ts';
import { PACK_ERRORS, type PackErrorKind } from '../../errors/pack-errors.ts';
import type { Origin, Position } from '../model.ts';
import { nearest, shortened } from './read/spelling.ts';

export interface Problem {
  /**
   * An error keeps the pack from being served. A notice names what the pack leaves out by choice; it does not count as
   * a problem.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  /** Determines the code: `problemCode`. */
  readonly kind: PackErrorKind;
  readonly position: Position;
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  readonly suggestion?: string;
  /** Only the rows can prove or refute it. A check that reads the rows drops the problem and counts rows instead. */
  readonly provenBy?: 'rows';
  /** Places whose other problems follow from this one and are not reported. */
  readonly covers?: readonly Position[];
  /** The `insert` calls or macro rows that the problem occurs under. */
  readonly origins?: readonly string[];
}

export interface Detail {
  readonly expected?: string;
  readonly found?: string;
  readonly suggestion?: string;
  readonly provenBy?: 'rows';
  /** Names among which the nearest to `found` becomes the suggestion. */
  readonly among?: Iterable<string>;
  /** More names for the suggestion. */
  readonly also?: Iterable<string>;
  readonly covers?: readonly Position[];
}

/** Collects problems. A problem that a macro repeats is kept once, with the row counts of its first row. */
export interface Report {
  error(kind: PackErrorKind, at: Position, message: string, detail?: Detail): void;
  warning(kind: PackErrorKind, at: Position, message: string, detail?: Detail): void;
  notice(kind: PackErrorKind, at: Position, message: string, detail?: Detail): void;
  /** Adds the problems of another report. */
  take(problems: readonly Problem[]): void;
  /** All problems so far, by file, line and column. */
  problems(): readonly Problem[];
}

/** Row counts in a message. Problems of a macro that differ only in them are one problem. */
const ROWS = /\b\d+ rows?\b|\brow of \d+\b/g;

export function createReport(): Report {
  const kept = new Map<string, Problem>();
  const add = (
    severity: Problem['severity'],
    kind: PackErrorKind,
    position: Position,
    message: string,
    detail: Detail = {},
  ): void => {
    const { expected, found, provenBy, covers } = detail;
    const suggestion =
      detail.suggestion ??
      (found !== undefined && detail.among ? nearest(found, [...detail.among, ...(detail.also ?? [])]) : undefined);
    // A fix replaces the whole text by the suggestion.
    const shown = found === undefined || suggestion !== undefined ? found : shortened(found);
    const problem: Problem = {
      severity,
      kind,
      position,
      message,
      ...(expected === undefined ? {} : { expected }),
      ...(shown === undefined ? {} : { found: shown }),
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(provenBy === undefined ? {} : { provenBy }),
      ...(covers === undefined ? {} : { covers }),
      ...(position.by === undefined ? {} : { origins: [originText(position.by)] }),
    };
    keep(problem);
  };
  const keep = (problem: Problem): void => {
    const text = textWithoutOrigins(problem);
    const name = problem.origins === undefined ? text : text.replace(ROWS, 'rows');
    const first = kept.get(name);
    const origins = new Set([...(first?.origins ?? []), ...(problem.origins ?? [])]);
    kept.set(name, origins.size === 0 ? problem : { ...(first ?? problem), origins: [...origins] });
  };
  return {
    error: (...parts) => add('error', ...parts),
    warning: (...parts) => add('warning', ...parts),
    notice: (...parts) => add('notice', ...parts),
    take(problems) {
      for (const problem of problems) keep(problem);
    },
    problems: () => uncovered([...kept.values()]).sort((a, b) => comparePositions(a.position, b.position)),
  };
}

/** Drops problems that follow from another. */
function uncovered(problems: readonly Problem[]): Problem[] {
  const covered = new Set(problems.flatMap(({ covers = [] }) => covers.map(placeText)));
  return problems.filter(({ covers, position }) => covers !== undefined || !covered.has(placeText(position)));
}

/** `m.yaml:6:12` */
export function placeText({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/** The order of problems: by file, line and column. */
export function comparePositions(a: Position, b: Position): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** Formats an origin: `inserted at m.yaml:6:12`. A call within another call gives both. */
function originText({ what, at }: Origin): string {
  const how = what === 'insert' ? 'inserted at' : 'in the row';
  return `${how} ${placeText(at)}${at.by === undefined ? '' : `, ${originText(at.by)}`}`;
}

/** Returns the code of a problem, which docs/errors.md explains. */
export function problemCode({ kind }: Pick<Problem, 'kind'>): string {
  return PACK_ERRORS[kind][0];
}

/** Formats a problem for people: `formatProblem` and the code, as in `…; found genders [LNT-403]`. */
export function problemLine(problem: Problem): string {
  return `${formatProblem(problem)} [${problemCode(problem)}]`;
}

/**
 * Formats a problem: `file:line:column: message; expected …; found …; did you mean …?`. Warnings and notices are
 * marked.
 * The first origin (an `insert` or a macro row) and the number of the others follow.
 */
export function formatProblem(problem: Problem): string {
  const [first, ...others] = problem.origins ?? [];
  if (first === undefined) return textWithoutOrigins(problem);
  return `${textWithoutOrigins(problem)}; ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

function textWithoutOrigins(problem: Problem): string {
  const parts = [
    `${placeText(problem.position)}: ${problem.severity === 'error' ? '' : `${problem.severity}: `}${problem.message}`,
  ];
  if (problem.expected !== undefined) parts.push(`expected ${problem.expected}`);
  if (problem.found !== undefined) parts.push(`found ${problem.found === '' ? 'nothing' : visible(problem.found)}`);
  if (problem.suggestion !== undefined) parts.push(`did you mean ${problem.suggestion}?`);
  return escapeInLine(parts.join('; '));
}

/** Returns a text as messages show it: in quotes if a blank at its edge would not be seen. */
export function visible(text: string): string {
  return text === text.trim() && text !== '' ? text : JSON.stringify(text);
}
