/**
 * Checks a document against a zod schema. In: a Tree and a schema. Out: whether it fits, and reports at the lines of
 * the problems.
 */
import type { z } from 'zod';
import { elementsOf, resourceTypes } from '../../../r4/definitions.ts';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import { NODE_DIRECTIVES } from './schema.ts';
import { allKeys, keysAt } from './schema-keys.ts';
import { nearest } from './spelling.ts';
import { type Entry, entriesOf, entry, nodeAt, plain, type Tree } from './tree.ts';

type Issue = z.core.$ZodIssue;

/** A document and the schema that it should fit. */
interface Shape {
  readonly root: Tree;
  /** The schema of the file as written, including keys that an earlier stage has consumed. */
  readonly schema: z.ZodType;
  readonly report: Report;
}

/** Reports every key and node that does not fit. `written`: the schema before earlier stages consumed keys. */
export function checkShape(tree: Tree, schema: z.ZodType, report: Report, written = schema): boolean {
  const result = schema.safeParse(plain(tree));
  if (result.success) return true;
  for (const issue of result.error.issues) reportIssue({ root: tree, schema: written, report }, issue, []);
  return false;
}

/**
 * Reports a key that is probably a misspelling of one of `known`. Covers problems of its value, of the enclosing map
 * and of that map's own key, because they follow from it. Returns true if it reported one.
 */
export function reportMisspelt(
  around: Tree,
  wrong: Entry | undefined,
  known: Iterable<string>,
  report: Report,
  holder?: Entry,
): boolean {
  const suggestion = wrong && nearest(wrong.key, known);
  if (wrong === undefined || suggestion === undefined || suggestion === wrong.key) return false;
  report.error('unknown-key', wrong.at, 'unknown key', {
    found: wrong.key,
    suggestion,
    covers: [wrong.at, wrong.value.at, around.at, ...(holder ? [holder.at] : [])],
  });
  return true;
}

function reportIssue(shape: Shape, issue: Issue, before: readonly PropertyKey[]): void {
  const { root, schema, report } = shape;
  const path = [...before, ...issue.path];
  if (issue.code !== 'invalid_union' && reportKeyOnTheWay(shape, path)) return;
  const node = nodeAt(root, path);
  const last = String(path.at(-1) ?? '');
  const parent = nodeAt(root, path.slice(0, -1));
  if (path.length > 0 && parent.kind === 'map' && !entry(parent, last) && issue.code !== 'unrecognized_keys') {
    const keys = keysAt(schema, path.slice(0, -1));
    const meant = parent.entries.find(({ key }) => !keys.has(key) && nearest(key, [last]) === last);
    if (!reportMisspelt(parent, meant, [last], report))
      report.error('missing-key', parent.at, `key \`${last}\` is missing`);
    return;
  }
  switch (issue.code) {
    case 'unrecognized_keys':
      reportKeys(shape, path, issue.keys);
      return;
    case 'invalid_union': {
      const branch = likeliest(issue.errors, node);
      if (branch) for (const inner of branch) reportIssue(shape, inner, path);
      else if (!reportKeyOnTheWay(shape, path))
        report.error('wrong-form', node.at, 'not in the right form', {
          ...kindsOf(issue.errors),
          ...quotesInstead(node),
          found: describe(node),
        });
      return;
    }
    case 'invalid_type':
      if (issue.expected === 'never') {
        const meant = entriesOf(parent).find(({ key }) => isMisspeltDirective(key));
        if (reportMisspelt(parent, meant, NODE_DIRECTIVES, report)) return;
        report.error('unknown-key', keyPosition(parent, last), `\`${last}\` is not allowed here`, {
          expected: 'an element, or a directive of another node (an element of this name goes under `elements:`)',
        });
      } else {
        report.error('wrong-form', node.at, 'not in the right form', {
          expected: wording(issue.expected),
          ...quotesInstead(node),
          found: describe(node),
        });
      }
      return;
    case 'invalid_value':
      report.error('wrong-form', node.at, 'not one of the values allowed', {
        expected: issue.values.map(String).join(' or '),
        found: describe(node),
        ...(node.kind === 'scalar' ? { found: describe(node), among: issue.values.map(String) } : {}),
      });
      return;
    default:
      report.error('wrong-form', node.at, issue.message, { found: describe(node) });
  }
}

/**
 * Reports keys that the likeliest alternative does not have. Suggests the nearest key of any alternative, or lists the
 * allowed keys. After a correction another alternative may be the likeliest, so its keys are not reported.
 */
