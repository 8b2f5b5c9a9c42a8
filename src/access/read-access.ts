/**
 * Reads `access.yaml` of a pack: which user sees which patients. In: the file, and the searches that the mappings
 * offer. Out: the rules as data, and every problem with its place. Without the file, patients see their own record, and
 * nobody else sees anything. docs/access-rules.md
 */
import {
  type GlassRule,
  type LabelRule,
  type LoginRule,
  NO_RULES,
  type Opened,
  type PackAccess,
  type UserRule,
} from '../auth/rules.ts';
import type { Criteria } from '../auth/scopes.ts';
import { createReport, type Problem } from '../mapping/load/problem.ts';
import type { PackFile } from '../mapping/load/read/files.ts';
import { accessSchema } from '../mapping/load/read/other-schemas.ts';
import { readYaml } from '../mapping/load/read/read.ts';
import { checkShape } from '../mapping/load/read/shape.ts';
import {
  child,
  type Entry,
  entriesOf,
  itemsOf,
  type ScalarTree,
  scalarsOf,
  type Tree,
} from '../mapping/load/read/tree.ts';
import type { Position } from '../mapping/model.ts';

/** The data with which a search in the file is checked. */
export interface Searchable {
  /** True for a resource type of FHIR. */
  isType(type: string): boolean;
  /** Types that some mapping makes. */
  readonly served: readonly string[];
  /** True if resources of the type belong to patients. */
  isOfPatients(type: string): boolean;
  /** Code systems by alias. */
  readonly systems: Readonly<Record<string, string>>;
  /** True if some mapping gives the label, `system|code`. */
  hasLabel(label: string): boolean;
  /** True if the type offers the search parameter of this code. */
  offers(type: string, code: string): boolean;
  /** Returns the codes of all parameters that a type offers; slow, because it tries them all. */
  codes(type: string): readonly string[];
  /** Returns the problems of one parameter. `any`: the value is a placeholder, so only its form is checked. */
  problems(
    type: string,
    parameter: readonly [name: string, value: string],
    any: boolean,
  ): readonly Pick<Problem, 'severity' | 'message'>[];
}

export interface ReadAccess {
  readonly access: PackAccess;
  readonly problems: readonly Problem[];
}

/** Stands for every patient. */
const ALL = 'all';

/** Type of the resources that rules search. */
const PATIENT = 'Patient';

/** Placeholders in a rule's searches, with the values that replace them for the check. */
const NAMES: Readonly<Record<string, (user: string) => string>> = { user: user => `${user}/1`, id: () => '1' };

