/**
 * Decides who may break the glass: see hidden data by giving a reason. In: a caller, and the rules of the pack. Out:
 * what they may see then; undefined if they may not. Each such request checks again, so a revoked right ends at once.
 * docs/access-rules.md, "Break-glass"
 */

import { type BreakGlass, REST_CLIENT } from '../auth/glass.ts';
import { accessByBreakingGlass, accountByBreakingGlass } from '../auth/granted.ts';
import { type GlassRule, type PackAccess, USER } from '../auth/rules.ts';
import type { Facade } from '../facade.ts';

/** Returns break-glass by the pack's rules; undefined if they allow nobody. */
export function glassOf(facade: Pick<Facade, 'search'>, rules: PackAccess): BreakGlass | undefined {
  const { glass } = rules;
  if (glass === undefined) return undefined;
  const may = async (user: string | undefined, client: string, signal: AbortSignal): Promise<boolean> => {
    if (user === undefined || glass.clients?.includes(client) === false) return false;
    for (const rule of glass.users) if (await isFound(rule, user, facade, signal)) return true;
    return false;
  };
  return {
    opens: glass.opens,
    async ofGrant(grant, signal) {
      const isAllowed = await may(grant.fhirUser, grant.client, signal);
      return isAllowed ? accessByBreakingGlass(grant, rules) : undefined;
    },
    async ofAccount(account, signal) {
      const isAllowed = await may(account.fhirUser, REST_CLIENT, signal);
      return isAllowed ? accountByBreakingGlass(account, rules) : undefined;
    },
  };
}

/** True if the rule's search finds this very user. */
async function isFound(
  { type, found }: GlassRule['users'][number],
  user: string,
  facade: Pick<Facade, 'search'>,
  signal: AbortSignal,
): Promise<boolean> {
  const [, own, id = ''] = USER.exec(user) ?? [];
  if (own !== type) return false;
  const named = (text: string): string => text.replaceAll('{user}', user).replaceAll('{id}', id);
  const parameters = [
    ...found.map(([name, value]) => [name, named(value)] as const),
    ...([
      ['_id', id],
      ['_elements', 'id'],
      ['_count', '1'],
      ['_total', 'none'],
    ] as const),
  ];
  const access = { kind: 'all', caller: 'glass' } as const;
  const context = { access, base: 'http://localhost/fhir', handling: 'strict', signal } as const;
  return (await facade.search({ type, parameters }, context)).entries > 0;
}
