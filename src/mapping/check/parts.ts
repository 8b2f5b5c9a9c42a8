/**
 * Collects the parts of mappings that only live rows can prove. In: a registry. Out: each scope with its lookups, each
 * reference, and each value without an alternative.
 */
import { aliasesOf } from '../../sql/walk.ts';
import { childrenOf } from '../children.ts';
import { codeMapOfRows } from '../load/codes/origin.ts';
import type {
  ChildRows,
  Condition,
  Lookup,
  Mapping,
  Node,
  Pieces,
  Position,
  RefNode,
  Registry,
  Scope,
  ValueNode,
} from '../model.ts';
import { rowsOfLookups } from '../piece-lookups.ts';
import { aliasesIn } from './questions.ts';
import { type Way, wayOf, wayTo } from './way.ts';

/** A value that is read in a scope, possibly from the pieces of a column of its rows. */
export interface ScopedValue {
  readonly scope: Scope;
  readonly way: Way;
  readonly node: ValueNode;
  /** The pieces directly around it, if it is within an `each` over a split column. */
  readonly pieces: Pieces | undefined;
}

export interface ScopedLookup {
  readonly scope: Scope;
  readonly lookup: Lookup;
}

export interface ScopedRef {
  readonly scope: Scope;
  readonly way: Way;
  readonly node: RefNode;
}

/** A lookup by the pieces of a column, or a code map in a table with a lookup for each of its keys. */
export interface ScopedPieces {
  readonly scope: Scope;
  readonly pieces: Pieces;
  readonly lookups: readonly Lookup[];
  /** Name of the code map; undefined for a lookup. */
  readonly codeMap: string | undefined;
  readonly at: Position;
}

/** Child rows of an `each`. */
export interface ScopedChildRows {
  readonly from: ChildRows;
  /** The rows that they belong to. */
  readonly parent: Scope;
  readonly at: Position;
}

export interface ScopedTest {
  readonly scope: Scope;
  /** True if it selects the rows of another table. Then a table with rows should have at least one that passes. */
  readonly picks: boolean;
  readonly test: Extract<Condition, { readonly kind: 'is' }>;
}

export interface Parts {
  /** Comparisons with literals, each in the rows that it distinguishes, without any condition on them. */
  readonly tests: readonly ScopedTest[];
  readonly lookups: readonly ScopedLookup[];
  readonly refs: readonly ScopedRef[];
  readonly children: readonly ScopedChildRows[];
  readonly pieces: readonly ScopedPieces[];
  readonly values: readonly ScopedValue[];
  /** Values with a later alternative, such as an `else`. */
  readonly replaced: readonly ScopedValue[];
  /** Values computed by `sql`, with or without a later alternative: the statement computes them for each row. */
  readonly expressions: readonly ScopedValue[];
}

