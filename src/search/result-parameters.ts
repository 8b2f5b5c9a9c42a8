/**
 * Parses the parameters that shape the answer instead of filtering it, by a table from name to reader.
 * https://hl7.org/fhir/R4/search.html#return
 */
import { FhirError } from '../outcome.ts';
import { isResourceType, isSelectable } from '../r4/definitions.ts';
import type { SearchParameter } from '../r4/search-parameters.ts';
import { isIncludable } from './offers.ts';
import type { Include, Selection, SortKey } from './query.ts';
import { LIMITS, type ParseContext, printable, UnknownParameter } from './values.ts';

export interface ResultParameters {
  includes: Include[];
  revincludes: Include[];
  /** Keys for each type of the search, in order. */
  sorts: readonly (readonly SortKey[])[];
  count: number;
  /** `_summary=count`: no matches, whatever `_count` is. */
  onlyTotal: boolean;
  total: 'none' | 'estimate' | 'accurate';
  selection: Selection;
}

/** Returns the result of a search without such parameters. */
export function emptyResult(types: readonly string[], pageSize: number): ResultParameters {
  return {
    includes: [],
    revincludes: [],
    sorts: types.map(() => []),
    count: pageSize,
    onlyTotal: false,
    total: 'none',
    selection: { kind: 'all' },
  };
}

type Reader = (
  result: ResultParameters,
  types: readonly string[],
  text: string,
  modifier: string | undefined,
  context: ParseContext,
) => void;

const READERS: Readonly<Record<string, Reader>> = {
  _count: (result, _types, text, _modifier, context) => {
    if (!/^\d+$/.test(text)) throw invalid('_count', 'a whole number');
    result.count = Math.min(Number(text), context.pageMax);
  },
  _total: (result, _types, text, _modifier, { handling }) => {
    // `SearchTotalModeEnum` of HAPI's client has no other word. R4 lets servers choose which totals they return.
    const mode = handling === 'lenient' && text === 'estimated' ? 'estimate' : text;
    if (mode !== 'none' && mode !== 'estimate' && mode !== 'accurate')
      throw invalid('_total', 'none, estimate or accurate');
    result.total = mode;
  },
  // Reads one key of the value: see `itemsOf`.
  _sort: (result, types, key, _modifier, context) => {
    const keys = types.map(type => sortKey(type, key, context));
    result.sorts = result.sorts.map((before, i) => [...before, ...keys.slice(i, i + 1)]);
  },
  _elements: (result, types, text) => {
    const names = text.split(',').map(name => name.trim().replace(/^\w+\./, ''));
    if (!names.every(name => types.some(type => isSelectable(type, name))))
      throw invalid('_elements', `names of elements of ${types.join(' or ')}`);
    result.selection = withNames(result.selection, names);
  },
  _summary: (result, _types, text) => {
    switch (text) {
      case 'false':
        return;
      case 'count':
        result.onlyTotal = true;
        return;
      case 'true':
      case 'text':
      case 'data':
        result.selection = { ...result.selection, kind: 'summary', mode: text };
        return;
      default:
        throw invalid('_summary', 'true, false, count, text or data');
    }
  },
  _include: (result, _types, text, modifier, context) => {
    result.includes.push(readInclude('_include', text, modifier, context));
    bounded(result);
  },
  _revinclude: (result, _types, text, modifier, context) => {
    const include = readInclude('_revinclude', text, modifier, context);
    if (include.source === '*')
      throw unsupported('_revinclude', '_revinclude names a type, as Type:reference or Type:*');
    result.revincludes.push(include);
    bounded(result);
  },
  _contained: (_result, _types, text) => {
    if (text !== 'true' && text !== 'false' && text !== 'both') throw invalid('_contained', 'true, false or both');
    if (text !== 'false') throw unsupported('_contained', 'contained resources are not searched');
  },
  _containedType: (_result, _types, text) => {
    // Only useful with `_contained`, which is refused if it asks for contained resources.
    if (text !== 'container' && text !== 'contained') throw invalid('_containedType', 'container or contained');
  },
};

