/**
 * Handles the header `Break-Glass: <reason>`, by which a caller asks to see hidden data. In: a request with a known
 * caller. Out: the request with wider access, and an answer that says so; or 403, because the header is never ignored.
 * The reason is written to the audit only. docs/access-rules.md
 */
import { createMiddleware } from 'hono/factory';
import type { Access } from '../../auth/access.ts';
import { FhirError, type Issue, issueOf } from '../../outcome.ts';
import type { AppParts, HttpContext, HttpEnv } from '../context.ts';
import { headerOf } from './request.ts';

export const GLASS = 'Break-Glass';

/** Characters of a reason: minimum and maximum. */
const SHORTEST = 10;
const LONGEST = 500;

/** Has to run after the middleware that finds the caller. */
export function breakGlass(parts: Pick<AppParts, 'glass' | 'audit'>) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const header = headerOf(c, GLASS.toLowerCase());
    if (header === undefined) return next();
    const reason = textOf(header);
    if ([...reason].length < SHORTEST || [...reason].length > LONGEST)
      throw new FhirError('wrong-parameters', `${GLASS}: expected the reason, ${SHORTEST} to ${LONGEST} characters`);
    // Set first, so that the audit records a refused attempt too.
    c.set('glass', reason);
    c.set('access', await openedFor(c, parts));
    c.set('warning', warningOf(parts));
    await next();
    c.res.headers.set(GLASS, openedText(parts));
  });
}

async function openedFor(c: HttpContext, { glass, audit }: Pick<AppParts, 'glass' | 'audit'>): Promise<Access> {
  if (glass === undefined)
    throw new FhirError('glass-refused', `${GLASS}: not available on this server; access.yaml has no rule`);
  if (audit === undefined)
    throw new FhirError('glass-refused', `${GLASS}: this server keeps no audit, so nothing is opened`);
  const [grant, account, signal] = [c.get('grant'), c.get('account'), AbortSignal.timeout(TIME_LIMIT)];
  const opened =
    grant !== undefined ? await glass.ofGrant(grant, signal) : account && (await glass.ofAccount(account, signal));
  if (opened === undefined)
    throw new FhirError(
      'glass-refused',
      `${GLASS}: not permitted for you, or not in this application; send the request without the header`,
    );
  return opened;
}

/** Milliseconds for finding out whether the caller may break the glass. */
const TIME_LIMIT = 10_000;

/** Refuses the header on paths where nothing is hidden. `isHere`: paths that accept it. */
export function refuseGlass(isHere: (path: string) => boolean) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    if (headerOf(c, GLASS.toLowerCase()) === undefined || isHere(c.req.path)) return next();
    throw new FhirError('glass-refused', `${GLASS}: nothing is hidden here; send the request without the header`);
  });
}

/** Throws FhirError `glass-refused` for a request that a broken glass does not open. */
export function mustBeWhole(c: HttpContext, what: string): void {
  if (c.get('glass') !== undefined) throw new FhirError('glass-refused', `${GLASS}: ${what}`);
}

/** Returns the warning for searchsets. */
function warningOf(parts: Pick<AppParts, 'glass'>): Issue {
  const diagnostics =
    `The glass was broken (${openedText(parts)}): this answer contains data that is normally hidden from you. ` +
    'The audit has it, with your reason.';
  return issueOf('glass-broken', diagnostics, { severity: 'warning' });
}

function openedText({ glass }: Pick<AppParts, 'glass'>): string {
  return (glass?.opens ?? []).join(', ');
}

/**
 * Decodes the header. Node reads headers as Latin-1, but clients that send more than ASCII mostly send UTF-8. RFC 9110
 * section 5.5
 */
function textOf(header: string): string {
  const bytes = Buffer.from(header.trim(), 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') ? header.trim() : text;
}
