/**
 * The page at `/` as HTML: one document, no script, nothing fetched from anywhere. In: what home.ts found out. Out: HTML
 * in which every text is escaped.
 */
import { html, raw } from 'hono/html';
import type { Refused } from './context.ts';
import type { Home } from './home.ts';
import { type OfferedType, readable, type Sample } from './samples.ts';

type Html = ReturnType<typeof html>;

export function homePage(home: Home): Html {
  const { pack, fhir, rest, types, warnings, refused, lacking } = home;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Lintel: ${pack.title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<header>
<p class="brand">Lintel</p>
<h1>${pack.title}</h1>
<p class="lead">This is a read-only <a href="https://hl7.org/fhir/R4/">FHIR R4</a> server. It answers from a database that
was there before it: each request is turned into SQL by the mappings of the pack <b>${pack.name}</b>.</p>
<dl>
<dt>FHIR base URL</dt><dd><code><b>${fhir}</b></code></dd>
${rest === undefined ? '' : html`<dt>REST base URL</dt><dd><code><b>${rest}</b></code> (asks for a login)</dd>`}
<dt>Mappings</dt><dd>${mappingState(home)}</dd>
</dl>
</header>
${refused === undefined ? '' : refusedSection(refused, pack.version)}
${lacking === undefined ? '' : lackingSection(lacking)}
<section aria-labelledby="try">
<h2 id="try">Try it</h2>
<ol class="samples">${home.samples.map(sampleItem)}</ol>
</section>
<section aria-labelledby="types">
<h2 id="types">${types.length} resource types</h2>
<p>Each name leads to a first page of what is there; what it can be searched by stands beside it.</p>
<table>
<thead><tr><th scope="col">Type</th><th scope="col" class="number">Profiles</th><th scope="col">Search parameters</th></tr></thead>
<tbody>${types.map(type => typeRow(fhir, type))}</tbody>
</table>
</section>
${warnings.length === 0 ? '' : warningSection(warnings)}
<footer>All this as data: <code>curl -H 'Accept: application/json' ${fhir.replace(/[^/]*$/, '')}</code></footer>
</main>
</body>
</html>`;
}

function sampleItem({ title, url }: Sample): Html {
  return html`<li><a href="${readable(url)}">${title}</a><pre><code>curl '${url}'</code></pre></li>`;
}

function typeRow(fhir: string, { type, profiles, parameters }: OfferedType): Html {
  return html`<tr>
<th scope="row"><a href="${readable(`${fhir}/${type}?_count=5`)}">${type}</a></th>
<td class="number">${profiles.length}</td>
<td><details><summary><span class="number">${parameters.length}</span><span class="names">${parameters.join(', ')}</span></summary></details></td>
</tr>`;
}

function mappingState({ pack, mappings, warnings, refused, lacking }: Home): Html {
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

/** Problems that are shown at first sight. */
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

const STYLE = `
:root {
  --ground: #f6f5f1; --sheet: #ffffff; --ink: #1d2b2a; --quiet: #5c6a68; --line: #dcdad2;
  --accent: #0b6e63; --code: #eef3f1; --bad: #a3341f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121817; --sheet: #1a2221; --ink: #e4ebe9; --quiet: #94a5a2; --line: #2e3a38;
    --accent: #5fd0bf; --code: #222d2b; --bad: #ff9a80;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 0.9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.brand { margin: 0; color: var(--accent); font-weight: 600; letter-spacing: 0.02em; }
.brand::before { content: ""; display: inline-block; width: 1.1em; height: 0.8em; margin-right: 0.5em; border: 0.18em solid currentColor; border-bottom: 0; }
h1 { margin: 0.3rem 0 0.6rem; font-size: clamp(1.6rem, 4vw, 2.3rem); line-height: 1.2; letter-spacing: -0.015em; text-wrap: balance; }
h2 { margin: 0 0 0.75rem; font-size: 1.15rem; }
.lead { max-width: 42rem; margin: 0; color: var(--quiet); }
section { margin-top: 1.5rem; padding: 1.5rem; background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; }
section.alarm { border-color: var(--bad); }
.alarm h2 { color: var(--bad); }
section > p { margin: -0.4rem 0 1rem; color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.5rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
header dl { margin-top: 1.25rem; }
.samples { margin: 0; padding: 0; list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
pre { margin: 0.35rem 0 0; padding: 0.65rem 0.85rem; overflow-x: auto; background: var(--code); border-radius: 6px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: left; vertical-align: baseline; border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; padding-top: 0; color: var(--quiet); font-size: 0.875rem; }
tbody th { font-weight: 600; }
.number { width: 5rem; font-variant-numeric: tabular-nums; }
td:last-child { padding-right: 0; max-width: 0; width: 62%; }
summary { display: flex; gap: 0.75rem; cursor: pointer; }
summary .number { width: 1.5rem; flex: none; text-align: right; }
.names { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--quiet); }
details[open] .names { white-space: normal; }
.good { color: var(--accent); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
ul { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere; }
footer { margin-top: 1.5rem; color: var(--quiet); font-size: 0.9rem; }
@media (max-width: 34rem) { main { padding-top: 1.5rem; } section { padding: 1.1rem; } .number { width: 4rem; }
  th { overflow-wrap: anywhere; } thead th:nth-child(2), td:nth-child(2) { display: none; } }
`;