/** Parameters with modifiers. */
const INCLUDES: ReadonlySet<string> = new Set(['_include', '_revinclude']);

export function isResultParameter(name: string): boolean {
  return Object.hasOwn(READERS, nameOf(name));
}

/** Splits a value into items that are read one by one: known sort keys apply even if others are unknown. */
export function itemsOf(name: string, text: string): readonly string[] {
  return name === '_sort' ? text.split(',') : [text];
}

/** Reads one parameter. Throws FhirError, or UnknownParameter for what is not offered; then `result` is unchanged. */
export function readResultParameter(
  result: ResultParameters,
  types: readonly string[],
  name: string,
  text: string,
  context: ParseContext,
): void {
  const bare = nameOf(name);
  const modifier = name === bare ? undefined : name.slice(bare.length + 1);
  if (modifier !== undefined && !INCLUDES.has(bare)) throw unsupported(bare, `${bare} takes no modifier`);
  READERS[bare]?.(result, types, text, modifier, context);
}

/** Combines both, because R4 does not say which one wins: each gets what it asks for. */
function withNames(selection: Selection, more: readonly string[]): Selection {
  if (selection.kind === 'all') return { kind: 'elements', names: more };
  return { ...selection, names: [...(selection.names ?? []), ...more] };
}

function sortKey(type: string, key: string, context: ParseContext): SortKey {
  const code = key.replace(/^-/, '');
  const offered = context.offers.find(type, code);
  if (offered?.sortable) return { parameter: offered.parameter, descending: key.startsWith('-') };
  const sortable = context.offers.of(type).filter(o => o.sortable);
  const known = sortable.map(({ parameter }) => parameter.code).join(', ');
  const reason = whyUnsorted(offered?.parameter);
  throw new UnknownParameter(`${type} cannot be sorted by ${printable(code)}: ${reason}; offered: ${known || 'none'}`);
}

function whyUnsorted(parameter: SearchParameter | undefined): string {
  if (parameter === undefined) return 'it is no search parameter here';
  const { components = [] } = parameter;
  if (parameter.type === 'composite')
    return `it has no order of its own, as ${components.map(({ code }) => code).join(' and ')} have`;
  return 'its values have no order that one statement of the database could give';
}

function nameOf(name: string): string {
  return name.split(':', 1)[0] ?? name;
}

function readInclude(name: string, text: string, modifier: string | undefined, context: ParseContext): Include {
  if (modifier !== undefined && modifier !== 'iterate' && modifier !== 'recurse')
    throw unsupported(name, `${name} takes no modifier but :iterate`);
  const iterate = modifier !== undefined;
  const [source = '', code = '', named = ''] = text.split(':');
  const target = named === '' ? undefined : named;
  if (target !== undefined && !isResourceType(target))
    throw new UnknownParameter(`${name}: FHIR has no type ${printable(target)}`);
  if (source === '*' && (code === '' || code === '*')) return { source: '*', parameter: '*', target, iterate };
  if (code === '') throw new UnknownParameter(`${name} names a type and its reference, as Type:reference or Type:*`);
  if (!context.offers.types.includes(source))
    throw new UnknownParameter(`${name}: this server has no ${printable(source)} resources`);
  if (code === '*') return { source, parameter: '*', target, iterate };
  const offered = context.offers.find(source, code);
  if (offered === undefined || !isIncludable(offered)) {
    const known = context.offers.of(source).filter(isIncludable);
    throw new UnknownParameter(
      `${name}: ${source} has no reference ${printable(code)}; offered: ${known.map(o => o.parameter.code).join(', ') || 'none'}`,
    );
  }
  return { source, parameter: offered.parameter, target, iterate };
}

function bounded(result: ResultParameters): void {
  if (result.includes.length + result.revincludes.length > LIMITS.includes) {
    throw new FhirError('too-costly', `more than ${LIMITS.includes} includes in one search`);
  }
}

function unsupported(name: string, message: string): FhirError {
  return new FhirError('unsupported-search', message, { parameter: name });
}

function invalid(name: string, expected: string): FhirError {
  return new FhirError('wrong-value', `parameter ${name} expects ${expected}`, { parameter: name });
}
