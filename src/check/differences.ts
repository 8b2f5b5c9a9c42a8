/**
 * Collects the differences between rows and resources by the line that makes the element. In: sampled rows one by one.
 * Out: one problem per line and kind, with the number of rows and the form of a value; the value itself only if the
 * user asked for values.
 */
import { plural } from '../common/plural.ts';
import { differencesOf, type ElementDifference, nodesAt } from '../law/compare.ts';
import { formOf } from '../law/forms.ts';
import { parseThing, type Thing } from '../law/thing.ts';
import { createReport, type Problem, placeText } from '../mapping/load/problem.ts';
import type { Node, Position, ValueNode } from '../mapping/model.ts';
import { damageOf } from '../profile/damaged-text.ts';
import { type ColumnType, isLoose } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import type { SampledRow } from './sample.ts';

interface Finding {
  readonly at: Position;
  readonly message: string;
  readonly expected: string | undefined;
  readonly found: string | undefined;
  /** True if the rows are damaged and the served resource is right. */
  readonly isOfRows: boolean;
  rows: number;
}

export interface Differences {
  readonly see: (row: SampledRow) => void;
  problems(): readonly Problem[];
}

/** Creates the collector. `values`: messages may contain values of rows. */
export function createDifferences(values: boolean): Differences {
  const findings = new Map<string, Finding>();
  const addFinding = (at: Position, message: string, expected?: string, found?: string, isOfRows = false): void => {
    const key = `${placeText(at)} ${message}`;
    const known = findings.get(key);
    if (known) known.rows++;
    else findings.set(key, { at, message, expected, found, isOfRows, rows: 1 });
  };
  const shown = (stored: SqlValue): string =>
    values && !(stored instanceof Uint8Array) ? JSON.stringify(stored) : formOf(stored);

  const seeElement = (row: SampledRow, difference: ElementDifference): void => {
    const { mapping } = row;
    const { path, emitted } = difference;
    const node = nodeOf(row, difference);
    const element = [mapping.resource, ...path].join('.');
    const stored = node && row.values.get(node)?.stored;
    const what = stored
      ? `${element} is not what ${columnsOf(node)} holds`
      : `${element} is not what the mapping makes of the row`;
    const expected = stored ? stored.map(shown).join(' and ') : textOf(difference.expected, shown);
    addFinding(node?.at ?? mapping.at, what, expected, textOf(emitted, shown));
  };

  const seeTexts = (node: ValueNode, stored: readonly SqlValue[]): void => {
    const [at, columns] = [node.at, columnsOf(node)];
    // For a column of a loose type, the section `forms` reports it.
    const keepsTexts = (type: ColumnType | undefined): boolean => type?.kind === 'text' && !isLoose(type);
    if (stored.some((value, i) => value instanceof Uint8Array && keepsTexts(node.from[i]?.type)))
      addFinding(
        at,
        `${columns} holds bytes`,
        'texts: searches take bytes for a value, which no element shows',
        'bytes',
        true,
      );
    const [damage] = stored.flatMap(text => (typeof text === 'string' ? (damageOf(text) ?? []) : []));
    if (damage) addFinding(at, `${columns} ${damage.verb} ${damage.name}`, 'texts in UTF-8', damage.found, true);
  };

  return {
    see(row) {
      const { mapping, expected, id, served } = row;
      for (const [node, { stored, value, contradicted }] of row.values) {
        if (node.kind !== 'value') continue;
        seeTexts(node, stored);
        if (!contradicted) continue;
        const read = typeof value === 'object' ? value.decimal : value === undefined ? undefined : String(value);
        const as = read === undefined ? 'no value' : 'another value';
        const what = `${columnsOf(node)} is read as ${as} by ${node.codec.label}`;
        addFinding(node.at, what, stored.map(shown).join(' and '), read === undefined ? 'nothing' : shown(read));
      }
      const [json, ...more] = served;
      const known = values && id !== undefined ? ` (${mapping.resource}/${id})` : '';
      if (more.length > 0) {
        addFinding(
          mapping.at,
          `${mapping.name}: several resources have one id`,
          undefined,
          `${served.length} of one id`,
        );
      } else if (expected !== undefined && json === undefined) {
        addFinding(
          mapping.at,
          `a row of ${mapping.name} is a resource, and a search by its id does not find it${known}`,
        );
      } else if (expected === undefined && json !== undefined && mapping.source.onePer.length === 0) {
        addFinding(mapping.at, `a row that ${mapping.name} takes away is served as a resource${known}`);
      } else if (expected !== undefined && json !== undefined) {
        for (const difference of differencesOf(expected, parseThing(json))) seeElement(row, difference);
      }
    },
    problems() {
      const report = createReport();
      for (const { at, message, expected, found, isOfRows, rows } of findings.values()) {
        const detail = { ...(expected === undefined ? {} : { expected }), ...(found === undefined ? {} : { found }) };
        if (isOfRows) report.warning('wrong-values', at, `${message} in ${plural(rows, 'sampled row')}`, detail);
        else report.error('wrong-answer', at, `${message}, in ${plural(rows, 'sampled row')}`, detail);
      }
      return report.problems();
    },
  };
}

/** Finds the node that should have given the value; among alternatives the one that gave it. */
function nodeOf({ mapping, values }: SampledRow, { path, expected }: ElementDifference): Node | undefined {
  const nodes = nodesAt(mapping, path);
  const wanted = textOf(expected, String);
  const giving = nodes.find(node => {
    const value = values.get(node)?.value;
    return value !== undefined && (typeof value === 'object' ? value.decimal : String(value)) === wanted;
  });
  return giving ?? nodes.find(node => values.has(node)) ?? nodes[0];
}

function columnsOf(node: Node | undefined): string {
  if (node?.kind !== 'value') return 'the row';
  return node.from.map(from => (from.kind === 'column' ? from.column : 'sql')).join(' and ');
}

/** Renders a part of a resource: a primitive by `shown`, anything else by its kind. */
function textOf(thing: Thing | undefined, shown: (value: SqlValue) => string): string | undefined {
  if (thing === undefined) return 'nothing';
  if (typeof thing === 'string') return shown(thing);
  if (typeof thing === 'boolean') return String(thing);
  if (thing !== null && 'digits' in thing && typeof thing.digits === 'string') return shown(thing.digits);
  return Array.isArray(thing) ? plural(thing.length, 'item') : 'an object';
}
