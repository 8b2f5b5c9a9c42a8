/**
 * Defines the mapping model: loaded, macros expanded, names resolved, every element typed by FHIR and every column by
 * the catalog. Readonly data. src/mapping/load makes it, src/plan inverts it, src/resource writes it.
 */
import type { Hierarchies } from '../r4/terminology.ts';
import type { ColumnExpression, Expression, Order } from '../sql/expression.ts';
import type { Identifier, TableName } from '../sql/identifier.ts';
import type { CodeMap } from './codecs/code-map.ts';
import type { Codec } from './codecs/codec.ts';
import type { TextStep } from './codecs/text-step.ts';
import type { IdRule, NumberRule } from './id-rule.ts';
import type { Brand } from './load/pack/brand.ts';

/** A position in a file of a pack. Lines and columns count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The macro that put it into a mapping: the `insert` of a fragment, or a row of `rows`. */
  readonly by?: Origin;
}

export interface Origin {
  readonly what: 'insert' | 'row';
  readonly at: Position;
}

/** One selected row of `source` (that satisfies `needs`) is one resource. */
export interface Mapping {
  /** Unique in the pack; a variant is `file-mapping.variant`. */
  readonly name: string;
  readonly resource: string;
  /** Mappings with the same group read the same rows (variants of one source). */
  readonly group: string;
  /** Position among all mappings: the total order of a union. */
  readonly ordinal: number;
  readonly source: Source;
  readonly id: IdRule;
  /** The whole number that the REST interface uses; undefined: it uses that of the id. */
  readonly number?: NumberRule;
  readonly root: ObjectNode;
  /** Nodes that a row must have to be served, including required elements that may be absent. */
  readonly needs: readonly Node[];
  /** The column that meta.lastUpdated comes from; without it `_lastUpdated` and `_since` are not offered. */
  readonly changed?: ValueNode;
  /** Undefined if the pack does not say which rows are deleted records. */
  readonly deleted?: DeletedRecords;
  /** Reason why resources of the mapping belong to no patient, although others of their type do. */
  readonly outside?: string;
  /** True if some condition compares with the present instant. */
  readonly usesNow: boolean;
  readonly at: Position;
}

/** Rows that would be resources if they were not deleted. */
export interface DeletedRecords {
  /** The rows of the mapping's source that `deleted` excludes. */
  readonly source: Source;
  /** Time of deletion; undefined if the rows do not contain it. */
  readonly at: Node | undefined;
}

export interface Source extends Scope {
  /** Unique under `where`; pages are ordered by it. */
  readonly key: readonly ColumnExpression[];
  /** Of rows that share these columns, only the one with the lowest key counts. */
  readonly onePer: readonly ColumnExpression[];
}

/** A table under an alias, filtered, with its to-one lookups. */
export interface Scope {
  readonly table: TableName;
  /** The table is a view. */
  readonly isView?: true;
  readonly alias: Identifier;
  readonly where: Condition;
  /** In order: a lookup may refer to the aliases before it. */
  readonly lookups: readonly Lookup[];
}

export interface Lookup {
  readonly table: TableName;
  readonly isView?: true;
  readonly alias: Identifier;
  readonly on: readonly JoinColumn[];
  readonly where: Condition;
  /** A row counts only if the lookup finds a row. */
  readonly required: boolean;
  /** Order that decides if several rows fit: the first counts. Empty: the key is unique. */
  readonly pick: readonly Order[];
  readonly at: Position;
}

/** `theirs = ours`. If the types differ, our side is cast, never the key column. */
export interface JoinColumn {
  readonly theirs: ColumnExpression;
  readonly ours: ColumnExpression;
  /** Text steps on our side before the comparison; only for lookups and code maps on pieces. */
  readonly steps?: readonly TextStep[];
  /** Compares two texts without the case of ASCII letters; only for lookups and code maps on pieces. */
  readonly fold?: true;
  /** Values of ours that mean "no value" elsewhere. They join, but a missing row for them is not reported. */
  readonly none?: readonly (string | number)[];
}

