/** Defines the unit that the validator walks over: one occurrence of an element in the JSON of a resource. */

export type Json = Readonly<Record<string, unknown>>;

/** A JSON value, and for a primitive the object of the `_name` property. https://hl7.org/fhir/R4/json.html#primitive */
export interface Item {
  readonly value: unknown;
  readonly sibling: unknown;
  readonly type: string;
  /** JSON path from the resource type, for messages. */
  readonly where: string;
}

/** True if a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
