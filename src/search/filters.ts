/**
 * Parses one filter of a query string: `code`, `code:modifier`, chains (`patient.identifier`, `subject:Patient.name`)
 * and `_has:Type:reference:code`.
 * https://hl7.org/fhir/R4/search.html#modifiers
 */
import { FhirError } from '../outcome.ts';
import { isResourceType } from '../r4/definitions.ts';
import { type SearchParameter, searchParameterOf } from '../r4/search-parameters.ts';
import type { Offered } from './offers.ts';
import { type Filter, MODIFIERS, type Modifier, type TypedValue } from './query.ts';
import { typedValue } from './types/types.ts';
import { expansionOf } from './value-set-expansion.ts';
import {
  LIMITS,
  type ParseContext,
  printable,
  splitEscaped,
  UnknownParameter,
  type ValueContext,
  wrong,
} from './values.ts';

export function parseFilter(type: string, name: string, text: string, context: ParseContext, depth = 0): Filter {
  // Checked before any lookup: a chain that is too long is refused even if its parameters are unknown.
  if (depth === 0 && stepsOf(name) > LIMITS.chainSteps)
    throw new FhirError('too-costly', `a chain of more than ${LIMITS.chainSteps} steps`);
  if (name.startsWith('_has:')) return parseHas(type, name, text, context, depth);
  const dot = name.indexOf('.');
  if (dot >= 0) return parseChain(type, name.slice(0, dot), name.slice(dot + 1), text, context, depth);
  const colon = name.indexOf(':');
  const code = colon < 0 ? name : name.slice(0, colon);
  const suffix = colon < 0 ? undefined : name.slice(colon + 1);
  const never = depth > 0 && neverGiven(type, code, suffix, text, context);
  if (never) return never;
  const offered = find(type, code, context);
  const { parameter } = offered;
  const values: ValueContext = { name: printable(name), zone: context.zone, base: context.base };
  if (suffix === 'missing') {
    if (!offered.modifiers.has('missing')) throw unsupportedModifier(name, offered);
    return { kind: 'missing', parameter, missing: isTrue(text, values) };
  }
  const onlyType =
    suffix !== undefined && parameter.type === 'reference' && isResourceType(suffix) ? suffix : undefined;
  if (suffix !== undefined && onlyType === undefined && !(isModifier(suffix) && offered.modifiers.has(suffix))) {
    throw unsupportedModifier(name, offered);
  }
  const modifier = suffix !== undefined && isModifier(suffix) ? suffix : undefined;
  const stands = modifier && expansionOf(parameter.type, modifier);
  if (stands) {
    const found = splitEscaped(text, ',').flatMap(part => stands.values(part, values, context));
    return { kind: 'match', parameter, modifier: stands.modifier, values: found };
  }
  const typed = splitEscaped(text, ',').map(part => {
    const value = typedValue(part, parameter, modifier === 'not' ? undefined : modifier, values);
    return onlyType === undefined ? value : ofType(value, onlyType, values);
  });
  return { kind: 'match', parameter, modifier, values: typed };
}

/** Modifiers that match resources without a value, whatever value is searched. */
const OF_ABSENCE: ReadonlySet<string | undefined> = new Set(['not', 'not-in']);

/**
 * Understands a parameter of FHIR, at the end of a chain, that no mapping gives a value for. Nothing matches it, and
 * every resource lacks it. Undefined if it is no such parameter.
 */
function neverGiven(
  type: string,
  code: string,
  suffix: string | undefined,
  text: string,
  context: ParseContext,
): Filter | undefined {
  const none = matchesNothing(type, code, context);
  if (none === undefined) return undefined;
  if (suffix !== 'missing') return OF_ABSENCE.has(suffix) ? { ...none, modifier: 'not' } : none;
  const { parameter } = none;
  return { kind: 'missing', parameter, missing: isTrue(text, { name: printable(code) }) };
}

function matchesNothing(type: string, code: string, { offers }: ParseContext): MatchFilter | undefined {
  const parameter = searchParameterOf(type, code);
  return parameter !== undefined && offers.isNeverGiven(type, code) ? nothing(parameter) : undefined;
}

function isTrue(text: string, values: Pick<ValueContext, 'name'>): boolean {
  if (text !== 'true' && text !== 'false') throw wrong(values, 'true or false');
  return text === 'true';
}

