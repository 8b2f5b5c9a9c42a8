/**
 * Statements of plans that are used again with other values. In: a plan, and the values of its places. Out: its statement,
 * rendered once per plan, with these values bound. The text depends on the shape of a plan alone, so whoever keeps a plan
 * sees to it that values of one shape (`valueShape`) come to it.
 */
import type { Dialect } from './dialect.ts';
import type { SqlValue } from './expression.ts';
import { looseType, parameterFor } from './parameter-type.ts';
import type { Parameter, Places, SqlPlan, Statement } from './plan.ts';
import { render } from './render.ts';

const ALL_DIGITS = /^\d+$/;

/** What of a value can show in a statement's text: a text of digits is compared otherwise than another one. */
export function valueShape(value: SqlValue): string {
  if (typeof value === 'string') return ALL_DIGITS.test(value) ? 'd' : 's';
  return value === null ? '0' : typeof value === 'number' ? 'n' : 'b';
}

/** Statements of one dialect, for as long as their plans live. */
export function statementsOf(dialect: Dialect): (plan: SqlPlan, places: Places | undefined) => Statement {
  const rendered = new WeakMap<SqlPlan, Statement>();
  return (plan, places) => {
    if (places === undefined) return whole(render(plan, dialect));
    let statement = rendered.get(plan);
    if (statement === undefined) {
      statement = render(plan, dialect);
      rendered.set(plan, statement);
    }
    return { text: statement.text, parameters: statement.parameters.map(parameter => filled(parameter, places)) };
  };
}

/** The values of a plan that is used again are those of its first use: they are nobody else's. */
function whole(statement: Statement): Statement {
  if (statement.parameters.some(({ place }) => place !== undefined))
    throw new RangeError('a plan with places was asked without their values');
  return statement;
}

function filled(parameter: Parameter, places: Places): Parameter {
  const { place, name } = parameter;
  if (place === undefined) return parameter;
  const value = places[place.at];
  if (value === undefined) throw new RangeError('a plan has more places than there are values');
  return place.against === undefined
    ? { name, value, type: looseType(value, place.type) }
    : { name, ...parameterFor(value, place.type, place.against) };
}
