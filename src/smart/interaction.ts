/**
 * Finds the interaction that the provider began for an authorization request. In: a request of the browser that it
 * belongs to. Out: what is asked, and the way back with a result.
 */
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { PageContext, SmartParts } from './parts.ts';

export type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Throws SessionNotFound where the browser is another, or came too late. */
export function interactionOf(c: PageContext, { provider }: Pick<SmartParts, 'provider'>): Promise<Interaction> {
  return provider().interactionDetails(c.env.incoming, c.env.outgoing);
}

export async function finish(
  c: PageContext,
  { provider }: Pick<SmartParts, 'provider'>,
  result: InteractionResults,
): Promise<Response> {
  return c.redirect(await provider().interactionResult(c.env.incoming, c.env.outgoing, result), 303);
}
