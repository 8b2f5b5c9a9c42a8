/**
 * Serves the pages between an authorization request and its code: log in, choose a patient, consent. In: the
 * interaction that the provider began, identified by a cookie of this browser. Out: its result, and the way back.
 */
import { Hono } from 'hono';
import { errors } from 'oidc-provider';
import type { Account } from '../auth/accounts.ts';
import { eraOf } from '../auth/era.ts';
import { type Charts, type Listed, VISIT } from './charts.ts';
import { type Choice, choicesOf, chosen } from './choices.ts';
import type { GrantContext, Launch } from './context.ts';
import { finish, type Interaction, interactionOf, loginForApp, tryPassword } from './login-form.ts';
import { consentPage, encounterPage, NO_ENCOUNTER, patientPage } from './pages.ts';
import { fieldsOf, type NodeEnv, type PageContext, pageOf, refuseForeign, type SmartParts } from './parts.ts';
import { isLoggedIn, LIFETIMES, loginMark } from './provider.ts';
import { CONTEXT_SCOPES, grantable } from './scopes.ts';
import { TEXTS } from './texts.ts';

/** The data of an interaction. */
interface Asked {
  readonly interaction: Interaction;
  readonly account: Account;
  readonly app: string;
  readonly client: string;
  readonly launch: Launch | undefined;
  /** The most that it may be granted. */
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
    return finish(c, parts, { login: { accountId: tried.account.name }, mark: loginMark(tried.account) });
  });

  const answered = (path: string, go: (c: PageContext, asked: Asked, fields: URLSearchParams) => Promise<Response>) =>
    routes.post(`/:uid/${path}`, async c => {
      refuseForeign(c, parts);
      const fields = await fieldsOf(c);
      return go(c, await askedOf(await interactionOf(c, parts), parts), fields);
    });
  answered('patient', (c, asked, fields) =>
    decide(c, parts, asked, { patient: fields.get('patient'), name: fields.get('name') }),
  );
  answered('encounter', (c, asked, fields) =>
    decide(c, parts, asked, { patient: fields.get('patient'), encounter: fields.get('encounter') }),
  );
  answered('consent', async (c, asked, fields) => {
    if (fields.get('decision') !== 'allow') {
      await parts.record(c, { who: asked.account, status: 403, details: { client: asked.client } });
      return deny(c, parts, TEXTS.error.denied);
    }
    const [patient, encounter] = [fields.get('patient'), fields.get('encounter')];
    return allow(c, parts, asked, { ticked: new Set(fields.getAll('scope')), patient, encounter });
  });

  return routes;
}

async function askedOf(interaction: Interaction, parts: SmartParts): Promise<Asked> {
  const { params, session, prompt } = interaction;
  const account =
    session !== undefined && isLoggedIn(session, parts) ? parts.accounts.find(session.accountId) : undefined;
  const client = parts.clients.find(String(params['client_id']));
  if (prompt.name !== 'consent' || account === undefined || client === undefined)
    throw new errors.SessionNotFound(TEXTS.error.expired);
  const launch =
    params['launch'] === undefined ? undefined : parts.store.find<Launch>('Launch', String(params['launch']))?.value;
  if (params['launch'] !== undefined && launch === undefined) throw new errors.SessionNotFound(TEXTS.error.expired);
  if (launch?.user !== undefined && launch.user !== account.fhirUser)
    throw new errors.AccessDenied(TEXTS.error.wrongUser);
  const { types } = parts.facade().registry;
  const scopes = grantable(String(params['scope'] ?? '').split(' '), client.scopes, 'person').filter(scope => {
    // Only a launch from an EHR can grant this one.
    if (scope === 'launch') return launch !== undefined;
    return scope !== ENCOUNTER || (launch === undefined ? types.includes(VISIT) : launch.encounter !== undefined);
  });
  return {
    ...{ interaction, account, app: client.name, client: client.id, launch, scopes },
    choices: choicesOf(scopes, types),
    action: `${parts.issuer}/interaction/${interaction.uid}`,
  };
}

/** The scope that requests a visit. */
const ENCOUNTER = 'launch/encounter';

/** The choices of the person so far. */
interface Given {
  readonly patient?: string | null;
  /** Words of a patient's name. */
  readonly name?: string | null;
  /** NO_ENCOUNTER: the person wants none. */
  readonly encounter?: string | null;
}

/** Shows the page of consent; first those of patients and of visits, if one is requested and not known yet. */
async function decide(c: PageContext, parts: SmartParts, asked: Asked, given: Given = {}): Promise<Response> {
  const { account, app, action, scopes, choices } = asked;
  const patient = await patientOf(parts.charts(c), asked, given.patient);
  if (patient === 'unknown') {
    const found = await parts.charts(c).patients(account, given.name ?? '');
    return pageOf(c, patientPage({ action: `${action}/patient`, app, name: given.name ?? '', found }));
  }
  if (patient === 'foreign') throw new errors.AccessDenied(TEXTS.error.noPatient);
  const encounter = await encounterOf(parts.charts(c), asked, patient, given.encounter);
  if (patient !== undefined && encounter === 'unknown') {
    const found = await parts.charts(c).encounters(account, patient.id);
    if (found.items.length > 0) return pageOf(c, encounterPage({ action: `${action}/encounter`, app, patient, found }));
  }
  const visit = typeof encounter === 'object' ? encounter : undefined;
  const contexts = scopes.filter(scope => CONTEXTS.has(scope));
  return pageOf(
    c,
    consentPage({
      action: `${action}/consent`,
      app,
      account: account.shown ?? account.name,
      patient,
      encounter: visit,
      choices,
      contexts,
    }),
  );
}

