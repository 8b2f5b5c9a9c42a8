/**
 * Lists the paths of the FHIR interface that need no token. In: the base path. Out: a test of a path.
 */

/** Where apps learn how to get a token, within the FHIR interface. */
export const SMART_CONFIGURATION = '/.well-known/smart-configuration';

/** What is told without a token: nothing of any patient. `tellsApps`: how apps get a token is told here. */
export function isPublic(fhirPath: string, tellsApps = false): (path: string) => boolean {
  const paths = new Set([`${fhirPath}/metadata`, ...(tellsApps ? [fhirPath + SMART_CONFIGURATION] : [])]);
  return path => paths.has(path.replace(/\/$/, ''));
}
