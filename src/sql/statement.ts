/**
 * Statements of plans that are used again with other values. In: a plan, and the values of its placeholders. Out: its
 * statement, rendered once per plan, with these values bound. The text depends on the shape of the plan, so that a
 * kept plan may only get values of the same shape (`valueShape`).
 */
import type { Dialect } from './dialect.ts';
import type { Moment, SqlValue } from './expression.ts';
import { looseType, parameterFor } from './parameter-type.ts';
import type { Parameter, PlaceholderValues, SqlPlan, Statement } from './plan.ts';
import { render } from './render.ts';

/** What of a value can show in a statement's text: a text of digits is compared otherwise than another one. */
export function valueShape(value: SqlValue): string {
  if (typeof value === 'string') return isDigits(value) ? 'd' : 's';
  return value === null ? '0' : typeof value === 'number' ? 'n' : 'b';
}

/** Most texts end the look at their first character. */
function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < DIGIT_0 || code > DIGIT_9) return false;
  }
  return text !== '';
}

const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** A statement whose values have the form in which a driver takes them. */
export interface BoundStatement<T> {
  readonly text: string;
  readonly parameters: readonly T[];
}

/**
 * A statement of a plan that is used again: what its mapping says is bound once, what each use brings along each time.
 */
interface CachedStatement<T> {
  readonly text: string;
  readonly bound: readonly T[];
  /** Which parameter takes which of the values. */
  readonly open: readonly { readonly at: number; readonly from: number | Moment; readonly parameter: Parameter }[];
}

/**
 * Statements of one dialect, for as long as their plans live. `bind`: a parameter as the driver takes it;
 * `bindPlaceholder`: the value that a use brings along for it, likewise.
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

/** Statements as `Database.render` tells them. */
export function renderedBy(
  dialect: Dialect,
): (plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => Statement {
  const statementOf = statementsOf(dialect, parameter => parameter);
  return (plan, placeholders, now) => statementOf(plan, placeholders, now);
}

/**
 * The parameter of a statement that is rendered for one use. A moment has the value of its instant. The other values of
 * a plan that is used again are those of its first use, so it is refused: they are somebody else's.
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

/** The parameter of a placeholder with the value of one use, and the type that this value calls for. */
export function filled(parameter: Parameter, value: SqlValue): Parameter {
  const { placeholder, name } = parameter;
  if (placeholder === undefined) return parameter;
  return placeholder.against === undefined
    ? { name, value, type: looseType(value, placeholder.type) }
    : { name, ...parameterFor(value, placeholder.type, placeholder.against) };
}
