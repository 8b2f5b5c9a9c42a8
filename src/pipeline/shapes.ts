/**
 * Caches row shapes and their writers, because making a writer compiles code. In: the mappings of a branch, the
 * requested elements, what later stages need. Out: a shape and a writer per mapping.
 */
import { boundedCache } from '../common/caches.ts';
import { namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { conditionPredicate } from '../plan/condition.ts';
import type { Environment } from '../plan/environment.ts';
import { targetRelation } from '../plan/presence.ts';
import { type ForInstants, forInstants, servesInstant } from '../plan/reuse/moments.ts';
import { compileWriter, type Writer } from '../resource/compile.ts';
import { selectionKey, selectRoot } from '../resource/selection.ts';
import { type RowShape, type ShapeResolver, shapeOfGroup } from '../resource/shape.ts';
import type { Selection } from '../search/query.ts';
import type { Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';

export interface Shaped {
  readonly shape: RowShape;
  writer(mapping: Mapping): Writer;
  /** Writes the elements that the request needs whatever is selected; undefined if everything is written anyway. */
  wantedWriter(mapping: Mapping): Writer | undefined;
}

export interface ShapeRequest {
  readonly mappings: readonly Mapping[];
  readonly selection: Selection;
  /** Columns, and elements of the resource, that are needed whatever is selected. */
  readonly columns: readonly Expression[];
  readonly nodes: readonly Node[];
}

export interface Shapes {
  of(request: ShapeRequest, env: Environment): Shaped;
}

/** Creates the cache of shapes for one registry, with at most `entries`. */
export function shapeStore(entries = 500): Shapes {
  const cache = boundedCache<{ shaped?: ForInstants<Shaped> }>(entries);
  return {
    of(request, env) {
      const kept = cache.get(keyOf(request), () => ({}));
      if (kept.shaped === undefined || !servesInstant(kept.shaped, env))
        kept.shaped = forInstants(env, within => shaped(request, within));
      return kept.shaped.made;
    },
  };
}

function shaped(request: ShapeRequest, env: Environment): Shaped {
  const shape = shapeOfGroup(request.mappings, request.selection, shapeResolver(env), {
    columns: request.columns,
    nodes: request.nodes,
  });
  const whole = request.selection.kind === 'all' || request.nodes.length === 0;
  const wanted = whole ? undefined : writersOf(mapping => elementsAlone(mapping, shape, request.nodes));
  return { shape, writer: writersOf(() => shape), wantedWriter: mapping => wanted?.(mapping) };
}

/** Creates writers on first use and caches them. */
function writersOf(shapeFor: (mapping: Mapping) => RowShape): (mapping: Mapping) => Writer {
  // Asked for each row: a Map is faster than the WeakMap of `memoized`.
  const writers = new Map<Mapping, Writer>();
  return mapping => {
    const known = writers.get(mapping);
    if (known) return known;
    const made = compileWriter(mapping, shapeFor(mapping));
    writers.set(mapping, made);
    return made;
  };
}

/** Returns a shape of the same rows, of which only these elements are written. */
function elementsAlone(mapping: Mapping, shape: RowShape, nodes: readonly Node[]): RowShape {
  const all = selectRoot(mapping, { kind: 'all' });
  const members = all.members.filter(member => namedNodesOf(member).some(({ node }) => nodes.includes(node)));
  return { ...shape, roots: new Map([[mapping, { ...all, meta: [], members }]]) };
}

function keyOf({ mappings, selection, columns, nodes }: ShapeRequest): string {
  return [
    mappings.map(mapping => mapping.name).join(),
    selectionKey(selection),
    columns.map(expressionKey).join(),
    nodes.map(node => `${node.at.file}:${node.at.line}:${node.at.column}`).join(),
  ].join('|');
}

export function shapeResolver(env: Environment): ShapeResolver {
  return {
    mapping: name => env.registry.mapping(name),
    predicateOf: condition => conditionPredicate(condition, env),
    targetRelation: (mapping, on, expressions) => targetRelation(mapping, on, env, expressions),
  };
}
