/**
 * Reads requests of the REST interface and its pages: parameters, the patient in the path, the rights of the person
 * who is logged in. Throws RestError for what is not valid.
 */

import type { RequestContext } from '../../facade.ts';
import { idOfNumber } from '../../rest/fhir-source.ts';
import type { RestParts } from '../../rest/start.ts';
import { type AppParts, fhirBase, type HttpContext, seeing } from '../context.ts';
import { urlParameters } from '../middleware/request.ts';
import { RestError } from './errors.ts';
import { accessOf } from './session.ts';

/** Throws RestError where the path names no patient. */
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
 * Characters of a value: names, numbers and dates are shorter, and what they are searched by is several times as long.
 */
const LONGEST = 200;

/**
 * The value of a parameter; one that is blank counts as not given. Throws RestError where others are given beside it,
 * and for one too long.
 */
export function parameter(c: HttpContext, name: string): string | undefined {
  const given = urlParameters(c).filter(([one]) => one.toLowerCase() === name.toLowerCase());
  // Ignored, a range would give the whole record and a name somebody else.
  const misspelt = given.find(([one]) => one !== name);
  if (misspelt !== undefined) throw new RestError('bad-request', `${misspelt[0]}: expected ${name}`);
  const [value, ...others] = new Set(given.map(([, text]) => text.trim()));
  if (others.length > 0) throw new RestError('bad-request', `${name} is given more than once`);
  if (value !== undefined && value.length > LONGEST)
    throw new RestError('bad-request', `${name} is longer than ${LONGEST} characters`);
  return value || undefined;
}

/** With the rights of who is logged in; within one patient's compartment where one is named. */
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
