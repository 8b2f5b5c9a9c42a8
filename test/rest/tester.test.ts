/**
 * Repeats a tester's work with curl and its cookie jar, over the network: log in, look up, fetch every topic, list the
 * encounters and fetch theirs, log out. Skipped, with a printed line, if there is no curl.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { structureProblems } from '../ccda/structure.ts';
import { at, parseXml } from '../ccda/xml-tree.ts';
import { type StartedDemo, startDemo } from '../clients/started-demo.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ACCOUNT = { DEMO_USER: 'tester', DEMO_PASSWORD: 'a tester with a jar' };
const LONG = { timeout: 120_000 };

const folder = temporaryFolder(afterAll);
const jar = join(folder, 'cookies');
const hasCurl = ((): boolean => {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    console.log("skipped: no curl for the tester's run");
    return false;
  }
})();

let demo: StartedDemo;
let api: string;
beforeAll(async () => {
  demo = await startDemo(ACCOUNT);
  api = demo.base.replace(/\/fhir$/, '/api');
}, LONG.timeout);
afterAll(() => demo.stop());

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function curl(path: string, ...options: readonly string[]): Promise<Answer> {
  const end = '\n%{http_code} %{content_type}';
  const { stdout } = await promisify(execFile)(
    'curl',
    ['-s', '--max-time', '100', '-b', jar, '-c', jar, '-w', end, ...options, `${api}${path}`],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const last = stdout.lastIndexOf('\n');
  const [status = '', ...type] = stdout.slice(last + 1).split(' ');
  return { status: Number(status), type: type.join(' '), body: stdout.slice(0, last) };
}

describe.skipIf(!hasCurl)('a tester with curl', () => {
  test('is refused before logging in, and with a wrong password', LONG, async () => {
    expect(await curl('/1/ccds/api/problems')).toMatchObject({ status: 401, type: 'application/json' });
    const wrong = await curl('/users/login', '-d', 'username=tester', '-d', 'password=nonsense');
    expect(wrong.status).toBe(401);
  });

  test('logs in, and gets an HttpOnly cookie', LONG, async () => {
    const login = await curl(
      '/users/login',
      '-d',
      'username=tester',
      '--data-urlencode',
      'password=a tester with a jar',
    );
    expect(login.status).toBe(200);
    expect(readFileSync(jar, 'utf8')).toMatch(/#HttpOnly_127\.0\.0\.1\t.*\t\/api\t.*\tJSESSIONID\t\S{43}/);
  });

  test('looks up a number by name, and the patient of the number', LONG, async () => {
    expect(await curl('/patientinfo/patient/id?lastName=Okonkwo-Reyes&firstName=Amelia')).toMatchObject({
      status: 200,
      body: '1',
    });
    const info = await curl('/patientinfo/1');
    expect(JSON.parse(info.body)).toMatchObject({
      patientId: 1,
      lastName: 'Okonkwo-Reyes',
      dob: '1968-06-02',
      sex: 'F',
    });
    const summary = await curl('/patientsummary', '-G', '--data-urlencode', 'search=reyes ame');
    expect(JSON.parse(summary.body)).toMatchObject({ count: 1, patients: [{ patientId: 1 }] });
  });

  test.each(TOPICS.map(({ name }) => name))('fetches %s, complete and for a date range', LONG, async name => {
    for (const query of ['', '?rangeStart=2024-01-01&rangeEnd=2024-12-31']) {
      const answer = await curl(`/1/ccds/api/${name}${query}`, '--compressed');
      expect(answer).toMatchObject({ status: 200, type: 'application/xml; charset=utf-8' });
      const root = parseXml(answer.body);
      expect(structureProblems(root)).toEqual([]);
      expect(at(root, 'recordTarget', 'patientRole', 'patient', 'name', 'family')?.text).toBe('Okonkwo-Reyes');
    }
  });

  test('lists the encounters and fetches the document of each', LONG, async () => {
    const listed = JSON.parse((await curl('/1/ccds/api/list-encounters')).body) as readonly number[];
    expect(listed.length).toBeGreaterThan(5);
    for (const encounter of listed.slice(-5)) {
      const answer = await curl(`/1/ccds/api/encounter-ccds?encounterId=${encounter}`, '--compressed');
      expect(answer.status).toBe(200);
      expect(structureProblems(parseXml(answer.body))).toEqual([]);
    }
  });

  test('logs out, and the cookie is invalid', LONG, async () => {
    expect((await curl('/users/logout', '-X', 'POST')).status).toBe(204);
    expect((await curl('/patientinfo/1')).status).toBe(401);
  });
});
