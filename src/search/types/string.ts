/**
 * Search type `string`: finds words that begin with the searched ones, in any part of a name or an address; `:exact`,
 * `:contains`, `:text`.
 * https://hl7.org/fhir/R4/search.html#string
 */
import type { Criterion } from '../../mapping/criterion.ts';
import type { Node } from '../../mapping/model.ts';
import { isPrimitive } from '../../r4/definitions.ts';
import { framedPart } from '../../sql/alike.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant, every, FALSE, some, TRUE } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { wordsIn } from '../../sql/shared-functions.ts';
import type { Modifier } from '../query.ts';
import { unescaped } from '../values.ts';
import { type Asking, type Leaf, type Of, paths, type SearchType } from './search-type.ts';
import { textsMatch } from './token.ts';

const NAME_PARTS = ['family', 'given', 'prefix', 'suffix', 'text'];
const ADDRESS_PARTS = ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'];

export const STRING: SearchType = {
  read: text => ({ kind: 'string', text: unescaped(text) }),
  parts: { HumanName: paths(...NAME_PARTS), Address: paths(...ADDRESS_PARTS) },
};

export function stringLeaf(strings: readonly Of<'string'>[], modifier: Modifier | undefined, ask: Asking): Leaf {
  const texts = strings.map(({ text }) => text);
  if (modifier === 'text') return node => textsMatch(node, texts, ask);
  if (modifier === 'exact' || modifier === 'contains')
    return inParts(
      texts.map(text => [{ kind: 'string', mode: modifier, text }]),
      ask,
    );
  return inParts(texts.map(criteriaOf), ask);
}

/** Most words of a search by words, because names do not have more. A longer text is searched by its beginning. */
const MOST_WORDS = 8;

/**
 * Returns the criteria of a search value, all of which must hold: beginnings of words, or the beginning of the text.
 */
function criteriaOf(text: string): readonly Criterion[] {
  const words = [...new Set(wordsIn(text))];
  if (words.length === 0 || words.length > MOST_WORDS) return [{ kind: 'string', mode: 'starts', text }];
  return words.map(word => ({ kind: 'string', mode: 'word', text: word }));
}

/** Tests that one of the conjunctions holds, each for all parts of one name or address, or for one text. */
function inParts(any: readonly (readonly Criterion[])[], ask: Asking): Leaf {
  // Values of one comparison each become one comparison with a list.
  const single = any.flatMap(all => (all.length === 1 ? all : []));
  const several = any.filter(all => all.length > 1);
  const oneByOne = several.map(all => all.map(criterion => ask.primitive(criterion)));
  return node => {
    const together = several.length > ONE_BY_ONE ? inOneText(node, several, ask) : undefined;
    return some([
      single.length === 0 ? FALSE : ofParts(node, ask.primitive(...single), ask),
      ...(together ? [together] : oneByOne.map(leaves => every(leaves.map(leaf => ofParts(node, leaf, ask))))),
    ]);
  };
}

/** With more values of several words, they become one comparison if possible. */
const ONE_BY_ONE = 4;

/**
 * Tests values of several words each against all parts of a name or address as one text, so that a list of hundreds is
 * one comparison per row. Undefined unless all parts are texts of the row.
 */
function inOneText(node: Node, any: readonly (readonly Criterion[])[], ask: Asking): Predicate | undefined {
  const texts = any.map(all => all.map(one => (one.kind === 'string' ? ` ${one.text}` : '')).join(''));
  let isFixed = false;
  const probe = ask.primitive({ kind: 'string', mode: 'word', text: 'probe' });
  const probed = ofParts(
    node,
    part => {
      const found = probe(part);
      // No value of a code map contains the word `probe`, but another word may occur in one of its codes.
      isFixed ||= part.kind !== 'value' || found?.kind === 'false';
      return found;
    },
    ask,
  );
  if (!probed || isFixed || any.flat().some(one => one.kind !== 'string' || one.mode !== 'word')) return undefined;
  const parts = (probed.kind === 'or' ? probed.of : [probed]).map(wordsPart);
  const known = parts.filter(part => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  const blank = constant(' ', UNICODE);
  const whole = call(
    'concat',
    known.flatMap((part, i) => (i === 0 ? [part] : [blank, part])),
    UNICODE,
  );
  const of = call('words', [known.length === 1 && known[0] ? known[0] : whole], UNICODE);
  return { kind: 'contains', of, where: 'words', texts: [...new Set(texts)], not: false };
}

/**
 * Returns the text whose words a predicate searches, empty if its other conditions do not hold; undefined for any other
 * predicate.
 */
function wordsPart(part: Predicate): Expression | undefined {
  const framed = framedPart(part);
  const of = framed?.comparison.kind === 'contains' ? framed.comparison.of : undefined;
  const text = of?.kind === 'function' && of.name === 'words' ? of.args[0] : undefined;
  if (!framed || text === undefined || typeof text === 'number') return undefined;
  const when = framed.around(TRUE);
  return { kind: 'choice', of: [{ when, give: text }], otherwise: constant('', UNICODE), type: UNICODE };
}

function ofParts(node: Node, leaf: Leaf, ask: Asking): Predicate | undefined {
  if (node.type === 'HumanName') return some(NAME_PARTS.map(part => ask.child(node, part, leaf)));
  if (node.type === 'Address') return some(ADDRESS_PARTS.map(part => ask.child(node, part, leaf)));
  return isPrimitive(node.type) ? leaf(node) : undefined;
}
