/**
 * Opens the issuers of a configuration. Loaded only if ACCESS is `jwt`.
 */
import type { Tokens } from '../auth/token.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';
import { endpointsOf, smartConfiguration } from './discovery.ts';
import { readIssuers } from './settings.ts';
import { openIssuers } from './tokens.ts';

export interface IssuersStart {
  readonly tokens: Tokens;
  /** Values of `claims.login.rule`: rules under `logins` of the pack's access.yaml. */
  readonly loginRules: readonly string[];
  /** Returns `.well-known/smart-configuration`; undefined if no issuer launches apps. */
  readonly configuration: (() => Promise<object>) | undefined;
  /** Returns the addresses of the issuer that launches apps. */
  endpoints(): ReturnType<typeof endpointsOf>;
  /** Text for the console at start. */
  readonly greeting: string;
}

/**
 * Opens the issuers. `fhirBase`: called each time, because the address is known only once the server listens. Throws
 * ConfigError.
 */
export function startIssuers({ accessFile = '' }: Config, log: Log, fhirBase: () => string): IssuersStart {
  const issuers = readIssuers(accessFile);
  const { tokens, launching } = openIssuers(issuers, { fhirBase, log });
  return {
    tokens,
    loginRules: issuers.flatMap(({ claims }) => claims.login?.rule ?? []),
    configuration: launching && (() => smartConfiguration(launching)),
    endpoints: async () => launching && endpointsOf(launching),
    greeting: [
      'Who may read is decided by tokens (ACCESS=jwt) of these issuers:',
      '',
      ...issuers.map(({ issuer, audience }) => `  ${issuer}  for ${audience.join(', ')}`),
    ].join('\n'),
  };
}
