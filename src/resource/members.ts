/**
 * Generates code for objects: their members, the rule for their existence, and choices of members. In: the members in
 * order. Out: statements that compute their JSON texts, and the names of the variables.
 */
import { isDynamic, isDynamicMember, namedNodesOf } from '../mapping/children.ts';
import type { Member, NamedNode, Node, ObjectNode } from '../mapping/model.ts';
import type { Emission } from './emission.ts';
import { rememberedText, slotOf } from './remember.ts';
import { anyPresent, Joined, type Text } from './source-text.ts';

/** Returns the beginning of a member that follows another: a comma, its name and a colon. */
export function keyOf(name: string): string {
  return `,${nameOf(name)}`;
}

/** Returns the beginning of a member. */
export function nameOf(name: string): string {
  return `${JSON.stringify(name)}:`;
}

/** Generates the JSON text of an object, with `before` in front; '' if it does not exist. */
export function emitObject(node: ObjectNode, at: Emission, before: string): Text {
  const { source } = at;
  const texts = new Map<string, Text>();
  const result = source.variable("''");
  const members = membersOf(node);
  const done = new Set<ObjectMember>();
  const rest = [...node.needs];
  let neverEmpty = false;
  const compute = (entry: ObjectMember): void => {
    for (const [name, text] of emitMember(entry.member, entry.isBehind, at)) {
      if (!texts.has(name)) texts.set(name, text);
    }
  };

  const assemble = (): void => {
    const deciding = members.filter(({ member }) => isDynamicMember(member));
    const among = deciding.length > 0 ? deciding : members;
    const implied = deciding.some(entry => entry.member.kind === 'element' && node.needs.includes(entry.member.name));
    const mayRun = (entry: ObjectMember): boolean =>
      entry.isBehind && !done.has(entry) && (implied || isDynamicMember(entry.member));
    for (const run of runsOf(members, mayRun, at)) {
      const [first, ...more] = run.filter(entry => !done.has(entry));
      if (more.length > 0) texts.set(first?.names[0] ?? '', emitRun(run, at));
      else if (first) compute(first);
    }
    const existence = anyPresent(among.flatMap(({ names }) => names.flatMap(name => texts.get(name) ?? [])));
    neverEmpty = existence === 'true' && rest.length === 0 && node.needs.every(name => texts.get(name)?.neverEmpty);
    source.when(implied ? 'true' : existence, () => {
      const joined = new Joined(source, '{}', before);
      for (const { names, isBehind } of members) {
        for (const name of names) {
          const text = texts.get(name);
          if (!text) continue;
          // A needed member has been tested above, so its text is present.
          const known = node.needs.includes(name) ? { ...text, neverEmpty: true } : text;
          if (isBehind) joined.append(known);
          else joined.add(nameOf(name), known);
        }
      }
      source.line(`${result} = ${joined.finish().code};`);
    });
  };
  const needed = (): void => {
    const name = rest.shift();
    if (name === undefined) {
      assemble();
      return;
    }
    for (const entry of members) {
      if (!entry.names.includes(name) || done.has(entry)) continue;
      compute(entry);
      done.add(entry);
    }
    const text = texts.get(name);
    source.when(text ? anyPresent([text]) : 'false', needed);
  };
  needed();
  return { code: result, neverEmpty };
}

interface ObjectMember {
  readonly member: Member;
  readonly names: readonly string[];
  /** True if another member always comes before it: its text then starts with a comma and its name. */
  readonly isBehind: boolean;
}

function membersOf({ members, needs }: ObjectNode): readonly ObjectMember[] {
  let isBehind = false;
  return members.map(member => {
    const names = [...new Set(namedNodesOf(member).map(({ name }) => name))];
    const entry = { member, names, isBehind };
    if (member.kind === 'element') isBehind ||= needs.includes(member.name) || isFixed(member.node);
    return entry;
  });
}

function isFixed(node: Node): boolean {
  return node.kind === 'constant' && !node.if;
}

