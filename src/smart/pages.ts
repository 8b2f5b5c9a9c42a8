/**
 * Writes the pages of the authorization server: log in, choose a patient, consent, apps with access, the page that
 * plays the EHR, errors. In: what to show. Out: HTML without script, in which every text is escaped.
 */
import { html } from 'hono/html';
import { criteriaOf } from '../auth/scopes.ts';
import { type Html, PAGE_POLICY, page } from '../http/pages/page-frame.ts';
import { splitEscaped } from '../search/values.ts';
import type { Found, Listed } from './charts.ts';
import type { Choice } from './choices.ts';
import { parseResourceScope, type ResourceScope } from './scopes.ts';
import { TEXTS } from './texts.ts';

/** The policy without `form-action`: Chrome applies it to redirects after a form, and these lead to the app. */
export const FORM_POLICY = PAGE_POLICY.replace(" form-action 'self';", '');

function framed(title: string, lead: Html | string, sections: Html | readonly Html[]): string {
  const head = html`<header><p class="brand">${TEXTS.product}</p><h1>${title}</h1><p class="lead">${lead}</p></header>`;
  return String(page(`${title} · ${TEXTS.product}`, [], html`${head}${sections}`));
}

/** Writes an alert, which a screen reader announces when the page loads. */
function complaint(text: string | undefined): Html | '' {
  return text === undefined ? '' : html`<p class="bad" role="alert">${text}</p>`;
}

export interface LoginPage {
  /** Where a password is sent; undefined: no login by password. */
  readonly action?: string;
  /** The hospital's own login service, if it is used. */
  readonly issuer?: { readonly action: string; readonly label: string };
  /** Where the login leads, if not back to a launch. */
  readonly place?: string;
  /** Why a login is needed. */
  readonly lead: string;
  readonly name?: string;
  readonly complaint?: string | undefined;
}

export function loginPage({ action, issuer, place, lead, name = '', complaint: wrong }: LoginPage): string {
  const { login } = TEXTS;
  const aim = place === undefined ? '' : html`<input type="hidden" name="place" value="${place}">`;
  return framed(
    login.title,
    lead,
    html`<section>${complaint(wrong)}
${
  issuer === undefined
    ? ''
    : html`<form class="stack" method="post" action="${issuer.action}">${aim}<p><button>${login.atIssuer(issuer.label)}</button></p></form>`
}
${issuer === undefined || action === undefined ? '' : html`<p>${login.or}</p>`}
${
  action === undefined
    ? ''
    : html`<form class="stack" method="post" action="${action}">${aim}
<label>${login.name}<input name="username" value="${name}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="64"></label>
<label>${login.password}<input name="password" type="password" autocomplete="current-password" required maxlength="256"></label>
<p><button>${login.button}</button></p>
</form>`
}</section>`,
  );
}

export interface PatientPage {
  readonly action: string;
  readonly app: string;
  readonly name: string;
  readonly found: Found;
  readonly complaint?: string;
}

export function patientPage({ action, app, name, found, complaint: wrong }: PatientPage): string {
  const { patient } = TEXTS;
  const rows = found.items.map(
    item => html`<li><button name="patient" value="${item.id}">${labelOf(item, patient.born)}</button></li>`,
  );
  return framed(
    patient.title,
    patient.lead(app),
    html`<section>${complaint(wrong)}
<form class="stack" method="post" action="${action}">
<label>${patient.search}<input name="name" value="${name}" maxlength="100" autocomplete="off"></label>
<p><button>${patient.find}</button></p>
</form></section>
<section>${
      rows.length === 0
        ? html`<p role="status">${patient.none}</p>`
        : html`<form method="post" action="${action}"><ul class="pick">${rows}</ul></form>`
    }
${found.more ? html`<p class="quiet">${patient.more}</p>` : ''}
</section>`,
  );
}

/** Writes a label whose date is not broken across lines. */
function labelOf({ label, date }: Listed, words: (date: string) => string = text => text): Html {
  return date === undefined ? html`${label}` : html`${label}, <span class="day">${words(date)}</span>`;
}

/** Stands for an id, which never has this character: the person wants to share no visit. */
export const NO_ENCOUNTER = '~';

export interface EncounterPage {
  readonly action: string;
  readonly app: string;
  readonly patient: Listed;
  readonly found: Found;
}

