/**
 * Joins stored rows without the engine: it finds lookups, child rows and references by equality in tables that were
 * fetched without the plans of the server. In: rows of tables. Out: what the interpreter (interpret.ts) reads. Missing
 * rows are recorded and fetched together, and the interpreter runs again.
 */
import type {
  Condition,
  EachNode,
  JoinColumn,
  Lookup,
  Mapping,
  Pieces,
  RefNode,
  Registry,
  Scope,
} from '../mapping/model.ts';
import { canonicalOf, castTo, compareCanonical } from '../resource/raw.ts';
import { isFetchedAlike } from '../sql/column-type.ts';
import type { Database } from '../sql/database.ts';
import type { Expression, Order, SqlValue } from '../sql/expression.ts';
import { type Identifier, type TableName, tableKey } from '../sql/identifier.ts';
import { aliasesOf } from '../sql/walk.ts';
import type { TableColumns } from './columns.ts';
import { FetchedRows, inCase, type StoredRow } from './fetched-rows.ts';
import { asRowValue } from './forms.ts';
import type { Interpreter, RowReader } from './interpret.ts';
import { Unjudged } from './thing.ts';
import { type ReadRow, WorkedOut } from './worked-out.ts';

/** A row with what is visible from it: the lookups of its scope, and the enclosing rows. */
export interface View {
  readonly scope: Scope;
  readonly row: StoredRow;
  readonly around: View | undefined;
  /** Rows that lookups have found so far; null if none. */
  readonly found: Map<Identifier, StoredRow | null>;
}

export class StoredRows extends FetchedRows implements RowReader<View> {
  readonly #registry: Registry;
  readonly #columns: ReadonlyMap<string, TableColumns>;
  readonly #worked = new WorkedOut();

  constructor(registry: Registry, database: Database, columns: ReadonlyMap<string, TableColumns>) {
    super(database, columns);
    this.#registry = registry;
    this.#columns = columns;
  }

  /** Makes the view of a row. */
  view(scope: Scope, row: StoredRow, around?: View): View {
    return { scope, row, around, found: new Map() };
  }

  raw(expression: Expression, view: View): SqlValue {
    const stored = this.stored(expression, view);
    return asRowValue(stored, expression.type);
  }

  /**
   * Returns the value of a column as the database stores it, or of an `sql` as the engine computes it. Throws Unjudged
   * for other expressions.
   */
  stored(expression: Expression, view: View): SqlValue {
    if (expression.kind === 'raw') return this.#workedOut(expression, view);
    if (expression.kind !== 'column') throw new Unjudged();
    const row = this.#rowOf(expression.alias, view);
    return row?.get(expression.column) ?? null;
  }

  #workedOut(expression: Expression, view: View): SqlValue {
    const gone = new Set<Identifier>();
    const rows: ReadRow[] = [];
    for (const alias of aliasesOf({ expressions: [expression] })) {
      const row = this.#rowOf(alias, view);
      if (row === null) gone.add(alias);
      else rows.push(this.#known(alias, row, view));
    }
    // If none of its lookups found a row, the expression is computed on the row itself.
    if (rows.length === 0) rows.push(this.#known(view.scope.alias, view.row, view));
    const worked = this.#worked.of(expression, rows, gone);
    if (worked === undefined) this.lacking = true;
    return worked ?? null;
  }

  /** Identifies the row under an alias within its table. */
  #known(alias: Identifier, row: StoredRow, view: View): ReadRow {
    const table = tableUnder(alias, view);
    const read = table && this.#columns.get(tableKey(table));
    if (!read) throw new Unjudged();
    const own = read.key.length > 0 ? read.key : [...read.columns.values()];
    return { alias, table, key: own.map(column => [column, row.get(column.column) ?? null] as const) };
  }

  within(view: View, { alias, lookups = [] }: Pieces, parts: StoredRow): View | undefined {
    const scope: Scope = { table: { name: alias }, alias, where: { kind: 'always' }, lookups };
    const inner = this.view(scope, parts, view);
    return this.hasRequired(inner) ? inner : undefined;
  }

