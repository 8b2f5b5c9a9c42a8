/**
 * The shape of a document against a zod schema, with zod's problems at the places where they are written. In: a Tree and
 * a schema. Out: reports; whether it fits.
 */
import type { z } from 'zod';
import type { Position } from '../model.ts';
import { LANGUAGE_KEYS } from './keys.ts';
import type { Report } from './problem.ts';
import { NODE_DIRECTIVES } from './schema.ts';
import { entry, nodeAt, plain, type Tree } from './tree.ts';

type Issue = z.core.$ZodIssue;

/** Reports every key and node that is out of place. */
export function checkShape(tree: Tree, schema: z.ZodType, report: Report): boolean {
  const result = schema.safeParse(plain(tree));
  if (result.success) return true;
  for (const issue of result.error.issues) reportIssue(tree, issue, [], report);
  return false;
}

function reportIssue(root: Tree, issue: Issue, before: readonly PropertyKey[], report: Report): void {
  const path = [...before, ...issue.path];
  const node = nodeAt(root, path);
  const last = String(path.at(-1) ?? '');
  const parent = nodeAt(root, path.slice(0, -1));
  if (path.length > 0 && parent.kind === 'map' && !entry(parent, last) && issue.code !== 'unrecognized_keys') {
    report.error(parent.at, `key \`${last}\` is missing`);
    return;
  }
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        if (LANGUAGE_KEYS.includes(key)) report.error(keyPosition(node, key), `\`${key}\` cannot stand here`);
        else report.error(keyPosition(node, key), 'unknown key', { found: key, among: LANGUAGE_KEYS });
      }
      return;
    case 'invalid_union': {
      const branch = likeliest(issue.errors, node);
      if (branch) for (const inner of branch) reportIssue(root, inner, path, report);
      else report.error(node.at, 'not in the right form', { ...quotesInstead(node), found: describe(node) });
      return;
    }
    case 'invalid_type':
      if (issue.expected === 'never') {
        report.error(keyPosition(parent, last), `\`${last}\` cannot stand here`, {
          expected: 'an element, or a directive of another node (an element of this name goes under `elements:`)',
        });
      } else {
        report.error(node.at, 'not in the right form', {
          expected: wording(issue.expected),
          ...quotesInstead(node),
          found: describe(node),
        });
      }
      return;
    case 'invalid_value':
      report.error(node.at, 'not one of the values allowed', {
        expected: issue.values.map(String).join(' or '),
        found: describe(node),
      });
      return;
    default:
      report.error(node.at, issue.message, { found: describe(node) });
  }
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
      undefined: 'the name alone, for it has no options',
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

function weight(issue: Issue, node: Tree): number {
  if (issue.path.length === 0 && issue.code === 'invalid_type') return WRONG_KIND;
  if (issue.code === 'unrecognized_keys') return 20 * issue.keys.length;
  if (issue.path.length === 1 && node.kind === 'map' && !entry(node, String(issue.path[0]))) return 100;
  if (issue.code === 'invalid_type' && issue.path.length === 1) {
    if (issue.expected !== 'never') return 5;
    // A directive that makes a node of its own was meant, whatever it lacks.
    return NODE_DIRECTIVES.some(directive => directive === issue.path[0]) ? 150 : 30;
  }
  return 1;
}
