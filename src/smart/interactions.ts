/**
 * The pages between an authorization request and its code: log in, choose a patient, consent. In: the interaction that the
 * provider began, known by a cookie of this browser. Out: its result, and the way back.
 */
import { Hono } from 'hono';
import { errors } from 'oidc-provider';
import type { Account } from '../auth/accounts.ts';
import type { Listed } from './charts.ts';
import { type Choice, choicesOf, chosen } from './choices.ts';
import type { GrantContext, Launch } from './context.ts';
import { finish, type Interaction, interactionOf } from './interaction.ts';
import { loginForApp, tryPassword } from './login-form.ts';
import { consentPage, patientPage } from './pages.ts';
import { fieldsOf, type NodeEnv, type PageContext, pageOf, refuseForeign, type SmartParts } from './parts.ts';
import { LIFETIMES } from './provider.ts';
import { CONTEXT_SCOPES, grantable } from './scopes.ts';
import { TEXTS } from './texts.ts';

/** What an interaction is about. */
interface Asked {
  readonly interaction: Interaction;
  readonly account: Account;
  readonly app: string;
  readonly client: string;
  readonly launch: Launch | undefined;
  /** All that it may have at most. */
  readonly scopes: readonly string[];
  readonly choices: readonly Choice[];
  readonly action: string;
}

export function interactionRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();

  routes.get('/:uid', async c => {
    const interaction = await interactionOf(c, parts);
    return interaction.prompt.name === 'login'
      ? loginForApp(c, parts, interaction)
      : decide(c, parts, await askedOf(interaction, parts));
  });

  routes.post('/:uid/login', async c => {
    refuseForeign(c, parts);
    const interaction = await interactionOf(c, parts);
    const tried = await tryPassword(c, parts);
    if ('again' in tried) return loginForApp(c, parts, interaction, tried.again);
    return finish(c, parts, { login: { accountId: tried.account.name } });
  });

  routes.post('/:uid/patient', async c => {
    refuseForeign(c, parts);
    const fields = await fieldsOf(c);
    const asked = await askedOf(await interactionOf(c, parts), parts);
    return decide(c, parts, asked, { patient: fields.get('patient'), name: fields.get('name') });
  });

  routes.post('/:uid/consent', async c => {
    refuseForeign(c, parts);
    const fields = await fieldsOf(c);
    const asked = await askedOf(await interactionOf(c, parts), parts);
    if (fields.get('decision') !== 'allow') return deny(c, parts, TEXTS.error.denied);
    return allow(c, parts, asked, { ticked: new Set(fields.getAll('scope')), patient: fields.get('patient') });
  });

  return routes;
}

async function askedOf(interaction: Interaction, parts: SmartParts): Promise<Asked> {
  const { params, session, prompt } = interaction;
  const account = session === undefined ? undefined : parts.accounts.find(session.accountId);
  const client = parts.clients.find(String(params['client_id']));
  if (prompt.name !== 'consent' || account === undefined || account.disabled || client === undefined)
    throw new errors.SessionNotFound(TEXTS.error.expired);
  const launch =
    params['launch'] === undefined ? undefined : parts.store.find<Launch>('Launch', String(params['launch']))?.value;
  if (params['launch'] !== undefined && launch === undefined) throw new errors.SessionNotFound(TEXTS.error.expired);
  if (launch?.user !== undefined && launch.user !== account.fhirUser)
    throw new errors.AccessDenied(TEXTS.error.wrongUser);
  const scopes = grantable(String(params['scope'] ?? '').split(' '), client.scopes, 'person').filter(
    scope => launch !== undefined || !EHR_ONLY.has(scope),
  );
  return {
    ...{ interaction, account, app: client.name, client: client.id, launch, scopes },
    choices: choicesOf(scopes, parts.facade().registry.types),
    action: `${parts.issuer}/interaction/${interaction.uid}`,
  };
}

/** What only a launch from an EHR can give. */
const EHR_ONLY: ReadonlySet<string> = new Set(['launch', 'launch/encounter']);

