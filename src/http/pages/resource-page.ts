/**
 * Shows a FHIR answer to people. In: the JSON text of a resource, and its address. Out: HTML with the resource as
 * readable text with links, and its JSON beside it; a Bundle is a list of these with links to further pages. Recognizes
 * data types by their shape, and names no resource type.
 */
import { html } from 'hono/html';
import { indentJson } from '../fhir/pretty.ts';
import { type Json, type JsonObject, parseRaw } from '../fhir/raw-json.ts';
import { decodedSegment } from '../middleware/request.ts';
import { type Html, page, type Step } from './page-frame.ts';

/** Addresses of an answer. */
export interface PagePlace {
  /** Absolute base of the FHIR interface, without a slash at the end; '' for an answer without an address. */
  readonly base: string;
  /** Address of the answer, as it was requested. */
  readonly self: string;
  /** Address of the page that explains a search; undefined if the caller may not see SQL. */
  readonly explain: string | undefined;
}

/** Returns the page of an answer as HTML text. */
export function resourcePage(json: string, place: PagePlace): string {
  const parsed = parseRaw(json);
  const resource = isObject(parsed) ? parsed : {};
  const isBundle = Array.isArray(resource['entry']) || Array.isArray(resource['link']);
  const { href, title } = titleOf(resource, place);
  const home = place.base === '' ? [] : [{ text: 'Lintel', href: place.base.replace(/[^/]*$/, '') }];
  const way: readonly Step[] = [
    ...home,
    ...pathOf(place).map(step => ({ text: step.text, ...(step.href === href ? {} : { href: step.href }) })),
  ];
  const content = html`<header>
<h1>${title}</h1>
<ul class="actions">${isBundle ? pageLinks(resource) : ''}${actions(place, resource)}</ul>
</header>
${isBundle ? bundleSections(resource, place) : html`<section>${beside(resource, json, place)}</section>`}`;
  return String(page(title, way, content));
}

function titleOf(resource: JsonObject, { self }: PagePlace): { readonly title: string; readonly href: string } {
  const { resourceType, id, total } = resource;
  const href = self.split('?')[0] ?? self;
  if (resource['entry'] !== undefined || resource['link'] !== undefined)
    return { title: href.split('/').at(-1) ?? 'Answer', href };
  const name = text(resourceType) ?? 'Answer';
  const found = text(total);
  if (found !== undefined) return { title: `${href.split('/').at(-1)}: ${found} found`, href };
  return { title: typeof id === 'string' ? `${name}/${id}` : name, href };
}

/** Returns the steps of the path below the base; none for an answer elsewhere. */
function pathOf({ base, self }: PagePlace): readonly { readonly text: string; readonly href: string }[] {
  const [address = ''] = self.split('?', 1);
  const path =
    address.startsWith(`${base}/`) && base !== '' ? address.slice(base.length).split('/').filter(Boolean) : [];
  return path.map((step, i) => ({
    text: decodedSegment(step),
    href: `${base}/${path.slice(0, i + 1).join('/')}${i === 0 && !step.startsWith('$') && step !== 'metadata' ? '?_count=10' : ''}`,
  }));
}

/** Writes the Bundle's links to other pages: `next`, `previous`, `first`. */
function pageLinks({ link }: JsonObject): readonly Html[] {
  const links = Array.isArray(link) ? (link as readonly JsonObject[]) : [];
  return links
    .filter(({ relation, url }) => relation !== 'self' && typeof url === 'string')
    .map(
      ({ relation, url }) => html`<li><a rel="${text(relation)}" href="${text(url)}">${text(relation)} page</a></li>`,
    );
}

function actions({ self, explain }: PagePlace, { resourceType, entry }: JsonObject): readonly Html[] {
  const as = (format: string): string => withParameters(self, { _format: format, _pretty: 'true' });
  const asked = new URL(self);
  asked.searchParams.delete('_format');
  asked.searchParams.delete('_pretty');
  const isSearch = asked.search !== '' || Array.isArray(entry);
  // The address does not contain the parameters of a search in a body.
  const isHidden = asked.searchParams.has('_sealed') || asked.pathname.endsWith('/_search');
  return [
    html`<li><a href="${as('json')}">JSON</a></li>`,
    html`<li><a href="${as('xml')}">XML</a></li>`,
    ...(explain === undefined || isHidden || !(isSearch || typeof resourceType === 'string')
      ? []
      : [html`<li><a href="${explain}?${new URLSearchParams({ query: questionOf(asked) })}">SQL and lineage</a></li>`]),
  ];
}

