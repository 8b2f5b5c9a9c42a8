/** Opens the demo pack over a small fixture, intact or with defects, for tests of the whole pipeline. */
import type { Facade, FacadeOptions } from '../../src/facade.ts';
import type { Mapping, Node, Registry, Scope } from '../../src/mapping/model.ts';
import { conceptMapsOf, valueSetsOf } from '../../src/operations/code-map-resources.ts';
import { EXPORT_OPERATIONS } from '../../src/operations/operations.ts';
import { RECORD_OPERATIONS } from '../../src/operations/record-operations.ts';
import type { Rules } from '../../src/plan/environment.ts';
import type { AccessRules } from '../../src/plan/visibility.ts';
import type { Database } from '../../src/sql/database.ts';
import type { PlaceholderValues, SqlPlan } from '../../src/sql/plan.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { ENGINE, type EngineName, openFixture } from '../engines/fixture.ts';
import { facadeOver } from '../facade-over.ts';
import { registryOver } from './demo-pack.ts';
import { NOW } from './law.ts';
import { spoil } from './spoil.ts';

export interface Demo {
  readonly database: Database;
  readonly registry: Registry;
  readonly facade: Facade;
  withRules(rules: Rules): Facade;
  withAccessRules(rules: AccessRules): Facade;
  close(): Promise<void>;
}

export interface DemoOptions {
  readonly patients: number;
  /** Number of spoiled values in 1,000. */
  readonly spoiled?: { readonly perMille: number; readonly seed: number };
  readonly onQuery?: (plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => void;
  /** Default: the engine of the run. */
  readonly engine?: EngineName;
}

/** Makes the fixture in a separate database and loads the demo pack over it. */
export async function openDemo({ patients, spoiled, onQuery, engine }: DemoOptions): Promise<Demo> {
  const { database, close } = await openFixture(
    patients,
    spoiled &&
      (async (file, sound) => {
        const registry = await load(sound);
        spoil({ file, ...spoiled, keep: keysOf(registry), anyForm: (engine ?? ENGINE) === 'sqlite' });
      }),
    engine,
  );
  return { ...(await demoOver(database, onQuery)), close };
}

/** Loads the demo pack, or another, over an existing database. */
export async function demoOver(
  database: Database,
  onQuery?: (plan: SqlPlan, placeholders?: PlaceholderValues) => void,
  pack = DEMO_PACK,
): Promise<Demo> {
  const registry = await load(database, pack);
  const facadeWith = (switched: Pick<FacadeOptions, 'rules' | 'accessRules'> = {}): Facade =>
    facadeOver({
      registry,
      database,

      clock: () => NOW,
      own: [...conceptMapsOf(registry), ...valueSetsOf(registry)],
      operations: EXPORT_OPERATIONS,
      recordOperations: RECORD_OPERATIONS,
      ...switched,
      ...(onQuery ? { onQuery } : {}),
    });
  return {
    database,
    registry,
    facade: facadeWith(),
    withRules: rules => facadeWith({ rules }),
    withAccessRules: accessRules => facadeWith({ accessRules }),
    close: () => database.close(),
  };
}

async function load(database: Database, pack = DEMO_PACK): Promise<Registry> {
  const catalog = await database.catalog();
  return registryOver((await database.forms?.(catalog, () => true)) ?? catalog, pack);
}

/** Columns that the mappings require to be unique: keys, ids, and targets of lookups and references. */
function keysOf(registry: Registry): ReadonlySet<string> {
  const keep = new Set<string>();
  const scope = ({ lookups }: Scope): void => {
    for (const { table, on } of lookups) for (const { theirs } of on) keep.add(`${table.name}.${theirs.column}`);
  };
  const visit = (mapping: Mapping, node: Node): void => {
    switch (node.kind) {
      case 'ref': {
        const target = registry.mapping(node.target);
        for (const { theirs } of node.on) keep.add(`${target.source.table.name}.${theirs.column}`);
        return;
      }
      case 'object':
        for (const member of node.members) {
          for (const named of member.kind === 'element' ? [member] : member.alternatives.flat())
            visit(mapping, named.node);
        }
        return;
      case 'list':
        for (const item of node.items) visit(mapping, item);
        return;
      case 'first':
        for (const alternative of node.alternatives) visit(mapping, alternative);
        return;
      case 'each':
        if (node.from.kind === 'rows') {
          scope(node.from.scope);
          for (const { theirs } of node.from.on) keep.add(`${node.from.scope.table.name}.${theirs.column}`);
        }
        visit(mapping, node.item);
        return;
      case 'lines':
        visit(mapping, node.each);
        return;
      default:
        return;
    }
  };
  for (const mapping of registry.mappings) {
    const { source, id } = mapping;
    scope(source);
    for (const column of [...source.key, ...source.onePer]) keep.add(`${source.table.name}.${column.column}`);
    for (const parts of id.alternatives) {
      for (const part of parts) if (part.kind === 'column') keep.add(`${source.table.name}.${part.column.column}`);
    }
    visit(mapping, mapping.root);
  }
  return keep;
}
