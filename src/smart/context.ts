/**
 * Declares the context of a launch: whose record, which visit, what the app should show. In: what an EHR posts, or the
 * choices of a person. Out: the context that is stored with a grant and returned with each of its tokens.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */

import type { Account } from '../auth/accounts.ts';
import { eraOf, NO_ERA } from '../auth/era.ts';
import type { Client } from './clients.ts';

/** A further resource in the context of a launch: a reference, a canonical URL or an identifier, with its role. */
export interface ContextItem {
  /** Relative: `ImagingStudy/7`. */
  readonly reference?: string;
  readonly canonical?: string;
  readonly identifier?: Readonly<Record<string, string>>;
  /** Resource type. */
  readonly type?: string;
  /** A URI; absent: `launch`. */
  readonly role?: string;
}

export interface LaunchContext {
  /** Logical id. */
  readonly patient?: string;
  /** Logical id. */
  readonly encounter?: string;
  /** Resources other than patient and encounter. */
  readonly fhirContext?: readonly ContextItem[];
  /** True if the app has to show whose record it is; an EHR that shows it already sets false. Default: true. */
  readonly needPatientBanner?: boolean;
  /** What the person wants to do, as agreed between EHR and app. */
  readonly intent?: string;
}

/** A launch that an EHR announced, for an app that has not come yet. */
export interface Launch extends LaunchContext {
  /** The only client that may use it. */
  readonly client: string;
  /** The only person who may use it, as a relative reference; undefined: whoever logs in. */
  readonly user?: string;
}

/** What a person has allowed an app, and since when. */
export interface GrantContext extends LaunchContext {
  readonly grant: string;
  readonly client: string;
  /** The person who allowed it, as a relative reference; null: an account without a FHIR user. */
  readonly user: string | null;
  readonly scopes: readonly string[];
  /** ISO instant. */
  readonly since: string;
  /** Eras of account and app (`eraOf`). */
  readonly era?: string;
}

/**
 * True if a grant still holds: the account is that of the person who allowed it (names may be given to others later),
 * and neither account nor app was taken away since, even if both are back.
 */
export function stillHolds(context: GrantContext, account: Account, client: Client | undefined): boolean {
  const { user, era = NO_ERA } = context;
  return user === (account.fhirUser ?? null) && era === eraOf(account, client);
}
