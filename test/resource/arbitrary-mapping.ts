/**
 * Makes random mappings: trees of nodes of every kind under conditions of every kind over a few columns, to test
 * unforeseen combinations in generated code.
 */
import fc from 'fast-check';
import { lineCodec } from '../../src/mapping/codecs/text.ts';
import type { Condition, Mapping, Member, Node } from '../../src/mapping/model.ts';
import * as make from './nodes.ts';

const NAMES = ['alpha', 'beta', 'gamma'];
const FEW = make.codeMap({ A: 'x', '': 'blank', Y: 'y' });

/** Columns in scope, by their aliases. */
type Scope = readonly string[];

interface Trees {
  readonly node: fc.Arbitrary<Node>;
  readonly item: fc.Arbitrary<Node>;
}

function condition(scope: Scope): fc.Arbitrary<Condition> {
  const column = fc.constantFrom(...scope).map(name => make.col(name));
  const leaf: fc.Arbitrary<Condition> = fc.oneof(
    fc.record({ kind: fc.constant('is' as const), column, values: fc.subarray(['A', 'Y', '', 'B'], { minLength: 1 }) }),
    fc.record({ kind: fc.constant('present' as const), column }),
    fc.record({ kind: fc.constant('same' as const), column, other: column }),
    fc.record({ kind: fc.constant('matches' as const), column, pattern: fc.constantFrom('A*', '?', '*') }),
    // A piece of a column is not in the database, so no `exists` can refer to it.
    fc.constantFrom(...scope.filter(name => !name.startsWith('p.'))).map(name => ({
      kind: 'exists' as const,
      scope: make.scope('ex'),
      on: [make.join('ex.ID', name)],
    })),
    fc.constant(make.ALWAYS),
  );
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: leaf.map(of => ({ kind: 'none' as const, of })) },
    { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }).map(of => ({ kind: 'all' as const, of })) },
    { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }).map(of => ({ kind: 'any' as const, of })) },
  );
}

/** Sometimes with a condition. */
function guarded(node: fc.Arbitrary<Node>, scope: Scope): fc.Arbitrary<Node> {
  const withIf = fc.tuple(node, condition(scope)).map(([n, test]): Node => ({ ...n, if: test }));
  return fc.oneof({ weight: 3, arbitrary: node }, { weight: 1, arbitrary: withIf });
}

function trees(scope: Scope, depth: number): Trees {
  const column = fc.constantFrom(...scope);
  const constant = fc.constantFrom<Node>(make.constant('c'), make.constant({ a: 'b' }), make.constant(true, 'boolean'));
  const value = fc.oneof(
    column.map((name): Node => make.value(name)),
    column.map((name): Node => make.value(name, { codec: FEW, absent: ['B'] })),
    column.map((name): Node => make.value(name, { codec: make.DECIMAL, type: 'decimal' })),
  );
  const bare = guarded(
    fc.oneof(
      value,
      constant.filter(node => node.kind === 'constant' && typeof node.json !== 'object'),
    ),
    scope,
  );
  const text = fc
    .tuple(
      fc.constantFrom('join' as const, 'template' as const),
      fc.array(fc.oneof(bare, fc.constantFrom('-', '"')), { maxLength: 3 }),
    )
    .map(([mode, parts]) => make.text(mode, parts, ', '));
  const leaf = guarded(fc.oneof({ weight: 3, arbitrary: value }, { weight: 2, arbitrary: constant }, text), scope);
  if (depth === 0) return { node: leaf, item: leaf };
  const inner = trees(scope, depth - 1);
  const reference = fc
    .tuple(column, fc.boolean(), fc.constantFrom('reference' as const, 'url' as const), inner.node)
    .map(
      ([name, exists, as, display]): Node =>
        make.ref('patients', [make.join('pt.NO', name)], { exists, as, members: make.named({ display }) }),
    );
  const named = fc.dictionary(fc.constantFrom(...NAMES), inner.node, { minKeys: 1, maxKeys: 3 });
  const choice = fc
    .array(named, { minLength: 1, maxLength: 3 })
    .map((alternatives): Member => make.choice(...alternatives));
  const object = fc
    .tuple(named, fc.option(choice), fc.subarray(NAMES, { maxLength: 2 }))
    .map(([members, extra, needs]): Node => {
      const plain = make.object('Thing', members);
      // A name occurs once: as a member, or in the choice.
      const own = extra
        ? plain.members.slice(0, 1).filter(m => m.kind === 'element' && !names(extra).includes(m.name))
        : plain.members;
      return { ...plain, members: extra ? [...own, extra] : own, needs };
    });
  const first = fc.array(inner.node, { minLength: 1, maxLength: 3 }).map(alternatives => make.first(...alternatives));
  const rows = (alias: string): fc.Arbitrary<Node> =>
    trees([...scope, `${alias}.A`, `${alias}.B`], depth - 1).item.map(
      (item): Node => make.each(alias, [make.join(`${alias}.UP`, 'ID')], item),
    );
  const lines = fc
    .tuple(fc.constantFrom('r.A', 'r.B', 's.A'), fc.constantFrom('\n', ''))
    .map(([column, separator]): Node => {
      const alias = column.slice(0, 1);
      const line = make.value(column, { codec: lineCodec(separator !== '') });
      return make.lines(alias, [make.join(`${alias}.UP`, 'ID')], line, separator);
    });
  const pieces = trees([...scope, 'p.a', 'p.b'], 0).node.map(
    (item): Node => ({ ...make.pieces('C1', ['a', 'b'], [':'], item) }),
  );
  const item = guarded(
    fc.oneof(
      { weight: 4, arbitrary: inner.node },
      { weight: 1, arbitrary: scope.includes('p.a') ? inner.node : pieces },
      // Only the base row has children here, because `ID` belongs to it.
      {
        weight: 2,
        arbitrary: scope.some(name => name.includes('.')) ? inner.node : fc.constantFrom('r', 's').chain(rows),
      },
      { weight: 1, arbitrary: fc.array(inner.item, { minLength: 1, maxLength: 2 }).map(items => make.first(...items)) },
      { weight: 1, arbitrary: fc.constant(make.constant(['one', 'two'])) },
    ),
    scope,
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map(items => make.list(...items));
  const node = guarded(
    fc.oneof(
      { weight: 2, arbitrary: leaf },
      { weight: 2, arbitrary: object },
      { weight: 2, arbitrary: list },
      { weight: 1, arbitrary: first },
      { weight: 1, arbitrary: reference },
      { weight: 1, arbitrary: scope.some(name => name.includes('.')) ? leaf : lines },
    ),
    scope,
  );
  return { node, item };
}

function names(member: Member): readonly string[] {
  return member.kind === 'element' ? [member.name] : member.alternatives.flat().map(({ name }) => name);
}

/** Mappings with three elements, some of which are a choice. References lead to `patients`. */
export const arbitraryMapping: fc.Arbitrary<Mapping> = fc
  .tuple(fc.array(trees(['C1', 'C2', 'C3'], 3).node, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([nodes, chosen]) => {
    const named = nodes.map((node, i) => ({ name: NAMES[i] ?? 'delta', node }));
    const members: readonly Member[] = chosen
      ? [{ kind: 'choice', alternatives: named.map(one => [one]) }]
      : named.map(one => ({ kind: 'element', ...one }));
    return make.mapping({
      root: make.object('Thing', {}, { members }),
      id: { alternatives: [[{ kind: 'literal', text: 'one' }]] },
    });
  });
