/**
 * Compiles a mapping into a writer: a function from rows to FHIR JSON text. The function is generated once per mapping
 * and selection; constants of the mapping are literals in it, and it caches the texts of fragments with few inputs.
 * test/resource has a slow interpreter that gives the same results.
 * https://hl7.org/fhir/R4/json.html
 */
import { namedNodesOf } from '../mapping/children.ts';
import type { Mapping } from '../mapping/model.ts';
import type { Row } from '../sql/plan.ts';
import { CONTEXT, type Moment } from './condition.ts';
import { type Emission, type Frame, rawCode } from './emission.ts';
import { emit, idCode } from './emit.ts';
import { appendMembers, keyOf, nameOf } from './members.ts';
import { columnsOfFewValues } from './memo.ts';
import type { Children } from './rows.ts';
import type { SelectedRoot } from './selection.ts';
import type { RowShape } from './shape.ts';
import { ABSENT, Joined, literal, Source } from './source-text.ts';
import { bareText, quotedText } from './text.ts';

/** What a resource depends on, besides the row. */
export interface WriteContext extends Moment {
  /** Absolute base of the FHIR interface, without a slash at the end. */
  readonly base: string;
}

export interface Writer {
  readonly mapping: Mapping;
  /** Returns the logical id; '' for a row that has none. */
  id(row: Row): string;
  /** Returns the resource as JSON text; '' for a row without an id. */
  write(row: Row, children: Children, context: WriteContext): string;
  /** Likewise, with id and lastUpdated. */
  written(row: Row, children: Children, context: WriteContext): Written;
}

/** A resource as JSON text; '' for a row that is no resource. */
export interface Written {
  readonly id: string;
  readonly json: string;
  /** meta.lastUpdated; '' if the row or the mapping has none. */
  readonly lastUpdated: string;
}

const NOTHING: Written = { id: '', json: '', lastUpdated: '' };

type Generated = Omit<Writer, 'mapping' | 'write'>;

/** Compiles one mapping for rows of a shape that was made for it. Throws a TypeError if it was not. */
export function compileWriter(mapping: Mapping, shape: RowShape): Writer {
  const root = shape.roots.get(mapping);
  if (!root) throw new TypeError(`the row shape was not made for ${mapping.name}`);
  const source = new Source();
  const { lookups } = mapping.source;
  const frame: Frame = { kind: 'row', level: shape, lookups, row: 'row', children: 'children' };
  const few = columnsOfFewValues([...root.meta, ...root.members.flatMap(namedNodesOf)].map(({ node }) => node));
  const at: Emission = { source, frame, within: 'row', few, slots: new Map(), emit };
  const id = (): string => idCode(mapping.id, column => rawCode(column, frame), source);
  const parameters = `row, children, ${CONTEXT}`;
  const generated = source.functions<Generated>({
    id: { parameters, body: () => source.line(`return ${id()};`) },
    written: { parameters, body: () => writeBody(mapping, root, id, at) },
  });
  const write: Writer['write'] = (row, children, context) => generated.written(row, children, context).json;
  return { mapping, ...generated, write };
}

function writeBody(mapping: Mapping, root: SelectedRoot, id: () => string, at: Emission): void {
  const { source } = at;
  const own = id();
  source.line(`if (${own} === '') return ${source.bind(NOTHING)};`);
  const head = [
    literal(`{"resourceType":${JSON.stringify(mapping.resource)},"id":"`),
    { code: own, neverEmpty: true },
    literal('"'),
  ];
  const resource = new Joined(source, '{}', '', head);
  const meta = new Joined(source, '{}', keyOf('meta'));
  let lastUpdated = ABSENT;
  for (const { name, node } of root.meta) {
    const isLastUpdated = name === 'lastUpdated';
    if (isLastUpdated) lastUpdated = bareText(node, at);
    meta.add(nameOf(name), isLastUpdated ? quotedText(lastUpdated, at) : emit(node, at));
  }
  resource.append(meta.finish());
  appendMembers(root.members, resource, at, named => !root.hidden.has(named));
  source.line(`return { id: ${own}, json: ${resource.finish().code}, lastUpdated: ${lastUpdated.code} };`);
}
