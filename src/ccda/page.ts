/**
 * Writes a document as an HTML page for clinicians, with the same narrative as the XML. The page has no script and
 * loads nothing. In: a document. Out: HTML in pieces.
 */
import { createHash } from 'node:crypto';
import type { Document } from './document.ts';
import type { Patient } from './fhir/people.ts';
import { narrativeHtml } from './narrative.ts';
import { readableAddress, readableName } from './people.ts';
import { emptyText } from './section.ts';
import { readableTime } from './time.ts';
import { attribute, html, type Markup, NOTHING, verbatim } from './xml.ts';

/** Where a page leads to; absolute addresses. */
export interface PageLinks {
  /** The patient's chart. */
  readonly chart?: string;
  /** The same document as XML. */
  readonly xml: string;
}

export function* documentPage(document: Document, links?: PageLinks): Generator<string> {
  const { header, sections, words, about, mrn } = document;
  const { patient, title } = header;
  const name = readableName(patient.name?.find(({ use }) => use === 'official') ?? patient.name?.[0]) || 'Name unknown';
  yield html`
    <!doctype html>\n
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>${title}: ${name}</title>
        <style>${verbatim(STYLE)}</style>
      </head>\n
      <body>
        <header>
          <div>${way(links, title)}<h1>${name}</h1>${facts(patient, mrn, header.time)}</div>
        </header>\n
        <div class="scroll">
          <main>
            <div class="document"><h2>${title}</h2><p>${about}; as of ${readableTime(header.time)}</p></div>\n`.text;
  if (sections.length > 1) yield contents(sections).text;
  for (const section of sections) {
    const { definition, table } = section;
    const empty = table.rows.length === 0;
    const count = empty ? NOTHING : html` <span class="count">${table.rows.length}</span>`;
    const style = attribute('class', empty ? 'empty' : undefined);
    yield html`<section id="${definition.key}"${style}><h3>${definition.title}${count}</h3>`.text;
    yield* narrativeHtml(table, emptyText(section, words));
    yield '</section>\n';
  }
  const { software, confidentiality } = header;
  const custodian = header.custodian?.name ?? header.publisher;
  const made =
    `Made by ${software.name} ${software.version} on ${readableTime(header.time)} from the record kept by ${custodian}. ` +
    `Confidentiality: ${CONFIDENTIALITY[confidentiality] ?? confidentiality}.`;
  yield html`
          </main>\n
          <footer>${made}</footer>
        </div>
      </body>
    </html>\n`.text;
}

function way(links: PageLinks | undefined, title: string): Markup {
  if (links === undefined) return NOTHING;
  const chart = links.chart === undefined ? NOTHING : html`<a href="${links.chart}">Chart</a> `;
  const file = `${title.toLowerCase().replaceAll(' ', '-')}.xml`;
  const xml = html`<a href="${links.xml}" download="${file}">Save as XML</a>`;
  return html`<nav class="way" aria-label="Elsewhere">${chart}${xml}</nav>`;
}

const CONFIDENTIALITY: Readonly<Record<string, string>> = { N: 'normal', R: 'restricted', V: 'very restricted' };

function contents(sections: Document['sections']): Markup {
  const items = sections.map(({ definition: { key, title }, table: { rows } }) => {
    const count = rows.length || 'none';
    return html`<li><a href="#${key}">${title}</a> <span class="count">${count}</span></li>`;
  });
  return html`<nav aria-label="Sections"><ul>${items}</ul></nav>\n`;
}

/** Completed years of life at a time or at death: `58 years`; nothing where the day of birth is not known. */
export function readableAge({ birthDate = '', deceasedDateTime, deceasedBoolean }: Patient, time: string): string {
  const last = (deceasedDateTime ?? (deceasedBoolean === true ? '' : time)).slice(0, 10);
  if (birthDate.length !== 10 || last.length !== 10 || last < birthDate) return '';
  const [born = 0, then = 0] = [birthDate, last].map(day => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1);
  const months = then - born - (last.slice(8) < birthDate.slice(8) ? 1 : 0);
  return months < 24 ? `${months} month${months === 1 ? '' : 's'}` : `${Math.floor(months / 12)} years`;
}

