/**
 * Prints a typed query for people. In: the parser's result. Out: lines; values only on request, because they may be a
 * patient's.
 */
import type { Filter, SearchQuery, TypedValue } from '../search/query.ts';

export function queryLines(query: SearchQuery, values: boolean): readonly string[] {
  const lines = query.filters.map(filter => filterText(filter, values));
  for (const one of [...query.includes, ...query.revincludes]) {
    const target = one.target === undefined ? '' : ` to ${one.target}`;
    const kind = query.includes.includes(one) ? 'include' : 'revinclude';
    const along = typeof one.parameter === 'object' ? one.parameter.code : '*';
    lines.push(`${kind} ${one.source}:${along}${target}${one.iterate ? ', repeatedly' : ''}`);
  }
  for (const { parameter, descending } of query.sort) {
    lines.push(`sorted by ${parameter.code}${descending ? ', descending' : ''}`);
  }
  lines.push(`at most ${query.count} on a page, total ${query.total}, elements ${selectionText(query)}`);
  for (const { diagnostics } of query.warnings) lines.push(`left out: ${diagnostics}`);
  return lines;
}

function selectionText({ selection }: SearchQuery): string {
  switch (selection.kind) {
    case 'all':
      return 'all';
    case 'elements':
      return selection.names.join(', ');
    case 'summary':
      return [`of summary ${selection.mode}`, ...(selection.names ?? [])].join(', ');
  }
}

function filterText(filter: Filter, values: boolean): string {
  switch (filter.kind) {
    case 'match': {
      const modifier = filter.modifier === undefined ? '' : `:${filter.modifier}`;
      const asked = `${filter.parameter.code}${modifier} (${filter.parameter.type})`;
      return values
        ? `${asked} is ${filter.values.map(valueText).join(' or ')}`
        : `${asked} has a value that is not shown${readAs(filter.parameter.type, filter.values)}`;
    }
    case 'missing':
      return `${filter.parameter.code} is ${filter.missing ? 'missing' : 'there'}`;
    case 'chain': {
      const targets = filter.to.map(({ type, filter: inner }) => `${type} whose ${filterText(inner, values)}`);
      return `${filter.parameter.code} refers to a ${targets.join(', or to a ')}`;
    }
    case 'number':
      return values ? `its number is ${filter.number}` : 'it has a number';
    case 'compartment':
      return 'it is in the compartment of one patient';
    case 'has':
      return `some ${filter.type} refers here by ${filter.parameter.code}, whose ${filterText(filter.filter, values)}`;
  }
}

/** Names the kinds of values that differ from the parameter's type, such as a telephone number read as digits. */
function readAs(type: string, values: readonly TypedValue[]): string {
  const kinds = new Set(values.map(({ kind }) => kind).filter(kind => kind !== type));
  return kinds.size === 0 ? '' : `, read as ${[...kinds].join(' or ')}`;
}

/** Returns ` http://unitsofmeasure.org|kg`; empty for any unit. */
function unitText({ system, code }: Extract<TypedValue, { kind: 'quantity' }>): string {
  return system === undefined && code === undefined ? '' : ` ${system ?? ''}|${code ?? ''}`;
}

function valueText(value: TypedValue): string {
  switch (value.kind) {
    case 'token':
      return `${value.system === undefined ? '' : `${value.system}|`}${value.code ?? ''}`;
    case 'typed-identifier':
      return `${valueText(value.type)} ${value.value}`;
    case 'string':
      return JSON.stringify(value.text);
    case 'uri':
      return value.uri;
    case 'date':
      return `${value.prefix} [${new Date(value.low).toISOString()}, ${new Date(value.high).toISOString()})`;
    case 'number':
      return `${value.prefix} ${value.value}`;
    case 'quantity':
      return `${value.number.prefix} ${value.number.value}${unitText(value)}`;
    case 'reference':
      return `${value.type === undefined ? '' : `${value.type}/`}${value.id}`;
    case 'foreign-reference':
      return value.url;
    case 'digits':
      return value.any.map(({ digits, where }) => `digits ${digits} (${where})`).join(' or ');
    case 'composite':
      return value.parts.map(valueText).join(' with ');
  }
}
