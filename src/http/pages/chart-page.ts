/**
 * Writes the chart pages of the REST interface, for people who are logged in: the look-up of patients, and a patient's
 * chart with its documents. In: what was found. Out: HTML without script.
 */
import { html } from 'hono/html';
import { TOPICS } from '../../ccda/topics.ts';
import type { ListedEncounter } from '../../rest/encounters.ts';
import type { PatientSummary } from '../../rest/patient-info.ts';
import type { SummaryResult } from '../../rest/patient-summary.ts';
import { type Html, page } from './page-frame.ts';

/** Absolute addresses; `api` without a slash at the end. */
export interface ChartPlace {
  readonly home: string;
  readonly charts: string;
  readonly api: string;
  /** Name of the account that is logged in. */
  readonly account: string;
}

/** What was looked for, and the result; without it the page has only the form. */
export interface LookUp {
  readonly search: string;
  readonly result: SummaryResult;
}

export function lookUpPage(place: ChartPlace, found: LookUp | undefined): Html {
  return page(
    'Charts',
    [{ text: 'Lintel', href: place.home }, { text: 'Charts' }],
    html`<header><h1>Charts</h1>${session(place)}</header>
<section><form class="look-up" role="search" method="get" action="${place.charts}">
<label><span>Patient</span><input name="search" type="search" value="${found?.search ?? ''}" maxlength="200" autocomplete="off"
 aria-describedby="how" required ${found === undefined ? 'autofocus' : ''}></label><button>Look up</button>
<p id="how" class="quiet">Name, date of birth, record number or telephone number</p></form></section>
${found === undefined ? '' : resultSection(place, found.result)}`,
  );
}

function resultSection({ charts }: ChartPlace, { patients, count, more }: SummaryResult): Html {
  if (count === 0) return html`<section><p class="lead" role="status">Nobody was found.</p></section>`;
  const row = ({ patientId, name, dob, sex, mrn, address }: PatientSummary): Html =>
    html`<tr><th scope="row"><a href="${charts}/${patientId}">${name || 'Name unknown'}</a></th><td class="day">${dob ?? ''}</td><td>${sex ?? ''}</td><td>${mrn ?? ''}</td><td>${address ?? ''}</td></tr>`;
  return html`<section aria-labelledby="found"><h2 id="found" role="status">${count} ${count === 1 ? 'patient' : 'patients'}${more ? ', and more: say more of the one that is meant' : ''}</h2>
<table class="stacked"><thead><tr><th scope="col">Name</th><th scope="col">Born</th><th scope="col">Sex</th><th scope="col">MRN</th><th scope="col">Address</th></tr></thead>
<tbody>${patients.map(row)}</tbody></table></section>`;
}

export interface ChartOfPatient {
  readonly patient: PatientSummary;
  /** `58 years`; empty if unknown. */
  readonly age: string;
  readonly died: string | undefined;
  readonly encounters: readonly ListedEncounter[];
  /** True if there are more encounters than are listed. */
  readonly more: boolean;
}

export function chartPage(place: ChartPlace, { patient, age, died, encounters, more }: ChartOfPatient): Html {
  const { patientId, name } = patient;
  const title = name || 'Name unknown';
  const documents = `${place.api}/${patientId}/ccds/api`;
  return page(
    title,
    [{ text: 'Lintel', href: place.home }, { text: 'Charts', href: place.charts }, { text: title }],
    html`<header><h1>${title}</h1>${facts(patient, age, died)}${session(place)}</header>
<section aria-labelledby="documents"><h2 id="documents">Documents</h2>
<p>Each is made from the record as it is now.</p>
<ul class="documents">${TOPICS.map(one => documentItem(one.title, `${documents}/${one.name}`, one.name))}</ul></section>
<section aria-labelledby="days"><h2 id="days">Of some days only</h2>
<form class="search" method="get" action="${place.charts}/${patientId}/document">
<label><span>Document</span><select name="topic">${TOPICS.filter(({ dated }) => dated).map(one => html`<option value="${one.name}">${one.title}</option>`)}</select></label>
<label><span>From</span><input type="date" name="rangeStart"></label>
<label><span>Until</span><input type="date" name="rangeEnd"></label>
<label><span>As</span><select name="_format"><option value="html">Page</option><option value="xml">C-CDA (XML)</option></select></label>
<p><button>Show</button></p></form></section>
<section aria-labelledby="encounters"><h2 id="encounters">Encounters</h2>
${
  encounters.length === 0
    ? html`<p>None has a document that is signed and available.</p>`
    : html`<ul class="documents">${encounters.map(one =>
        documentItem(
          [one.period, one.what].filter(Boolean).join(', ') || `No. ${one.number}`,
          `${documents}/encounter-ccds?encounterId=${one.number}`,
          `encounter-${one.number}`,
        ),
      )}</ul>${more ? html`<p class="quiet">Older ones are not listed.</p>` : ''}`
}</section>`,
  );
}

function facts({ dob, sex, mrn, phone, address }: PatientSummary, age: string, died: string | undefined): Html {
  const all = { Born: dob, Died: died, Age: age, Sex: sex, MRN: mrn, Telephone: phone, Address: address };
  const known = Object.entries(all).filter(([, value]) => value !== undefined && value !== '');
  return html`<dl class="facts">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** Writes the links to a document as a page and as a file. */
function documentItem(title: string, address: string, file: string): Html {
  const xml = `${address}${address.includes('?') ? '&' : '?'}_format=xml`;
  return html`<li><a href="${address}">${title}</a> <a class="quiet" href="${xml}" download="${file}.xml" aria-label="${title} as XML">XML</a></li>`;
}

function session({ api, account }: ChartPlace): Html {
  return html`<form class="session" method="post" action="${api}/users/logout"><span class="quiet">Logged in as ${account}</span> <button>Log out</button></form>`;
}
