/**
 * Ends permanently what is taken away from an account or an app. In: a change by `lintel user` or `lintel client`. Out:
 * an era, which goes into the file. Sessions, tokens and grants carry the era in which they were given. They end when
 * it changes, even if the account or app is restored before anybody has noticed.
 */
import { randomBytes } from 'node:crypto';

/** Returns a random era for an account or app that is new, or that something is taken away from. */
export function newEra(): string {
  return randomBytes(9).toString('base64url');
}

/** True for an era as in a file, or undefined. */
export function isEra(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

interface HasEra {
  readonly era?: string;
}

/** Returns the eras of a grant's account and app, which the grant carries. */
export function eraOf(account: HasEra | undefined, app: HasEra | undefined): string {
  return `${account?.era ?? ''} ${app?.era ?? ''}`;
}

/** The eras of grants that were given before eras existed. */
export const NO_ERA = eraOf(undefined, undefined);