/** A test on an absent value is false; `not` is the exact complement. */
export type Condition =
  | { readonly kind: 'always' }
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'none'; readonly of: Condition }
  /** The column holds one of these values. */
  | {
      readonly kind: 'is';
      readonly column: ColumnExpression;
      readonly values: readonly (string | number)[];
      /** Position of the first of them. */
      readonly at?: Position;
    }
  | {
      readonly kind: 'order';
      readonly column: ColumnExpression;
      readonly op: '<' | '<=' | '>' | '>=';
      readonly value: string | number;
    }
  /** Compares with the present instant through the column's date codec. */
  | { readonly kind: 'now'; readonly column: ColumnExpression; readonly op: 'before' | 'after'; readonly codec: Codec }
  /** A pattern with `*`, `?`, `[0-9]`, `[^…]`, on the value without trailing blanks. */
  | { readonly kind: 'matches'; readonly column: ColumnExpression; readonly pattern: string }
  | { readonly kind: 'same'; readonly column: ColumnExpression; readonly other: ColumnExpression }
  /**
   * Compares two columns as numbers or times, or by what a date codec reads from both. The order of the codec's values
   * must be that of the bare column.
   */
  | {
      readonly kind: 'ordered';
      readonly column: ColumnExpression;
      readonly op: '<' | '<=' | '>' | '>=';
      readonly other: ColumnExpression;
      readonly codec?: Codec;
    }
  /** Neither NULL nor blank. */
  | { readonly kind: 'present'; readonly column: ColumnExpression }
  | { readonly kind: 'exists'; readonly scope: Scope; readonly on: readonly JoinColumn[] };

interface NodeBase {
  /** The FHIR type emitted here: `CodeableConcept`, `code`, `dateTime`, or the path of a backbone element. */
  readonly type: string;
  /** The node exists only if this holds. */
  readonly if?: Condition;
  readonly at: Position;
}

export type Node =
  | ConstantNode
  | ValueNode
  | ObjectNode
  | ListNode
  | EachNode
  | FirstNode
  | RefNode
  | TextNode
  | LinesNode;

/** Any fixed JSON value. It never makes the enclosing object exist. */
export interface ConstantNode extends NodeBase {
  readonly kind: 'constant';
  readonly json: Json;
}

/** One or more columns through a codec. */
export interface ValueNode extends NodeBase {
  readonly kind: 'value';
  /** More than one only for codecs that take several columns (date and time). May be flags or sub-selects. */
  readonly from: readonly Expression[];
  readonly codec: Codec;
  /** Raw values that mean "no value", compared like `equals`; from `none:` and the pack's `absent:` rules. */
  readonly absent: readonly (string | number)[];
}

export interface ObjectNode extends NodeBase {
  readonly kind: 'object';
  readonly members: readonly Member[];
  /** Children without which the object does not exist; its type's carrier (Coding.code, Quantity.value …) included. */
  readonly needs: readonly string[];
}

/** An element, or the elements of the first alternative that is present. */
export type Member =
  | { readonly kind: 'element'; readonly name: string; readonly node: Node }
  | { readonly kind: 'choice'; readonly alternatives: readonly (readonly NamedNode[])[] };

export interface NamedNode {
  readonly name: string;
  readonly node: Node;
}

