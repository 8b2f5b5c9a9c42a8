/**
 * Asks primitives and elements of a value; questions to data types are made of these. In: a criterion. Out: a Leaf;
 * undefined if SQL cannot answer it. Constants are decided while planning, so that a mapping that cannot match is not
 * queried.
 */

import { upperAscii } from '../mapping/codecs/any-case.ts';
import { isBelow } from '../mapping/codecs/text.ts';
import type { Criterion, DigitsTest, StringMode } from '../mapping/criterion.ts';
import type { Json, Node } from '../mapping/model.ts';
import { dateInterval } from '../search/dates.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { withLists } from '../sql/alike.ts';
import { and, FALSE, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { fold, spacedWords } from '../sql/shared-functions.ts';
import { zoneOf } from '../time/zone.ts';
import type { Environment } from './environment.ts';
import { notAbsent } from './presence.ts';
import { along } from './walk.ts';

/** Asks a primitive for one of several criteria; constants are decided here and now. */
export function primitiveAny(criteria: readonly Criterion[], env: Environment): Leaf {
  return node => {
    if (node.kind === 'constant')
      return criteria.some(criterion => constantSatisfies(node.json, criterion, env)) ? TRUE : FALSE;
    if (node.kind !== 'value') return undefined;
    const any = some(criteria.map(criterion => node.codec.match(node.from, criterion, env)));
    // What one value asks for stays as its codec says it.
    const matched = any && criteria.length > 1 ? withLists(any) : any;
    return matched && matched.kind !== 'false' ? and(matched, notAbsent(node, env)) : matched;
  };
}

/** The primitive is this text. */
export function exact(text: string, env: Environment): Leaf {
  return exactAny([text], env);
}

/** The primitive is one of these texts. */
export function exactAny(texts: readonly string[], env: Environment): Leaf {
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text })),
    env,
  );
}

/** Few enough that several spellings of each fit into a statement. */
const SPELLED_OUT = 8;

/** The primitive is one of these texts in any case of ASCII letters. */
export function anyCaseAny(texts: readonly string[], env: Environment): Leaf {
  const anyCase = texts.length > SPELLED_OUT ? 'listed' : 'alone';
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text, anyCase })),
    env,
  );
}

/** Asks a child element. */
export function child(node: Node, element: string, leaf: Leaf, env: Environment): Predicate | undefined {
  return along(node, [{ element }], leaf, env);
}

/** Whether a constant of a mapping meets a criterion. */
export function constantSatisfies(json: Json, criterion: Criterion, env: Environment): boolean {
  if (json === null || typeof json === 'object') return false;
  const text = String(json);
  switch (criterion.kind) {
    case 'exact':
      return criterion.anyCase ? upperAscii(text) === upperAscii(criterion.text) : text === criterion.text;
    case 'string':
      return stringSatisfies(text, criterion.mode, criterion.text);
    case 'uri-below':
      return isBelow(text, criterion.text);
    case 'date': {
      const value = dateInterval(text, zoneOf(env.registry.pack.zone));
      if (!value) return false;
      return criterion.any.some(all =>
        all.every(({ edge, op, at }) => compares(edge === 'start' ? value.low : value.high, op, at)),
      );
    }
    case 'number': {
      const value = Number(text);
      return (
        !Number.isNaN(value) && criterion.any.some(all => all.every(({ op, at }) => compares(value, op, Number(at))))
      );
    }
    case 'digits': {
      const digits = text.replace(/[^0-9]/g, '');
      return criterion.any.some(one => passes(digits, /[xX#]/.test(text), one));
    }
  }
}

function stringSatisfies(text: string, mode: StringMode, wanted: string): boolean {
  switch (mode) {
    case 'exact':
      return text === wanted;
    case 'starts':
      return fold(text).startsWith(fold(wanted));
    case 'contains':
      return fold(text).includes(fold(wanted));
    case 'word':
      return spacedWords(text).includes(` ${wanted}`);
  }
}

function passes(found: string, extended: boolean, { digits, where }: DigitsTest): boolean {
  if (!/^[0-9]+$/.test(digits)) return false;
  if (where === 'whole') return found === digits;
  return where === 'end' ? found.endsWith(digits) : extended && found.startsWith(digits);
}

function compares(left: number, op: '<' | '<=' | '>' | '>=', right: number): boolean {
  switch (op) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}
