/**
 * Serves the demo's page that plays the EHR: a person who is logged in chooses an app, a patient and a visit, and
 * launches the app.
 */
import { Hono } from 'hono';
import type { Account } from '../auth/accounts.ts';
import { announce, launchAddress } from './launches.ts';
import { loginForPlace } from './login-form.ts';
import { ehrPage } from './pages.ts';
import { fieldsOf, type NodeEnv, type PageContext, pageOf, refuseForeign, type SmartParts } from './parts.ts';
import { accountOf } from './sessions.ts';
import { TEXTS } from './texts.ts';

export function ehrRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();

  routes.get('/', async c => {
    const account = await accountOf(c, parts);
    return account === undefined ? loginForPlace(c, parts, 'ehr') : show(c, parts, account);
  });

  routes.post('/', async c => {
    refuseForeign(c, parts);
    const account = await accountOf(c, parts);
    if (account === undefined) return c.redirect(`${parts.issuer}/ehr`, 303);
    const fields = await fieldsOf(c);
    const [app = '', patient = '', encounter = ''] = ['app', 'patient', 'encounter'].map(
      name => fields.get(name) ?? '',
    );
    if (fields.get('do') !== 'launch') return show(c, parts, account, patient);
    const client = parts.clients.find(app);
    const visible = await parts.charts(c).patient(account, patient);
    const visit = encounter === '' ? undefined : await parts.charts(c).encounter(account, patient, encounter);
    if (client === undefined || client.disabled || visible === undefined || (encounter !== '' && visit === undefined))
      return show(c, parts, account, patient, TEXTS.error.noPatient);
    const { launch } = announce(parts.store, client, {
      patient,
      ...(visit === undefined ? {} : { encounter: visit.id }),
      ...(account.fhirUser === undefined ? {} : { user: account.fhirUser }),
      needPatientBanner: true,
    });
    const url = launchAddress(client, parts.fhirBase, launch);
    return url === undefined ? show(c, parts, account, patient, TEXTS.ehr.noApps) : c.redirect(url, 303);
  });

  return routes;
}

async function show(
  c: PageContext,
  parts: SmartParts,
  account: Account,
  patient?: string,
  complaint?: string,
): Promise<Response> {
  const apps = parts.clients.all().filter(({ launchUrl, disabled }) => launchUrl !== undefined && !disabled);
  const patients = await parts.charts(c).patients(account);
  const chosen = patients.items.find(({ id }) => id === patient)?.id ?? patients.items[0]?.id;
  const none = { items: [], more: false };
  const encounters = chosen === undefined ? none : await parts.charts(c).encounters(account, chosen);
  return pageOf(c, ehrPage({ action: `${parts.issuer}/ehr`, apps, patients, patient: chosen, encounters, complaint }));
}
