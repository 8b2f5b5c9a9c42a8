/**
 * Offers elements of FHIR in the editor: cardinality, type, binding, and HL7's short text. In: a type path. Out:
 * options.
 */
import { readFileSync } from 'node:fs';
import type { Cursor } from '../../mapping/load/read/cursor.ts';
import { childOf, type ElementDefinition, elementsOf, isPrimitive, requiredValueSet } from '../../r4/definitions.ts';
import type { WireOption } from '../wire/mapping.ts';

let texts: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;

/** Returns HL7's short text of an element. */
function textOf({ path, name }: ElementDefinition): string {
  texts ??= JSON.parse(readFileSync(new URL('../element-texts.json', import.meta.url), 'utf8')) as typeof texts;
  return texts?.[path.slice(0, path.lastIndexOf('.'))]?.[name] ?? '';
}

/** Offers the elements that a node of this type may have, required ones first. */
export function elementOptions(type: string): readonly WireOption[] {
  if (isPrimitive(type)) return [];
  return elementsOf(type)
    .flatMap(element =>
      [...element.jsonNames].map(([label, of]) => ({
        ...{ label, kind: 'element' as const, key: true, info: textOf(element) + bindingOf(element) },
        detail: `${element.min}..${element.max} ${of.includes('.') ? '' : of}${targetsOf(element)}`.trim(),
        boost:
          element.min > 0 ? 2 : element.path.startsWith('Element.') || element.path.startsWith('Resource.') ? 0 : 1,
      })),
    )
    .sort((a, b) => b.boost - a.boost);
}

function bindingOf({ requiredBinding }: ElementDefinition): string {
  return requiredBinding === undefined ? '' : `\nrequired ${requiredBinding.replace(/^.*\/ValueSet\//, '')}`;
}

function targetsOf({ targets }: ElementDefinition): string {
  return targets.length === 0 ? '' : `(${targets.join(' | ')})`;
}

/** Offers the values of a type that has few: booleans, and codes with a required binding. */
export function valueOptions(type: string, path: Cursor['path'], document: unknown): readonly WireOption[] {
  if (type === 'boolean') return ['true', 'false'].map(label => ({ label, kind: 'value' as const }));
  const element = type === 'code' ? elementFor(path, document) : undefined;
  return (
    (element && requiredValueSet(element)?.systems.flatMap(({ codes = [] }) => [...codes]))?.map(label => ({
      ...{ label, kind: 'value' as const, detail: 'code' },
    })) ?? []
  );
}

/** Returns the definition of the element at the end of a path. */
function elementFor(path: Cursor['path'], document: unknown): ElementDefinition | undefined {
  const resource = typeof document === 'object' && document !== null ? Reflect.get(document, 'resource') : undefined;
  let type: string | undefined = typeof resource === 'string' ? resource : undefined;
  let found: ElementDefinition | undefined;
  for (const step of path.slice(1)) {
    if (typeof step === 'number' || type === undefined) continue;
    const child = childOf(type, step);
    if (!child) continue;
    found = child.element;
    type = child.type;
  }
  return found;
}
