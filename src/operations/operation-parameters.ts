/**
 * Splits the parameters of an operation into its own and those for the form of the answer, and reads ranges of dates of
 * care.
 * https://hl7.org/fhir/R4/operations.html
 */
import { FhirError, type Issue } from '../outcome.ts';
import { dateInterval } from '../search/dates.ts';
import { parseFilter } from '../search/filters.ts';
import { unknownParameter } from '../search/parse.ts';
import type { Filter, Parameters } from '../search/query.ts';
import { checkCount, checkLength, type ParseContext, printable } from '../search/values.ts';

/** Parameters of every operation that answers with a page; other code reads `_format` and `_pretty`. */
const SHAPING: ReadonlySet<string> = new Set([
  '_count',
  '_elements',
  '_summary',
  '_total',
  '_cursor',
  '_format',
  '_pretty',
]);

export interface SplitParameters {
  /** The operation's own, with their values. */
  readonly own: Parameters;
  readonly shaping: Parameters;
  readonly warnings: readonly Issue[];
}

/**
 * Splits the parameters. Throws FhirError if there are too many or one is too long, and under strict handling if the
 * operation does not have one.
 */
export function splitParameters(
  operation: { readonly code: string; readonly parameters: readonly { readonly name: string; readonly use: string }[] },
  parameters: Parameters,
  context: ParseContext,
): SplitParameters {
  const known = new Set(operation.parameters.flatMap(({ name, use }) => (use === 'in' ? [name] : [])));
  const own: [string, string][] = [];
  const shaping: [string, string][] = [];
  const warnings: Issue[] = [];
  checkCount(parameters);
  for (const [name, text] of parameters) {
    checkLength(name, text);
    if (SHAPING.has(name)) shaping.push([name, text]);
    else if (!known.has(name))
      warnings.push(unknownParameter(name, `$${operation.code} has no parameter ${printable(name)}`, context));
    else if (text !== '') own.push([name, text]);
  }
  return { own, shaping, warnings };
}

/**
 * Returns the value of a parameter that may be given once. Throws FhirError `wrong-parameters` if there are several.
 */
export function only(parameters: Parameters, name: string): string | undefined {
  const [value, ...more] = parameters.flatMap(([own, text]) => (own === name ? [text] : []));
  if (more.length > 0) throw new FhirError('wrong-parameters', `${name}: expected once`, { parameter: name });
  return value;
}

/** Returns the value of a date parameter. Throws FhirError unless it is a FHIR date, dateTime or instant. */
export function dateOf(parameters: Parameters, name: string, context: ParseContext): string | undefined {
  const text = only(parameters, name);
  if (text !== undefined && dateInterval(text, context.zone) === undefined)
    throw new FhirError('wrong-value', `${name}: expected a date or date-time`, { parameter: name });
  return text;
}

/** Search parameters for when care was given, best first. */
const CARE_DATES = [
  'period',
  'date',
  'onset-date',
  'occurrence',
  'authoredon',
  'authored',
  'whenhandedover',
  'collected',
  'start-date',
];

/**
 * Leaves out resources that end before `start` or begin after `end`. Resources without a date stay, because nothing
 * says that they are outside of the range.
 */
export function careFilters(
  type: string,
  { start, end }: { readonly start: string | undefined; readonly end: string | undefined },
  context: ParseContext,
): readonly Filter[] {
  const code = CARE_DATES.find(one => context.offers.find(type, one)?.parameter.type === 'date');
  return code === undefined ? [] : daysFilters(type, { parameter: code, first: start, last: end }, context);
}

/** Leaves out resources that a date parameter puts before or after some days; those without the date stay. */
export function daysFilters(
  type: string,
  {
    parameter,
    first,
    last,
  }: { readonly parameter: string; readonly first: string | undefined; readonly last: string | undefined },
  context: ParseContext,
): readonly Filter[] {
  if (context.offers.find(type, parameter)?.parameter.type !== 'date') return [];
  return [
    ...(first === undefined ? [] : [unless(type, parameter, `eb${first}`, context)]),
    ...(last === undefined ? [] : [unless(type, parameter, `sa${last}`, context)]),
  ];
}

/** Negates a filter on a date; resources without the date match too. */
export function unless(type: string, code: string, text: string, context: ParseContext): Filter {
  const filter = parseFilter(type, code, text, context);
  return filter.kind === 'match' ? { ...filter, modifier: 'not' } : filter;
}
