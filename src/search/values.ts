/**
 * Search values, typed. In: one value of a parameter as written (after the comma split) and the parameter's definition.
 * Out: a TypedValue. Errors: FhirError `value`, naming the parameter and the expected form, never the value.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import { isLegalId } from '../mapping/id-rule.ts';
import { FhirError } from '../outcome.ts';
import { isResourceType } from '../r4/definitions.ts';
import type { SearchParameter, SearchParameterType } from '../r4/search-parameters.ts';
import { type DateZone, dateInterval } from './dates.ts';
import { writtenNumber } from './decimal.ts';
import type { Modifier, NumberValue, Prefix, TokenValue, TypedValue } from './query.ts';

const PREFIXES: ReadonlySet<string> = new Set(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']);

export interface ValueContext {
  /** How the parameter was named in the request, for messages. */
  readonly name: string;
  readonly zone: DateZone;
  /** Base of this server: absolute references to it are local ones. */
  readonly base: string;
}

/** Splits at a separator that is not escaped with a backslash. */
export function splitEscaped(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === '\\' && i + 1 < text.length) {
      part += character + (text[++i] ?? '');
    } else if (character === separator) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}

/** `\,` `\$` `\|` `\\` become the character itself. */
export function unescaped(text: string): string {
  return text.replace(/\\([,$|\\])/g, '$1');
}

/** Types one value. */
export function typedValue(
  text: string,
  parameter: Pick<SearchParameter, 'type' | 'code' | 'targets' | 'components'>,
  modifier: Modifier | undefined,
  context: ValueContext,
): TypedValue {
  if (text === '') throw wrong(context, 'a value that is not empty');
  if (modifier === 'text') return { kind: 'string', text: unescaped(text) };
  if (modifier === 'identifier') return token(text);
  if (modifier === 'of-type') return typedIdentifier(text, context);
  return READERS[parameter.type](text, parameter, context);
}

type Reader = (
  text: string,
  parameter: Pick<SearchParameter, 'type' | 'code' | 'targets' | 'components'>,
  context: ValueContext,
) => TypedValue;

const READERS: Readonly<Record<SearchParameterType, Reader>> = {
  token,
  string: text => ({ kind: 'string', text: unescaped(text) }),
  uri: text => ({ kind: 'uri', uri: unescaped(text) }),
  date: (text, _parameter, context) => {
    const { prefix, rest } = prefixed(text);
    const interval = dateInterval(rest, context.zone);
    if (!interval) throw wrong(context, 'a date or date-time (yyyy, yyyy-mm, yyyy-mm-dd, yyyy-mm-ddThh:mm[:ss][zone])');
    return { kind: 'date', prefix, ...interval };
  },
  number: (text, _parameter, context) => number(text, context),
  quantity: (text, _parameter, context) => {
    const [amount = '', ...unit] = splitEscaped(text, '|');
    if (unit.length !== 0 && unit.length !== 2) throw wrong(context, '[prefix]number or [prefix]number|system|code');
    const [system, code] = unit.map(unescaped);
    return {
      kind: 'quantity',
      number: number(amount, context),
      system,
      code: code === '' ? undefined : code,
    };
  },
  reference,
  composite: (text, parameter, context) => {
    const components = parameter.components ?? [];
    const parts = splitEscaped(text, '$');
    if (parts.length !== components.length) throw wrong(context, `${components.length} parts with $ between`);
    return {
      kind: 'composite',
      parts: components.map((component, i) =>
        typedValue(parts[i] ?? '', { ...component, targets: [] }, undefined, context),
      ),
    };
  },
  special: (_text, _parameter, context) => {
    throw new FhirError('unknown-parameter', `parameter ${context.name} is not supported`, { parameter: context.name });
  },
};

function typedIdentifier(text: string, context: ValueContext): TypedValue {
  const [system = '', code = '', value = '', ...more] = splitEscaped(text, '|').map(unescaped);
  if (code === '' || value === '' || more.length > 0) throw wrong(context, 'system|code|value');
  return { kind: 'typed-identifier', type: { kind: 'token', system: system === '' ? undefined : system, code }, value };
}

/** `code`, `system|code`, `|code` or `system|`. */
export function token(text: string): TokenValue {
  const parts = splitEscaped(text, '|');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return { kind: 'token', system: undefined, code: unescaped(first) };
  const code = unescaped(rest.join('|'));
  return { kind: 'token', system: unescaped(first), code: code === '' ? undefined : code };
}

function number(text: string, context: ValueContext): NumberValue {
  const { prefix, rest } = prefixed(text);
  const written = writtenNumber(rest);
  if (!written) throw wrong(context, 'a number, such as 5.4 or 1e2');
  if (prefix !== 'ap') return { kind: 'number', prefix, ...written };
  const value = Number(written.value);
  const slack = Math.abs(value) * 0.1;
  return { kind: 'number', prefix, value: written.value, low: plain(value - slack), high: plain(value + slack) };
}

function plain(value: number): string {
  return writtenNumber(String(value))?.value ?? '0';
}

function prefixed(text: string): { readonly prefix: Prefix; readonly rest: string } {
  const start = text.slice(0, 2);
  return isPrefix(start) ? { prefix: start, rest: text.slice(2) } : { prefix: 'eq', rest: text };
}

function isPrefix(text: string): text is Prefix {
  return PREFIXES.has(text);
}

function reference(text: string, _parameter: unknown, context: ValueContext): TypedValue {
  const written = unescaped(text);
  const local = written.startsWith(`${context.base}/`) ? written.slice(context.base.length + 1) : written;
  const [type = '', id = '', ...more] = local.split('/');
  const versioned = more.length === 2 && more[0] === '_history';
  if (id === '' && !local.includes('/')) {
    if (isLegalId(type)) return { kind: 'reference', type: undefined, id: type };
  } else if (isResourceType(type) && isLegalId(id) && (more.length === 0 || versioned)) {
    return { kind: 'reference', type, id };
  } else if (/^[a-z][a-z0-9+.-]*:/i.test(local)) {
    return { kind: 'foreign-reference', url: local };
  }
  throw wrong(context, 'an id, Type/id or an absolute URL');
}

/** The error for a value of the wrong form. */
export function wrong(context: Pick<ValueContext, 'name'>, expected: string): FhirError {
  return new FhirError('wrong-value', `parameter ${context.name} expects ${expected}`, { parameter: context.name });
}
