/**
 * Logs problems of mappings, one line each with its place.
 */
import type { Log } from '../log.ts';
import { type Problem, problemLine } from '../mapping/load/problem.ts';

export function tellProblem(problem: Problem, log: Log): void {
  const { file, line, column } = problem.position;
  const tell = problem.severity === 'error' ? log.error : log.warn;
  tell('mapping problem', { at: `${file}:${line}:${column}`, problem: problemLine(problem) });
}
