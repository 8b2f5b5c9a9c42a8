/**
 * Writes a searchset Bundle around the JSON texts of its resources, without parsing them.
 * https://hl7.org/fhir/R4/bundle.html#searchset, https://hl7.org/fhir/R4/search.html#errors (warnings as an outcome)
 */
import { addressOf } from '../common/named-address.ts';
import { type Issue, operationOutcome } from '../outcome.ts';
import { quote } from './text.ts';

/** A resource for a Bundle. `id` is a legal FHIR id. */
export interface EntryText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /** Set for a resource that cannot be read by itself; otherwise the address at which it is read. */
  readonly fullUrl?: string;
}

export interface Searchset {
  /** Absolute base of the FHIR interface, without a slash at the end. */
  readonly base: string;
  readonly matches: readonly EntryText[];
  readonly included?: readonly EntryText[];
  /** Number of matches on all pages, if they were counted. */
  readonly total?: number;
  /** The client gets them as an OperationOutcome in the first entry. */
  readonly warnings?: readonly Issue[];
  readonly self: string;
  readonly next?: string;
  readonly previous?: string;
  readonly first?: string;
  /** FHIR instant. */
  readonly timestamp?: string;
}

/** Returns the Bundle as JSON text. */
export function searchsetBundle(set: Searchset): string {
  const { base, matches, included = [], warnings = [], total, timestamp } = set;
  const links = [
    link('self', set.self),
    link('next', set.next),
    link('previous', set.previous),
    link('first', set.first),
  ].filter(one => one !== '');
  const address = JSON.stringify(`${base}/`).slice(0, -1);
  const matching = entriesText(address, matches, 'match');
  const including = entriesText(address, included, 'include');
  let entries = matching === '' || including === '' ? matching + including : `${matching},${including}`;
  // First, so that a reader knows what was left out before reading the results.
  if (warnings.length > 0) {
    const outcome = JSON.stringify(operationOutcome(warnings));
    // HL7's validator wants a fullUrl in each entry of a searchset. Equal warnings get equal ones.
    const own = `${OPEN}"${addressOf(outcome)}","resource":${outcome},"search":{"mode":"outcome"}}`;
    entries = `${own}${entries === '' ? '' : ','}${entries}`;
  }
  const head = [
    '{"resourceType":"Bundle","type":"searchset"',
    timestamp === undefined ? '' : `,"timestamp":${quote(timestamp)}`,
    total === undefined ? '' : `,"total":${total}`,
    `,"link":[${links.join()}]`,
  ].join('');
  // Not joined by an array: a string that was added up is copied only once, when it becomes bytes.
  return entries === '' ? `${head}}` : `${head},"entry":[${entries}]}`;
}

const OPEN = '{"fullUrl":';

/**
 * Writes entries. `address`: the base URL as the beginning of a JSON string. Most neighbours differ only in id and
 * content.
 */
function entriesText(address: string, entries: readonly EntryText[], mode: 'match' | 'include'): string {
  const end = `,"search":{"mode":"${mode}"}}`;
  let text = '';
  let type: string | undefined;
  let begin = '';
  for (const entry of entries) {
    const open = text === '' ? OPEN : `${end},${OPEN}`;
    if (entry.type !== type || text === '') begin = `${open}${address}${entry.type}/`;
    type = text === '' ? undefined : entry.type;
    const url = entry.fullUrl === undefined ? `${begin}${entry.id}"` : `${open}${quote(entry.fullUrl)}`;
    text += `${url},"resource":${entry.json}`;
  }
  return text === '' ? '' : text + end;
}

function link(relation: string, url: string | undefined): string {
  return url === undefined ? '' : `{"relation":"${relation}","url":${quote(url)}}`;
}
