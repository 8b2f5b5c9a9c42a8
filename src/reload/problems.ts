/** Logs problems of mappings, each on one line with its place. */
import type { Log } from '../log.ts';
import { type Problem, placeText, problemLine } from '../mapping/load/problem.ts';

export function logProblem(problem: Problem, log: Log): void {
  const write = { error: log.error, warning: log.warn, notice: log.info }[problem.severity];
  write('mapping problem', { at: placeText(problem.position), problem: problemLine(problem) });
}