/** Collects the parts. Variants share their source, so it is visited once. */
export function partsOf(registry: Registry): Parts {
  const scopes = new Set<Scope>();
  const refs: ScopedRef[] = [];
  const children = new Map<ChildRows, ScopedChildRows>();
  const values: ScopedValue[] = [];
  const replaced: ScopedValue[] = [];
  const expressions: ScopedValue[] = [];
  const tests = new Map<Condition, ScopedTest>();
  /** Code maps on pieces: the row of a piece is found as by a lookup. */
  const codes: ScopedLookup[] = [];
  const pieces = new Map<string, ScopedPieces>();
  const visitCondition = (condition: Condition | undefined, scope: Scope, picks = false): void => {
    switch (condition?.kind) {
      case 'is':
        tests.set(condition, { scope, test: condition, picks });
        return;
      case 'exists':
        visitScope(condition.scope, true);
        return;
      case 'none':
        visitCondition(condition.of, scope);
        return;
      case 'all':
      case 'any':
        for (const of of condition.of) visitCondition(of, scope, picks && condition.kind === 'all');
    }
  };
  const visitScope = (scope: Scope, picks = false): void => {
    if (scopes.has(scope)) return;
    scopes.add(scope);
    visitCondition(scope.where, unfiltered(scope), picks);
    for (const { table, alias, where } of scope.lookups)
      visitCondition(where, { table, alias, where: { kind: 'always' }, lookups: [] });
  };
  const addPieces = (of: ScopedPieces): void => {
    const key = `${of.pieces.alias} ${of.codeMap ?? of.lookups[0]?.alias} ${JSON.stringify(of.at)}`;
    const known = pieces.get(key);
    pieces.set(key, known ? { ...known, lookups: [...known.lookups, ...of.lookups] } : of);
  };
  const visitLookups = (of: Pieces, scope: Scope): void => {
    for (const { node } of rowsOfLookups(of)) {
      const { scope: rows, on, order: pick } = node.from;
      const { table, alias, where, lookups } = rows;
      const lookup = { table, alias, on, where, required: false, pick, at: node.at };
      codes.push({ scope, lookup }, ...lookups.map(further => ({ scope: rows, lookup: further })));
      addPieces({ scope, pieces: of, lookups: [lookup], codeMap: undefined, at: node.at });
      for (const { where: tests } of [lookup, ...lookups])
        visitCondition(tests, unfiltered({ table, alias, where, lookups }));
    }
  };
  /**
   * `scopes`: the enclosing rows, the innermost first. `isLast`: no later alternative replaces a missing value of this
   * node.
   */
  const visit = (
    node: Node,
    scopes: readonly [Scope, ...Scope[]],
    isLast: boolean,
    before: Way,
    pieces?: Pieces,
  ): void => {
    const [scope] = scopes;
    const way = node.if ? { ...before, conditions: [...before.conditions, node.if] } : before;
    visitCondition(node.if, unfiltered(scope));
    if (node.kind === 'value') (isLast ? values : replaced).push({ scope, way, node, pieces });
    if (node.kind === 'value' && node.from.some(({ kind }) => kind === 'raw'))
      expressions.push({ scope: readScopeOf(node, scopes), way, node, pieces });
    if (node.kind === 'ref') refs.push({ scope, way, node });
    if (node.kind === 'each' && node.from.kind === 'rows') {
      const { single, on, of, scope: rows } = node.from;
      const { table, alias, where } = rows;
      if (single) {
        const lookup = { table, alias, on, where, required: false, pick: [], at: node.at };
        codes.push({ scope, lookup });
        const codeMap = codeMapOfRows(node.from);
        if (of && codeMap !== undefined) addPieces({ scope, pieces: of, lookups: [lookup], codeMap, at: node.at });
      }
      children.set(node.from, { from: node.from, parent: scope, at: node.at });
      visitScope(node.from.scope);
      // The alternatives around an `each` depend on its parent row.
      visit(node.item, [node.from.scope, ...scopes], isLast, wayOf(way.mapping));
    } else {
      const inner = node.kind === 'each' && node.from.kind === 'pieces' ? node.from : pieces;
      if (inner && inner !== pieces) visitLookups(inner, scope);
      for (const child of childrenOf(node)) {
        const further = wayTo(child, node, way);
        // The object around it is there without it: no alternative to the object replaces it.
        const isFree = further.beside.length > way.beside.length;
        const around = isFree ? 0 : way.later.length;
        visit(child, scopes, (isLast || isFree) && further.later.length === around, further, inner);
      }
    }
  };
  for (const mapping of registry.mappings) {
    visitScope(mapping.source);
    visit(mapping.root, [mapping.source], true, wayOf(mapping));
    if (mapping.deleted?.at) visit(mapping.deleted.at, [mapping.deleted.source], true, wayOf(undefined));
  }
  const lookups = [...codes, ...[...scopes].flatMap(scope => scope.lookups.map(lookup => ({ scope, lookup })))];
  return {
    lookups: [...new Map(lookups.map(part => [part.lookup, part])).values()],
    refs,
    children: [...children.values()],
    pieces: [...pieces.values()],
    values,
    replaced,
    expressions,
    tests: [...tests.values()],
  };
}

/** Returns the rows whose columns a value reads; in an `each` they may be those of an enclosing row. */
function readScopeOf({ from }: ValueNode, scopes: readonly [Scope, ...Scope[]]): Scope {
  const read = aliasesOf({ expressions: from });
  const owner = scopes.find(scope => {
    const own = new Set<string>(aliasesIn(scope));
    return [...read].every(alias => own.has(alias));
  });
  return owner ?? scopes[0];
}

function unfiltered({ table, alias, lookups }: Scope): Scope {
  return { table, alias, where: { kind: 'always' }, lookups };
}

/** Returns mappings with different rows: of variants, the first. */
export function sourcesOf(registry: Registry): readonly Mapping[] {
  return [...Map.groupBy(registry.mappings, mapping => mapping.group).values()].flatMap(group => group.slice(0, 1));
}
