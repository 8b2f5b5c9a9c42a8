/**
 * Parameters that shape the answer instead of filtering it: a table of name to reader.
 * https://hl7.org/fhir/R4/search.html#return
 */
import { FhirError } from '../outcome.ts';
import { elementsOf } from '../r4/definitions.ts';
import { LIMITS, type ParseContext, printable, UnknownParameter } from './limits.ts';
import type { Include, Selection, SortKey } from './query.ts';

export interface ResultParameters {
  includes: Include[];
  revincludes: Include[];
  sort: SortKey[];
  count: number;
  total: 'none' | 'estimate' | 'accurate';
  selection: Selection;
}

export function emptyResult(pageSize: number): ResultParameters {
  return { includes: [], revincludes: [], sort: [], count: pageSize, total: 'none', selection: { kind: 'all' } };
}

type Reader = (
  result: ResultParameters,
  type: string,
  text: string,
  modifier: string | undefined,
  context: ParseContext,
) => void;

const READERS: Readonly<Record<string, Reader>> = {
  _count: (result, _type, text, _modifier, context) => {
    if (!/^\d{1,9}$/.test(text)) throw invalid('_count', 'a whole number');
    result.count = Math.min(Number(text), context.pageMax);
    if (result.count === 0) result.total = 'accurate';
  },
  _total: (result, _type, text) => {
    if (text !== 'none' && text !== 'estimate' && text !== 'accurate')
      throw invalid('_total', 'none, estimate or accurate');
    result.total = text;
  },
  _sort: (result, type, text, _modifier, context) => {
    for (const key of text.split(',')) {
      const code = key.replace(/^-/, '');
      const offered = context.offers.find(type, code);
      if (!offered?.sortable) {
        const sortable = context.offers.of(type).filter(o => o.sortable);
        const known = sortable.map(({ parameter }) => parameter.code).join(', ');
        throw new UnknownParameter(`${type} cannot be sorted by ${printable(code)}; offered: ${known || 'none'}`);
      }
      result.sort.push({ parameter: offered.parameter, descending: key.startsWith('-') });
    }
  },
  _elements: (result, type, text) => {
    const known = new Set(elementsOf(type).map(({ name }) => name));
    const names = text.split(',').map(name => name.trim());
    if (names.some(name => !known.has(name.replace(/^\w+\./, ''))))
      throw invalid('_elements', `names of elements of ${type}`);
    result.selection = { kind: 'elements', names: names.map(name => name.replace(/^\w+\./, '')) };
  },
  _summary: (result, _type, text) => {
    switch (text) {
      case 'false':
        return;
      case 'count':
        result.count = 0;
        result.total = 'accurate';
        return;
      case 'true':
        result.selection = { kind: 'summary', mode: 'true' };
        return;
      case 'text':
      case 'data':
        result.selection = { kind: 'summary', mode: text };
        return;
      default:
        throw invalid('_summary', 'true, false, count, text or data');
    }
  },
  _include: (result, _type, text, modifier, context) => {
    result.includes.push(readInclude('_include', text, modifier, context));
    bounded(result);
  },
  _revinclude: (result, _type, text, modifier, context) => {
    const include = readInclude('_revinclude', text, modifier, context);
    if (!include.parameter)
      throw new FhirError('not-supported', '_revinclude names a type and a reference', { parameter: '_revinclude' });
    result.revincludes.push(include);
    bounded(result);
  },
  _contained: (_result, _type, text) => {
    if (text !== 'false')
      throw new FhirError('not-supported', 'contained resources are not searched', { parameter: '_contained' });
  },
};

export function isResultParameter(name: string): boolean {
  return Object.hasOwn(READERS, nameOf(name));
}

export function readResultParameter(
  result: ResultParameters,
  type: string,
  name: string,
  text: string,
  context: ParseContext,
): void {
  const bare = nameOf(name);
  READERS[bare]?.(result, type, text, name === bare ? undefined : name.slice(bare.length + 1), context);
}

function nameOf(name: string): string {
  return name.split(':', 1)[0] ?? name;
}

function readInclude(name: string, text: string, modifier: string | undefined, context: ParseContext): Include {
  if (modifier !== undefined && modifier !== 'iterate' && modifier !== 'recurse') {
    throw new FhirError('not-supported', `${name} takes no modifier but :iterate`, { parameter: name });
  }
  const iterate = modifier !== undefined;
  const [source = '', code = '', target] = text.split(':');
  if (source === '*' && code === '') return { source: '*', parameter: undefined, target: undefined, iterate };
  if (!context.offers.types.includes(source))
    throw new UnknownParameter(`${name}: this server has no ${printable(source)} resources`);
  if (code === '*') return { source, parameter: undefined, target, iterate };
  const offered = context.offers.find(source, code);
  if (offered?.parameter.type !== 'reference') {
    const known = context.offers.of(source).filter(o => o.parameter.type === 'reference');
    throw new UnknownParameter(
      `${name}: ${source} has no reference ${printable(code)}; offered: ${known.map(o => o.parameter.code).join(', ') || 'none'}`,
    );
  }
  return { source, parameter: offered.parameter, target: target === '' ? undefined : target, iterate };
}

function bounded(result: ResultParameters): void {
  if (result.includes.length + result.revincludes.length > LIMITS.includes) {
    throw new FhirError('too-costly', `more than ${LIMITS.includes} includes in one search`);
  }
}

function invalid(name: string, expected: string): FhirError {
  return new FhirError('value', `parameter ${name} expects ${expected}`, { parameter: name });
}