type MatchFilter = Filter & { readonly kind: 'match' };

/** Returns a match of no values. */
function nothing(parameter: SearchParameter): MatchFilter {
  return { kind: 'match', parameter, modifier: undefined, values: [] };
}

function stepsOf(name: string): number {
  return name.match(/\.|_has:/g)?.length ?? 0;
}

function ofType(value: TypedValue, type: string, context: ValueContext): TypedValue {
  if (value.kind !== 'reference') return value;
  if (value.type !== undefined && value.type !== type) throw wrong(context, `a reference to ${type}`);
  return { ...value, type };
}

function parseChain(
  type: string,
  head: string,
  rest: string,
  text: string,
  context: ParseContext,
  depth: number,
): Filter {
  const [code = '', onlyType] = head.split(':');
  const never = matchesNothing(type, code, context);
  if (never) return never;
  const offered = find(type, code, context);
  if (offered.parameter.type !== 'reference') {
    throw new FhirError('unsupported-search', `${printable(code)} is no reference, so it cannot be chained`, {
      parameter: printable(head),
    });
  }
  // References without a target of such a type, which only contain a name or an identifier, lead to nothing.
  const possible = offered.parameter.targets ?? [];
  if (
    !offered.byAddress &&
    (offered.targets.length === 0 ||
      (onlyType !== undefined && possible.includes(onlyType) && !offered.targets.includes(onlyType)))
  )
    return nothing(offered.parameter);
  const candidates = onlyType === undefined ? offered.targets : offered.targets.filter(target => target === onlyType);
  const to = candidates.flatMap(target => {
    try {
      return [{ type: target, filter: parseFilter(target, rest, text, context, depth + 1) }];
    } catch (error) {
      // A parameter that FHIR does not define for a type matches none of its resources; a withheld one might match
      // some.
      if (error instanceof UnknownParameter && !error.isWithheld) return [];
      throw error;
    }
  });
  if (to.length === 0) {
    throw new UnknownParameter(
      `no type that ${type}.${printable(code)} refers to can be searched by ${printable(rest)}`,
    );
  }
  return { kind: 'chain', parameter: offered.parameter, to };
}

function parseHas(type: string, name: string, text: string, context: ParseContext, depth: number): Filter {
  const [, from = '', reference = '', ...more] = name.split(':');
  if (more.length === 0)
    throw new FhirError('wrong-parameters', '_has is written _has:Type:reference:parameter', { parameter: '_has' });
  const id = searchParameterOf(type, '_id');
  if (id && matchesNothing(from, reference, context)) return nothing(id);
  const offered = find(from, reference, context);
  const { parameter, targets } = offered;
  // FHIR allows it to refer to this type, but the mappings never do.
  if (id && parameter.type === 'reference' && !targets.includes(type) && mayRefer(parameter, type)) return nothing(id);
  if (parameter.type !== 'reference' || !targets.includes(type)) {
    throw new FhirError('unsupported-search', `${printable(from)}.${printable(reference)} does not refer to ${type}`, {
      parameter: '_has',
    });
  }
  return {
    kind: 'has',
    type: from,
    parameter: offered.parameter,
    filter: parseFilter(from, more.join(':'), text, context, depth + 1),
  };
}

function mayRefer({ targets }: SearchParameter, type: string): boolean {
  return targets.length === 0 || targets.includes(type);
}

function find(type: string, code: string, { offers }: ParseContext): Offered {
  const offered = offers.find(type, code);
  if (offered) return offered;
  const known = offers.of(type).map(({ parameter }) => parameter.code);
  const isWithheld = searchParameterOf(type, code) !== undefined && !offers.isNeverGiven(type, code);
  throw new UnknownParameter(
    known.length === 0
      ? `this server has no ${printable(type)} resources to search`
      : `${type} cannot be searched by ${printable(code)}; offered: ${known.join(', ')}`,
    isWithheld,
  );
}

function unsupportedModifier(name: string, offered: Offered): FhirError {
  const known = [...offered.modifiers].map(modifier => `:${modifier}`).join(', ');
  return new FhirError(
    'unknown-modifier',
    `modifier of ${printable(name)} is not supported; offered: ${known || 'none'}`,
    {
      parameter: printable(name),
    },
  );
}

function isModifier(text: string): text is Modifier {
  return (MODIFIERS as readonly string[]).includes(text);
}
