/**
 * Ends for good what is taken away from an account or an app. In: a change by `lintel user` or `lintel client`. Out: an
 * era, which goes into the file. Sessions, tokens and grants carry the era that they were given in, so they have ended
 * in another one, also where the account or app is back before anybody has looked.
 */
import { randomBytes } from 'node:crypto';

/** Of an account or an app that is new, or that something is taken away from. No clock is asked. */
export function newEra(): string {
  return randomBytes(9).toString('base64url');
}

/** Whether an era of a file is one, or absent. */
export function isEra(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

interface HasEra {
  readonly era?: string;
}

/** What a grant carries: the eras of its account and of its app. */
export function eraOf(account: HasEra | undefined, app: HasEra | undefined): string {
  return `${account?.era ?? ''} ${app?.era ?? ''}`;
}

/** What grants carried before there were eras. */
export const NO_ERA = eraOf(undefined, undefined);
