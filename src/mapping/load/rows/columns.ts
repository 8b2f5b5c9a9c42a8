/**
 * Resolves names of columns. In: `COL` or `alias.COL`, and the visible rows. Out: the column with its type. Reports
 * unknown names, denied columns and unreadable types.
 */
import type { Catalog, ColumnInfo, TableInfo, WrittenAlike } from '../../../sql/catalog.ts';
import { findColumn, findTable, hasSameType, tableText } from '../../../sql/catalog.ts';
import { asItStands, type ColumnType, OPAQUE, type TimeForm, UNICODE } from '../../../sql/column-type.ts';
import { engineNamed } from '../../../sql/engines.ts';
import type { ColumnExpression } from '../../../sql/expression.ts';
import { type Identifier, isIdentifier, LEGAL_NAME, printTable, type TableName } from '../../../sql/identifier.ts';
import type { Lookup, Pieces, Position } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import type { Detail } from '../problem.ts';

/** A table under an alias, whose columns can be named. */
export interface NamedRows {
  readonly kind: 'rows';
  /** As written. The SQL alias may differ if scopes use the same name. */
  readonly name: string;
  readonly alias: Identifier;
  readonly table: TableName;
  readonly info: TableInfo;
  /** A row always exists: the source, the row of an `each`, a required lookup. */
  readonly certain: boolean;
}

export interface NamedPieces {
  readonly kind: 'pieces';
  readonly name: string;
  readonly alias: Identifier;
  readonly parts: readonly Identifier[];
  readonly from: Pieces;
}

/** The rows and pieces whose columns can be named at some place. */
export interface Visible {
  /** The owner of a bare COL. */
  readonly own: NamedRows | NamedPieces;
  /** By alias in lower case, including `own`. */
  readonly named: Map<string, NamedRows | NamedPieces>;
  readonly outer: Visible | undefined;
  /** Lookups of these rows; code maps in tables add theirs. */
  readonly lookups: Lookup[];
}

export interface Resolved {
  readonly column: ColumnExpression;
  /** False if the value can be NULL, or its row missing. */
  readonly certain: boolean;
  /** A piece of a separated column. It is split outside SQL, so nothing can be joined to it. */
  readonly isPiece: boolean;
  /** Absent for a piece. */
  readonly info?: ColumnInfo;
  readonly table?: TableInfo;
}

export interface ColumnDetail extends Detail {
  /** Accepts a column of a type that no codec takes, and reads it as text. */
  readonly anyType?: true;
}