/** Returns `Type?a=b`; turns a read into a search by id. */
function questionOf({ pathname, search }: URL): string {
  const [type = '', id] = pathname.split('/').slice(-2);
  return search === '' && id !== undefined && /^[A-Z]/.test(type)
    ? `${type}?_id=${id}`
    : `${pathname.split('/').at(-1)}${search}`;
}

function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function bundleSections({ entry }: JsonObject, place: PagePlace): Html {
  const entries = Array.isArray(entry) ? (entry as readonly JsonObject[]) : [];
  if (entries.length === 0) return html`<section><p class="lead">Nothing was found.</p></section>`;
  return html`<section>${entries.map((one, i) => entryBlock(one, place, entries.length === 1 || i === 0))}</section>`;
}

function entryBlock({ fullUrl, resource, search }: JsonObject, place: PagePlace, open: boolean): Html {
  if (!isObject(resource)) return html``;
  const name = [text(resource['resourceType']), text(resource['id'])].filter(Boolean).join('/');
  const mode = isObject(search) && search['mode'] !== 'match' ? text(search['mode']) : undefined;
  const link = typeof fullUrl === 'string' ? html` <a href="${fullUrl}">open</a>` : '';
  return html`<details class="entry" ${open ? 'open' : ''}><summary>${name} <span class="quiet">${summaryOf(resource)}${mode === undefined ? '' : ` (${mode})`}</span>${link}</summary>
${beside(resource, JSON.stringify(resource), place)}</details>`;
}

/** Returns what a person recognizes a resource by: the first of these elements with a short text. */
function summaryOf(resource: JsonObject): string {
  for (const name of ['name', 'title', 'code', 'vaccineCode', 'medicationCodeableConcept', 'type', 'description']) {
    const value = resource[name];
    const found = value === undefined ? undefined : shortText(Array.isArray(value) ? (value[0] ?? null) : value);
    if (found !== undefined) return found;
  }
  return '';
}

function beside(resource: JsonObject, json: string, place: PagePlace): Html {
  return html`<div class="beside"><div>${fields(resource, place)}</div><pre><code>${linkedJson(json, place)}</code></pre></div>`;
}

/** Elements that say how a resource is stored; they are shown last. */
const LAST = ['meta', 'extension', 'text', 'contained'];

function fields(object: JsonObject, place: PagePlace): Html {
  const names = Object.keys(object).filter(name => name !== 'resourceType' && !name.startsWith('_'));
  const ordered = [...names.filter(name => !LAST.includes(name)), ...names.filter(name => LAST.includes(name))];
  return html`<dl>${ordered.map(name => html`<dt>${label(name)}</dt><dd>${value(object[name] ?? null, place)}</dd>`)}</dl>`;
}

/** `birthDate` → `birth date`. */
function label(name: string): string {
  return name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replace('codeable concept', 'concept');
}

function value(json: Json, place: PagePlace): Html {
  if (json === null) return html``;
  if (Array.isArray(json)) {
    const items = json as readonly Json[];
    if (items.every(item => !isObject(item))) return html`${items.flatMap(item => text(item) ?? []).join(', ')}`;
    return html`<ol>${items.map(item => html`<li>${value(item, place)}</li>`)}</ol>`;
  }
  if (!isObject(json)) return html`${text(json) ?? ''}`;
  return object(json, place);
}

function object(json: JsonObject, place: PagePlace): Html {
  const { reference, coding, div } = json;
  if (typeof reference === 'string') return referenceLink(reference, text(json['display']), place);
  if (Array.isArray(coding)) {
    const codes = (coding as readonly JsonObject[]).map(codeText).join('; ');
    const said = shortText(json);
    return said === undefined || said === codes ? html`${codes}` : html`${said} <span class="quiet">${codes}</span>`;
  }
  if (typeof div === 'string') return html`<span class="quiet">a narrative (see the JSON)</span>`;
  const short = shortText(json);
  const known = KNOWN.find(({ names }) => Object.keys(json).every(name => names.includes(name)));
  if (short !== undefined && known !== undefined) {
    const rest = known.quiet.map(name => shortText(json[name] ?? null)).filter(said => said !== undefined);
    return rest.length === 0 ? html`${short}` : html`${short} <span class="quiet">${rest.join(', ')}</span>`;
  }
  return fields(json, place);
}

