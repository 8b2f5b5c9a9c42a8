/**
 * Declares what a valid access token says, whether Lintel's authorization server or the hospital's issuer made it.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */

/** A verified access token: signature or introspection, issuer, audience and times are valid. */
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
   * Used if `fhirUser` is unknown: a login of the legacy database. A rule of the pack finds its user
   * (src/access/logins.ts).
   */
  readonly login?: { readonly rule: string; readonly name: string };
  /** Milliseconds since the epoch at which this expires: the end of the token, or when it has to be verified again. */
  readonly expires: number;
  /** Purpose of use, as a code: `TREAT`. */
  readonly purpose?: string;
}

export interface Tokens {
  /**
   * Returns the grant of a token at an instant (milliseconds since the epoch). Undefined for anything that is not a
   * valid token of this verifier. Throws only for outages.
   */
  grantOf(token: string, now: number): Promise<Grant | undefined>;
  /**
   * Returns a number that changes whenever a token may have ended before it expires (revocation). Decisions made under
   * another number are dropped at once. Absent: no token ends early.
   */
  readonly epoch?: () => number;
}

/**
 * Returns the same tokens, which are decided again whenever `changes` has grown, because what they permit depends on
 * something else too.
 */
export function endingAlso(tokens: Tokens, changes: () => number): Tokens {
  return {
    grantOf: (token, now) => tokens.grantOf(token, now),
    epoch: () => (tokens.epoch?.() ?? 0) + changes(),
  };
}
