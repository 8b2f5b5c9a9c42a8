/**
 * The page on which people see which apps have access in their name, and end it; and login outside of a launch.
 */
import { Hono } from 'hono';
import type { Account } from '../auth/accounts.ts';
import type { GrantContext } from './context.ts';
import { type AppRow, appsPage, loginPage } from './pages.ts';
import {
  addressOf,
  credentialsOf,
  fieldsOf,
  type NodeEnv,
  type PageContext,
  pageOf,
  refuseForeign,
  type SmartParts,
} from './parts.ts';
import { accountOf, logIn, logOut } from './sessions.ts';
import { TEXTS } from './texts.ts';

export function appRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  const apps = `${parts.issuer}/apps`;

  routes.get('/', async c => {
    const account = await accountOf(c, parts);
    return account === undefined ? loginForm(c, parts, TEXTS.apps.title, 'apps') : list(c, parts, account, false);
  });

  routes.post('/end', async c => {
    refuseForeign(c, parts);
    const account = await accountOf(c, parts);
    if (account === undefined) return c.redirect(apps, 303);
    const grant = (await fieldsOf(c)).get('grant');
    const own = grantsOf(parts, account).find(({ value }) => value.grant === grant);
    if (own !== undefined) parts.store.revoke(own.value.grant);
    return list(c, parts, account, own !== undefined);
  });

  routes.post('/logout', async c => {
    refuseForeign(c, parts);
    await logOut(c, parts);
    return c.redirect(apps, 303);
  });

  return routes;
}

/** Where a login can lead; a form names one of these and no address. */
const PLACES = { apps: TEXTS.apps.title, ehr: TEXTS.ehr.title } as const;

type Place = keyof typeof PLACES;

export function loginRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  routes.post('/', async c => {
    refuseForeign(c, parts);
    const fields = await fieldsOf(c);
    const to: Place = fields.get('place') === 'ehr' ? 'ehr' : 'apps';
    const [name, password] = credentialsOf(fields);
    const result = await parts.login.try(name, password, addressOf(c));
    if (result.kind !== 'in') {
      const complaint = result.kind === 'wait' ? TEXTS.login.wait(result.seconds) : TEXTS.login.wrong;
      return loginForm(c, parts, PLACES[to], to, { name, complaint, status: result.kind === 'wait' ? 429 : 401 });
    }
    await logIn(c, parts, result.account);
    return c.redirect(`${parts.issuer}/${to}`, 303);
  });
  return routes;
}

export function loginForm(
  c: PageContext,
  { issuer }: SmartParts,
  title: string,
  place: Place,
  again: { readonly name: string; readonly complaint: string; readonly status: 401 | 429 } | undefined = undefined,
): Response {
  const html = loginPage({
    action: `${issuer}/login`,
    place,
    lead: TEXTS.login.toPage(title),
    name: again?.name ?? '',
    complaint: again?.complaint,
  });
  return pageOf(c, html, again?.status);
}

function grantsOf({ store }: SmartParts, { name }: Account) {
  return store.ofAccount<GrantContext>('Context', name);
}

async function list(c: PageContext, parts: SmartParts, account: Account, ended: boolean): Promise<Response> {
  const rows = await Promise.all(
    grantsOf(parts, account).map(async ({ value, expires }): Promise<AppRow> => {
      const record = value.patient === undefined ? undefined : await parts.charts.patient(account, value.patient);
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
  return pageOf(c, appsPage({ ...actions, account: account.name, rows, ended }));
}
