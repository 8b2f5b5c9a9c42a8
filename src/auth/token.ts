/**
 * What a valid access token says, whether Lintel's authorization server or the hospital's issuer made it.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */

/** One access token that was verified: signature or introspection, issuer, audience and times are good. */
export interface Grant {
  /** `sub`: the person, or the client for Backend Services. */
  readonly subject: string;
  /** `client_id` or `azp`. */
  readonly client: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Logical id of the patient in launch context. */
  readonly patient?: string;
  /** Logical id of the encounter in launch context. */
  readonly encounter?: string;
  /** Relative reference: `Practitioner/7`. */
  readonly fhirUser?: string;
  /**
   * Instead of it: a login of the legacy database, which a rule of the pack leads to the user (src/access/logins.ts).
   */
  readonly login?: { readonly rule: string; readonly name: string };
  /** Milliseconds since the epoch until which this is known: the end of the token, or the instant to verify it anew. */
  readonly expires: number;
  /** Purpose of use, as a code: `TREAT`. */
  readonly purpose?: string;
}

export interface Tokens {
  /**
   * The grant of a token at an instant (milliseconds since the epoch).
   * Undefined for anything that is not a good token of this verifier. Throws only for outages.
   */
  grantOf(token: string, now: number): Promise<Grant | undefined>;
  /**
   * A number that changes whenever a token may have ended before it expires (revocation). What was decided for tokens
   * under another number is forgotten at once. Absent: no token ends early.
   */
  readonly epoch?: () => number;
}

/**
 * The same tokens, decided anew whenever `changes` has grown, because what they permit depends on something else too.
 */
export function endingAlso(tokens: Tokens, changes: () => number): Tokens {
  return {
    grantOf: (token, now) => tokens.grantOf(token, now),
    epoch: () => (tokens.epoch?.() ?? 0) + changes(),
  };
}