export function encounterPage({ action, app, patient, found }: EncounterPage): string {
  const { encounter, consent } = TEXTS;
  const rows = found.items.map(
    item => html`<li><button name="encounter" value="${item.id}">${labelOf(item)}</button></li>`,
  );
  return framed(
    encounter.title,
    encounter.lead(app),
    html`<section><dl><dt>${consent.of}</dt><dd>${labelOf(patient, TEXTS.patient.born)}</dd></dl></section>
<section><form method="post" action="${action}"><input type="hidden" name="patient" value="${patient.id}"><ul class="pick">${rows}</ul>
${found.more ? html`<p class="quiet">${encounter.more}</p>` : ''}
<p class="decide"><button name="encounter" value="${NO_ENCOUNTER}" class="quiet">${encounter.without}</button></p></form></section>`,
  );
}

export interface ConsentPage {
  readonly action: string;
  readonly app: string;
  readonly account: string;
  readonly patient: Listed | undefined;
  readonly encounter: Listed | undefined;
  readonly choices: readonly Choice[];
  /** Scopes that are not for resources. */
  readonly contexts: readonly string[];
}

export function consentPage({ action, app, account, patient, encounter, choices, contexts }: ConsentPage): string {
  const { consent } = TEXTS;
  const has = (scope: string): boolean => contexts.includes(scope);
  const learns = [
    ...(has('openid') || has('fhirUser') || has('profile') ? [consent.identity] : []),
    ...(patient === undefined ? [] : [consent.context]),
    ...(encounter === undefined ? [] : [consent.encounter]),
  ];
  return framed(
    consent.title(app),
    consent.lead,
    html`<section><dl>
<dt>${consent.you}</dt><dd>${account}</dd>
${patient === undefined ? '' : html`<dt>${consent.of}</dt><dd>${labelOf(patient, TEXTS.patient.born)}</dd>`}
${encounter === undefined ? '' : html`<dt>${consent.visit}</dt><dd>${labelOf(encounter)}</dd>`}
</dl></section>
<form method="post" action="${action}">
${patient === undefined ? '' : html`<input type="hidden" name="patient" value="${patient.id}">`}
${encounter === undefined ? '' : html`<input type="hidden" name="encounter" value="${encounter.id}">`}
<section aria-labelledby="resources"><h2 id="resources">${consent.resources}</h2>
${choices.length === 0 ? html`<p>${consent.nothing}</p>` : html`<ul class="choices">${choices.map(choiceItem)}</ul>`}
</section>
${
  learns.length === 0 && !has('offline_access')
    ? ''
    : html`<section><ul class="choices">${learns.map(text => html`<li>${text}</li>`)}${
        has('offline_access')
          ? html`<li><label><input type="checkbox" name="scope" value="offline_access" checked> ${consent.offline}</label></li>`
          : ''
      }</ul></section>`
}
<p class="decide"><button name="decision" value="allow">${consent.allow}</button>
<button name="decision" value="deny" class="quiet">${consent.deny}</button></p>
</form>`,
  );
}

function choiceItem({ scope, meaning, parts }: Choice): Html {
  const { consent } = TEXTS;
  return html`<li><label><input type="checkbox" name="scope" value="${scope}" checked> ${inWords(meaning)}</label>
${
  parts.length === 0
    ? ''
    : html`<details><summary>${consent.parts}</summary><p class="quiet">${consent.partsHint}</p><ul class="choices">${parts.map(
        part =>
          html`<li><label><input type="checkbox" name="scope" value="${part.scope}"> ${consent.part(part.label)}</label></li>`,
      )}</ul></details>`
}</li>`;
}

/** Describes what a scope lets an app read, and whose data. */
function inWords({ type, query, letters, level }: ResourceScope): Html {
  const { consent } = TEXTS;
  const what =
    type === '*' ? consent.everything : query === '' ? consent.type(type) : consent.constrained(type, readable(query));
  const limit = letters === 'rs' || letters === '' ? '' : `, ${consent.only[letters]}`;
  return html`${what} <span class="quiet">${consent.level[level]}${limit}</span>`;
}

