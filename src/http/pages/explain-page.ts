/**
 * Writes the page that explains a search: its statements, the indexes that serve them, the columns behind each element.
 * In: `query`, a search as in a URL. Out: HTML without the values of the search. Only for callers who may see
 * everything.
 */
import { Hono } from 'hono';
import { html } from 'hono/html';
import { queryLines } from '../../explain/query-text.ts';
import type { ExplainedStatement, Explanation, Lineage } from '../../explain/search.ts';
import { parameterLines, sqlLines } from '../../explain/sql-text.ts';
import type { SearchRequest } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import { type AppParts, fhirBase, type HttpContext, type HttpEnv, requestContext, serverBase } from '../context.ts';
import { parseParameters } from '../middleware/request.ts';
import { type Html, PAGE_POLICY, page } from './page-frame.ts';

export const EXPLAIN_PATH = '/explain';

/** Explains a search on the engine that is served. Throws FhirError like the search itself. */
export type Explain = (
  request: SearchRequest,
) => Promise<{ readonly explanation: Explanation; readonly engine: string }>;

export function explainRoutes(parts: AppParts, explain: Explain): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get(EXPLAIN_PATH, async c => {
    if (requestContext(c, parts).access.kind !== 'all')
      throw new FhirError('no-permission', 'Only callers with full access may see how a search is executed');
    const query = new URL(c.req.url).searchParams.get('query') ?? '';
    const mark = query.indexOf('?');
    const type = mark < 0 ? query : query.slice(0, mark);
    if (!/^[A-Za-z]+$/.test(type))
      throw new FhirError('wrong-value', 'query: expected a search like Patient?name=smith', { parameter: 'query' });
    const parameters = parseParameters(mark < 0 ? '' : query.slice(mark + 1), 'query').filter(
      ([name]) => !ELSEWHERE.has(name),
    );
    const { explanation, engine } = await explain({ type, parameters });
    c.header('Content-Security-Policy', PAGE_POLICY);
    return c.html(explainPage(explanation, engine, placeOf(c, parts, query)));
  });
  return routes;
}

/** Parameters for the format of the answer, which are not part of the search. */
const ELSEWHERE = new Set(['_format', '_pretty']);

interface Place {
  readonly home: string;
  /** Address of the search itself. */
  readonly search: string;
}

function placeOf(c: HttpContext, parts: AppParts, query: string): Place {
  return { home: `${serverBase(c, parts)}/`, search: `${fhirBase(c, parts)}/${query}` };
}

function explainPage({ query, mappings, statements, lineage }: Explanation, engine: string, place: Place): Html {
  const read = mappings.filter(one => one.read);
  const others = mappings.filter(one => !one.read);
  const title = `How ${query.type} is searched`;
  const content = html`<header><h1>${title}</h1>
<ul>${queryLines(query, false).map(line => html`<li>${line}</li>`)}</ul></header>
<section><h2>Mappings</h2>
<p>Each row that a mapping reads becomes a resource.</p>
<ul>${read.map(one => html`<li><b>${one.name}</b> <span class="quiet">${one.place}</span></li>`)}</ul>
${others.length === 0 ? '' : html`<p class="quiet">Cannot match: ${others.map(({ name }) => name).join(', ')}</p>`}
</section>
<section><h2>${statements.length} statements</h2>
<p>Values of the search are not shown.</p>
${statements.map((one, i) => statementBlock(one, engine, i === 0))}</section>
<section><h2>Where each element comes from</h2>
${read.map(({ name }) =>
  lineageBlock(
    name,
    lineage.filter(({ mapping }) => mapping === name),
    read.length === 1,
  ),
)}</section>`;
  return page(
    title,
    [{ text: 'Lintel', href: place.home }, { text: query.type, href: place.search }, { text: 'SQL and lineage' }],
    content,
  );
}

function statementBlock(statement: ExplainedStatement, engine: string, open: boolean): Html {
  const { purpose, served } = statement;
  const shown = statement.rendered.filter(one => one.engine === engine);
  const lines = shown.flatMap(statement => sqlLines(statement));
  return html`<details class="entry" ${open ? 'open' : ''}><summary>${purpose} <span class="quiet">${served[0] ?? ''}</span></summary>
<pre class="wrap"><code>${lines.join('\n')}</code></pre>
<p class="quiet">Parameters: ${shown.flatMap(({ parameters }) => parameterLines(engine, parameters, false)).join('; ') || 'none'}</p>
<p>Served by</p><ul>${served.map(line => html`<li><code>${line}</code></li>`)}</ul></details>`;
}

function lineageBlock(name: string, lineage: readonly Lineage[], open: boolean): Html {
  return html`<details class="entry" ${open ? 'open' : ''}><summary>${name}</summary>
<table><thead><tr><th scope="col">Element</th><th scope="col">From</th><th scope="col">Written in</th></tr></thead>
<tbody>${lineage.map(one => html`<tr><td>${one.element}</td><td><code>${one.from}</code></td><td class="quiet">${one.place}</td></tr>`)}</tbody></table></details>`;
}