function reportKeys({ root, schema, report }: Shape, path: readonly PropertyKey[], unknown: readonly string[]): void {
  const node = nodeAt(root, path);
  const holder = entry(nodeAt(root, path.slice(0, -1)), String(path.at(-1)));
  const keys = new Set(keysAt(schema, path).keys());
  const misspelt = unknown.filter(
    key => !keys.has(key) && reportMisspelt(node, entry(node, key), keys, report, holder),
  );
  const known = [...keys].filter(one => !entry(node, one));
  const words = allKeys(schema);
  const others = unknown.filter(key => !misspelt.includes(key));
  const strange = others.filter(key => !keys.has(key) && !words.has(key));
  const [first] = strange;
  if (first !== undefined) {
    // Several unknown keys of one map probably have one reason.
    report.error('unknown-key', keyPosition(node, first), strange.length === 1 ? 'unknown key' : 'unknown keys', {
      found: strange.length > FEW ? `${strange.slice(0, FEW).join(', ')}, …` : strange.join(', '),
      ...(known.length > 0 && known.length <= FEW ? { expected: known.map(one => `\`${one}\``).join(', ') } : {}),
    });
  }
  for (const key of others) {
    // After the misspelled key is corrected, another alternative may be the likeliest and allow this one.
    if (strange.includes(key) || (keys.has(key) && misspelt.length > 0)) continue;
    report.error('unknown-key', keyPosition(node, key), `\`${key}\` is not allowed here`);
  }
}

/** Most keys that a message lists. */
const FEW = 8;

/**
 * Reports a misspelled key on the path to a problem: its content was read as something else, so the problem follows
 * from it. Elements of FHIR are excluded, because some resemble a directive (`form`).
 */
function reportKeyOnTheWay({ root, schema, report }: Shape, path: readonly PropertyKey[]): boolean {
  for (let length = path.length - 1; length >= 0; length--) {
    const key = String(path[length]);
    const around = nodeAt(root, path.slice(0, length));
    const wrong = entry(around, key);
    const keys = keysAt(schema, path.slice(0, length));
    if (wrong === undefined || keys.has(key) || elementNames().has(key)) continue;
    if (reportMisspelt(around, wrong, keys.keys(), report)) return true;
  }
  return false;
}

let names: ReadonlySet<string> | undefined;

/** Returns the element names of all resources. */
function elementNames(): ReadonlySet<string> {
  names ??= new Set(
    resourceTypes().flatMap(type => elementsOf(type).flatMap(({ jsonNames }) => [...jsonNames.keys()])),
  );
  return names;
}

function isMisspeltDirective(key: string): boolean {
  return nearest(key, NODE_DIRECTIVES) !== undefined && !NODE_DIRECTIVES.some(directive => directive === key);
}

function keyPosition(node: Tree, key: string): Position {
  return entry(node, key)?.at ?? node.at;
}

/** Suggests quotes, because `{COL}` without quotes is a map in YAML. */
function quotesInstead(node: Tree): { readonly expected?: string } {
  const [only] = node.kind === 'map' && node.entries.length === 1 ? node.entries : [];
  return only?.value.kind === 'scalar' && only.value.text === '' ? { expected: `"{${only.key}}" in quotes` } : {};
}

function wording(expected: string): string {
  return (
    {
      undefined: 'the name alone, as it has no options',
      string: 'a single value',
      array: 'a list',
      object: 'a map',
      record: 'a map',
    }[expected] ?? expected
  );
}

function describe(node: Tree): string {
  if (node.kind === 'scalar') return node.text === '' ? 'nothing' : node.text;
  return node.kind === 'list' ? 'a list' : 'a map';
}

/** Describes the kinds of node that the branches of a union take, if none takes the given one. */
function kindsOf(branches: readonly (readonly Issue[])[]): { readonly expected?: string } {
  const kinds = branches.flatMap(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 && first.expected !== 'never'
      ? [wording(first.expected)]
      : [],
  );
  return kinds.length === branches.length ? { expected: [...new Set(kinds)].join(' or ') } : {};
}

/** Returns the branch of a union that was probably meant: the right kind of node and the fewest unknown keys. */
function likeliest(branches: readonly (readonly Issue[])[], node: Tree): readonly Issue[] | undefined {
  let best: readonly Issue[] | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const issues of branches) {
    const strangeness = issues.reduce((sum, issue) => sum + weight(issue, node), 0);
    if (issues.length > 0 && strangeness < least) {
      best = issues;
      least = strangeness;
    }
  }
  return least >= WRONG_KIND ? undefined : best;
}

const WRONG_KIND = 10_000;
/** Less than a key that is not allowed there. */
const MISSPELT = 5;

function weight(issue: Issue, node: Tree): number {
  if (issue.path.length === 0 && issue.code === 'invalid_type') return WRONG_KIND;
  if (issue.code === 'unrecognized_keys') return 20 * issue.keys.length;
  if (issue.path.length === 1 && node.kind === 'map' && !entry(node, String(issue.path[0]))) {
    const key = String(issue.path[0]);
    return node.entries.some(e => nearest(e.key, [key]) === key) ? MISSPELT : 100;
  }
  if (issue.code === 'invalid_type' && issue.path.length === 1) {
    if (issue.expected !== 'never') return 5;
    // A directive that determines the node was meant, even if other keys are missing.
    return NODE_DIRECTIVES.some(directive => directive === issue.path[0]) ? 150 : 30;
  }
  return 1;
}
