/**
 * Faults planted everywhere in valid resources: an error of the second validator is one for ours too. Runs if `node
 * test/validation/validate-shared.ts` has prepared that validator; otherwise prints a message.
 */
import { expect, test } from 'vitest';
import { isObject, type Json } from '../../src/validation/item.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { ALLERGY, BLOOD_PRESSURE, LAB, PATIENT, PROVENANCE } from './samples.ts';
import { isPrepared, loadSharedValidator, type Validate } from './shared-validator.ts';

type Path = readonly (string | number)[];

interface Planted {
  readonly fault: string;
  readonly resource: unknown;
}

if (!isPrepared())
  console.warn('SKIPPED: the second validator is not prepared (node test/validation/validate-shared.ts).');

test.skipIf(!isPrepared()).each(['6.1.0', '7.0.0'] as const)('by US Core %s', { timeout: 300_000 }, async release => {
  const second = await loadSharedValidator(release);
  let planted = 0;
  const missed: string[] = [];
  for (const resource of [PATIENT, BLOOD_PRESSURE, ALLERGY, PROVENANCE, LAB]) {
    for (const { fault, resource: spoiled } of faultsOf(resource)) {
      planted += 1;
      const error = second && errorOf(second, Object(spoiled));
      // The use of a contained resource is the one rule that our validator omits (dom-3).
      if (error === undefined || error.endsWith('is not referenced')) continue;
      if (validateResource(spoiled, [release]).length === 0) missed.push(`${fault}: ${error}`);
    }
  }
  expect(missed).toEqual([]);
  expect(planted).toBeGreaterThan(300);
});

/** An exception of the second validator counts as an error. */
function errorOf(second: Validate, resource: object): string | undefined {
  try {
    return second(resource)[0];
  } catch (error) {
    return `${error}`;
  }
}

/** Each part of a resource removed, doubled, or replaced by another kind. */
function* faultsOf(resource: Json): Generator<Planted> {
  for (const path of pathsOf(resource)) {
    const name = `${resource['resourceType']}.${path.join('.')}`;
    yield { fault: `${name} left out`, resource: changed(resource, path, undefined) };
    const value = valueAt(resource, path);
    yield { fault: `${name} doubled`, resource: changed(resource, path, [value, value]) };
    yield {
      fault: `${name} of another kind`,
      resource: changed(resource, path, typeof value === 'string' ? 'zzz' : 'x'),
    };
  }
}

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  const parts = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  for (const [key, part] of parts) {
    // Another type or other profiles would make a different resource.
    if (path.length === 0 && (key === 'resourceType' || key === 'meta')) continue;
    yield [...path, key];
    yield* pathsOf(part, [...path, key]);
  }
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);
}

/** A copy with another value at a path, or without it. */
function changed(resource: Json, path: Path, value: unknown): unknown {
  const copy = structuredClone(resource);
  const last = path.at(-1) ?? '';
  const around = Object(valueAt(copy, path.slice(0, -1)));
  if (value !== undefined) Reflect.set(around, last, value);
  else if (Array.isArray(around)) around.splice(Number(last), 1);
  else Reflect.deleteProperty(around, last);
  return copy;
}
