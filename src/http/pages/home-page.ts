/**
 * Writes the start page `/`: one HTML document without script that loads nothing. In: what home.ts collected. Out:
 * HTML in which every text is escaped.
 */
import { html } from 'hono/html';
import type { Refused } from '../context.ts';
import type { DatabaseLine, Home, JobLine } from './home.ts';
import { type LoginForm, loginForm } from './login-page.ts';
import { type Html, page } from './page-frame.ts';
import type { OfferedType, Sample } from './samples.ts';
import { searchPath } from './search-page.ts';

/** Returns the page. `login`: form of the REST interface, if it is offered. */
export function homePage(home: Home, login?: LoginForm): Html {
  const { pack, fhir, rest, discovery, types, warnings = [], refused, lacking, jobs = [] } = home;
  const content = html`<header>
<p class="brand">Lintel</p>
<h1>${pack.title}</h1>
<p class="lead">This is a read-only <a href="https://hl7.org/fhir/R4/">FHIR R4</a> server. It answers from a database that
was there before it: each request is turned into SQL by the mappings of the pack <b>${pack.name}</b>.</p>
<dl>
<dt>FHIR base URL</dt><dd><code><b>${fhir}</b></code></dd>
${rest === undefined ? '' : html`<dt>REST base URL</dt><dd><code><b>${rest}</b></code> (asks for a login)</dd>`}
${discovery === undefined ? '' : html`<dt>Access</dt><dd>by token: apps begin at <a href="${discovery}"><code>${discovery}</code></a></dd>`}
<dt>Mappings</dt><dd>${mappingState(home)}</dd>
${stateRows(home)}
</dl>
</header>
${refused === undefined ? '' : refusedSection(refused, pack.version)}
${lacking === undefined ? '' : lackingSection(lacking)}
${login === undefined ? '' : chartSection(login)}
<section aria-labelledby="try">
<h2 id="try">Try it</h2>
<ol class="samples">${home.samples.map(sample => sampleItem(sample, discovery === undefined))}</ol>
${fhir.startsWith('https:') ? html`<p class="quiet">If curl does not trust the certificate of this server, it needs <code>--cacert FILE</code>.</p>` : ''}
</section>
${jobs.length === 0 ? '' : jobSection(fhir, jobs)}
<section aria-labelledby="types">
<h2 id="types">${types.length} resource types</h2>
<p>${discovery === undefined ? 'Each name leads to a form that searches it; its search parameters and profiles stand beside it.' : 'Each with its profiles and search parameters.'}</p>
<table class="types">
<thead><tr><th scope="col">Type</th><th scope="col" class="number">Profiles</th><th scope="col">Search parameters</th></tr></thead>
<tbody>${types.map(type => typeRow(fhir, type, discovery === undefined))}</tbody>
</table>
</section>
${warnings.length === 0 ? '' : warningSection(warnings)}
<footer>All this as data: <code>curl -H 'Accept: application/json' ${fhir.replace(/[^/]*$/, '')}</code></footer>`;
  return page(`Lintel: ${pack.title}`, [], content);
}

/** Writes the section for people who read charts: after the login they continue to the look-up of patients. */
function chartSection(login: LoginForm): Html {
  return html`<section aria-labelledby="charts">
<h2 id="charts">Charts</h2>
<p>Log in to look up a patient and to read the record as documents, or <a href="${login.next}">go on</a> if you are logged in.</p>
${loginForm(login)}
</section>`;
}

/** Writes the state of the process: version, database, cache, and the latest problems. */
function stateRows({ software, database, cache, problems = [] }: Home): Html {
  return html`<dt>Software</dt><dd>Lintel ${software}</dd>
${database === undefined ? '' : databaseRow(database)}
${cache === undefined ? '' : html`<dt>Cache</dt><dd>${cache.entries} answers, ${Math.round(cache.bytes / 100_000) / 10} MB; ${cache.hits} hits, ${cache.misses} misses</dd>`}
${problems.length === 0 ? '' : html`<dt>Last problems</dt><dd><ul>${problems.map(({ at, message }) => html`<li>${instant(at)}: ${message}</li>`)}</ul></dd>`}`;
}

function databaseRow(database: DatabaseLine): Html {
  return html`<dt>Database</dt><dd>${database.engine}, ${database.milliseconds === undefined ? html`<span class="bad">does not answer</span>` : html`answers in ${database.milliseconds} ms`}${database.bulkheads.map(
    ({ bulkhead, taken, size, waiting }) =>
      html`; ${bulkhead} connections: ${taken} of ${size} taken, ${waiting} waiting`,
  )}</dd>`;
}