/** Returns all values of a query, without the URLs of their systems: the person agrees to each of them. */
export function readable(query: string): string {
  const criteria = criteriaOf(query) ?? [];
  if (criteria.length === 0) return query;
  return criteria
    .map(([name, text]) => `${name} ${splitEscaped(text, ',').map(readableValue).join(' or ')}`)
    .join(', ');
}

function readableValue(text: string): string {
  const [system, code = '', ...more] = splitEscaped(text, '|');
  const shown = system !== undefined && code !== '' && more.length === 0 ? code : text;
  // What could be read as words of this page is quoted.
  return /^[\w.:/$|-]+$/.test(shown) ? shown : `“${shown}”`;
}

export interface AppRow {
  readonly grant: string;
  readonly app: string;
  readonly record: string | undefined;
  readonly scopes: readonly string[];
  /** ISO instants. */
  readonly since: string;
  readonly until: string;
}

export interface AppsPage {
  readonly account: string;
  readonly endAction: string;
  readonly logoutAction: string;
  readonly rows: readonly AppRow[];
  readonly ended: boolean;
}

export function appsPage({ account, endAction, logoutAction, rows, ended }: AppsPage): string {
  const { apps } = TEXTS;
  const items = rows.map(
    ({ grant, app, record, scopes, since, until }) => html`<section><h2>${app}</h2>
<dl><dt>${apps.since}</dt><dd>${instant(since)}</dd><dt>${apps.until}</dt><dd>${instant(until)}</dd>
${record === undefined ? '' : html`<dt>${apps.record}</dt><dd>${record}</dd>`}
<dt>${apps.reads}</dt>${granted(scopes)}</dl>
<form method="post" action="${endAction}"><p class="decide"><button name="grant" value="${grant}" aria-label="${apps.endOf(app)}">${apps.end}</button></p></form></section>`,
  );
  return framed(
    apps.title,
    apps.lead,
    html`${ended ? html`<p role="status">${apps.ended}</p>` : ''}
${rows.length === 0 ? html`<section><p>${apps.none}</p></section>` : items}
<form method="post" action="${logoutAction}"><p class="decide">${account} <button>${apps.logout}</button></p></form>`,
  );
}

/** Writes a line for each scope, and one if the app may read while the person is away. */
function granted(scopes: readonly string[]): readonly Html[] {
  const { apps } = TEXTS;
  const reads = scopes.flatMap(scope => parseResourceScope(scope) ?? []).map(inWords);
  const lines = reads.length === 0 ? [html`${apps.nothing}`] : reads;
  return [...lines, ...(scopes.includes('offline_access') ? [html`${apps.offline}`] : [])].map(
    line => html`<dd>${line}</dd>`,
  );
}

function instant(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`;
}

export interface EhrPage {
  readonly action: string;
  readonly apps: readonly { readonly id: string; readonly name: string }[];
  readonly patients: Found;
  /** The patient chosen so far. */
  readonly patient: string | undefined;
  readonly encounters: Found;
  readonly complaint?: string | undefined;
}

export function ehrPage({ action, apps, patients, patient, encounters, complaint: wrong }: EhrPage): string {
  const { ehr } = TEXTS;
  const options = (items: readonly Listed[], chosenId?: string) =>
    items.map(
      item =>
        html`<option value="${item.id}" ${item.id === chosenId ? 'selected' : ''}>${[item.label, item.date].filter(Boolean).join(', ')}</option>`,
    );
  return framed(
    ehr.title,
    ehr.lead,
    html`<section><form class="stack" method="post" action="${action}">
${complaint(apps.length === 0 ? ehr.noApps : (wrong ?? (patients.items.length === 0 ? ehr.noPatients : undefined)))}
<label>${ehr.app}<select name="app">${apps.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}</select></label>
<label>${ehr.patient}<select name="patient">${options(patients.items, patient)}</select></label>
<p><button name="do" value="show">${ehr.show}</button></p>
<label>${ehr.encounter}<select name="encounter"><option value="">${ehr.noEncounter}</option>${options(encounters.items)}</select></label>
<p><button name="do" value="launch">${ehr.launch}</button></p>
</form></section>`,
  );
}

export function errorPage(reason: string): string {
  const { error } = TEXTS;
  return framed(error.title, error.lead, html`<section><p role="alert">${error.reason}: ${reason}</p></section>`);
}
