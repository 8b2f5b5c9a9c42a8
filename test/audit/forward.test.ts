/**
 * Forwards the audit to other systems: a store, sinks that fail and recover, restarts; a syslog server over TLS and an
 * OpenTelemetry collector on loopback.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { XMLParser } from 'fast-xml-parser';
import { expect, onTestFinished, test } from 'vitest';
import { type ForwardOptions, forwardAudit } from '../../src/audit/forward.ts';
import type { AuditRecord } from '../../src/audit/record.ts';
import { dicomMessage } from '../../src/audit/sinks/dicom-message.ts';
import { BEGINNING, type Events, eventsIn, type Position } from '../../src/audit/sinks/events.ts';
import { follow } from '../../src/audit/sinks/follow.ts';
import { otlp } from '../../src/audit/sinks/otlp.ts';
import { type EventText, type Sink, SinkError } from '../../src/audit/sinks/sink.ts';
import { openStore } from '../../src/audit/store.ts';
import { openTrail } from '../../src/audit/trail.ts';
import type { SinkSettings } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { selfSigned } from '../certificate.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { record } from './records.ts';

const PAUSE = 5;

/** A store with a facade over it, and a function that adds records. */
async function kept(records: readonly AuditRecord[] = []) {
  const folder = temporaryFolder();
  const file = join(folder, 'audit.sqlite');
  const store = openStore({ path: file, bytes: 10_000_000, survives: 'process' });
  onTestFinished(() => store.close());
  store.append(records);
  const trail = await openTrail(file, { pageSize: 50, pageMax: 20, secret: Buffer.alloc(32), softwareVersion: '0' });
  onTestFinished(() => trail.close());
  return { folder, file, store, facade: trail.facade };
}

type Kept = Awaited<ReturnType<typeof kept>>;

function eventsOf({ file, facade }: Kept): Events {
  const events = eventsIn(file, facade, 'http://localhost/fhir');
  onTestFinished(() => events.close());
  return events;
}

/** Records of numbered clients, each with this number of patients. */
function numbered(from: number, to: number, patients = 1): readonly AuditRecord[] {
  const ids = Array.from({ length: patients }, (_, i) => String(i + 1));
  return Array.from({ length: to - from }, (_, i) => record({ who: { client: `app-${from + i}` }, patients: ids }));
}

/** A sink in memory, which fails while `fails` is set. */
function memory(settles = 0) {
  const state = { fails: false, events: [] as EventText[] };
  const sink: Sink = {
    ...{ kind: 'json', settles },
    async send(events) {
      if (state.fails) throw new SinkError('ECONNREFUSED');
      state.events.push(...events);
    },
    close: async () => {},
  };
  return { sink, state, ids: () => state.events.map(({ id }) => id) };
}

test('every event is sent in order, also if one record has more patients than a page', async () => {
  const where = await kept([...numbered(0, 3), ...numbered(3, 4, 120)]);
  const { sink, ids, state } = memory();
  const told: (string | undefined)[] = [];
  let last: Position = BEGINNING;
  const follower = follow({
    ...{ events: eventsOf(where), sink, from: undefined, pause: PAUSE },
    arrived: position => {
      last = position;
    },
    reportFailure: failure => told.push(failure?.code),
  });
  onTestFinished(() => follower.close());
  const expected = ['1-1', '2-1', '3-1', ...Array.from({ length: 120 }, (_, i) => `4-${i + 1}`)];
  await expect.poll(ids).toEqual(expected);
  expect(JSON.parse(state.events[0]?.json ?? '')).toMatchObject({ resourceType: 'AuditEvent', id: '1-1' });
  expect(follower.load()).toMatchObject({ sent: 123, behind: 0, gone: 0, failing: false });
  where.store.append(numbered(4, 5));
  await expect.poll(ids).toEqual([...expected, '5-1']);
  await expect.poll(() => last.seq).toBe(5);
  expect(told).toEqual([]);
});

test('events wait in the store while a sink fails, then follow; failure and recovery are logged once each', async () => {
  const where = await kept(numbered(0, 2));
  const { sink, ids, state } = memory();
  state.fails = true;
  const told: (string | undefined)[] = [];
  const follower = follow({
    ...{ events: eventsOf(where), sink, from: undefined, pause: PAUSE, arrived: () => {} },
    reportFailure: failure => told.push(failure?.code),
  });
  onTestFinished(() => follower.close());
  await expect.poll(() => follower.load().failing).toBe(true);
  expect(follower.load()).toMatchObject({ behind: 2, sent: 0 });
  where.store.append(numbered(2, 4));
  state.fails = false;
  await expect.poll(ids).toEqual(['1-1', '2-1', '3-1', '4-1']);
  await expect.poll(() => told).toEqual(['ECONNREFUSED', undefined]);
});

