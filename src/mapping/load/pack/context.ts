/**
 * What the stages that resolve a mapping share: the pack, the report, and facts about nodes that later stages use.
 */

import type { Catalog } from '../../../sql/catalog.ts';
import type { Identifier } from '../../../sql/identifier.ts';
import { identifier } from '../../../sql/identifier.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { Condition, Node, Scope, Source } from '../../model.ts';
import type { Systems } from '../codes/system.ts';
import type { Slot } from '../nodes/slot.ts';
import type { Report } from '../problem.ts';
import type { Entry, Tree } from '../read/tree.ts';
import type { Dates } from '../rows/absent-values.ts';
import type { Visible } from '../rows/columns.ts';
import type { MappingSettings } from './settings.ts';
import type { CodeMaps, Names, Uses } from './unit.ts';

/** The pack as far as it is known before any mapping is resolved. */
export interface PackContext extends Uses {
  readonly report: Report;
  readonly settings: MappingSettings;
  readonly systems: Systems;
  readonly catalog: Catalog;
  /** The schema that the pack was written for, where another one is there now. */
  readonly locked: Catalog | undefined;
  readonly codeMaps: CodeMaps;
  /** Names of code maps whose own problems keep them from being read. */
  readonly brokenCodeMaps: Names;
  /** Columns that are dates only by their codecs. */
  readonly dates: Dates;
  /** Codecs by which columns are compared with now, by `via` and type. */
  readonly dateCodecs: Map<string, Codec>;
}

/** A mapping that references may name: its rows are resolved before any element is. */
export interface Target {
  readonly name: string;
  readonly group: string;
  readonly resource: string;
  readonly source: Source;
  readonly visible: Visible;
  /** Columns that the id is made of, by `alias.column`. */
  readonly idColumns: ReadonlySet<string>;
}

/** The mappings that references may name. */
export interface Targets {
  /** Those of this name or group. */
  named(name: string): readonly Target[];
  /** All names, then all groups. */
  names(): readonly string[];
}

/** One mapping while it is resolved. */
export interface Context extends PackContext {
  readonly aliases: Aliases;
  readonly targets: Targets;
  /** Names of mappings whose own problems keep them from being targets. */
  readonly broken: Names;
  /** Names of mappings, and of their groups, that are left out because they do not work. */
  readonly unserved: Names;
  /** Aliases of tables that are not there, in lower case: the table has been told, and is all there is to mend. */
  readonly lost: Set<string>;
  /** Nodes of single columns that are never absent: NOT NULL, and the codec has a value for every raw value. */
  readonly certain: WeakSet<Node>;
  /** Set once a condition compares with the present instant. */
  readonly now: { used: boolean };
  readonly readCondition: (tree: Tree | undefined, visible: Visible, context: Context) => Condition;
  readonly readScope: (tree: Tree, name: Entry | undefined, outer: Visible, context: Context) => OpenScope | undefined;
  readonly readNode: (tree: Tree, slot: Slot, visible: Visible, context: Context) => Node | undefined;
}

/** A scope and what can be named within it. */
export interface OpenScope {
  readonly scope: Scope;
  readonly visible: Visible;
}

/** Mints aliases that are unique within a mapping, whatever the scopes in it call theirs. */
export class Aliases {
  readonly #taken = new Set<string>();

  /** The name itself, or with the first number that makes it unique. */
  mint(name: string): Identifier {
    let alias = name;
    for (let i = 2; this.#taken.has(alias.toLowerCase()); i++) alias = `${name}${i}`;
    this.#taken.add(alias.toLowerCase());
    return identifier(alias);
  }
}
