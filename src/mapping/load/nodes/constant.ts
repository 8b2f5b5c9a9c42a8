/**
 * Reads constants. In: a scalar and its slot. Out: JSON of the slot's type: a primitive that fits its pattern and
 * required binding, or `alias#code Display` as Coding or CodeableConcept.
 */
import { isPrimitive, jsonKindOf, primitivePattern, type ValueSet } from '../../../r4/definitions.ts';
import { profileNames, profileUrl } from '../../../r4/profiles.ts';
import type { Json } from '../../model.ts';
import { reportMalformed, resolveSystem } from '../codes/system.ts';
import type { PackContext } from '../pack/context.ts';
import type { ScalarTree } from '../read/tree.ts';
import type { Slot } from './slot.ts';

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\S+$/i;

/** Returns the constant's JSON; reports and returns undefined if it does not fit. */
export function readConstant(tree: ScalarTree, slot: Slot, context: PackContext): Json | undefined {
  if (isPrimitive(slot.type)) return readPrimitive(tree, slot, context);
  if (slot.type === 'Coding') return readCoding(tree, slot, context);
  if (slot.type === 'CodeableConcept') {
    const coding = readCoding(tree, slot, context);
    if (!coding) return undefined;
    return { coding: [coding], ...(coding.display === undefined ? {} : { text: coding.display }) };
  }
  context.report.error('wrong-element', tree.at, `${slot.path} is a ${slot.type} and no single value`, {
    expected: slot.type === 'Reference' ? '{ref: mapping, on: {THEIRS: ours}}' : 'a map of elements',
    found: tree.text || 'nothing',
  });
  return undefined;
}

function readPrimitive(tree: ScalarTree, slot: Slot, context: PackContext): Json | undefined {
  const { report, systems } = context;
  let { text } = tree;
  if (slot.type === 'uri' && slot.path.endsWith('.system')) {
    const system = resolveSystem(tree, systems, report);
    if (system === undefined) return undefined;
    text = system;
  } else if (slot.type === 'uri') text = systems.get(text) ?? text;
  if (isProfilePlace(slot)) text = expandProfile(tree, slot, context);
  const kind = jsonKindOf(slot.type);
  const pattern = primitivePattern(slot.type);
  const fits =
    text !== '' && (kind !== 'boolean' || text === 'true' || text === 'false') && (!pattern || pattern.test(text));
  if (!fits) {
    report.error('wrong-element', tree.at, `not a ${slot.type} for ${slot.path}`, {
      found: text || 'nothing',
      ...(kind === 'boolean' ? { expected: 'true or false' } : {}),
    });
    return undefined;
  }
  if (slot.bound) checkCode(text, undefined, slot.bound, tree, slot, context);
  if (kind === 'boolean') return text === 'true';
  return kind === 'number' ? Number(text) : text;
}

/** True for elements that hold the URL of a profile or extension. They accept its short name. */
function isProfilePlace(slot: Slot): boolean {
  if (slot.path.endsWith('.meta.profile')) return true;
  return slot.parent === 'Extension' && slot.path.endsWith('.url') && !/\.extension\.extension\.url$/.test(slot.path);
}

function expandProfile(tree: ScalarTree, slot: Slot, context: PackContext): string {
  if (ABSOLUTE.test(tree.text)) return tree.text;
  const url = profileUrl(tree.text);
  if (url === undefined) {
    context.report.error('unknown-profile', tree.at, `unknown profile or extension for ${slot.path}`, {
      expected: 'a short name of US Core or R4, or an absolute URL',
      found: tree.text || 'nothing',
      among: profileNames(),
    });
  }
  return url ?? tree.text;
}

interface Coding {
  readonly [name: string]: Json;
  readonly system: string;
  readonly code: string;
}

function readCoding(
  tree: ScalarTree,
  slot: Slot,
  context: PackContext,
): (Coding & { readonly display?: string }) | undefined {
  const match = /^([^\s#]+)#(\S+)(?:\s+(.*\S))?\s*$/.exec(tree.text);
  if (!match) {
    context.report.error('wrong-element', tree.at, `not a ${slot.type} for ${slot.path}`, {
      expected: '`alias#code Display` with an alias of `systems`',
      found: tree.text || 'nothing',
    });
    return undefined;
  }
  const [, alias = '', code = '', display] = match;
  const system = resolveSystem({ ...tree, text: alias }, context.systems, context.report);
  if (system === undefined) return undefined;
  if (slot.bound) checkCode(code, system, slot.bound, tree, slot, context);
  reportMalformed(system, code, tree.at, context.report);
  return { system, code, ...(display === undefined ? {} : { display }) };
}

function checkCode(
  code: string,
  system: string | undefined,
  bound: ValueSet,
  at: ScalarTree,
  slot: Slot,
  context: PackContext,
): void {
  if (isInside(bound, code, system)) return;
  context.report.error('required-binding', at.at, `code outside the required binding of ${slot.path}`, {
    found: system === undefined ? code : `${system}#${code}`,
    ...allowedCodes(bound),
  });
}

/** True if the value set has the code; without a system, if any of its systems has it. */
export function isInside(bound: ValueSet, code: string, system: string | undefined): boolean {
  return bound.systems.some(
    s => (system === undefined || s.system === system) && (s.codes === undefined || s.codes.has(code)),
  );
}

/** Describes the allowed codes for a message. */
export function allowedCodes(bound: ValueSet): { readonly expected: string; readonly among: readonly string[] } {
  const codes = bound.systems.flatMap(s => [...(s.codes ?? [])]);
  const listed = codes.length <= 12 ? `one of ${codes.join(', ')}` : `a code of ${bound.url}`;
  return { expected: listed, among: codes };
}
