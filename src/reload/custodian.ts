/**
 * Checks the custodian of documents when a version starts to be served, because a document does not show that another
 * organization stands for it. In: the contents of documents, and the searches of the version. Out: log lines.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import { checkCustodian } from '../ccda/check-custodian.ts';
import type { Content } from '../ccda/content.ts';
import type { Facade } from '../facade.ts';
import { describeFailure } from '../http/middleware/errors.ts';
import type { Log } from '../log.ts';
import { logProblem } from './problems.ts';

/**
 * Logs problems of the custodian. `timeLimit`: milliseconds for the database. Never rejects, because nobody waits for
 * it.
 */
export async function logCustodian(
  content: Content,
  facade: Pick<Facade, 'search'>,
  log: Log,
  timeLimit: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeLimit);
  const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict', signal } as const;
  try {
    for (const problem of await checkCustodian(content, facade, context)) logProblem(problem, log);
  } catch (error) {
    log.warn('the custodian of the documents could not be looked for', describeFailure(error));
  }
}
