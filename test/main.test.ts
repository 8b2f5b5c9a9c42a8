import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { createLog } from '../src/log.ts';
import { startServer } from '../src/main.ts';
import { type SmallClinic, smallClinic } from './cli/small-clinic.ts';

async function started(clinic: SmallClinic, more: Readonly<Record<string, string>> = {}) {
  const out: string[] = [];
  const notes: string[] = [];
  const lines: string[] = [];
  const running = await startServer(
    readConfig({ ...clinic.environment, ...more }),
    { out: text => out.push(text), note: text => notes.push(text) },
    createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
  );
  if (running) onTestFinished(() => running.stop());
  return { running, out, notes, lines };
}

test('any database with any pack is served, from the first greeting to a page of resources', async () => {
  const clinic = smallClinic();
  const { running, out } = await started(clinic);
  const url = running?.url ?? '';
  expect(out.join('\n')).toContain('Lintel serves A small clinic: 2 mappings of 2 types.\n');
  expect(out.join('\n')).toContain(`${url}/fhir`);
  const samples = [...out.join('\n').matchAll(/curl '([^']+)'/g)].map(match => match[1] ?? '');
  expect(samples).toHaveLength(3);
  for (const sample of samples) expect((await fetch(sample)).status).toBe(200);
  const bundle = (await (await fetch(`${url}/fhir/Observation?patient=1`)).json()) as { entry: unknown[] };
  expect(bundle.entry).toHaveLength(2);
  const patient = await (await fetch(`${url}/fhir/Patient/1`)).json();
  expect(patient).toMatchObject({ resourceType: 'Patient', id: '1', gender: 'female', birthDate: '1970-02-03' });
  expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ status: 'ok' });
  expect((await fetch(`${url}/`)).status).toBe(200);
  // The demo was not built.
  expect(existsSync(readConfig(clinic.environment).dataDir)).toBe(false);
});

test('over TLS greeting and start page name the certificate that curl must trust', async () => {
  const tls = { TLS_CERT: 'test/tls/server.pem', TLS_KEY: 'test/tls/server.key.pem' };
  const { out, running } = await started(smallClinic(), tls);
  expect(out.join('\n').match(/curl --cacert 'test\/tls\/server\.pem' 'https:/g)).toHaveLength(3);
  expect(running?.url).toMatch(/^https:/);
});

test('CACHE_MAX_AGE=0 disables the cache and Cache-Status', async () => {
  const read = async (more: Readonly<Record<string, string>>) => {
    const { running } = await started(smallClinic(), more);
    const ask = async () => (await fetch(`${running?.url}/fhir/Patient/1`)).headers.get('cache-status');
    const statuses = [await ask(), await ask()];
    const metrics = await (await fetch(`${running?.url}/metrics`)).text();
    const sent = /lintel_sql_statements_total\{mapping="people",.*\} (\d+)/.exec(metrics)?.[1];
    return { statuses, sent, counted: metrics.includes('lintel_cache_entries') };
  };
  expect(await read({})).toEqual({
    statuses: ['Lintel; fwd=miss; stored', expect.stringMatching(/^Lintel; hit; ttl=\d+$/)],
    ...{ sent: '1', counted: true },
  });
  expect(await read({ CACHE_MAX_AGE: '0' })).toEqual({ statuses: [null, null], sent: '2', counted: false });
});

test('no value of a request or of the data is logged', async () => {
  const { running, lines } = await started(smallClinic());
  await fetch(`${running?.url}/fhir/Patient?family=Kowalski&birthdate=1970-02-03`);
  await fetch(`${running?.url}/fhir/Patient?family=Kowalski&nonsense=Kowalski`, {
    headers: { prefer: 'handling=strict' },
  });
  await fetch(`${running?.url}/fhir/Patient?birthdate=Kowalski`);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.join('\n')).not.toMatch(/kowalski|1970/i);
});

test('metrics count requests refused before routing, waiting requests and refused ones', async () => {
  const { running } = await started(smallClinic());
  const url = running?.url ?? '';
  const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
  socket.write('no request\r\n\r\n');
  await once(socket, 'close');
  const metrics = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  for (const line of [
    'lintel_http_refused_total{status="400"} 1',
    'lintel_http_cut_off_total 0',
    'lintel_answers_at_most{kind="answers"} 200',
    'lintel_answers_at_most{kind="batches"} 4',
    'lintel_answers_made{kind="answers"} 0',
    'lintel_answers_waiting{kind="answers"} 0',
    'lintel_answers_refused_total{kind="answers"} 0',
    'lintel_answers_refused_total{kind="batches"} 0',
  ]) {
    expect(metrics).toContain(line);
  }
});

test('a pack with errors is not served, and every problem is reported', async () => {
  const { running, notes } = await started(smallClinic({ 'person.yaml': 'mapping: people\nresource: Patent\n' }));
  expect(running).toBeUndefined();
  expect(notes.join('\n')).toMatch(/person\.yaml:2:11: .*did you mean Patient\?/);
});

test('a read-only DATA_DIR is reported at the start, and exports are not offered', async () => {
  const clinic = smallClinic();
  const file = `${clinic.folder}/file`;
  writeFileSync(file, '');
  const { running, notes } = await started(clinic, { DATA_DIR: `${file}/data` });
  expect(notes).toEqual([
    expect.stringMatching(/^DATA_DIR: .* cannot be written \(ENOTDIR\), so bulk export is not offered/),
  ]);
  const url = running?.url;
  const kickOff = await fetch(`${url}/fhir/$export`, { headers: { prefer: 'respond-async' } });
  expect(kickOff.status).toBe(404);
  const metadata = await (await fetch(`${url}/fhir/metadata`)).text();
  expect(metadata).not.toContain('export');
  expect((await fetch(`${url}/fhir/Patient/1`)).status).toBe(200);
});
