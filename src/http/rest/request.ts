/**
 * Reads requests of the REST interface and its pages: parameters, the patient in the path, the rights of the person who
 * is logged in. Throws RestError for invalid requests.
 */

import type { RequestContext } from '../../facade.ts';
import { idOfNumber } from '../../rest/fhir-source.ts';
import type { RestParts } from '../../rest/start.ts';
import { type AppParts, fhirBase, type HttpContext, seeing } from '../context.ts';
import { urlParameters } from '../middleware/request.ts';
import { RestError } from './errors.ts';
import { accessOf } from './session.ts';

/** Finds the patient that the path names. Throws RestError if there is none. */
export async function patientOf(
  c: HttpContext,
  parts: AppParts,
  { source }: RestParts,
): Promise<{ readonly number: number; readonly id: string }> {
  const number = wholeNumber(c.req.param('patientId'), 'patientId');
  const id = await idOfNumber(source, 'Patient', source.patients, number, contextOf(c, parts));
  if (id === undefined) throw unknownPatient();
  return { number, id };
}

export function wholeNumber(text: string | undefined, name: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new RestError('bad-request', `${name} expects a whole number`);
  return Number(text);
}

/**
 * Maximum characters of a value: names, numbers and dates are shorter, and the searches made from them several times as
 * long.
 */
const LONGEST = 200;

/**
 * Returns the value of a parameter; a blank one counts as not given. Throws RestError for several different values, and
 * for one too long.
 */
export function parameter(c: HttpContext, name: string): string | undefined {
  const given = urlParameters(c).filter(([one]) => one.toLowerCase() === name.toLowerCase());
  // If a misspelt range were ignored, the answer would be the whole record; with a misspelt name, another person.
  const misspelt = given.find(([one]) => one !== name);
  if (misspelt !== undefined) throw new RestError('bad-request', `${misspelt[0]}: expected ${name}`);
  const [value, ...others] = new Set(given.map(([, text]) => text.trim()));
  if (others.length > 0) throw new RestError('bad-request', `${name} is given more than once`);
  if (value !== undefined && value.length > LONGEST)
    throw new RestError('bad-request', `${name} is longer than ${LONGEST} characters`);
  return value || undefined;
}

/** Returns a context with the rights of the caller, limited to one patient's compartment if `patientId` is given. */
export function contextOf(c: HttpContext, parts: AppParts, patientId?: string): RequestContext {
  return {
    access: accessOf(c, parts.rest),
    ...(patientId === undefined ? {} : { patient: patientId }),
    base: fhirBase(c, parts),
    handling: 'strict',
    signal: c.get('signal'),
    stages: c.get('stages'),
    ...seeing(c, parts),
  };
}

export function unknownPatient(): RestError {
  return new RestError('not-found', 'Patient not found');
}

export function wrongMethod(allow: string): never {
  throw new RestError('not-allowed', `Expected ${allow}`, { Allow: allow });
}
