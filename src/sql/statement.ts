/**
 * Renders statements of plans that are reused with other values. In: a plan, and the values of its placeholders. Out:
 * its statement, rendered once per plan, with these values bound. The text depends on the shape of the plan, so a
 * cached plan may only get values of the same shape (`valueShape`).
 */
import type { Dialect } from './dialect.ts';
import type { Moment, SqlValue } from './expression.ts';
import { looseType, parameterFor } from './parameter-type.ts';
import type { Parameter, PlaceholderValues, SqlPlan, Statement } from './plan.ts';
import { render } from './render.ts';

/** Returns the aspect of a value that a statement's text depends on: a text of digits is compared differently. */
export function valueShape(value: SqlValue): string {
  if (typeof value === 'string') return isDigits(value) ? 'd' : 's';
  return value === null ? '0' : typeof value === 'number' ? 'n' : 'b';
}

/** Digits that any 64-bit integer column can be compared with. */
const MOST_DIGITS = 18;

/** True if a text is digits only, as many as an integer has. A loop: most texts fail at their first character. */
function isDigits(text: string): boolean {
  if (text.length > MOST_DIGITS) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < DIGIT_0 || code > DIGIT_9) return false;
  }
  return text !== '';
}

const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** A statement whose values have the form that the driver takes. */
export interface BoundStatement<T> {
  readonly text: string;
  readonly parameters: readonly T[];
}

/** A cached statement: constants of its mapping are bound once, placeholders on each use. */
interface CachedStatement<T> {
  readonly text: string;
  readonly bound: readonly T[];
  /** Which parameter takes which of the values. */
  readonly open: readonly { readonly at: number; readonly from: number | Moment; readonly parameter: Parameter }[];
}

/**
 * Caches statements of one dialect for as long as their plans live. `bind`: converts a parameter for the driver;
 * `bindPlaceholder`: converts the value that a use supplies for it.
 */
export function statementsOf<T>(
  dialect: Dialect,
  bind: (parameter: Parameter) => T,
  bindPlaceholder = (parameter: Parameter, value: SqlValue): T => bind(filled(parameter, value)),
): (plan: SqlPlan, placeholders: PlaceholderValues | undefined, now: number | undefined) => BoundStatement<T> {
  const cache = new WeakMap<SqlPlan, CachedStatement<T>>();
  const keep = (plan: SqlPlan): CachedStatement<T> => {
    const { text, parameters } = render(plan, dialect);
    const open = parameters.flatMap((parameter, at) =>
      parameter.placeholder === undefined ? [] : [{ at, from: parameter.placeholder.at, parameter }],
    );
    const statement = { text, bound: parameters.map(bind), open };
    cache.set(plan, statement);
    return statement;
  };
  return (plan, placeholders, now) => {
    if (placeholders === undefined) {
      const { text, parameters } = render(plan, dialect);
      return { text, parameters: parameters.map(parameter => bind(forOnce(parameter, now))) };
    }
    const { text, bound, open } = cache.get(plan) ?? keep(plan);
    const parameters = bound.slice();
    for (const { at, from, parameter } of open) {
      const value = typeof from === 'number' ? placeholders[from] : momentValue(from, now);
      if (value === undefined) throw new RangeError('a plan has more placeholders than there are values');
      parameters[at] = bindPlaceholder(parameter, value);
    }
    return { text, parameters };
  };
}

/** Returns statements in the form of `Database.render`. */
export function renderedBy(
  dialect: Dialect,
): (plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => Statement {
  const statementOf = statementsOf(dialect, parameter => parameter);
  return (plan, placeholders, now) => statementOf(plan, placeholders, now);
}

/**
 * Returns the parameter of a statement that is rendered for one use. A moment gets the value of its instant. Throws for
 * any other placeholder, because its value belongs to the first use of the plan, that is, to somebody else.
 */
function forOnce(parameter: Parameter, now: number | undefined): Parameter {
  const { placeholder } = parameter;
  if (placeholder === undefined) return parameter;
  if (typeof placeholder.at === 'number')
    throw new RangeError('a plan with placeholders was asked without their values');
  return filled(parameter, momentValue(placeholder.at, now));
}

function momentValue(moment: Moment, now: number | undefined): SqlValue {
  if (now === undefined) throw new RangeError('a plan that compares with the present instant was asked without one');
  return moment.at(now);
}

/** Returns the parameter of a placeholder with the value of one use, and the type that this value requires. */
export function filled(parameter: Parameter, value: SqlValue): Parameter {
  const { placeholder, name } = parameter;
  if (placeholder === undefined) return parameter;
  return placeholder.against === undefined
    ? { name, value, type: looseType(value, placeholder.type) }
    : { name, ...parameterFor(value, placeholder.type, placeholder.against) };
}
