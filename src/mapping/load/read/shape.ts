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

/** A document beside the schema that it should have. */
interface Shape {
  readonly root: Tree;
  /** What may be written: the schema itself, or one with what an earlier stage has taken out. */
  readonly schema: z.ZodType;
  readonly report: Report;
}

/** Reports every key and node that is out of place. `written`: the schema of what stood there before earlier stages. */
export function checkShape(tree: Tree, schema: z.ZodType, report: Report, written = schema): boolean {
  const result = schema.safeParse(plain(tree));
  if (result.success) return true;
  for (const issue of result.error.issues) reportIssue({ root: tree, schema: written, report }, issue, []);
  return false;
}

/**
 * Reports a key that is near enough to one of `known` to be meant for it. What else is wrong with it, with the map
 * around it and with that map's own key comes of it. Returns whether there was one.
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
 * Keys that the likeliest alternative does not have: the nearest that some alternative has, else those that there are.
 * With one of them mended another alternative may be the likeliest, so what that has is not told beside it.
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
    // Several of one map are there for one reason.
    report.error('unknown-key', keyPosition(node, first), strange.length === 1 ? 'unknown key' : 'unknown keys', {
      found: strange.length > FEW ? `${strange.slice(0, FEW).join(', ')}, …` : strange.join(', '),
      ...(known.length > 0 && known.length <= FEW ? { expected: known.map(one => `\`${one}\``).join(', ') } : {}),
    });
  }
  for (const key of others) {
    // With a misspelt key mended another alternative may be the likeliest, which may have it.
    if (strange.includes(key) || (keys.has(key) && misspelt.length > 0)) continue;
    report.error('unknown-key', keyPosition(node, key), `\`${key}\` is not allowed here`);
  }
}

/** So many keys are listed. */
const FEW = 8;

/**
 * The key on the way to a place that is no key of the language there, and near to one: what is within it was read as
 * something else. An element of FHIR may be called almost like a directive (`form`), and is none.
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

/** Elements of all resources. */
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

/** `{COL}` without quotes is a map in YAML. */
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

/** The kinds of node that the branches of a union take, where none of them takes the one that is there. */
function kindsOf(branches: readonly (readonly Issue[])[]): { readonly expected?: string } {
  const kinds = branches.flatMap(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 && first.expected !== 'never'
      ? [wording(first.expected)]
      : [],
  );
  return kinds.length === branches.length ? { expected: [...new Set(kinds)].join(' or ') } : {};
}

/** Of a union's branches the one that was meant: that with the right kind of node and the fewest strange keys. */
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
/** Less than a key that cannot stand there. */
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
    // A directive that makes a node of its own was meant, whatever it lacks.
    return NODE_DIRECTIVES.some(directive => directive === issue.path[0]) ? 150 : 30;
  }
  return 1;
}
