/** Paths of the FHIR interface that anybody may read. In: where it stands. Out: whether a path is one of them. */

/** Where apps learn how to get a token, within the FHIR interface. */
export const SMART_CONFIGURATION = '/.well-known/smart-configuration';

/** What is told without a token: nothing of any patient. `tellsApps`: how apps get a token is told here. */
export function isPublic(fhirPath: string, tellsApps = false): (path: string) => boolean {
  const paths = new Set([`${fhirPath}/metadata`, ...(tellsApps ? [fhirPath + SMART_CONFIGURATION] : [])]);
  return path => paths.has(path.replace(/\/$/, ''));
}