/** Items of an array element: each present one is emitted, in order; an `each` among them gives many. */
export interface ListNode extends NodeBase {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

/** R4, R5. One item per child row, or per piece of a separated column. Only within a ListNode or a LinesNode. */
export interface EachNode extends NodeBase {
  readonly kind: 'each';
  readonly from: ChildRows | Pieces;
  readonly item: Node;
}

export interface ChildRows {
  readonly kind: 'rows';
  readonly scope: Scope;
  readonly on: readonly JoinColumn[];
  readonly order: readonly Order[];
  /** The pieces whose parts `on` joins. They split a column of the enclosing row, and each piece has its own rows. */
  readonly of?: Pieces;
  /** The rows belong to a code map: at most one fits. */
  readonly single?: true;
}

/**
 * The pieces of one column of the enclosing row. `{a}:{b}` names parts of a piece; without `parse` the part is `piece`.
 */
export interface Pieces {
  readonly kind: 'pieces';
  readonly column: ColumnExpression;
  readonly by: string;
  readonly alias: Identifier;
  /** Separators between the named parts, in order; the parts are columns of `alias`. */
  readonly parts: readonly Identifier[];
  readonly between: readonly string[];
  /** Rows that are looked up by parts of a piece, or by columns of such rows. */
  readonly lookups?: readonly Lookup[];
}

/** The first alternative that is present. */
export interface FirstNode extends NodeBase {
  readonly kind: 'first';
  readonly alternatives: readonly Node[];
}

/** A reference to the resource that another mapping makes from the row where theirs = ours. */
export interface RefNode extends NodeBase {
  readonly kind: 'ref';
  /** Name of the target mapping (`Registry.mapping(name)`). */
  readonly target: string;
  readonly on: readonly JoinColumn[];
  /** False: emitted from our columns without checking that the target exists (its id is made from `theirs`). */
  readonly exists: boolean;
  /** `reference`: a Reference; `url`: the target's absolute URL as a string. */
  readonly as: 'reference' | 'url';
  /** Further elements of the Reference (display, identifier, type). */
  readonly members: readonly NamedNode[];
}

/** Text from several values. Absent parts are left out; if all are absent, so is the text. Output only. */
export interface TextNode extends NodeBase {
  readonly kind: 'text';
  readonly parts: readonly (string | Node)[];
  /** `join`: present parts with `separator` between; `template`: all parts must be present. */
  readonly mode: 'join' | 'template';
  readonly separator: string;
}

/**
 * `rows-as-text`: one text of the child rows of `each`, whose item is `line`; absent if none of them has a text. Output
 * only.
 */
export interface LinesNode extends NodeBase {
  readonly kind: 'lines';
  readonly each: EachNode;
  readonly line: ValueNode;
  readonly separator: string;
  /** A row without a text is left out; otherwise it is an empty line. */
  readonly isList: boolean;
  /** Codec of the whole text. */
  readonly codec: Codec;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** All mappings of a pack. */
export interface Registry {
  readonly pack: Pack;
  readonly mappings: readonly Mapping[];
  readonly mapping: (name: string) => Mapping;
  /** In order; empty for a type without mappings. */
  readonly ofType: (resource: string) => readonly Mapping[];
  readonly types: readonly string[];
  /** Code maps with rows in the pack that a mapping uses. The rows of a code table belong to the database. */
  readonly codeMaps: readonly CodeMap[];
  /** Changes with any change of the pack's files. */
  readonly version: string;
}

export interface Pack {
  readonly name: string;
  readonly title: string;
  /** IANA zone of the zoneless local times in the database. */
  readonly zone: string;
  readonly publisher?: string;
  /** How apps present the hospital. */
  readonly brand?: Brand;
  /** Documents name systems of identifiers that are URLs by OIDs below this one. */
  readonly oid?: string;
  readonly systems: Readonly<Record<string, string>>;
  readonly hierarchies?: Hierarchies;
  readonly words?: readonly WordIndex[];
}

/**
 * A table with the words of some columns of another, one row per word. A search by words seeks there before it
 * compares.
 * The table has each word of such a column, folded, or `*`, which stands for any word.
 * docs/decisions/0316-an-index-of-words.md
 */
export interface WordIndex {
  /** The table that the words come from. */
  readonly of: TableName;
  /** In lower case. */
  readonly columns: ReadonlySet<string>;
  readonly table: TableName;
  readonly word: ColumnExpression;
  /** `ours` are columns of `of`. */
  readonly on: readonly JoinColumn[];
  readonly at: Position;
}

/**
 * Makes a registry, which finds mappings by name and by resource type. `mapping(name)` throws a RangeError for an
 * unknown name.
 */
export function createRegistry(
  pack: Pack,
  mappings: readonly Mapping[],
  version: string,
  codeMaps: readonly CodeMap[] = [],
): Registry {
  const byName = new Map(mappings.map(mapping => [mapping.name, mapping]));
  const byType = Map.groupBy(mappings, mapping => mapping.resource);
  const none: readonly Mapping[] = [];
  return {
    pack,
    mappings,
    mapping: name => {
      const found = byName.get(name);
      if (!found) throw new RangeError(`no mapping ${JSON.stringify(name)}`);
      return found;
    },
    ofType: resource => byType.get(resource) ?? none,
    types: [...byType.keys()].sort(),
    codeMaps,
    version,
  };
}
