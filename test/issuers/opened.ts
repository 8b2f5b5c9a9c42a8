/** Makes a verifier of tokens from a text of ACCESS_FILE, without a server. */

import { issuersIn } from '../../src/issuers/settings.ts';
import { type Issuers, openIssuers } from '../../src/issuers/tokens.ts';
import { createLog } from '../../src/log.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';

export const BASE = 'https://lintel.example.org/fhir';

export interface Opened extends Issuers {
  readonly lines: readonly string[];
}

/** Throws if the text has problems. `clock`: monotonic milliseconds. */
export function opened(text: string, clock?: () => number): Opened {
  const { issuers, problems } = issuersIn('access.yaml', text);
  if (problems.length > 0) throw new Error(problems.map(formatProblem).join('\n'));
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  return { ...openIssuers(issuers, { fhirBase: () => BASE, log, ...(clock && { clock }) }), lines };
}

/** The grant of a token; undefined: the token was refused. */
export async function grantOf({ tokens }: Pick<Issuers, 'tokens'>, token: string, now = Date.now()) {
  return tokens.grantOf(token, now);
}

/** Status of the error with which a promise rejects. */
export async function statusOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    const { status, retryAfter } = error as { status?: unknown; retryAfter?: unknown };
    return status === undefined ? error : { status, retryAfter };
  }
}