/** The page of consent; before it that of patients, where one is needed and none is known. */
async function decide(
  c: PageContext,
  parts: SmartParts,
  asked: Asked,
  given: { readonly patient?: string | null; readonly name?: string | null } = {},
): Promise<Response> {
  const { account, app, action, scopes, choices } = asked;
  const patient = await patientOf(parts, asked, given.patient);
  if (patient === 'unknown') {
    const found = await parts.charts.patients(account, given.name ?? '');
    return pageOf(c, patientPage({ action: `${action}/patient`, app, name: given.name ?? '', found }));
  }
  if (patient === 'foreign') throw new errors.AccessDenied(TEXTS.error.noPatient);
  const contexts = scopes.filter(scope => CONTEXTS.has(scope));
  return pageOf(
    c,
    consentPage({
      action: `${action}/consent`,
      app,
      account: account.shown ?? account.name,
      patient,
      choices,
      contexts,
    }),
  );
}

const CONTEXTS: ReadonlySet<string> = new Set(CONTEXT_SCOPES);

/**
 * The patient of a launch: the EHR's, the one that was chosen, or the only one whom the person may see. `unknown`: has to be
 * chosen first; `foreign`: not this person's to see.
 */
async function patientOf(
  { charts }: SmartParts,
  { launch, scopes, account }: Asked,
  given: string | null | undefined,
): Promise<Listed | undefined | 'unknown' | 'foreign'> {
  const id = launch?.patient ?? given ?? '';
  if (id !== '') return (await charts.patient(account, id)) ?? 'foreign';
  const needed = scopes.some(scope => scope === 'launch/patient' || scope.startsWith('patient/'));
  if (!needed) return undefined;
  const { items, more } = await charts.patients(account);
  const [only] = items;
  return only !== undefined && items.length === 1 && !more ? only : 'unknown';
}

interface Decided {
  readonly ticked: ReadonlySet<string>;
  readonly patient: string | null;
}

async function allow(c: PageContext, parts: SmartParts, asked: Asked, { ticked, patient }: Decided): Promise<Response> {
  const { interaction, account, client, launch, scopes, choices } = asked;
  const whose = await patientOf(parts, asked, patient);
  if (whose === 'unknown' || whose === 'foreign') throw new errors.AccessDenied(TEXTS.error.noPatient);
  const contexts = scopes.filter(scope => CONTEXTS.has(scope) && (scope !== 'offline_access' || ticked.has(scope)));
  const granted = [...contexts, ...chosen(choices, ticked)];
  if (granted.length === 0) return deny(c, parts, TEXTS.error.denied);
  const { params } = interaction;
  if (params['launch'] !== undefined && parts.store.take('Launch', String(params['launch'])) === undefined)
    throw new errors.SessionNotFound(TEXTS.error.expired);
  const grant = new (parts.provider().Grant)({ accountId: account.name, clientId: client });
  if (contexts.length > 0) grant.addOIDCScope(contexts.join(' '));
  grant.addResourceScope(parts.fhirBase, granted.join(' '));
  const id = await grant.save();
  const lifetime = contexts.includes('offline_access') ? LIFETIMES.grant : LIFETIMES.onlineGrant;
  const { encounter, intent, needPatientBanner } = launch ?? {};
  const context: GrantContext = {
    ...{ grant: id, client, scopes: granted, since: new Date().toISOString() },
    ...(whose === undefined ? {} : { patient: whose.id }),
    ...(encounter === undefined ? {} : { encounter }),
    ...(intent === undefined ? {} : { intent }),
    ...(needPatientBanner === undefined ? {} : { needPatientBanner }),
  };
  const expires = Math.floor(Date.now() / 1000) + lifetime;
  parts.store.keep('Context', id, context, { expires, grant: id, account: account.name });
  // The person has narrowed the request, and the provider goes on with what is left of it.
  params['scope'] = granted.join(' ');
  await interaction.persist();
  return finish(c, parts, { consent: { grantId: id } });
}

function deny(c: PageContext, parts: SmartParts, reason: string): Promise<Response> {
  return finish(c, parts, { error: 'access_denied', error_description: reason });
}
