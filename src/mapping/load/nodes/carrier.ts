/**
 * Finds the carrier of an object: the element without which the object means nothing and does not exist. In: a type
 * and the members written. Out: the names to add to the object's `needs`. docs/mapping-language.md, carriers
 */
import type { Member } from '../../model.ts';

const CARRIERS: Readonly<Record<string, string>> = {
  Coding: 'code',
  Quantity: 'value',
  SimpleQuantity: 'value',
  MoneyQuantity: 'value',
  Age: 'value',
  Count: 'value',
  Distance: 'value',
  Duration: 'value',
  Money: 'value',
  Identifier: 'value',
  ContactPoint: 'value',
  Annotation: 'text',
};

/** The carrier of a type, if it is among the members. */
export function carrierOf(type: string, members: readonly Member[]): readonly string[] {
  const names = members.flatMap(member => (member.kind === 'element' ? [member.name] : []));
  if (type === 'Extension') {
    const value = names.find(name => name.startsWith('value'));
    return value !== undefined ? [value] : names.filter(name => name === 'extension');
  }
  const carrier = CARRIERS[type];
  return names.filter(name => name === carrier);
}
