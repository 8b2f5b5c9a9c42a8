/**
 * Defines what the stages that resolve a mapping share: the pack, the report, and facts about nodes for later stages.
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

/** The parts of the pack that are known before any mapping is resolved. */
export interface PackContext extends Uses {
  readonly report: Report;
  readonly settings: MappingSettings;
  readonly systems: Systems;
  readonly catalog: Catalog;
  /** The schema that the pack was written for, if the current one differs. */
  readonly locked: Catalog | undefined;
  readonly codeMaps: CodeMaps;
  /** Names of code maps that could not be read because of their own problems. */
  readonly brokenCodeMaps: Names;
  /** Columns that hold dates only by their codecs. */
  readonly dates: Dates;
  /** Codecs for comparisons of columns with now, by `via` and type. */
  readonly dateCodecs: Map<string, Codec>;
}

/** A mapping that references may name. Its rows are resolved before any element. */
export interface Target {
  readonly name: string;
  readonly group: string;
  readonly resource: string;
  readonly source: Source;
  readonly visible: Visible;
  /** Columns that the id is made from, by `alias.column`. */
  readonly idColumns: ReadonlySet<string>;
}

/** The mappings that references may name. */
export interface Targets {
  /** Returns the targets of this name or group. */
  named(name: string): readonly Target[];
  /** Returns all names, then all groups. */
  names(): readonly string[];
}

/** The context of one mapping while it is resolved. */
export interface Context extends PackContext {
  readonly aliases: Aliases;
  readonly targets: Targets;
  /** Names of mappings that cannot be targets because of their own problems. */
  readonly broken: Names;
  /** Names of mappings, and of their groups, that are left out because they do not work. */
  readonly unserved: Names;
  /**
   * Aliases of tables that do not exist, in lower case. The missing table is reported, so nothing about its columns is.
   */
  readonly lost: Set<string>;
  /** Nodes of single columns that are never absent: NOT NULL, and the codec has a value for every raw value. */
  readonly certain: WeakSet<Node>;
  /** Set once a condition compares with the present instant. */
  readonly now: { used: boolean };
  readonly readCondition: (tree: Tree | undefined, visible: Visible, context: Context) => Condition;
  readonly readScope: (tree: Tree, name: Entry | undefined, outer: Visible, context: Context) => OpenScope | undefined;
  readonly readNode: (tree: Tree, slot: Slot, visible: Visible, context: Context) => Node | undefined;
}

/** A scope and the names visible within it. */
export interface OpenScope {
  readonly scope: Scope;
  readonly visible: Visible;
}

/** Mints aliases that are unique within a mapping, whatever names its scopes use. */
export class Aliases {
  readonly #taken = new Set<string>();

  /** Returns the name itself, or with the first number that makes it unique. */
  mint(name: string): Identifier {
    let alias = name;
    for (let i = 2; this.#taken.has(alias.toLowerCase()); i++) alias = `${name}${i}`;
    this.#taken.add(alias.toLowerCase());
    return identifier(alias);
  }
}