  children(node: EachNode, view: View, interpreter: Interpreter<View>): readonly View[] {
    if (node.from.kind !== 'rows') return [];
    const { scope, on, order } = node.from;
    const views = this.#rowsOf(scope, on, view, interpreter);
    return views.toSorted((a, b) => this.#compare(order, a, b));
  }

  exists({ scope, on }: Condition & { readonly kind: 'exists' }, view: View, interpreter: Interpreter<View>): boolean {
    return this.#rowsOf(scope, on, view, interpreter).length > 0;
  }

  target(node: RefNode, view: View, interpreter: Interpreter<View>): string | undefined {
    const target = this.#registry.mapping(node.target);
    if (!node.exists) {
      const printed = interpreter.id(target.id, column => {
        const joined = node.on.find(({ theirs }) => theirs.alias === column.alias && theirs.column === column.column);
        if (!joined) throw new Unjudged();
        const raw = this.raw(joined.ours, view);
        return isFetchedAlike(joined.ours.type, column.type) ? raw : castTo(column.type, joined.ours.type)(raw);
      });
      return printed === undefined ? undefined : `${target.resource}/${printed}`;
    }
    for (const row of this.find(target.source, node.on, this.#ours(node.on, view))) {
      const found = this.view(target.source, row);
      if (!this.isServed(target, found, interpreter)) continue;
      const id = interpreter.id(target.id, column => this.raw(column, found));
      if (id !== undefined) return `${target.resource}/${id}`;
    }
    return undefined;
  }

  /** True if a row of the source is a resource of the mapping. */
  isServed(mapping: Mapping, view: View, interpreter: Interpreter<View>): boolean {
    return (
      this.isSelected(mapping, view, interpreter) && mapping.needs.every(need => interpreter.isPresent(need, view))
    );
  }

  /** True if the row is selected, whatever its elements: `where`, `required` lookups, and the first of one-per rows. */
  isSelected({ source }: Mapping, view: View, interpreter: Interpreter<View>): boolean {
    return (
      interpreter.holds(source.where, view) &&
      this.hasRequired(view) &&
      (source.onePer.length === 0 || this.isAnchor(source, view, interpreter))
    );
  }

  /** True if all lookups that are `required` find a row. */
  hasRequired(view: View): boolean {
    return view.scope.lookups.every(({ required, alias }) => !required || this.#rowOf(alias, view) !== null);
  }

  /** True if no row that counts has the same one-per columns and a lower key. */
  isAnchor(source: Mapping['source'], view: View, interpreter: Interpreter<View>): boolean {
    const same = source.onePer.map(column => ({ theirs: column, ours: column }));
    return this.find(source, same, this.#ours(same, view)).every(row => {
      const other = this.view(source, row);
      const lower = this.#compare(
        source.key.map(by => ({ by, descending: false })),
        other,
        view,
      );
      return lower >= 0 || !interpreter.holds(source.where, other) || !this.hasRequired(other);
    });
  }

  override async fetch(signal: AbortSignal): Promise<void> {
    await this.#worked.fetch(this.database, signal);
    await super.fetch(signal);
  }

  #rowsOf(scope: Scope, on: readonly JoinColumn[], view: View, interpreter: Interpreter<View>): readonly View[] {
    return this.find(scope, on, this.#ours(on, view))
      .map(row => this.view(scope, row, view))
      .filter(one => interpreter.holds(scope.where, one) && this.hasRequired(one));
  }

  /** Returns our side of a join, after its text steps. */
  #ours(on: readonly JoinColumn[], view: View): readonly SqlValue[] {
    return on.map(joined => this.#our(joined, view));
  }

  #our({ ours, steps = [], fold }: JoinColumn, view: View): SqlValue {
    const raw = this.raw(ours, view);
    if (raw === null) return raw;
    if (steps.length === 0) return typeof raw === 'string' ? inCase(raw, fold) : raw;
    let text: string | undefined = String(raw);
    for (const step of steps) text = text === undefined ? undefined : step.apply(text);
    return inCase(text ?? null, fold);
  }

  /** Returns the row under an alias; null if the lookup finds none. */
  #rowOf(alias: Identifier, view: View): StoredRow | null {
    for (let at: View | undefined = view; at; at = at.around) {
      if (at.scope.alias === alias) return at.row;
      const lookup = at.scope.lookups.find(one => one.alias === alias);
      if (!lookup) continue;
      const known = at.found.get(alias);
      if (known !== undefined) return known;
      const found = this.#lookedUp(lookup, at);
      // If rows were missing, the lookup is repeated after they are fetched.
      if (!this.lacking) at.found.set(alias, found);
      return found;
    }
    throw new Unjudged();
  }

  #lookedUp(lookup: Lookup, view: View): StoredRow | null {
    const interpreter = this.interpreter;
    if (!interpreter) throw new TypeError('rows are read by an interpreter');
    const fitting = this.find(lookup, lookup.on, this.#ours(lookup.on, view)).filter(row => {
      const seen: View = { ...view, found: new Map([...view.found, [lookup.alias, row]]) };
      return interpreter.holds(lookup.where, seen);
    });
    if (fitting.length <= 1 || lookup.pick.length === 0) return fitting[0] ?? null;
    const asScope: Scope = { table: lookup.table, alias: lookup.alias, where: lookup.where, lookups: [] };
    const [first] = fitting.map(row => this.view(asScope, row)).toSorted((a, b) => this.#compare(lookup.pick, a, b));
    return first?.row ?? null;
  }

  /** Set by the creator of the interpreter over these rows. It evaluates the conditions of lookups. */
  interpreter: Interpreter<View> | undefined;

  /** Compares as every engine sorts: NULL first ascending, text by its code units. */
  #compare(orders: readonly Order[], a: View, b: View): number {
    for (const { by, descending } of orders) {
      const canonical = canonicalOf(by.type);
      const [left, right] = [canonical(this.raw(by, a)), canonical(this.raw(by, b))];
      const sign =
        left === right ? 0 : left === null ? -1 : right === null ? 1 : compareCanonical(left, right, by.type);
      if (sign !== 0) return descending ? -sign : sign;
    }
    return 0;
  }
}

/** Returns the table under an alias, of an enclosing row or of one of its lookups. */
function tableUnder(alias: Identifier, view: View): TableName | undefined {
  for (let at: View | undefined = view; at; at = at.around) {
    const found = [at.scope, ...at.scope.lookups].find(one => one.alias === alias);
    if (found) return found.table;
  }
  return undefined;
}
