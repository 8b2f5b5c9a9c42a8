/**
 * Completes text at the cursor in access.yaml and ccds.yaml. In: the cursor, and the searches that the mappings offer.
 * Out: keys with their meaning, types, labels, lists of documents, and searches part by part.
 */
import { USERS } from '../../access/read-access.ts';
import { contentSchema, SEARCHED } from '../../ccda/content.ts';
import { LISTS } from '../../ccda/lists.ts';
import type { Cursor } from '../../mapping/load/read/cursor.ts';
import { accessSchema, OPENED } from '../../mapping/load/read/other-schemas.ts';
import { compartmentCodes } from '../../plan/compartment.ts';
import { COMPARTMENT_TYPE } from '../../r4/search-parameters.ts';
import type { WireOption } from '../wire/mapping.ts';
import { type Choice, complete, type Searched } from '../wire/search-text.ts';
import { type OptionsFrom, schemaKeys } from './keys.ts';

/** True if the file contains searches. */
export function holdsSearches(base: string): boolean {
  return base === 'access.yaml' || base === 'ccds.yaml';
}

/** Returns the options at the cursor. `systems`: aliases of pack.yaml. */
export function searchOptions(
  base: string,
  cursor: Cursor,
  systems: readonly string[],
  searched: Searched,
): OptionsFrom {
  const { path, role, from } = cursor;
  const isAccess = base === 'access.yaml';
  const values = isAccess ? accessValues(cursor, systems, searched) : contentValues(cursor, systems, searched);
  const isItem = typeof path.at(-1) === 'number' && values.options.length > 0;
  if (role === 'value' || (role === 'either' && isItem)) return values;
  if (isAccess && path.length === 1 && path[0] === 'users') return { from, options: plain(USERS, 'user', true) };
  return { from, options: schemaKeys(isAccess ? accessSchema : contentSchema, path) };
}

function accessValues(cursor: Cursor, systems: readonly string[], searched: Searched): OptionsFrom {
  const { path, from } = cursor;
  const [first, second, third] = path;
  const place = [first, first === 'break-glass' ? second : third].join('.');
  const typed = (types: readonly string[], names: readonly string[], more: readonly string[] = []): OptionsFrom =>
    searchText(cursor, { types, names, more }, searched);
  switch (first === 'logins' ? first : place) {
    case 'users.patients':
      return typed([COMPARTMENT_TYPE], ['{user}', '{id}'], ['all']);
    case 'users.also':
      return { from, options: plain(searched.types.filter(isOfNobody), 'type') };
    case 'logins':
      return path.length === 2 ? typed(USERS, ['{login}']) : { from, options: [] };
    case 'break-glass.users':
      return typed(USERS, ['{user}', '{id}']);
    case 'break-glass.opens':
      return { from, options: plain(OPENED, 'what is opened') };
    case 'labels.hide':
      return {
        from,
        options: plain(
          systems.map(alias => `${alias}#`),
          'label',
        ),
      };
    case 'labels.shown-to':
      return { from, options: path[3] === 'users' ? plain(USERS, 'user') : [] };
    default:
      return { from, options: [] };
  }
}

/** True if the type's resources belong to no patient. */
function isOfNobody(type: string): boolean {
  return type !== COMPARTMENT_TYPE && compartmentCodes(type).length === 0;
}

function contentValues(cursor: Cursor, systems: readonly string[], searched: Searched): OptionsFrom {
  const [first, list = ''] = cursor.path;
  const types = { ...SEARCHED, ...listTypes() };
  if (first === 'mrn') return { from: cursor.from, options: plain(systems, 'system') };
  const type = Object.entries(types).find(([name]) => name === (first === 'lists' ? list : first))?.[1];
  return type === undefined
    ? { from: cursor.from, options: [] }
    : searchText(cursor, { types: [type], names: [], more: [type] }, searched);
}

function listTypes(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(LISTS).map(([name, { type }]) => [name, type]));
}

interface Wanted {
  /** Types that may be searched. */
  readonly types: readonly string[];
  /** Placeholders that values may contain in this file. */
  readonly names: readonly string[];
  /** Words that may replace a search. */
  readonly more: readonly string[];
}

/** Completes a search up to the cursor: its type, then parameters and values. */
function searchText({ before, word, from }: Cursor, { types, names, more }: Wanted, searched: Searched): OptionsFrom {
  const text = before + word;
  const start = from - before.length;
  if (!text.includes('?')) {
    const known = types.filter(type => searched.types.includes(type));
    return {
      from: start,
      options: [
        ...plain(more, 'all'),
        ...plain(
          known.map(type => `${type}?`),
          'search',
        ),
      ],
    };
  }
  const [type = ''] = text.split('?');
  if (!types.includes(type)) return { from: start, options: [] };
  const found = complete(text, searched);
  const isValue = /=[^&]*$/.test(text);
  const at = found?.from ?? text.length - (/[^=,]*$/.exec(text)?.[0].length ?? 0);
  return {
    from: start + at,
    options: [...(found?.choices ?? []).map(optionOf), ...(isValue ? plain(names, 'put in') : [])],
  };
}

function optionOf({ label, apply = label, detail }: Choice): WireOption {
  return { label: apply, kind: 'value', ...(detail === undefined ? {} : { detail }) };
}

function plain(labels: Iterable<string>, detail: string, key = false): readonly WireOption[] {
  return [...labels].map(label => ({ label, kind: 'value' as const, detail, ...(key && { key }) }));
}