/** Data types that are shown on one line: all their possible names, and the names in small type. */
const KNOWN: readonly { readonly names: readonly string[]; readonly quiet: readonly string[] }[] = [
  { names: ['system', 'code', 'display', 'version', 'userSelected'], quiet: ['system'] },
  { names: ['value', 'comparator', 'unit', 'system', 'code'], quiet: [] },
  { names: ['start', 'end'], quiet: [] },
  { names: ['use', 'type', 'system', 'value', 'rank', 'period'], quiet: ['use', 'system', 'period'] },
  { names: ['use', 'text', 'family', 'given', 'prefix', 'suffix', 'period'], quiet: ['use', 'period'] },
  {
    names: ['use', 'type', 'text', 'line', 'city', 'district', 'state', 'postalCode', 'country', 'period'],
    quiet: ['use', 'period'],
  },
];

function shortText(json: Json): string | undefined {
  if (!isObject(json)) return text(json);
  const { coding, start, end, value: amount, family, given, line } = json;
  if (Array.isArray(coding)) {
    const [first] = coding as readonly JsonObject[];
    return text(json['text']) ?? (first && (text(first['display']) ?? text(first['code'])));
  }
  if (start !== undefined || end !== undefined) return `${text(start) ?? '…'} – ${text(end) ?? '…'}`;
  if (amount !== undefined) {
    return [text(json['comparator']), text(amount), text(json['unit'] ?? json['code'] ?? null)]
      .filter(Boolean)
      .join(' ');
  }
  if (family !== undefined || given !== undefined) {
    return [...words(json['prefix']), ...words(given), ...words(family), ...words(json['suffix'])].join(' ');
  }
  if (line !== undefined || json['city'] !== undefined) {
    return ['line', 'city', 'district', 'state', 'postalCode', 'country'].flatMap(name => words(json[name])).join(', ');
  }
  return text(json['display']) ?? text(json['code']) ?? text(json['text']);
}

function words(json: Json | undefined): readonly string[] {
  return (Array.isArray(json) ? (json as readonly Json[]) : [json ?? null]).flatMap(one => text(one) ?? []);
}

function codeText({ system, code, display }: JsonObject): string {
  const shortSystem = text(system)?.split(/[/:]/).at(-1);
  return [text(display), [shortSystem, text(code)].filter(Boolean).join(' ')].filter(Boolean).join(', ');
}

function referenceLink(reference: string, display: string | undefined, place: PagePlace): Html {
  const href = addressOf(reference, place);
  const said = display ?? reference;
  return href === undefined ? html`${said}` : html`<a href="${href}">${said}</a>`;
}

/** Returns the address of a resource of this server; undefined for any other, because pages link nowhere else. */
function addressOf(reference: string, { base }: PagePlace): string | undefined {
  if (/^[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/.test(reference)) return `${base}/${reference}`;
  return reference.startsWith(`${base}/`) ? reference : undefined;
}

/** Writes indented JSON with links to resources of this server. */
function linkedJson(json: string, place: PagePlace): readonly Html[] {
  return indentJson(json)
    .split(/(?<=\n)/)
    .map(line => {
      const [, before = '', said = '', after = ''] =
        /^(\s*"(?:reference|fullUrl|url)": ")([^"\\]+)(",?\n?)$/.exec(line) ?? [];
      const href = said === '' ? undefined : addressOf(said, place);
      return href === undefined ? html`${line}` : html`${before}<a href="${href}">${said}</a>${after}`;
    });
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !JSON.isRawJSON(json);
}

function text(json: Json | undefined): string | undefined {
  if (typeof json === 'string') return json;
  return typeof json === 'boolean' ? String(json) : JSON.isRawJSON(json) ? json.rawJSON : undefined;
}