/** Finds a column by `COL` or `alias.COL`. `detail` adds alternatives to the messages. */
export function resolveColumn(
  text: string,
  at: Position,
  visible: Visible,
  context: Context,
  detail: ColumnDetail = {},
): Resolved | undefined {
  const parts = text.split('.');
  const [first = '', second] = parts;
  // The macro's unreplaced name has been reported already.
  if (text.includes('$') && /\$[A-Za-z_]/.test(text)) return undefined;
  if (parts.length > 2 || text.trim() === '') {
    context.report.error('wrong-form', at, 'not a column', { expected: 'COL or alias.COL', found: text || 'nothing' });
    return undefined;
  }
  if (/[()'+|*]/.test(text)) {
    context.report.error('wrong-form', at, 'not a column', {
      expected: 'COL or alias.COL; values are changed by `via`, joined by `join`, and computed by `sql`',
      found: text,
    });
    return undefined;
  }
  if (second === undefined) return columnOf(bareOwner(visible, first), first, first, at, visible, context, detail);
  const owner = ownerNamed(visible, first);
  if (!owner && context.lost.has(first.toLowerCase())) return undefined;
  if (!owner) {
    context.report.error('unknown-name', at, 'unknown alias', { found: first, among: aliasesIn(visible), ...detail });
    // Reported once per mapping: the alias is missing, not each of its columns.
    context.lost.add(first.toLowerCase());
    return undefined;
  }
  return columnOf(owner, second, text, at, visible, context, detail);
}

/** Returns the owner of a bare name. Among pieces, a name that is no part belongs to the enclosing row. */
function bareOwner(visible: Visible, name: string): NamedRows | NamedPieces {
  const { own, outer } = visible;
  if (own.kind === 'rows' || !outer || own.parts.some(part => same(part, name))) return own;
  return bareOwner(outer, name);
}

function columnOf(
  owner: NamedRows | NamedPieces,
  name: string,
  written: string,
  at: Position,
  visible: Visible,
  context: Context,
  detail: ColumnDetail,
): Resolved | undefined {
  const { report } = context;
  if (owner.kind === 'pieces') {
    const part = owner.parts.find(p => same(p, name));
    if (part) {
      return {
        column: { kind: 'column', alias: owner.alias, column: part, type: UNICODE },
        certain: false,
        isPiece: true,
      };
    }
    report.error('unknown-name', at, `unknown part of ${owner.name}`, { found: name, among: owner.parts, ...detail });
    return undefined;
  }
  context.usedRows.add(owner);
  const info = findColumn(owner.info, name);
  if (!info) {
    const elsewhere = written === name ? otherOwners(visible, owner, name) : [];
    const [only] = elsewhere;
    report.error('unknown-column', at, `unknown column of ${printTable(owner.table)}`, {
      found: name,
      among: [...owner.info.columns.values()].map(c => c.name),
      ...(elsewhere.length === 1 && only ? { suggestion: `${only.name}.${name}` } : {}),
      ...detail,
    });
    return undefined;
  }
  const rule = context.settings.deny(owner.table.schema, owner.info.name, info.name);
  if (rule !== undefined) {
    report.error(
      'denied-column',
      at,
      `column ${owner.info.name}.${info.name} is denied by \`${rule}\` and is never read`,
    );
    return undefined;
  }
  if (info.denied !== undefined) {
    const column = `column ${owner.info.name}.${info.name}`;
    if (info.denied === 'permission') report.error('denied-column', at, `the login may not read ${column}`);
    else report.error('disguised-column', at, `${column} ${info.denied.why}`, { expected: info.denied.expected });
    return undefined;
  }
  const before = context.locked && lockedColumn(context.locked, owner.info, info);
  if (before && !hasSameType(before, info)) {
    report.error('schema-changed', at, `column ${owner.info.name}.${info.name} has another type than the lock says`, {
      expected: `${before.declared}, or \`lintel lock\` after a review of the mappings`,
      found: info.declared,
    });
    return undefined;
  }
  if (!isIdentifier(info.name)) {
    const [expected, found] = [LEGAL_NAME, info.name];
    report.error('unknown-column', at, 'the column has a name that cannot be used in a statement', { expected, found });
    return undefined;
  }
  const type = info.type ?? (detail.anyType ? OPAQUE : undefined);
  if (!type) {
    report.error('wrong-codec', at, `no codec takes column ${owner.info.name}.${info.name}`, {
      expected: 'an element with `sql` that makes a value of another type of it, or a view that does',
      found: info.declared,
    });
    return undefined;
  }
  // A value that is no date or number is absent, whatever the declaration promises.
  const isProven = info.form !== 'any' && !isUtc(info.form) && !isMixedForm(info.form);
  const isPromised = owner.certain && !info.nullable;
  // If there was no time to read the rows, required elements trust the declaration, but searches do not.
  const certain = isPromised && (isProven || info.unseen === true);
  const column: ColumnExpression = {
    kind: 'column',
    alias: owner.alias,
    column: info.name,
    type: storedType(type, info.form, context.settings.zone),
    ...(isPromised && isProven ? { notNull: true } : {}),
  };
  return { column, certain, isPiece: false, info, table: owner.info };
}

/** Returns the type of a column or SQL expression: the declared type in the form that its rows have. */
export function storedType(type: ColumnType, form: ColumnInfo['form'], zone: string): ColumnType {
  if (type.kind === 'instant') return { ...type, zone };
  if (form === undefined || form === 'declared') return type;
  if (type.kind === 'uuid') return { ...type, letters: form === 'small' ? 'small' : 'any' };
  if (type.kind === 'text') return form === 'trimmed' ? { ...type, trimmed: true } : { ...type, loose: true };
  if (form === 'small' || form === 'trimmed') return type;
  if (type.kind !== 'date' && type.kind !== 'datetime' && type.kind !== 'time') return anyNumber(type);
  if (isUtc(form) && type.kind === 'datetime') {
    const { utc: _, ...utc } = form;
    return { ...type, name: 'datetime2', fraction: 7, form: { kind: 'any', zone, utc } };
  }
  const any = form === 'any';
  const apart = isMixedForm(form) ? ({ mixed: true } as const) : {};
  const layout: TimeForm = any
    ? { kind: 'any', zone }
    : { kind: 'layout', separator: form.separator, length: form.length };
  switch (type.kind) {
    case 'date':
      return any ? { ...type, form: layout } : { ...type, ...apart };
    case 'time':
      return any
        ? { ...type, fraction: 7, form: layout }
        : { ...type, ...apart, fraction: Math.max(0, form.length - 9) };
    case 'datetime': {
      const datetime2 = { ...type, ...apart, name: 'datetime2' as const };
      if (any) return { ...datetime2, fraction: 7, form: layout };
      const fraction = Math.max(0, form.length - 20);
      const isNatural = form.separator === ' ' && form.length >= 19;
      return isNatural ? { ...datetime2, fraction } : { ...datetime2, fraction, form: layout };
    }
  }
}

/** True if all rows are instants in UTC. */
function isUtc(form: ColumnInfo['form']): form is WrittenAlike {
  return typeof form === 'object' && form.utc === true;
}

/** True if some rows hold something other than a date or time. */
function isMixedForm(form: ColumnInfo['form']): boolean {
  return typeof form === 'object' && form.mixed === true;
}

/**
 * Prepares two columns for a comparison with each other. Dates in different layouts compare by their canonical texts;
 * an engine that stores values in the form of their type compares them itself.
 */
export function comparable(
  left: ColumnExpression,
  right: ColumnExpression,
  { catalog, settings }: Context,
): readonly [ColumnExpression, ColumnExpression] {
  const areTimes = [left, right].every(({ type }) => type.kind === 'date' || type.kind === 'datetime');
  if (!engineNamed(catalog.engine).holdsAnything || !areTimes || isAlike(left.type, right.type)) return [left, right];
  return [inAnyForm(left, settings.zone), inAnyForm(right, settings.zone)];
}

function isAlike(a: ColumnType, b: ColumnType): boolean {
  const layout = (type: ColumnType): string =>
    type.kind === 'datetime' ? JSON.stringify([type.fraction, type.form]) : type.kind;
  return layout(a) === layout(b);
}

function inAnyForm(column: ColumnExpression, zone: string): ColumnExpression {
  if (column.type.kind !== 'datetime') return column;
  return { ...column, type: storedType(asItStands(column.type), 'any', zone) };
}

/** Returns the type of a column whose rows hold other numbers than declared. Whole ones may have 64 bits. */
function anyNumber(type: ColumnType): ColumnType {
  if (type.kind === 'integer') return { ...type, bits: 64, any: 'mixed' };
  return type.kind === 'decimal' || type.kind === 'float' || type.kind === 'bit' ? { ...type, any: 'mixed' } : type;
}

function lockedColumn(locked: Catalog, table: TableInfo, column: ColumnInfo): ColumnInfo | undefined {
  const before = findTable(locked, tableText(table));
  return before && findColumn(before, column.name);
}

/** True if a text reads as the column of a row, with its alias: `h.ID`. */
export function readsAsColumn(text: string, visible: Visible): boolean {
  const [alias = '', column, ...more] = text.split('.');
  const owner = column === undefined || more.length > 0 ? undefined : ownerNamed(visible, alias);
  if (!owner || column === undefined) return false;
  if (owner.kind === 'rows') return findColumn(owner.info, column) !== undefined;
  return owner.parts.some(part => part.toLowerCase() === column.toLowerCase());
}

function ownerNamed(visible: Visible, alias: string): NamedRows | NamedPieces | undefined {
  for (let at: Visible | undefined = visible; at; at = at.outer) {
    const found = at.named.get(alias.toLowerCase());
    if (found) return found;
  }
  return undefined;
}

function otherOwners(visible: Visible, owner: NamedRows, column: string): readonly NamedRows[] {
  const owners: NamedRows[] = [];
  for (let at: Visible | undefined = visible; at; at = at.outer) {
    for (const named of at.named.values()) {
      if (named !== owner && named.kind === 'rows' && findColumn(named.info, column)) owners.push(named);
    }
  }
  return owners;
}

function aliasesIn(visible: Visible): readonly string[] {
  const own = [...visible.named.values()].map(named => named.name);
  return visible.outer ? [...own, ...aliasesIn(visible.outer)] : own;
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
