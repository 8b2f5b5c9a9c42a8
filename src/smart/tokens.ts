/**
 * Verifies access tokens of the embedded authorization server. In: a token. Out: what it permits, if it, its grant, its
 * client and its account are valid.
 */
import type Provider from 'oidc-provider';
import type { Accounts } from '../auth/accounts.ts';
import type { Grant, Tokens } from '../auth/token.ts';
import type { Clients } from './clients.ts';
import { type GrantContext, stillHolds } from './context.ts';
import type { Store } from './store.ts';

export interface TokenOptions {
  readonly provider: () => Provider;
  readonly fhirBase: string;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly clients: Clients;
  /** Changes whenever a token may have ended before it expires. */
  readonly epoch: () => number;
}

/** Maximum characters of a token; those of this server have 43. */
const LONGEST = 200;

export function tokensOf(options: TokenOptions): Tokens {
  const { provider, fhirBase, store, accounts, clients, epoch } = options;
  return {
    epoch,
    async grantOf(token, now): Promise<Grant | undefined> {
      if (token.length > LONGEST) return undefined;
      const server = provider();
      const person = await server.AccessToken.find(token);
      const found = person ?? (await server.ClientCredentials.find(token));
      if (found === undefined || found.aud !== fhirBase) return undefined;
      const { clientId: client, exp } = found;
      // No tolerance for clocks, because this server issued the token.
      if (client === undefined || exp === undefined || exp * 1000 <= now) return undefined;
      const app = clients.find(client);
      if (app === undefined || app.disabled) return undefined;
      const common = { client, issuer: server.issuer, scopes: [...found.scopes], expires: exp * 1000 };
      if (person === undefined) return { ...common, subject: client };
      const { accountId: subject, grantId } = person;
      const account = subject === undefined ? undefined : accounts.find(subject);
      if (subject === undefined || account === undefined || account.disabled) return undefined;
      if (grantId === undefined || !store.hasGrant(grantId)) return undefined;
      const context = store.find<GrantContext>('Context', grantId)?.value;
      if (context === undefined || !stillHolds(context, account, app)) return undefined;
      const { patient, encounter } = context;
      const { fhirUser } = account;
      return {
        ...common,
        subject,
        ...(patient === undefined ? {} : { patient }),
        ...(encounter === undefined ? {} : { encounter }),
        ...(fhirUser === undefined ? {} : { fhirUser }),
      };
    },
  };
}
