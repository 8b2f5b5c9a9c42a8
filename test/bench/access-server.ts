/**
 * Runs one server of `npm run bench -- access` in a process of its own. In: its kind; as a message, a database file, a
 * folder, and the patient whose record may be read. Out: as messages, the port with the header that identifies the
 * caller, and seconds of CPU on request.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { writeAccounts } from '../../src/auth/accounts.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { writeClients } from '../../src/smart/clients.ts';
import { launch, PASSWORD, REDIRECT } from '../smart/served.ts';
import { answerQuestions, portOf, startLintel } from './servers.ts';

export interface Task {
  readonly file: string;
  readonly dataDir: string;
  /** Logical id. */
  readonly patient: string;
  /** True: answers are cached; false: each is made anew. */
  readonly kept: boolean;
  /** Headers of the bare server. */
  readonly headers?: readonly string[];
  /** In Base64. */
  readonly body?: string;
}

const USER = 'bench';
const CLIENT = 'bench-app';

const [task]: Task[] = await once(process, 'message');
if (task === undefined) throw new Error('Nothing is asked');
const { file, dataDir, patient, kept, headers = [], body = '' } = task;
const environment = {
  ...{ DATABASE_URL: `sqlite:${file}`, DATA_DIR: dataDir },
  ...(kept ? { CACHE_MAX_AGE: '86400', CACHE_TTL: '86400' } : { CACHE_MAX_AGE: '0' }),
};

/** An app with a patient's permission to read the record. */
async function withToken(): Promise<object> {
  const password = await hashPassword(PASSWORD);
  writeAccounts(join(dataDir, 'accounts.json'), [
    { name: USER, password, disabled: false, fhirUser: `Patient/${patient}` },
  ]);
  writeClients(join(dataDir, 'clients.json'), [
    {
      ...{ id: CLIENT, name: 'Bench', kind: 'public', redirects: [REDIRECT], introspects: false, disabled: false },
      scopes: ['launch/patient', 'patient/*.rs'],
    },
  ]);
  const port = await startLintel({ ...environment, ACCESS: 'smart' });
  const base = `http://127.0.0.1:${port}`;
  const asked = { client: CLIENT, user: USER, scope: 'launch/patient patient/*.rs' };
  const answer = await launch({ fhir: `${base}/fhir`, auth: `${base}/auth` }, asked);
  const token = answer.body['access_token'];
  if (typeof token !== 'string') throw new Error('There is no token');
  return { port, headers: { Authorization: `Bearer ${token}` } };
}

async function bare(): Promise<object> {
  const bytes = Buffer.from(body, 'base64');
  const server = createServer((_request, response) => {
    response.writeHead(200, [...headers]);
    response.end(bytes);
  });
  return { port: await portOf(server) };
}

switch (process.argv[2]) {
  case 'bare':
    process.send?.(await bare());
    break;
  case 'token':
    process.send?.(await withToken());
    break;
  case 'audited':
    process.send?.({ port: await startLintel({ ...environment, AUDIT: 'required' }) });
    break;
  default:
    process.send?.({ port: await startLintel(environment) });
}

answerQuestions();
