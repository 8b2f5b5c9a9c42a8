/**
 * Encrypts the parameters of a search that came in a body, as one parameter of its links: URLs appear in logs and
 * histories, and the values may be a patient's. In: names and values. Out: a text that only this server can read, for
 * the same caller. Parameters that are too long for a URL are kept in memory under their hash, up to a limit.
 */
import { createHmac } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type WeighedCache, weighedCache } from '../common/caches.ts';
import { FhirError } from '../outcome.ts';
import type { Parameters } from '../search/query.ts';
import { sealing } from '../search/sealing.ts';

/** The parameter of links that replaces the others. */
export const SEALED = '_sealed';

export interface SealedParameters {
  /** Returns the value of the one parameter that replaces these. */
  seal(parameters: Parameters, caller: string): string;
  /**
   * Returns the parameters of a link, including the encrypted ones. Throws FhirError `stale-link` for a text that was
   * not made here for this caller, and `expired-link` for one that is no longer kept.
   */
  open(parameters: Parameters, caller: string): Parameters;
}

/** Limit of characters of a sealed text: proxies accept URLs of some 8,000. */
const LONGEST = 4000;
/** Limit of bytes of all long searches together. */
const KEPT = 8 * 1024 * 1024;
/** Limit of bytes of one search's parameters as JSON; a body of 256 kB of control characters has six times as many. */
const OPENED_AT_MOST = 2 * 1024 * 1024;
const SEALED_PREFIX = 's';
const KEPT_PREFIX = 'k';

export function sealedParameters(secret: Uint8Array): SealedParameters {
  const { seal, open } = sealing(secret, 'parameters');
  const kept: WeighedCache<{ readonly parameters: Parameters }> = weighedCache(KEPT, () => {});
  const opened = (text: string, caller: string): Parameters => {
    if (text.startsWith(KEPT_PREFIX)) {
      const parameters = kept.find(text)?.parameters;
      // The name depends on the caller too, so nobody else can guess it, and it is valid for nobody else.
      if (parameters !== undefined && text === KEPT_PREFIX + nameOf(JSON.stringify(parameters), caller, secret))
        return parameters;
      const why = 'This link belongs to a long search that is no longer stored; send the search again';
      throw new FhirError('expired-link', why, { parameter: SEALED });
    }
    const shown = open(text.slice(SEALED_PREFIX.length), caller);
    if (shown === undefined || !text.startsWith(SEALED_PREFIX))
      throw new FhirError('stale-link', 'This link is not valid here; send the search again', { parameter: SEALED });
    return JSON.parse(inflateRawSync(shown, { maxOutputLength: OPENED_AT_MOST }).toString('utf8'));
  };
  return {
    seal(parameters, caller) {
      const text = JSON.stringify(parameters);
      const sealed = SEALED_PREFIX + seal(deflateRawSync(text), caller);
      if (sealed.length <= LONGEST) return sealed;
      const name = KEPT_PREFIX + nameOf(text, caller, secret);
      kept.keep(name, { parameters }, text.length * 2);
      return name;
    },
    open(parameters, caller) {
      const hidden = parameters.flatMap(([name, text]) => (name === SEALED ? opened(text, caller) : []));
      return [...hidden, ...parameters.filter(([name]) => name !== SEALED)];
    },
  };
}

/** Returns the name of a search: the same on each instance with this secret, also after a restart. */
function nameOf(text: string, caller: string, secret: Uint8Array): string {
  const name = createHmac('sha256', secret).update(`lintel kept search|${caller.length}|${caller}|${text}`);
  return name.digest('base64url').slice(0, 32);
}
