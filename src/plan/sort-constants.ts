/**
 * Sorts by constants of a mapping. In: constants. Out: the one sort key of all rows with the constant; for the
 * server's own resources, which are constants only, the key of each.
 */
import { CODE_ORDER } from '../mapping/codecs/code.ts';
import type { ConstantNode, Mapping } from '../mapping/model.ts';
import type { SearchParameter, SearchParameterType } from '../r4/search-parameters.ts';
import { UNICODE } from '../sql/column-type.ts';
import { constant, or } from '../sql/construct.ts';
import type { Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Environment } from './environment.ts';
import type { Candidate, SortFace } from './sort-face.ts';
import { idParts } from './sort-ids.ts';
import { sortLeaves } from './sort-leaves.ts';

/** Parameters whose values are sorted as texts, so that a constant may stand among them. */
const TEXTS: ReadonlySet<SearchParameterType> = new Set(['token', 'string', 'uri', 'reference']);

/** As the values of other mappings sort that it stands among; undefined: it does not. */
export function constantText({ json }: ConstantNode, { type }: SearchParameter): string | undefined {
  if (!TEXTS.has(type) || typeof json === 'object') return undefined;
  return type === 'string' ? withoutCase(String(json)) : String(json);
}

/** ASCII letters alone: the engines agree on no others. */
export function withoutCase(text: string): string {
  return text.replace(/[a-z]+/g, letters => letters.toUpperCase());
}

/** Rows that all have one value. */
export function constantFace(text: string): SortFace {
  return {
    by: [],
    order: { by: () => [], toKey: () => text, fromKey: () => [] },
    apart: text,
    side: key => (text === key ? undefined : text < String(key) ? 'below' : 'above'),
  };
}

/** All constants as one: chosen in the order asked for, so that of several that a row has the first counts. */
export function constantsAsOne(candidates: readonly Candidate[], descending: boolean): readonly Candidate[] {
  const isConstant = ({ face }: Candidate): boolean => face.by.length === 0 && face.begin === undefined;
  const constants = candidates.filter(isConstant).map(({ where, face }) => ({ when: where, text: face.apart }));
  if (constants.length < 2) return candidates;
  constants.sort((a, b) => (a.text < b.text === descending ? 1 : -1));
  const of = constants.map(({ when, text }) => ({ when, give: constant(text, UNICODE) }));
  const by: Expression = { kind: 'choice', of, type: UNICODE };
  const face = { by: [by], order: CODE_ORDER, apart: expressionKey(by) };
  const one = { where: or(...of.map(({ when }) => when)), face, isInRows: false };
  return [...candidates.filter(candidate => !isConstant(candidate)), one];
}

/** What a resource without rows sorts by; null: it has no value. */
export function ownFace(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending: boolean,
): SortFace | null {
  if (parameter.code === '_id') return idParts(mapping)[0]?.face ?? null;
  const leaves = (parameter.paths ?? []).flatMap(path => sortLeaves(mapping, path, env) ?? []);
  const texts = leaves.flatMap(leaf => (leaf.kind === 'constant' ? (constantText(leaf, parameter) ?? []) : []));
  const [first, ...others] = texts;
  if (first === undefined) return null;
  return constantFace(others.reduce((least, text) => (text < least !== descending ? text : least), first));
}