export function readAccess(file: PackFile, searchable: Searchable): ReadAccess {
  const report = createReport();
  const [document, ...more] = readYaml(file.path, file.text, report);
  for (const other of more) report.error('written-twice', other.at, 'a second document', { expected: 'one' });
  if (document === undefined && report.problems().length === 0)
    report.error('unreadable-file', { file: file.path, line: 1, column: 1 }, 'the file is empty', {
      expected: 'rules, or no file',
    });
  if (document === undefined || !checkShape(document, accessSchema, report))
    return { access: NO_RULES, problems: report.problems() };
  const users = entriesOf(child(document, 'users')).flatMap(userRules);
  const labels = itemsOf(child(document, 'labels')).map(labelRule);
  const logins = Object.fromEntries(entriesOf(child(document, 'logins')).flatMap(loginRule));
  const glass = glassRule(child(document, 'break-glass'));
  return { access: { users, labels, logins, ...(glass && { glass }) }, problems: report.problems() };

  function glassRule(tree: Tree | undefined): GlassRule | undefined {
    if (tree === undefined) return undefined;
    const found = scalarsOf(child(tree, 'users')).flatMap(written => {
      const type = typeOf(written);
      checkUser(type, written.at);
      const search = searchOf(written, type, NAMES, type);
      return search === undefined ? [] : [{ type, found: search }];
    });
    const clients = child(tree, 'clients');
    return {
      users: found,
      clients: clients && scalarsOf(clients).map(({ text }) => text),
      // `checkShape` has checked the values.
      opens: scalarsOf(child(tree, 'opens')).map(({ text }) => text as Opened),
    };
  }

  function loginRule({ key, value }: Entry): readonly (readonly [string, LoginRule])[] {
    if (value.kind !== 'scalar') return [];
    const type = typeOf(value);
    checkUser(type, value.at);
    const found = searchOf(value, type, LOGIN, type);
    if (found === undefined) return [];
    if (!found.some(([, text]) => text.includes('{login}'))) {
      report.error('wrong-access', value.at, 'the search does not depend on the login', {
        expected: '{login} in a value',
      });
      return [];
    }
    return [[key, { type, found }]];
  }

  function labelRule(tree: Tree): LabelRule {
    const shown = child(tree, 'shown-to');
    const users = scalarsOf(child(shown, 'users'));
    for (const { text, at } of users) checkUser(text, at);
    return {
      hide: scalarsOf(child(tree, 'hide')).flatMap(labelOf),
      users: users.map(({ text }) => text),
      purposes: scalarsOf(child(shown, 'purposes')).map(({ text }) => text),
    };
  }

  /** Returns `alias#code` as it is searched. */
  function labelOf({ text, at }: ScalarTree): readonly string[] {
    const [, alias = '', code] = /^([^#]*)#(\S+)$/.exec(text) ?? [];
    const system = Object.hasOwn(searchable.systems, alias) ? searchable.systems[alias] : undefined;
    if (code === undefined) {
      report.error('wrong-access', at, 'not a label', {
        found: text,
        expected: '`alias#code`, with an alias of `systems` in pack.yaml',
      });
      return [];
    }
    if (system === undefined) {
      report.error('unknown-name', at, 'unknown system', { found: alias, among: Object.keys(searchable.systems) });
      return [];
    }
    const label = `${system}|${code}`;
    if (!searchable.hasLabel(label)) report.warning('wrong-access', at, 'no mapping gives this label', { found: text });
    return [label];
  }

  function checkUser(user: string, at: Position): void {
    if (searchable.isType(user)) return;
    const expected = 'the resource type of a user';
    report.error('wrong-access', at, 'unknown type of user', { found: user, expected, among: USERS });
  }

  function userRules({ key: user, value, at }: Entry): readonly UserRule[] {
    checkUser(user, at);
    const also = scalarsOf(child(value, 'also')).flatMap(ownType);
    const rules = scalarsOf(child(value, 'patients')).map(written => patientsOf(written, user));
    // Types that belong to nobody do not depend on the patients, so only the first rule has them.
    // A rule that lets nobody in stays: without any rule, patients would see their own record.
    return rules.map((patients = 'none', i) => ({ user, patients, also: i === 0 ? also : [] }));
  }

  function ownType({ text, at }: ScalarTree): readonly string[] {
    if (!searchable.isType(text)) {
      report.error('unknown-element', at, 'unknown resource type', { found: text, among: searchable.served });
    } else if (searchable.isOfPatients(text)) {
      report.error('wrong-access', at, 'resources of this type belong to patients', {
        found: text,
        expected: 'a type that belongs to no patient; of the others a user sees those of the patients of `patients`',
      });
    } else if (!searchable.served.includes(text)) {
      report.warning('wrong-access', at, 'no mapping makes resources of this type', {
        found: text,
        among: searchable.served,
      });
    }
    return [text];
  }

  /** Returns the patients of a rule; undefined if its search has errors, so that it lets nobody in. */
  function patientsOf(written: ScalarTree, user: string): UserRule['patients'] | undefined {
    return written.text.trim() === ALL ? 'all' : searchOf(written, PATIENT, NAMES, user);
  }

  /** Returns the parameters of a search on one type. `names`: placeholders that values may have. */
  function searchOf(written: ScalarTree, type: string, names: typeof NAMES, user: string): Criteria | undefined {
    const { text, at } = written;
    const found = parseSearch(text);
    if (found?.type !== type || found.parameters.length === 0) {
      report.error('wrong-search', at, 'not a search of the right form', {
        found: text,
        expected: `${type}?name=value`,
      });
      return undefined;
    }
    const sound = found.parameters.map(([name, value]) => isSound(at, type, [name, value], names, user));
    return sound.every(Boolean) ? found.parameters : undefined;
  }

  function isSound(
    at: ScalarTree['at'],
    type: string,
    [name, value]: readonly [string, string],
    names: typeof NAMES,
    user: string,
  ): boolean {
    const strange = [...value.matchAll(PLACEHOLDER)]
      .map(([, own = '']) => own)
      .filter(own => !Object.hasOwn(names, own));
    for (const own of strange) {
      report.error('unknown-name', at, 'unknown placeholder', {
        found: `{${own}}`,
        expected: listed(names),
        among: Object.keys(names).map(one => `{${one}}`),
      });
    }
    if (strange.length > 0) return false;
    const [code = ''] = name.split(/[:.]/);
    if (code !== '_has' && !searchable.offers(type, code)) {
      const known = searchable.codes(type);
      report.error('wrong-search', at, `the mappings of ${type} offer no such search parameter`, {
        found: code,
        expected: `one of ${known.join(', ')}`,
        among: known,
      });
      return false;
    }
    const probe = value.replaceAll(PLACEHOLDER, (_, own: string) => names[own]?.(user) ?? '');
    const problems = searchable.problems(type, [name, probe], probe !== value);
    for (const { severity, message } of problems) report[severity]('wrong-search', at, message);
    return problems.every(({ severity }) => severity === 'warning');
  }
}

function typeOf({ text }: ScalarTree): string {
  return /^[^?]*/.exec(text.trim())?.[0] ?? '';
}

const LOGIN: typeof NAMES = { login: () => 'x' };

/** https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html#scopes-for-requesting-identity-data */
export const USERS: readonly string[] = ['Patient', 'Person', 'Practitioner', 'PractitionerRole', 'RelatedPerson'];

const PLACEHOLDER = /\{([^{}]*)\}/g;

function listed(names: Readonly<Record<string, unknown>>): string {
  return Object.keys(names)
    .map(name => `{${name}}`)
    .join(' or ');
}

interface Search {
  readonly type: string;
  readonly parameters: Criteria;
}

/** Parses `Type?name=value&name=value`, percent-encoded if a value has `&`, `+` or `%`. */
function parseSearch(text: string): Search | undefined {
  const [, type = '', query] = /^([A-Z][A-Za-z]+)\?(.+)$/s.exec(text.trim()) ?? [];
  return query === undefined ? undefined : { type, parameters: [...new URLSearchParams(query)] };
}