function facts(patient: Patient, mrn: string | undefined, time: string): Markup {
  const record = patient.identifier?.find(({ system }) => mrn !== undefined && system === mrn)?.value;
  const phone = patient.telecom?.find(({ system }) => system === 'phone')?.value;
  const all: readonly (readonly [string, string | undefined])[] = [
    ['Born', patient.birthDate],
    ['Died', readableTime(patient.deceasedDateTime) || (patient.deceasedBoolean === true ? 'yes, date unknown' : '')],
    ['Age', readableAge(patient, time)],
    ['Sex', patient.gender],
    ['MRN', record],
    ['Telephone', phone],
    ['Address', readableAddress(patient.address?.find(({ use }) => use !== 'old'))],
  ];
  const shown = all.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>`],
  );
  return html`<dl>${shown}</dl>`;
}

const STYLE = `
:root {
  --ground: #f6f5f1; --sheet: #ffffff; --ink: #1d2b2a; --quiet: #5c6a68; --line: #dcdad2; --accent: #0b6e63; --alert: #a4440f; --stripe: #faf9f6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121817; --sheet: #1a2221; --ink: #e4ebe9; --quiet: #94a5a2; --line: #2e3a38; --accent: #5fd0bf; --alert: #f2a65a; --stripe: #1e2726;
  }
}
* { box-sizing: border-box; }
body { margin: 0; height: 100dvh; display: flex; flex-direction: column; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { background: var(--sheet); border-bottom: 2px solid var(--accent); }
.scroll { flex: 1; overflow: auto; }
header > div, main, footer { max-width: 80rem; margin: 0 auto; padding: 0.75rem 1.5rem; }
.way { display: flex; gap: 1rem; font-size: 0.92rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: 0.1rem 1.5rem; margin: 0.15rem 0 0; }
dl div { display: flex; gap: 0.4rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
.document { padding: 0.75rem 0 0; }
h2 { font-size: 1.6rem; margin: 0; }
.document p { margin: 0.15rem 0 0; color: var(--quiet); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0.4rem; padding: 0; margin: 1rem 0; }
nav li { border: 1px solid var(--line); border-radius: 4px; padding: 0.15rem 0.6rem; background: var(--sheet); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
.count { color: var(--quiet); font-size: 0.85em; font-weight: normal; }
section { background: var(--sheet); border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: 0.75rem 1rem 1rem; scroll-margin-top: 0.5rem; }
section.empty { display: flex; align-items: baseline; gap: 1rem; margin: 0.5rem 0; padding: 0.35rem 1rem; }
section.empty h3 { margin: 0; font-size: 1rem; }
h3 { margin: 0 0 0.5rem; font-size: 1.1rem; }
.nothing { margin: 0; color: var(--quiet); }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; vertical-align: bottom; position: sticky; top: 0; background: var(--sheet); }
td { max-width: 40rem; overflow-wrap: break-word; }
td span { overflow-wrap: anywhere; }
time { white-space: nowrap; }
td:first-child { min-width: 10rem; }
b { font-weight: 600; }
tbody tr:nth-child(even) { background: var(--stripe); }
tr.marked td:nth-child(-n+3) { font-weight: 600; }
tr.marked td:first-child { box-shadow: inset 3px 0 var(--alert); }
tr:target { outline: 2px solid var(--accent); }
footer { color: var(--quiet); font-size: 0.85rem; padding-bottom: 2rem; }
@media (max-width: 70rem) {
  .table { overflow-x: auto; }
  th { position: static; }
}
@media (max-width: 34rem) {
  header > div, main, footer { padding-left: 1rem; padding-right: 1rem; }
  .scroll { overflow: visible; }
  body { height: auto; }
  .table { overflow: visible; }
  table, tbody, tr, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: 0.4rem 0.5rem; border-bottom: 1px solid var(--line); }
  td { padding: 0; border: 0; overflow-wrap: anywhere; }
  td:empty { display: none; }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); }
  tr.marked td:first-child { padding-left: 0.5rem; }
}
@media print {
  body { height: auto; display: block; }
  .scroll { overflow: visible; }
  nav { display: none; }
  section { border: 0; padding: 0; break-inside: auto; }
  tr { break-inside: avoid; }
}
`;

/** Sent with the page: this style counts and no other, and nothing is run or fetched. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