test('events sent to a sink without acknowledgement shortly before its failure are sent again', async () => {
  const where = await kept(numbered(0, 2));
  const { sink, ids, state } = memory(3_600_000);
  const follower = follow({
    ...{ events: eventsOf(where), sink, from: undefined, pause: PAUSE, arrived: () => {}, reportFailure: () => {} },
  });
  onTestFinished(() => follower.close());
  await expect.poll(ids).toEqual(['1-1', '2-1']);
  expect(follower.load().behind).toBe(2);
  state.fails = true;
  await expect.poll(() => follower.load().failing).toBe(true);
  state.fails = false;
  await expect.poll(ids).toEqual(['1-1', '2-1', '1-1', '2-1']);
});

test('a sink that takes events and then loses its connection, again and again, is one failure', async () => {
  const where = await kept(numbered(0, 2));
  const { sink } = memory(3_600_000);
  const begun: number[] = [];
  let isOpen = false;
  const told: (string | undefined)[] = [];
  const follower = follow({
    ...{ events: eventsOf(where), from: undefined, pause: PAUSE, arrived: () => {} },
    sink: {
      ...sink,
      async send(events) {
        if (isOpen) {
          isOpen = false;
          throw new SinkError('ECONNRESET');
        }
        isOpen = events.length > 0;
        begun.push(performance.now());
      },
    },
    reportFailure: failure => told.push(failure?.code),
  });
  onTestFinished(() => follower.close());
  await expect.poll(() => begun.length, { timeout: 5000 }).toBeGreaterThan(5);
  expect(told).toEqual(['ECONNRESET']);
  // Pauses grow: 5, 10, 20, 40 and 80 ms.
  expect((begun[5] ?? 0) - (begun[4] ?? 0)).toBeGreaterThan(70);
});

test('a restart continues at the last position; another store starts from its beginning', async () => {
  const where = await kept(numbered(0, 3));
  const sinks: readonly SinkSettings[] = [{ kind: 'json', target: join(where.folder, 'audit.ndjson') }];
  const lines = () => idsIn(readFileSync(join(where.folder, 'audit.ndjson'), 'utf8'));
  const first = forwarding(where, sinks);
  await expect.poll(lines).toEqual(['1-1', '2-1', '3-1']);
  await first.close();
  where.store.append(numbered(3, 5));
  const second = forwarding(where, sinks);
  await expect.poll(lines).toEqual(['1-1', '2-1', '3-1', '4-1', '5-1']);
  await second.close();
  const positions = JSON.parse(readFileSync(join(where.folder, 'audit-sinks.json'), 'utf8'));
  expect(Object.values(positions)).toMatchObject([{ seq: 5, no: 1 }]);
  const other = await kept([record({ at: 1_700_000_000_000 })]);
  writeFileSync(join(other.folder, 'audit-sinks.json'), JSON.stringify(positions));
  const third = forwarding(other, sinks);
  await expect.poll(lines).toEqual(['1-1', '2-1', '3-1', '4-1', '5-1', '1-0']);
  await third.close();
});

test('records that expire before they are sent are counted; the last record stays', async () => {
  const day = 86_400_000;
  const where = await kept([1, 2, 3].map(i => record({ at: i * day, patients: ['1'] })));
  const { sink, ids } = memory();
  expect(where.store.expire(10 * day, 100)).toBe(2);
  const follower = follow({
    ...{ events: eventsOf(where), sink, from: undefined, pause: PAUSE, arrived: () => {}, reportFailure: () => {} },
  });
  onTestFinished(() => follower.close());
  await expect.poll(ids).toEqual(['3-1']);
  expect(follower.load().gone).toBe(2);
  // No number is assigned twice.
  where.store.append(numbered(0, 1));
  await expect.poll(ids).toEqual(['3-1', '4-1']);
});

function idsIn(text: string): readonly string[] {
  const lines = text.split('\n').filter(line => line !== '');
  return lines.map(line => (JSON.parse(line) as { id: string }).id);
}

