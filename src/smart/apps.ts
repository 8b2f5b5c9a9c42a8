/**
 * Serves the page on which people see which apps have access in their name, and end it; and login outside of a launch.
 */
import { Hono } from 'hono';
import type { Account } from '../auth/accounts.ts';
import { type GrantContext, stillHolds } from './context.ts';
import { loginForPlace, tryPassword } from './login-form.ts';
import { type AppRow, appsPage } from './pages.ts';
import { fieldsOf, type NodeEnv, type PageContext, pageOf, refuseForeign, type SmartParts } from './parts.ts';
import { accountOf, logIn, logOut } from './sessions.ts';

export function appRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  const apps = `${parts.issuer}/apps`;

  routes.get('/', async c => {
    const account = await accountOf(c, parts);
    return account === undefined ? loginForPlace(c, parts, 'apps') : list(c, parts, account, false);
  });

  routes.post('/end', async c => {
    refuseForeign(c, parts);
    const account = await accountOf(c, parts);
    if (account === undefined) return c.redirect(apps, 303);
    const grant = (await fieldsOf(c)).get('grant');
    const own = grantsOf(parts, account).find(({ value }) => value.grant === grant);
    if (own !== undefined) {
      const { client, patient } = own.value;
      await parts.record(c, { who: account, status: 200, details: { client }, patient });
      parts.store.revoke(own.value.grant);
    }
    return list(c, parts, account, own !== undefined);
  });

  routes.post('/logout', async c => {
    refuseForeign(c, parts);
    const way = await logOut(c, parts);
    const elsewhere = way === 'issuer' ? await parts.hospital?.issuer.logout(apps) : undefined;
    return c.redirect(elsewhere ?? apps, 303);
  });

  return routes;
}

export function loginRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  routes.post('/', async c => {
    refuseForeign(c, parts);
    const tried = await tryPassword(c, parts);
    if ('again' in tried) return loginForPlace(c, parts, tried.place, tried.again);
    await logIn(c, parts, tried.account, 'password');
    return c.redirect(`${parts.issuer}/${tried.place}`, 303);
  });
  return routes;
}

function grantsOf({ store, clients }: SmartParts, account: Account) {
  return store
    .ofAccount<GrantContext>('Context', account.name)
    .filter(({ value }) => stillHolds(value, account, clients.find(value.client)));
}

async function list(c: PageContext, parts: SmartParts, account: Account, ended: boolean): Promise<Response> {
  const rows = await Promise.all(
    grantsOf(parts, account).map(async ({ value, expires }): Promise<AppRow> => {
      const record = value.patient === undefined ? undefined : await parts.charts(c).patient(account, value.patient);
      return {
        grant: value.grant,
        app: parts.clients.find(value.client)?.name ?? value.client,
        record: record?.label,
        scopes: value.scopes,
        since: value.since,
        until: new Date(expires * 1000).toISOString(),
      };
    }),
  );
  const actions = { endAction: `${parts.issuer}/apps/end`, logoutAction: `${parts.issuer}/apps/logout` };
  return pageOf(c, appsPage({ ...actions, account: account.shown ?? account.name, rows, ended }));
}
