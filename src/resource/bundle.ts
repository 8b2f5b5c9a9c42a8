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
  const address = JSON.stringify(`${base}/`).slice(0, -1);
  let entries = '';
  for (const entry of matches) entries += entryText(address, entry, entries === '' ? MATCH : NEXT_MATCH);
  for (const entry of included) entries += entryText(address, entry, entries === '' ? INCLUDE : NEXT_INCLUDE);
  if (warnings.length > 0) {
    const outcome = JSON.stringify(operationOutcome(warnings));
    entries += `${entries === '' ? '' : ','}{"resource":${outcome},"search":{"mode":"outcome"}}`;
  }
  const head = [
    '{"resourceType":"Bundle","type":"searchset"',
    timestamp === undefined ? '' : `,"timestamp":${quote(timestamp)}`,
    total === undefined ? '' : `,"total":${total}`,
    `,"link":[${links.join()}]`,
  ].join('');
  // Not joined: what is added up is copied once, when it becomes bytes.
  return entries === '' ? `${head}}` : `${head},"entry":[${entries}]}`;
}

type Frame = readonly [begin: string, end: string];

const MATCH: Frame = ['{"fullUrl":', ',"search":{"mode":"match"}}'];
const NEXT_MATCH: Frame = [`,${MATCH[0]}`, MATCH[1]];
const INCLUDE: Frame = ['{"fullUrl":', ',"search":{"mode":"include"}}'];
const NEXT_INCLUDE: Frame = [`,${INCLUDE[0]}`, INCLUDE[1]];

/** `address`: of the base, as the begin of a JSON string. */
function entryText(address: string, { type, id, json, fullUrl }: EntryText, [begin, end]: Frame): string {
  const url = fullUrl === undefined ? `${address}${type}/${id}"` : quote(fullUrl);
  return `${begin}${url},"resource":${json}${end}`;
}

function link(relation: string, url: string | undefined): string {
  return url === undefined ? '' : `{"relation":"${relation}","url":${quote(url)}}`;
}