function forwarding(where: Kept, sinks: readonly SinkSettings[], lines: string[] = []) {
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line) });
  const options: ForwardOptions = {
    ...{ file: where.file, facade: where.facade, base: 'http://localhost/fhir', sinks, log },
    ...{ dataDir: where.folder, version: '0', pause: PAUSE },
  };
  return forwardAudit(options);
}

const RECORDS = [
  record({
    at: Date.parse('2026-03-01T12:00:00Z'),
    who: {
      client: 'app',
      subject: 'ada <&> "x"',
      issuer: 'https://issuer.example.org',
      user: 'Practitioner/7',
      purpose: 'BTG',
    },
    patients: ['1'],
  }),
  record({ status: 404, interaction: 'search-type', query: 'GET /fhir/Widget?name=Zoë' }),
];

/** A syslog server that collects the messages, one text per frame. */
async function syslogServer({ key, cert }: { readonly key: string; readonly cert: string }, port = 0) {
  const state = { received: Buffer.alloc(0), sockets: new Set<Socket>(), knows: [] as boolean[] };
  const server = createTlsServer({ key, cert, ca: [cert], requestCert: true, rejectUnauthorized: false }, socket => {
    state.sockets.add(socket);
    state.knows.push(socket.authorized);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      state.received = Buffer.concat([state.received, bytes]);
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    for (const socket of state.sockets) socket.destroy();
    if (server.listening) await new Promise(resolve => server.close(resolve));
  };
  onTestFinished(stop);
  const messages = (): readonly string[] => {
    const found: string[] = [];
    for (let at = 0; at < state.received.length; ) {
      const blank = state.received.indexOf(' ', at);
      const length = Number(state.received.toString('latin1', at, blank));
      if (blank < 0 || state.received.length < blank + 1 + length) break;
      found.push(state.received.toString('utf8', blank + 1, blank + 1 + length));
      at = blank + 1 + length;
    }
    return found;
  };
  return { port: (server.address() as AddressInfo).port, messages, stop, knows: state.knows };
}

test('syslog: frames of RFC 5425 with messages of RFC 5424, each a document of DICOM', async () => {
  const where = await kept(RECORDS);
  const certificate = selfSigned();
  const ca = join(where.folder, 'ca.pem');
  writeFileSync(ca, certificate.cert);
  const server = await syslogServer(certificate);
  const key = join(where.folder, 'key.pem');
  writeFileSync(key, certificate.key);
  const running = forwarding(where, [{ kind: 'syslog', host: '127.0.0.1', port: server.port, ca, cert: ca, key }]);
  onTestFinished(() => running.close());
  await expect.poll(() => server.messages().length).toBe(2);
  // The syslog server knows the sender by this server's certificate.
  expect(server.knows).toEqual([true]);
  const [first = '', second = ''] = server.messages();
  const [, priority, time, message] =
    /^<(\d+)>1 (\S+) \S+ lintel \d+ IHE\+RFC-3881 - (<\?xml.*<\/AuditMessage>)$/s.exec(first) ?? [];
  expect([priority, time]).toEqual(['85', '2026-03-01T12:00:00.000Z']);
  expect(second).toMatch(/^<84>1 /);
  const { AuditMessage } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(message ?? '');
  expect(AuditMessage).toMatchObject({
    EventIdentification: {
      ...{ EventActionCode: 'R', EventDateTime: '2026-03-01T12:00:00.000Z', EventOutcomeIndicator: '0' },
      EventID: { 'csd-code': 'rest', originalText: 'RESTful Operation' },
      EventTypeCode: { 'csd-code': 'read', codeSystemName: 'http://hl7.org/fhir/restful-interaction' },
      PurposeOfUse: { 'csd-code': 'BTG' },
    },
    ActiveParticipant: [
      { UserID: 'app', UserIsRequestor: 'false', RoleIDCode: { 'csd-code': '110152', codeSystemName: 'DCM' } },
      { UserID: 'ehr.example.org', NetworkAccessPointTypeCode: '1' },
      { UserID: 'ada <&> "x"', AlternativeUserID: 'Practitioner/7', UserIsRequestor: 'true' },
    ],
    AuditSourceIdentification: { AuditSourceID: 'ehr.example.org', AuditSourceTypeCode: { 'csd-code': '4' } },
  });
  const [patient, read] = AuditMessage.ParticipantObjectIdentification;
  expect(patient).toMatchObject({ ParticipantObjectID: 'Patient/1', ParticipantObjectTypeCodeRole: '1' });
  expect(read).toMatchObject({ ParticipantObjectID: 'Observation/1', ParticipantObjectName: 'Observation/1' });
  expect(second).toContain(Buffer.from('GET /fhir/Widget?name=Zoë').toString('base64'));
  expect(second).not.toContain('Zoë');
});

test('syslog: a server with an untrusted certificate gets nothing, and the log says why', async () => {
  const where = await kept(RECORDS);
  const server = await syslogServer(selfSigned());
  const lines: string[] = [];
  const running = forwarding(
    where,
    [{ kind: 'syslog', host: '127.0.0.1', port: server.port, ca: undefined, cert: undefined, key: undefined }],
    lines,
  );
  onTestFinished(() => running.close());
  await expect.poll(() => lines.join()).toContain('SELF_SIGNED_CERT');
  expect(running.load()).toMatchObject([{ kind: 'syslog', failing: true, behind: 2, sent: 0 }]);
  expect(lines.join()).not.toContain('ada');
  expect(server.messages()).toEqual([]);
});

test('syslog: a server that disconnects and returns gets every event', async () => {
  const where = await kept(RECORDS);
  const certificate = selfSigned();
  const ca = join(where.folder, 'ca.pem');
  writeFileSync(ca, certificate.cert);
  const first = await syslogServer(certificate);
  const { port } = first;
  const running = forwarding(where, [{ kind: 'syslog', host: '127.0.0.1', port, ca, cert: undefined, key: undefined }]);
  onTestFinished(() => running.close());
  await expect.poll(() => first.messages().length).toBe(2);
  await first.stop();
  await expect.poll(() => running.load()[0]?.failing).toBe(true);
  where.store.append(numbered(0, 1));
  const second = await syslogServer(certificate, port);
  // The earlier records are sent again: nobody knows whether they had arrived.
  await expect.poll(() => second.messages().length).toBe(3);
  expect(second.messages()[2]).toContain('app-0');
});

test('OpenTelemetry: log records in OTLP, sent again until the collector has them', async () => {
  const where = await kept(RECORDS);
  const got: { readonly headers: unknown; readonly body: unknown }[] = [];
  const state = { status: 503 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (state.status === 200)
      got.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(state.status, { 'content-type': 'application/json' });
    response.end(state.status === 200 ? '{"partialSuccess":{"rejectedLogRecords":"1"}}' : '');
    state.status = 200;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const lines: string[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`;
  const running = forwarding(where, [{ kind: 'otlp', url, headers: { 'x-key': 'k1' } }], lines);
  onTestFinished(() => running.close());
  await expect.poll(() => got.length).toBe(1);
  expect(got[0]).toMatchObject({
    headers: { 'x-key': 'k1', 'content-type': 'application/json' },
    body: {
      resourceLogs: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'lintel' } }, {}] },
          scopeLogs: [
            {
              logRecords: [
                { timeUnixNano: '1772366400000000000', severityText: 'INFO', eventName: 'fhir.AuditEvent' },
                { severityNumber: 13, attributes: [{}, { key: 'fhir.resource.id', value: { stringValue: '2-0' } }] },
              ],
            },
          ],
        },
      ],
    },
  });
  await expect.poll(() => lines.join()).toContain('forwarded again');
  expect(lines.join()).toContain('HTTP_503');
  expect(lines.join()).toContain('"records":1');
  expect(running.load()).toMatchObject([{ behind: 0, failing: false }]);
});

test('an answer of a collector that never ends is not read on, and counts as a failure', async () => {
  const where = await kept(RECORDS);
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume();
    const send = (): void => {
      do sent += 65_536;
      while (response.write(' '.repeat(65_536)));
    };
    response.writeHead(200).on('drain', send);
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const sink = otlp({
    ...{ headers: {}, version: '0', rejected: () => {} },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`,
  });
  const { events } = await eventsOf(where).after(BEGINNING, 50);
  await expect(sink.send(events)).rejects.toBeInstanceOf(SinkError);
  expect(sent).toBeLessThan(20_000_000);
});

test('a DICOM message has no character that XML forbids', () => {
  const event = {
    ...{ resourceType: 'AuditEvent', recorded: '2026-01-01T00:00:00Z', type: { code: 'rest' }, outcome: '0' },
    agent: [{ who: { identifier: { value: 'a\u0000\ud800\uffff<b' } }, requestor: true }],
    source: { observer: { identifier: { value: 'x' } } },
  };
  const text = dicomMessage(JSON.stringify(event));
  expect(text).toContain('UserID="a\uFFFD\uFFFD\uFFFD&lt;b"');
});