function jobSection(fhir: string, jobs: readonly JobLine[]): Html {
  const button = (operation: string, id: string, name: string): Html =>
    html`<form class="inline" method="post" action="${fhir}/${operation}?_jobId=${id}"><button>${name}</button></form> `;
  return html`<section aria-labelledby="jobs"><h2 id="jobs">Exports</h2>
<table><thead><tr><th scope="col">Begun</th><th scope="col">State</th><th scope="col">Do</th></tr></thead>
<tbody>${jobs.map(
    ({
      id,
      status,
      begun,
      progress,
    }) => html`<tr><td>${instant(begun)}</td><td>${status}<br><span class="quiet">${progress}</span></td>
<td>${status === 'running' ? button('$pause-job', id, 'Pause') : ''}${status === 'paused' ? button('$resume-job', id, 'Resume') : ''}${button('$cancel-job', id, status === 'complete' || status === 'failed' ? 'Remove' : 'Cancel')}</td></tr>`,
  )}</tbody></table></section>`;
}

/** Writes a sample. `isOpen`: a browser, which has no token, may follow the link. */
function sampleItem({ title, url }: Sample, isOpen: boolean): Html {
  return isOpen
    ? html`<li><a href="${url}">${title}</a><pre><code>curl '${url}'</code></pre></li>`
    : html`<li>${title}<pre><code>curl -H "Authorization: Bearer $TOKEN" '${url}'</code></pre></li>`;
}

function typeRow(fhir: string, { type, profiles, parameters }: OfferedType, isOpen: boolean): Html {
  const home = fhir.replace(/[^/]*$/, '');
  return html`<tr>
<th scope="row">${isOpen ? html`<a href="${home}${searchPath(type)}">${type}</a>` : type}</th>
<td class="number">${
    profiles.length === 0
      ? '0'
      : html`<details><summary>${profiles.length}</summary><ul>${profiles.map(profile => html`<li>${profile.split('/').at(-1)}</li>`)}</ul></details>`
  }</td>
<td><details><summary><span class="number">${parameters.length}</span><span class="names">${parameters.join(', ')}</span></summary></details></td>
</tr>`;
}

function mappingState({ pack, mappings, warnings, refused, lacking }: Home): Html {
  if (warnings === undefined) return html`${mappings}, version <code>${pack.version}</code>`;
  const problems =
    warnings.length === 0
      ? html`<span class="good">no problems</span>`
      : html`<a class="bad" href="#problems">problems: ${warnings.length}</a>`;
  const newer = refused === undefined ? '' : html`; <a class="bad" href="#refused">a newer version is refused</a>`;
  const less =
    lacking === undefined ? '' : html`; <a class="bad" href="#lacking">the database lacks what they need</a>`;
  return html`${mappings}, version <code>${pack.version}</code>, ${problems}${newer}${less}`;
}

function refusedSection({ at, problems }: Refused, version: string): Html {
  return html`<section class="alarm" aria-labelledby="refused">
<h2 id="refused">The mappings on disk are not served</h2>
<p>As they were on ${instant(at)} they cannot take over. Version
<code>${version}</code> goes on answering until they can.</p>
${problemList(problems)}
</section>`;
}

function lackingSection({ at, problems }: Refused): Html {
  return html`<section class="alarm" aria-labelledby="lacking">
<h2 id="lacking">The database lacks what the mappings need</h2>
<p>As it was on ${instant(at)}, requests that read what is missing fail; all others are answered. It is looked at again every few
seconds.</p>
${problemList(problems)}
</section>`;
}

function instant(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} at ${at.slice(11, 19)} UTC</time>`;
}

/** Problems that are shown without unfolding the list. */
const SHOWN = 10;

function problemList(problems: readonly string[]): Html {
  const list = (some: readonly string[]) => html`<ul>${some.map(one => html`<li>${one}</li>`)}</ul>`;
  const rest = problems.slice(SHOWN);
  const more = html`<details><summary>${rest.length} more</summary>${list(rest)}</details>`;
  return html`${list(problems.slice(0, SHOWN))}${rest.length === 0 ? '' : more}`;
}

function warningSection(warnings: readonly string[]): Html {
  return html`<section aria-labelledby="problems">
<h2 id="problems">Problems of the mappings</h2>
<p>What <code>npx lintel check</code> says. They do not keep the server from answering.</p>
${problemList(warnings)}
</section>`;
}
