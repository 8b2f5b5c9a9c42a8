/**
 * Finds ids that two mappings of one type, or two alternatives of an id rule, share, and numbers that rows share. The
 * loader allows that if both ids contain a UUID; rows show whether one occurs in both. In: the registry and a database.
 * Out: errors with the number of ids, never an id.
 * https://hl7.org/fhir/R4/resource.html#id
 */
import { plural } from '../../common/plural.ts';
import { NUMBER, UNICODE } from '../../sql/column-type.ts';
import { and, call, constant, equals, exists, glob, inSelects, isNull, not, or } from '../../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../../sql/expression.ts';
import { renameExpression, renameRelation } from '../../sql/rename.ts';
import { columnsIn, type IdPart, NUMBER_DIGITS, NUMBER_WIDTH } from '../id-rule.ts';
import { commonId } from '../load/nodes/id-shape.ts';
import { areOfOtherKeys, type IdsOf } from '../load/rows/exclusive.ts';
import type { Mapping, Registry } from '../model.ts';
import { type Asking, askedAt, type Checking, countDuplicates, countRows, manyOf } from './questions.ts';
import { reachedBy } from './unique.ts';

interface Rule {
  readonly mapping: Mapping;
  readonly parts: readonly IdPart[];
  /** Tests for the rows whose id this alternative makes. */
  readonly reached: Predicate;
}

/** Checks rule R8: no resource has the id of another. */
export async function checkSharedIds(registry: Registry, asking: Checking): Promise<void> {
  const { report } = asking;
  for (const type of registry.types) {
    const rules = registry
      .ofType(type)
      .flatMap(mapping =>
        mapping.id.alternatives.map((parts, i): Rule => ({ mapping, parts, reached: reachedBy(mapping, i) })),
      );
    for (const [i, rule] of rules.entries()) {
      for (const other of rules.slice(0, i)) {
        if (commonId(other.parts, rule.parts) === undefined || areApart(other, rule, asking)) continue;
        await askedAt(rule.mapping.at, asking, async () => {
          const shared = await countShared(other, rule, asking);
          if (shared === 0) return;
          const isOne = other.mapping === rule.mapping;
          const whose = isOne ? 'two alternatives' : `mappings ${other.mapping.name} and ${rule.mapping.name}`;
          report.error('shared-id', rule.mapping.at, `ids of ${whose} are equal for ${plural(shared, 'row')}`, {
            expected: 'a literal in one of the ids, or a `where` that assigns the rows to one mapping',
          });
        });
      }
    }
  }
}

/** True if the loader has proven that the two mappings share no row and no id. */
function areApart(one: Rule, other: Rule, { catalog }: Checking): boolean {
  if (one.mapping === other.mapping) return false;
  return areOfOtherKeys(idsOf(one), idsOf(other), catalog);
}

function idsOf({ mapping: { source }, parts }: Rule): IdsOf {
  return { source, parts };
}

/** Checks that each number of a type's mappings belongs to one row, and every row has one. */
export async function checkNumbers(registry: Registry, asking: Checking): Promise<void> {
  for (const type of registry.types) {
    const rules = registry.ofType(type).flatMap((mapping): readonly Rule[] => {
      const { number } = mapping;
      return number ? [{ mapping, parts: number[0], reached: isNumber(number[0][0].column) }] : [];
    });
    for (const [i, rule] of rules.entries())
      await askedAt(rule.mapping.at, asking, () => checkNumber(rule, rules.slice(0, i), asking));
  }
}

async function checkNumber(rule: Rule, before: readonly Rule[], asking: Checking): Promise<void> {
  const { report } = asking;
  const { mapping, parts, reached } = rule;
  const { name, source, at } = mapping;
  const without = await countRows(asking, source, not(reached));
  if (without > 0)
    report.warning(
      'rows-left-out',
      at,
      `number of ${name}: ${plural(without, 'row')} without one, which the REST interface omits`,
    );
  const doubled = await countDuplicates(asking, source, columnsIn(parts).map(asNumber), reached);
  if (doubled > 0)
    report.error('shared-id', at, `number of ${name} is not unique: ${manyOf(doubled, 'number')} of several rows`, {
      expected: 'a column of which each value is in one row',
    });
  for (const other of before) {
    if (areApart(other, rule, asking)) continue;
    const isBare = [...parts, ...other.parts].every(part => beforeOf(part) === '');
    const operands = (of: readonly IdPart[]) => (isBare ? columnsIn(of).map(asNumber) : of.map(spelt));
    const shared = await countShared(other, rule, asking, operands);
    if (shared === 0) continue;
    report.error(
      'shared-id',
      at,
      `numbers of mappings ${other.mapping.name} and ${name} are equal for ${plural(shared, 'row')}`,
      {
        expected: 'a `where` that assigns the rows to one mapping, or one sequence of numbers',
      },
    );
  }
}

