/**
 * Writes what the demo says at its start: how to launch an app, and how to get a token by curl.
 */
import type { SmartDemo } from './demo.ts';
import { DEMO_APP } from './demo-app.ts';
import { AUTH_PATH } from './provider.ts';

export const SMART_GREETING = [
  'Who may read is decided by tokens (ACCESS=smart); docs/smart.md says how to let people and apps in:',
  '',
  '  npx lintel user add NAME --fhir-user TYPE/ID',
  '  npx lintel client add ID --public --redirect URL --scope SCOPES',
].join('\n');

export function demoGreeting(base: string, fhirPath: string, { people, secret, keyFile }: SmartDemo): string {
  const token = `${base}${AUTH_PATH}/token`;
  return [
    'Who may read is decided by tokens (ACCESS=smart). To try it:',
    '',
    ...people.map(({ name, password }) => `  Log in as    ${name.padEnd(8)} password ${password}`),
    `  An app       ${base}${DEMO_APP}`,
    `  The EHR      ${base}${AUTH_PATH}/ehr   launches apps for a patient`,
    `  My apps      ${base}${AUTH_PATH}/apps  ends their access`,
    '',
    '  Clients      demo-public, demo-secret, demo-key, demo-backend',
    `  demo-secret  ${secret}`,
    `  Keys         ${keyFile}  (of demo-key and demo-backend)`,
    '',
    'A token by Backend Services:',
    '',
    `  TOKEN=$(curl -s -d grant_type=client_credentials -d 'scope=system/*.rs' \\`,
    '    -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \\',
    `    -d client_assertion="$(npx lintel client assertion demo-backend --key ${keyFile} --token-url ${token})" \\`,
    `    ${token} | node -p 'JSON.parse(require("fs").readFileSync(0)).access_token')`,
    '',
    'And with it:',
    '',
    `  curl -H "Authorization: Bearer $TOKEN" '${base}${fhirPath}/Patient?_count=2'`,
  ].join('\n');
}
