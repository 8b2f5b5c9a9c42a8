/**
 * A searchset Bundle from the texts of its resources, none of which is parsed again.
 * https://hl7.org/fhir/R4/bundle.html#searchset, https://hl7.org/fhir/R4/search.html#errors (warnings as an outcome)
 */
import { type Issue, operationOutcome } from '../outcome.ts';
import { quote } from './json-text.ts';

/** A resource as it stands in a Bundle. `id` is a legal FHIR id. */
export interface EntryText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /** Of a resource that cannot be read; without it, the address that the resource is read at. */
  readonly fullUrl?: string;
}

export interface Searchset {
  /** Absolute base of the FHIR interface, without a slash at the end. */
  readonly base: string;
  readonly matches: readonly EntryText[];
  readonly included?: readonly EntryText[];
  /** Matches on all pages, where they were counted. */
  readonly total?: number;
  /** Given to the client as an OperationOutcome entry. */
  readonly warnings?: readonly Issue[];
  readonly self: string;
  readonly next?: string;
  readonly previous?: string;
  /** FHIR instant. */
  readonly timestamp?: string;
}

/** The Bundle as JSON text. */
export function searchsetBundle(set: Searchset): string {
  const { base, matches, included = [], warnings = [], total, timestamp } = set;
  const links = [link('self', set.self), link('next', set.next), link('previous', set.previous)].filter(l => l !== '');
  const entries = [
    ...matches.map(entry => entryText(base, entry, 'match')),
    ...included.map(entry => entryText(base, entry, 'include')),
  ];
  if (warnings.length > 0) {
    entries.push(`{"resource":${JSON.stringify(operationOutcome(warnings))},"search":{"mode":"outcome"}}`);
  }
  return [
    '{"resourceType":"Bundle","type":"searchset"',
    timestamp === undefined ? '' : `,"timestamp":${quote(timestamp)}`,
    total === undefined ? '' : `,"total":${total}`,
    `,"link":[${links.join()}]`,
    entries.length === 0 ? '' : `,"entry":[${entries.join()}]`,
    '}',
  ].join('');
}

function entryText(
  base: string,
  { type, id, json, fullUrl = `${base}/${type}/${id}` }: EntryText,
  mode: 'match' | 'include',
): string {
  return `{"fullUrl":${quote(fullUrl)},"resource":${json},"search":{"mode":"${mode}"}}`;
}

function link(relation: string, url: string | undefined): string {
  return url === undefined ? '' : `{"relation":"${relation}","url":${quote(url)}}`;
}