/** Tests that the column has a number. In a text it is the digits, with any leading zeros, or behind blanks. */
function isNumber(column: ColumnExpression): Predicate {
  if (column.type.kind !== 'text') return not(isNull(column));
  const digits = call('trim', [column], UNICODE);
  return and(
    or(glob(column, '[0-9]*'), and(glob(column, ' *'), or(glob(digits, '[1-9]*'), glob(digits, '0')))),
    not(glob(column, '*[^ 0-9]*')),
    not(glob(digits, '*[^0-9]*')),
    not(glob(digits, `${'?'.repeat(NUMBER_DIGITS + 1)}*`)),
    not(glob(column, `${'?'.repeat(NUMBER_WIDTH + 1)}*`)),
  );
}

/**
 * Puts the digits before a number and reads the result as a number, because engines differ in zeros after the point.
 */
function spelt(part: IdPart): Expression {
  if (part.kind === 'literal') return constant(part.text, UNICODE);
  return call('number', [call('concat', [constant(beforeOf(part), UNICODE), asNumber(part.column)], UNICODE)], NUMBER);
}

function beforeOf(part: IdPart): string {
  return part.kind === 'column' ? (part.codec.prefix ?? '') : '';
}

function asNumber(column: ColumnExpression): Expression {
  return column.type.kind === 'text' ? call('number', [call('trim', [column], UNICODE)], NUMBER) : column;
}

/** Counts rows of one rule whose id a row of the other has. */
async function countShared(
  one: Rule,
  other: Rule,
  asking: Asking,
  operands: typeof operandsOf = operandsOf,
): Promise<number> {
  const columns = columnsIn(other.parts);
  const { relation, aliases } = renameRelation(
    asking.readScope(other.mapping.source, other.reached, asking.clock, columns),
  );
  const ours = operands(one.parts, other.parts);
  const theirs = operands(other.parts, one.parts).map(expression => renameExpression(expression, aliases));
  const same = ours.flatMap((expression, i) => {
    const their = theirs[i];
    return their ? [{ ours: expression, theirs: their }] : [];
  });
  const [only, ...others] = same;
  // A list is made once, even without an index. Each row would search the other mapping's rows in `exists`.
  const found =
    only && others.length === 0
      ? inSelects(only.ours, [{ select: only.theirs, from: relation }])
      : exists({ ...relation, where: and(...same.map(pair => equals(pair.theirs, pair.ours)), relation.where) });
  return countRows(asking, one.mapping.source, and(one.reached, found));
}

/** Returns what to compare: the stored columns, so that an index serves them; else the ids as written. */
function operandsOf(parts: readonly IdPart[], others: readonly IdPart[]): readonly Expression[] {
  return isByColumns(parts, others) ? columnsIn(parts) : [written(parts)];
}

/** True if ids are equal exactly where their columns are. With several texts, `A-B` + `C` equals `A` + `B-C`. */
function isByColumns(parts: readonly IdPart[], others: readonly IdPart[]): boolean {
  const own = columnsIn(parts);
  const their = columnsIn(others);
  return (
    isSameShape(parts, others) &&
    own.every((column, i) => column.type.kind === their[i]?.type.kind) &&
    parts.every(isKept) &&
    own.filter(({ type }) => type.kind === 'text').length < 2
  );
}

function isSameShape(a: readonly IdPart[], b: readonly IdPart[]): boolean {
  return (
    a.length === b.length &&
    a.every((part, i) => {
      const other = b[i];
      return part.kind === 'literal'
        ? other?.kind === 'literal' && part.text === other.text
        : other?.kind === 'column' && part.codec.name === other.codec.name;
    })
  );
}

/** True if ids keep equality: equal values give equal ids, and different values different ids. */
function isKept(part: IdPart): boolean {
  return part.kind === 'literal' || ['plain', 'integer', 'uuid'].includes(part.codec.name);
}

function written(parts: readonly IdPart[]): Expression {
  const spelt = parts.map((part): Expression => {
    if (part.kind === 'literal') return constant(part.text, UNICODE);
    if (part.codec.name === 'uuid') return call('uuid', [part.column], UNICODE);
    if (part.column.type.kind === 'text') return call('rtrim', [part.column], UNICODE);
    const text = call('text', [part.column], UNICODE);
    if (part.codec.name !== 'datetime') return text;
    return AS_IN_IDS.reduce((of, pair) => call('replace', [of, ...pair], UNICODE), text);
  });
  const [only, ...others] = spelt;
  return only && others.length === 0 ? only : call('concat', spelt, UNICODE);
}

/** Replacements that turn a stored time into its form in an id. Digits of a second may keep trailing zeros. */
const AS_IN_IDS = [
  ['-', ''],
  [':', ''],
  [' ', 'T'],
  ['.0000000', ''],
  ['.000', ''],
].map(pair => pair.map(text => constant(text, UNICODE)));
