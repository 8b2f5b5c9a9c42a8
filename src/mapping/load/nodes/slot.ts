/**
 * Describes the slot of a node: what FHIR requires at this place of the resource. In: a type path and an element name.
 * Out: type, cardinality, targets and required binding that the node must fit.
 * https://hl7.org/fhir/R4/elementdefinition.html
 */
import { type Child, type ElementDefinition, requiredValueSet, type ValueSet } from '../../../r4/definitions.ts';

export interface Slot {
  /** JSON names from the resource down, for messages: `Observation.component.valueQuantity`. */
  readonly path: string;
  /** Type path: `CodeableConcept`, `code`, `Observation.component`. */
  readonly type: string;
  /** Undefined for the resource itself and for the parts of a text. */
  readonly element: ElementDefinition | undefined;
  /** `list`: the node may be a list. `item`: an item of a list, which may be an `each`. */
  readonly place: 'list' | 'item' | 'single';
  /** Type path of the enclosing object. */
  readonly parent: string;
  /**
   * Codes allowed here by the required binding of the element, or of the concept that a Coding or its code belongs to.
   */
  readonly bound: ValueSet | undefined;
}

/** Returns the slot of the resource itself. */
export function rootSlot(resource: string): Slot {
  return { path: resource, type: resource, element: undefined, place: 'single', parent: '', bound: undefined };
}

/** Returns the slot of a child; undefined for a choice named without its type. */
export function childSlot(around: Slot, name: string, child: Child): Slot | undefined {
  if (child.type === undefined) return undefined;
  const inherits =
    (around.type === 'CodeableConcept' && name === 'coding') || (around.type === 'Coding' && name === 'code');
  return {
    path: `${around.path}.${name}`,
    type: child.type,
    element: child.element,
    place: child.element.max === '*' ? 'list' : 'single',
    parent: around.type,
    bound: requiredValueSet(child.element) ?? (inherits ? around.bound : undefined),
  };
}

/** Returns the slot of one item of a repeating element. */
export function itemSlot(slot: Slot): Slot {
  return slot.place === 'list' ? { ...slot, place: 'item' } : slot;
}

/** Returns the slot of an alternative or part, where `each` is not allowed. */
export function singleSlot(slot: Slot): Slot {
  return { ...slot, place: 'single' };
}

/** Returns the slot of a part of a text. Any primitive fits. */
export function textSlot(around: Slot): Slot {
  return { ...around, path: around.path, type: 'string', element: undefined, place: 'single', bound: undefined };
}
