/** Paths of the FHIR interface that anybody may read. In: where it stands. Out: whether a path is one of them. */

/** Where apps learn how to get a token, within the FHIR interface. */
export const SMART_CONFIGURATION = '/.well-known/smart-configuration';

/** What is told without a token: nothing of any patient. */
export function isPublic(fhirPath: string): (path: string) => boolean {
  const paths = new Set([`${fhirPath}/metadata`, fhirPath + SMART_CONFIGURATION]);
  return path => paths.has(path.replace(/\/$/, ''));
}