/**
 * Adds the members of a resource, each after others. `isShown`: false for alternatives of choices that are evaluated
 * but not written.
 */
export function appendMembers(
  members: readonly Member[],
  joined: Joined,
  at: Emission,
  isShown: (named: NamedNode) => boolean,
): void {
  const entries = members.map(member => ({ member }));
  for (const run of runsOf(entries, () => true, at)) {
    const [first] = run;
    if (run.length > 1) joined.append(emitRun(run, at));
    else if (first?.member.kind === 'element') joined.append(emitNamed(first.member, true, at));
    else if (first) {
      const shown = new Set(
        first.member.alternatives
          .flat()
          .filter(isShown)
          .map(({ name }) => name),
      );
      for (const [name, text] of emitChoice(first.member.alternatives, true, at))
        if (shown.has(name)) joined.append(text);
    }
  }
}

/** Groups neighbours that depend on the same one column; every other member is a group of its own. */
function runsOf<Entry extends { readonly member: Member }>(
  entries: readonly Entry[],
  mayRun: (entry: Entry) => boolean,
  at: Emission,
): readonly (readonly Entry[])[] {
  const runs: Entry[][] = [];
  let before: string | undefined;
  for (const entry of entries) {
    const slot = entry.member.kind === 'element' && mayRun(entry) ? slotOf(entry.member.node, at) : undefined;
    if (slot !== undefined && slot === before) runs.at(-1)?.push(entry);
    else runs.push([entry]);
    before = slot;
  }
  return runs;
}

/** Generates cached code for the texts of several members as one; '' if none exists. */
function emitRun(run: readonly { readonly member: Member }[], at: Emission): Text {
  const elements = run.flatMap(({ member }) => namedNodesOf(member));
  const write = (inner: Emission): Text => {
    const joined = new Joined(inner.source, '{}', '', []);
    for (const element of elements) joined.append(emitNamed(element, true, inner));
    return { code: joined.flush(), neverEmpty: false };
  };
  const text = rememberedText({ nodes: elements.map(({ node }) => node), write }, at);
  if (!text) throw new TypeError('neighbours of one column are not remembered by it');
  return text;
}

function emitMember(member: Member, isBehind: boolean, at: Emission): ReadonlyMap<string, Text> {
  if (member.kind === 'choice') return emitChoice(member.alternatives, isBehind, at);
  return new Map([[member.name, emitNamed(member, isBehind, at)]]);
}

/** Generates a member; starts with a comma and its name if it follows another. */
function emitNamed({ name, node }: NamedNode, isBehind: boolean, at: Emission): Text {
  return at.emit(node, at, isBehind ? keyOf(name) : '');
}

type Choice = (Member & { readonly kind: 'choice' })['alternatives'];

/** Generates a choice: variables that the first existing alternative fills. */
function emitChoice(alternatives: Choice, isBehind: boolean, at: Emission): ReadonlyMap<string, Text> {
  const { source } = at;
  const variables = new Map<string, string>();
  for (const { name } of alternatives.flat()) if (!variables.has(name)) variables.set(name, source.variable("''"));
  const from = (index: number): void => {
    const alternative = alternatives[index];
    if (!alternative) return;
    const texts = alternative.map(named => emitNamed(named, isBehind, at));
    const dynamic = alternative.some(({ node }) => isDynamic(node));
    const presence = anyPresent(texts.filter((_, i) => !dynamic || isDynamic(alternative[i]?.node ?? NOTHING)));
    source.when(presence, () => {
      for (const [i, { name }] of alternative.entries()) {
        source.line(`${variables.get(name)} = ${texts[i]?.code};`);
      }
    });
    if (presence === 'true') return;
    if (presence === 'false') from(index + 1);
    else if (index + 1 < alternatives.length) source.block('else', () => from(index + 1));
  };
  from(0);
  return new Map([...variables].map(([name, code]) => [name, { code, neverEmpty: false }]));
}

const NOTHING: Node = { kind: 'constant', json: null, type: 'string', at: { file: '', line: 0, column: 0 } };
