/** Logs problems of mappings, each on one line with its place. */
import type { Log } from '../log.ts';
import { type Problem, placeText, problemLine } from '../mapping/load/problem.ts';

export function tellProblem(problem: Problem, log: Log): void {
  const tell = { error: log.error, warning: log.warn, notice: log.info }[problem.severity];
  tell('mapping problem', { at: placeText(problem.position), problem: problemLine(problem) });
}
