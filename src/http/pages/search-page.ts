/**
 * Writes a form that searches one type, made from /metadata. In: the type in the path, and values of fields as
 * parameters. Out: the form; once it is sent, a redirect to the search without the empty fields.
 */
import { Hono } from 'hono';
import { html } from 'hono/html';
import { FhirError } from '../../outcome.ts';
import { type AppParts, fhirBase, type HttpEnv, serverBase } from '../context.ts';
import { type Html, PAGE_POLICY, page } from './page-frame.ts';
import { type OfferedType, offeredTypes } from './samples.ts';

const PATH = 'search';

/** Returns the path of the form, relative to the address of the server. */
export const searchPath = (type: string): string => `${PATH}/${type}`;

/** Example values of a field, by type of search parameter. https://hl7.org/fhir/R4/search.html#ptypes */
const EXAMPLES: Readonly<Record<string, string>> = {
  date: 'ge2024-01-01',
  number: 'gt5',
  quantity: 'gt5.4|http://unitsofmeasure.org|mg',
  reference: 'id, or Type/id',
  string: 'the beginning of a text',
  token: 'code, or system|code',
  uri: 'an address',
};

const RESULTS = [
  { name: '_count', example: '10' },
  { name: '_sort', example: 'a parameter, -parameter for descending' },
] as const;

export function searchRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get(`/${PATH}/:type`, c => {
    const fhir = fhirBase(c, parts);
    const type = c.req.param('type');
    const offered = offeredTypes(parts.facade.capabilities({ base: fhir })).find(one => one.type === type);
    if (offered === undefined)
      throw new FhirError(
        'unknown-type',
        'This server has no such resource type; the start page lists those that it has',
      );
    const sent = [...new URL(c.req.url).searchParams];
    if (sent.length > 0) {
      const filled = sent.filter(([, value]) => value.trim() !== '');
      return c.redirect(`${fhir}/${offered.type}?${new URLSearchParams(filled)}`, 303);
    }
    c.header('Content-Security-Policy', PAGE_POLICY);
    return c.html(searchPage(offered, `${serverBase(c, parts)}/`));
  });
  return routes;
}

function searchPage({ type, searches, profiles }: OfferedType, home: string): Html {
  const field = (name: string, kind: string, example: string): Html =>
    html`<label><span>${name} <span class="quiet">${kind}</span></span><input name="${name}" placeholder="${example}" autocomplete="off"></label>`;
  const own = searches.filter(({ name }) => name !== '_count' && name !== '_sort');
  const content = html`<header><h1>Search ${type}</h1>
<p class="lead">Fields that are left empty do not count. A modifier is written behind a parameter in the address: <code>name:exact</code>.</p></header>
<section><form class="search" method="get" action="${home}${searchPath(type)}">
${own.map(({ name, type: kind }) => field(name, kind, EXAMPLES[kind] ?? ''))}
${RESULTS.map(({ name, example }) => field(name, 'result', example))}
<p><button>Search</button></p></form></section>
${profiles.length === 0 ? '' : html`<section><h2>Profiles</h2><ul>${profiles.map(one => html`<li>${one.split('/').at(-1)} <span class="quiet">${one}</span></li>`)}</ul></section>`}`;
  return page(`Search ${type}`, [{ text: 'Lintel', href: home }, { text: `Search ${type}` }], content);
}
