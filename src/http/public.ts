/**
 * Lists the paths of the FHIR interface that need no token. In: the base path. Out: a test of a path.
 */

/** Path at which apps learn how to get a token, within the FHIR interface. */
export const SMART_CONFIGURATION = '/.well-known/smart-configuration';

/**
 * Returns a test for the paths that need no token and hold nothing of any patient. `hasSmart`: SMART_CONFIGURATION is
 * one of them.
 */
export function isPublic(fhirPath: string, hasSmart = false): (path: string) => boolean {
  const paths = new Set([`${fhirPath}/metadata`, ...(hasSmart ? [fhirPath + SMART_CONFIGURATION] : [])]);
  return path => paths.has(path.replace(/\/$/, ''));
}