const CONTEXTS: ReadonlySet<string> = new Set(CONTEXT_SCOPES);

/**
 * Returns the patient of a launch: the EHR's, the chosen one, or the only one whom the person may see. `unknown`: has
 * to be chosen first; `foreign`: the person may not see this patient.
 */
async function patientOf(
  charts: Charts,
  { launch, scopes, account }: Asked,
  given: string | null | undefined,
): Promise<Listed | undefined | 'unknown' | 'foreign'> {
  const id = launch?.patient ?? given ?? '';
  if (id !== '') return (await charts.patient(account, id)) ?? 'foreign';
  const needed = scopes.some(
    scope => scope === 'launch/patient' || scope === ENCOUNTER || scope.startsWith('patient/'),
  );
  if (!needed) return undefined;
  const { items, more } = await charts.patients(account);
  const [only] = items;
  return only !== undefined && items.length === 1 && !more ? only : 'unknown';
}

/**
 * Returns the visit that a person has chosen. `unknown`: one is requested, and none was chosen or declined. Throws
 * AccessDenied if it is not a visit of this patient that the person may see.
 */
async function encounterOf(
  charts: Charts,
  { launch, scopes, account }: Asked,
  patient: Listed | undefined,
  given: string | null | undefined,
): Promise<Listed | undefined | 'unknown'> {
  if (launch !== undefined || patient === undefined || !scopes.includes(ENCOUNTER)) return undefined;
  const id = given ?? '';
  if (id === '' || id === NO_ENCOUNTER) return id === '' ? 'unknown' : undefined;
  const found = await charts.encounter(account, patient.id, id);
  if (found === undefined) throw new errors.AccessDenied(TEXTS.error.noEncounter);
  return found;
}

interface Decided extends Pick<Given, 'encounter'> {
  readonly ticked: ReadonlySet<string>;
  readonly patient: string | null;
}

async function allow(c: PageContext, parts: SmartParts, asked: Asked, decided: Decided): Promise<Response> {
  const { ticked, patient } = decided;
  const { interaction, account, client, launch, scopes, choices } = asked;
  const whose = await patientOf(parts.charts(c), asked, patient);
  if (whose === 'unknown' || whose === 'foreign') throw new errors.AccessDenied(TEXTS.error.noPatient);
  const chosenVisit = await encounterOf(parts.charts(c), asked, whose, decided.encounter);
  const visit = launch?.encounter ?? (typeof chosenVisit === 'object' ? chosenVisit.id : undefined);
  const contexts = scopes.filter(
    scope =>
      CONTEXTS.has(scope) &&
      (scope !== 'offline_access' || ticked.has(scope)) &&
      (scope !== ENCOUNTER || visit !== undefined),
  );
  const granted = [...contexts, ...chosen(choices, ticked)];
  if (granted.length === 0) return deny(c, parts, TEXTS.error.denied);
  const { params } = interaction;
  if (params['launch'] !== undefined && parts.store.take('Launch', String(params['launch'])) === undefined)
    throw new errors.SessionNotFound(TEXTS.error.expired);
  const details = { client, scope: granted.join(' ') };
  await parts.record(c, { who: account, status: 303, details, patient: whose?.id });
  const grant = new (parts.provider().Grant)({ accountId: account.name, clientId: client });
  if (contexts.length > 0) grant.addOIDCScope(contexts.join(' '));
  grant.addResourceScope(parts.fhirBase, granted.join(' '));
  const id = await grant.save();
  const lifetime = contexts.includes('offline_access') ? LIFETIMES.grant : LIFETIMES.onlineGrant;
  const { fhirContext, intent, needPatientBanner } = launch ?? {};
  const context: GrantContext = {
    ...{ grant: id, client, user: account.fhirUser ?? null, scopes: granted, since: new Date().toISOString() },
    era: eraOf(account, parts.clients.find(client)),
    ...(whose === undefined ? {} : { patient: whose.id }),
    ...(visit === undefined ? {} : { encounter: visit }),
    ...(fhirContext === undefined ? {} : { fhirContext }),
    ...(intent === undefined ? {} : { intent }),
    ...(needPatientBanner === undefined ? {} : { needPatientBanner }),
  };
  const expires = Math.floor(Date.now() / 1000) + lifetime;
  parts.store.keep('Context', id, context, { expires, grant: id, account: account.name });
  // The person has narrowed the request, and the provider continues with the rest.
  params['scope'] = granted.join(' ');
  await interaction.persist();
  return finish(c, parts, { consent: { grantId: id } });
}

function deny(c: PageContext, parts: SmartParts, reason: string): Promise<Response> {
  return finish(c, parts, { error: 'access_denied', error_description: reason });
}
