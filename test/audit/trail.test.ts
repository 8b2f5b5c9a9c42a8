import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AuditRecord } from '../../src/audit/record.ts';
import { openStore } from '../../src/audit/store.ts';
import { openTrail, withTrail } from '../../src/audit/trail.ts';
import { type Access, accessToPatients, OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Facade, RequestContext, SearchRequest } from '../../src/facade.ts';
import { validateResource } from '../../src/validation/validator.ts';
import { openDemo } from '../law/demo.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { record } from './records.ts';

const BALP = 'https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.';
const ISSUER = 'https://issuer.example.org';
const ADA = { client: 'app', subject: 'ada', issuer: ISSUER, user: 'Practitioner/7' };

const RECORDS: readonly AuditRecord[] = [
  record({ at: Date.parse('2026-03-01T12:00:00Z'), who: { ...ADA, purpose: 'BTG' }, patients: ['1'] }),
  record({
    at: Date.parse('2026-03-02T12:00:00Z'),
    who: { client: 'registry', issuer: ISSUER },
    interaction: 'search-type',
    query: 'GET /fhir/Widget?patient=1,2',
    patients: ['1', '2'],
  }),
  record({
    at: Date.parse('2026-03-03T12:00:00Z'),
    who: { client: 'portal', subject: 'p2', issuer: ISSUER, user: 'Patient/2', purpose: 'my own wish' },
    status: 404,
    server: '127.0.0.1',
  }),
  record({
    at: Date.parse('2026-03-04T12:00:00Z'),
    interaction: 'search-system',
    query: 'GET /fhir?_type=Widget',
    server: '[::1]',
  }),
  record({
    at: Date.parse('2026-03-05T12:00:00Z'),
    interaction: 'operation',
    query: 'POST /fhir/$x',
    bulk: true,
    server: '10-0-0-7',
  }),
  record({
    at: Date.parse('2026-03-06T12:00:00Z'),
    interaction: 'batch',
    status: 503,
    resource: 'Nothing/1',
    server: 'EHR',
  }),
];

interface Trailing {
  readonly facade: Facade;
  close(): Promise<void>;
  ids(search: string, access?: Access, named?: readonly string[]): Promise<readonly string[]>;
  resources(search: string, access?: Access, named?: readonly string[]): Promise<readonly Event[]>;
}

interface Coded {
  readonly system?: string;
  readonly code: string;
}

interface Event {
  readonly id: string;
  readonly meta?: { readonly profile?: readonly string[] };
  readonly subtype: readonly Coded[];
  readonly action: string;
  readonly outcome: string;
  readonly agent: readonly {
    readonly type: { readonly coding: readonly Coded[] };
    readonly who?: { readonly reference?: string; readonly identifier?: { readonly value: string } };
    readonly requestor: boolean;
    readonly network?: { readonly address: string; readonly type: string };
  }[];
  readonly entity: readonly {
    readonly type: Coded;
    readonly role?: Coded;
    readonly what?: {
      readonly reference?: string;
      readonly display?: string;
      readonly identifier?: { readonly value: string };
    };
    readonly query?: string;
    readonly detail?: readonly { readonly type: string; readonly valueString?: string }[];
  }[];
}

const folder = temporaryFolder(afterAll);
let opened: Trailing;
beforeAll(async () => {
  const file = join(folder, 'audit.sqlite');
  const store = openStore({ path: file, bytes: 10_000_000, survives: 'process' });
  store.append(RECORDS);
  store.close();
  opened = await openAt(file);
});
afterAll(() => opened.close());

const trailing = (): Trailing => opened;

async function openAt(file: string): Promise<Trailing> {
  const options = { pageSize: 50, pageMax: 100, secret: Buffer.alloc(32), softwareVersion: '0' };
  const trail = await openTrail(file, options);
  const demo = await openDemo({ patients: 3, engine: 'sqlite' });
  const facade = withTrail(demo.facade, trail);
  const resources = async (search: string, access: Access = OPEN_ACCESS, named?: readonly string[]) => {
    const parameters = [...new URLSearchParams(search)];
    const { json } = await facade.search({ type: 'AuditEvent', parameters }, contextOf(access, named));
    const { entry = [] } = JSON.parse(json) as { entry?: readonly { readonly resource: Event }[] };
    return entry.map(({ resource }) => resource);
  };
  return {
    facade,
    async close() {
      await trail.close();
      await demo.close();
    },
    resources,
    ids: async (search, access, named) => (await resources(search, access, named)).map(({ id }) => id),
  };
}

function queryOf({ entity }: Pick<Event, 'entity'>): string {
  return Buffer.from(entity.find(one => one.query !== undefined)?.query ?? '', 'base64').toString();
}

function contextOf(access: Access, named?: readonly string[]): RequestContext {
  return { access, base: 'http://localhost/fhir', handling: 'strict', ...(named && { named: () => named }) };
}

test('each AuditEvent is valid R4, and that of a sent answer conforms to its BALP profile', async () => {
  const { resources } = trailing();
  const events = await resources('_sort=date');
  expect(events.map(({ id }) => id)).toEqual(['1-1', '2-1', '2-2', '3-0', '4-0', '5-0', '6-0']);
  for (const event of events) {
    const findings = validateResource(event).filter(line => !line.includes(`${BALP}`));
    expect(findings, event.id).toEqual([]);
  }
  expect(events.map(({ meta }) => meta?.profile?.map(url => url.replace(BALP, '')))).toEqual([
    ['PatientRead'],
    ['PatientQuery'],
    ['PatientQuery'],
    undefined,
    ['Query'],
    undefined,
    undefined,
  ]);
  expect(events.map(({ outcome }) => outcome)).toEqual(['0', '0', '0', '4', '0', '0', '8']);
  for (const event of events.filter(({ meta }) => meta?.profile !== undefined)) {
    const isRead = event.action === 'R';
    const roles = event.agent.map(({ type }) => type.coding[0]?.code);
    // BALP: the client of a read is the destination of the data, that of a query the source of the request.
    expect(roles.slice(0, 2)).toEqual(isRead ? ['110152', '110153'] : ['110153', '110152']);
    for (const { who, network } of event.agent.slice(0, 2)) {
      expect(who?.identifier?.value).toBeDefined();
      expect(network?.address).toBeDefined();
    }
    const entities = event.entity.map(({ type, role }) => `${type.code} ${role?.code ?? ''}`.trim());
    const patient = event.meta?.profile?.[0]?.includes('Patient') ? ['1 1'] : [];
    expect(entities).toEqual([...patient, isRead ? '2 4' : '2 24', 'XrequestId']);
    const query = event.entity.find(({ role }) => role?.code === '24');
    expect(query?.what).toBeUndefined();
    if (!isRead) expect(Buffer.from(query?.query ?? '', 'base64').toString()).toContain('GET /fhir');
  }
});

test('the network address of the server is that of a machine by name, or an IP address', async () => {
  const { resources } = trailing();
  const servers = (await resources('_id=1-1,3-0,4-0,5-0,6-0&_sort=date')).map(({ agent }) => agent[1]?.network);
  expect(servers.map(network => `${network?.type} ${network?.address}`)).toEqual([
    '1 ehr.example.org',
    '2 127.0.0.1',
    '2 [::1]',
    '1 10-0-0-7',
    '1 EHR',
  ]);
});

test('an event identifies its requester: person with reference and issuer, application, purpose', async () => {
  const { resources } = trailing();
  const [event] = await resources('_id=1-1');
  expect(event).toMatchObject({
    recorded: '2026-03-01T12:00:00.000Z',
    purposeOfEvent: [{ coding: [{ code: 'BTG' }] }],
    agent: [
      { who: { identifier: { value: 'app' } }, requestor: false, network: { address: '192.0.2.1' } },
      { who: { identifier: { value: 'ehr.example.org' } } },
      {
        type: { coding: [{ code: 'IRCP' }] },
        who: { reference: 'Practitioner/7', identifier: { system: ISSUER, value: 'ada' } },
        requestor: true,
        purposeOfUse: [{ coding: [{ code: 'BTG' }] }],
      },
    ],
  });
  const [other] = await resources('_id=3-0');
  expect(other).toMatchObject({ purposeOfEvent: [{ text: 'my own wish' }] });
  const [app] = await resources('_id=2-1');
  expect(app?.agent).toHaveLength(2);
  expect(app?.agent[0]?.requestor).toBe(true);
});

test("a patient's audit names no other patient: not in paths, not as the resource that was read, not by a search", async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path: file, bytes: 10_000_000, survives: 'process' });
  const both = { patients: ['17', '5'] };
  const operation = (path: string) => record({ interaction: 'operation', query: `GET ${path}`, ...both });
  store.append([
    record({ interaction: 'read', resource: 'Patient/17', ...both }),
    record({ interaction: 'read', resource: 'RelatedPerson/9', ...both }),
    operation('/fhir/Patient/17/Observation?patient=5'),
    operation('/fhir/Patient/5/$everything'),
    operation('/api/17/ccds/api/all-patient-data?date=x'),
    operation('/api/patientinfo/17'),
    operation('/fhir/Patient/seventeen/Encounter/e-17/Observation/_search'),
  ]);
  store.close();
  const { facade, resources, close: end } = await openAt(file);
  onTestFinished(end);
  const own = accessToPatients('five', ['5']);
  const events = await resources('_sort=_id', own);
  expect(events).toHaveLength(7);
  expect(JSON.stringify(events)).not.toContain('17');
  expect(events.flatMap(event => validateResource(event)).filter(line => !line.includes(BALP))).toEqual([]);
  const what = events.map(({ entity }) => entity[1]?.what?.reference ?? entity[1]?.what?.display ?? '');
  expect(what.slice(0, 2)).toEqual(['another patient', 'RelatedPerson/9']);
  const paths = events.slice(2).map(event => queryOf(event));
  expect(paths).toEqual([
    'GET /fhir/Patient/…/Observation',
    'GET /fhir/Patient/5/$everything',
    'GET /api/…/ccds/api/all-patient-data',
    'GET /api/patientinfo/…',
    'GET /fhir/Patient/…/Encounter/…/Observation/_search',
  ]);
  expect(await resources('entity=Patient/17', own)).toEqual([]);
  const read = await facade.read('AuditEvent', events[2]?.id ?? '', [], contextOf(own));
  expect(queryOf(JSON.parse(read?.json ?? '{}'))).toBe('GET /fhir/Patient/…/Observation');
  // Who may see everybody sees all of it, by the event of the other patient.
  expect((await resources('entity=Patient/17')).map(({ id }) => id)).toContain('1-1');
  expect((await resources('_sort=_id')).map(queryOf).join()).toContain('GET /api/patientinfo/17');
});

test.each([
  ['patient=1', ['1-1', '2-1']],
  ['patient=Patient/2', ['2-2', '3-0']],
  ['entity=Observation/1', ['1-1', '3-0']],
  ['entity=Patient/1', ['1-1', '2-1']],
  ['agent=Practitioner/7', ['1-1']],
  ['agent=7', ['1-1']],
  ['agent=Patient/2', ['3-0']],
  ['agent=Practitioner/8', []],
  [`agent:identifier=${ISSUER}|ada`, ['1-1']],
  ['agent:identifier=registry', ['2-1', '2-2']],
  ['action=R', ['1-1', '3-0']],
  ['outcome=8', ['6-0']],
  ['date=2026-03-02', ['2-1', '2-2']],
  ['date=ge2026-03-04&date=lt2026-03-06', ['4-0', '5-0']],
  ['patient=1&date=gt2026-03-01T13:00:00Z', ['2-1']],
  ['subtype=search-type', ['2-1', '2-2']],
  ['_sort=-date&_count=1', ['6-0']],
])('AuditEvent?%s', async (search, expected) => {
  const { ids } = trailing();
  expect(await ids(search)).toEqual(expected);
});

test('an event is found by the type and id of the resource that was read, and by its id alone', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path: file, bytes: 10_000_000, survives: 'process' });
  store.append([record({ resource: 'Observation/a-1' }), record({ resource: 'Condition/a-1' })]);
  store.close();
  const trail = await openTrail(file, { pageSize: 50, pageMax: 100, secret: Buffer.alloc(32), softwareVersion: '0' });
  onTestFinished(() => trail.close());
  const ids = async (entity: string) => {
    const { json } = await trail.facade.search(
      { type: 'AuditEvent', parameters: [['entity', entity]] },
      contextOf(OPEN_ACCESS),
    );
    return [...json.matchAll(/"id":"(\d+-\d+)"/g)].map(([, id]) => id);
  };
  expect(await ids('Observation/a-1')).toEqual(['1-0']);
  expect(await ids('Condition/a-1')).toEqual(['2-0']);
  expect(await ids('a-1')).toEqual(['1-0', '2-0']);
  expect(await ids('Observation/a-2')).toEqual([]);
  expect(await ids('Observation/a-1,Condition/a-1')).toEqual(['1-0', '2-0']);
});

test('the reason of break-glass is where the BALP profile of the event allows a detail', async () => {
  const reason = 'Found unconscious, allergies unknown';
  const file = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path: file, bytes: 10_000_000, survives: 'process' });
  store.append([
    record({ glass: reason, patients: ['1'] }),
    record({ glass: reason, patients: ['1'], interaction: 'search-type', query: 'GET /fhir/Widget?patient=1' }),
    record({ glass: reason, interaction: 'search-type', query: 'GET /fhir/Widget' }),
  ]);
  store.close();
  const trail = await openTrail(file, { pageSize: 50, pageMax: 100, secret: Buffer.alloc(32), softwareVersion: '0' });
  onTestFinished(() => trail.close());
  const { json } = await trail.facade.search({ type: 'AuditEvent', parameters: [] }, contextOf(OPEN_ACCESS));
  const { entry } = JSON.parse(json) as { readonly entry: readonly { readonly resource: Event }[] };
  const events = entry.map(({ resource }) => resource);
  expect(events.map(({ meta }) => meta?.profile?.map(url => url.replace(BALP, '')))).toEqual([
    ['PatientRead'],
    ['PatientQuery'],
    ['Query'],
  ]);
  for (const { entity } of events) {
    // BALP: `entity[query].detail 0..0`. The transaction has no such bound.
    const told = entity.filter(({ detail }) => detail !== undefined);
    expect(told.map(({ type }) => type.code)).toEqual(['XrequestId']);
    expect(told[0]?.detail).toEqual([{ type: 'break-glass', valueString: reason }]);
  }
});

test('patients see who read their data and their own requests, but no other patients of a search', async () => {
  const { facade, ids, resources } = trailing();
  const patient = accessToPatients('patient 2', ['2']);
  for (const named of [[], ['*'], ['AuditEvent']]) {
    expect(await ids('', patient, named)).toEqual(['2-2', '3-0']);
    expect(await ids('patient=1', patient, named)).toEqual([]);
    expect(await facade.read('AuditEvent', '2-1', [], contextOf(patient, named))).toBeUndefined();
    const [event] = await resources('_id=2-2', patient, named);
    const query = event?.entity.find(one => one.query !== undefined)?.query ?? '';
    expect(Buffer.from(query, 'base64').toString()).toBe('GET /fhir/Widget');
    expect(validateResource(event).filter(line => !line.includes(BALP))).toEqual([]);
  }
});

test('a scope for all types shows nothing of the audit; one that names the type does', async () => {
  const { facade, ids } = trailing();
  const everything: Access = { kind: 'all', caller: 'app' };
  await expect(ids('', everything, ['*'])).rejects.toMatchObject({ status: 403 });
  expect(() => facade.read('AuditEvent', '1-1', [], contextOf(everything, ['*']))).toThrow();
  expect(await ids('', everything, ['*', 'AuditEvent'])).toHaveLength(7);
  const named: Access = {
    kind: 'limited',
    caller: 'officer',
    permissions: [{ type: 'AuditEvent', read: true, search: true, within: [], where: [], except: [] }],
  };
  expect(await ids('', named, ['AuditEvent'])).toHaveLength(7);
  const others: Access = {
    kind: 'limited',
    caller: 'app',
    permissions: [{ type: 'Observation', read: true, search: true, within: [], where: [], except: [] }],
  };
  await expect(ids('', others, ['Observation'])).rejects.toMatchObject({ status: 403 });
  const byRule: Access = {
    kind: 'limited',
    caller: 'doctor',
    permissions: [
      {
        type: '*',
        read: true,
        search: true,
        within: [{ found: [['general-practitioner', 'Practitioner/7']] }],
        where: [],
        except: [],
      },
    ],
  };
  await expect(ids('', byRule, ['*'])).rejects.toMatchObject({ status: 403 });
});

/** A caller whose patients a search finds, and whose scope permits the audit. */
const BY_SEARCH = (found: readonly (readonly [string, string])[]): Access => ({
  kind: 'limited',
  caller: 'doctor',
  permissions: [{ type: '*', read: true, search: true, within: [{ found }], where: [], except: [] }],
});

test('a user sees the audit of the patients whom they may see, by a scope that names AuditEvent', async () => {
  const { facade, ids } = trailing();
  const named = ['AuditEvent'];
  const second = BY_SEARCH([['_id', '2']]);
  expect(await ids('', second, named)).toEqual(['2-2', '3-0']);
  expect(await ids('patient=2', second, named)).toEqual(['2-2', '3-0']);
  expect(await ids('patient=Patient/1', second, named)).toEqual([]);
  expect(await ids('patient=1,2', second, named)).toEqual(['2-2', '3-0']);
  expect((await facade.read('AuditEvent', '2-2', [], contextOf(second, named)))?.json).not.toContain('patient=1');
  expect(await facade.read('AuditEvent', '2-1', [], contextOf(second, named))).toBeUndefined();
  expect(await facade.read('AuditEvent', '4-0', [], contextOf(second, named))).toBeUndefined();
  expect(await ids('', BY_SEARCH([['_id', 'nobody']]), named)).toEqual([]);
  await expect(ids('', second, ['*'])).rejects.toMatchObject({ status: 403 });
});

test('the compartment of a patient includes the patient’s audit, on every page', async () => {
  const { facade } = trailing();
  const ofCompartment = async (
    id: string,
    access: Access,
    named: readonly string[] | undefined,
    parameters: SearchRequest['parameters'] = [],
  ) => {
    const asked = { compartment: 'Patient', id, type: 'AuditEvent', parameters };
    const { json } = await facade.searchCompartment(asked, contextOf(access, named));
    const next = /"relation":"next","url":"([^"]+)"/.exec(json)?.[1];
    return { ids: [...json.matchAll(/"id":"(\d+-\d+)"/g)].map(([, found]) => found), next };
  };
  expect((await ofCompartment('2', OPEN_ACCESS, undefined)).ids).toEqual(['2-2', '3-0']);
  expect((await ofCompartment('1', OPEN_ACCESS, undefined, [['action', 'R']])).ids).toEqual(['1-1']);
  const patient = accessToPatients('patient 2', ['2']);
  expect((await ofCompartment('2', patient, ['*'])).ids).toEqual(['2-2', '3-0']);
  expect((await ofCompartment('1', patient, ['*'])).ids).toEqual([]);
  expect((await ofCompartment('2', BY_SEARCH([['_id', '2']]), ['AuditEvent'])).ids).toEqual(['2-2', '3-0']);
  expect((await ofCompartment('nobody', OPEN_ACCESS, undefined)).ids).toEqual([]);
  const first = await ofCompartment('2', OPEN_ACCESS, undefined, [['_count', '1']]);
  expect([first.ids, new URL(first.next ?? '').pathname]).toEqual([['2-2'], '/fhir/Patient/2/AuditEvent']);
  const more = [...new URL(first.next ?? '').searchParams];
  expect((await ofCompartment('2', OPEN_ACCESS, undefined, more)).ids).toEqual(['3-0']);
  await expect(ofCompartment('2', { kind: 'all', caller: 'app' }, ['*'])).rejects.toMatchObject({ status: 403 });
});

test('patients of the store are not served, nor included; the type is part of the CapabilityStatement', async () => {
  const { facade, ids } = trailing();
  await expect(ids('_include=AuditEvent:patient')).rejects.toMatchObject({ status: 400 });
  await expect(ids('_include:iterate=*')).rejects.toMatchObject({ status: 400 });
  const statement = facade.capabilities({ base: 'http://localhost/fhir' }) as {
    rest: { resource: { type: string; searchParam: { name: string }[]; searchInclude?: unknown }[] }[];
  };
  const types = statement.rest[0]?.resource ?? [];
  expect(types.map(({ type }) => type)).toEqual(types.map(({ type }) => type).toSorted());
  const event = types.find(({ type }) => type === 'AuditEvent');
  expect(event?.searchInclude).toBeUndefined();
  expect(event?.searchParam.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['action', 'agent', 'date', 'entity', 'outcome', 'patient', 'subtype', 'type']),
  );
  expect(facade.offers.types.filter(type => type === 'Patient')).toHaveLength(1);
});

test('a change of access is a security event, and names no patient', async () => {
  const file = join(temporaryFolder(), 'audit.sqlite');
  const store = openStore({ path: file, bytes: undefined, survives: 'process' });
  const { resource: _none, ...change } = record({
    interaction: 'administration',
    who: { client: 'lintel', subject: 'root' },
    query: 'user disable anna',
  });
  store.append([change, record()]);
  store.close();
  const trail = await openTrail(file, { pageSize: 50, pageMax: 100, secret: Buffer.alloc(32), softwareVersion: '0' });
  onTestFinished(() => trail.close());
  const { json } = await trail.facade.search(
    { type: 'AuditEvent', parameters: [['subtype', '110137']] },
    contextOf(OPEN_ACCESS),
  );
  const { entry } = JSON.parse(json) as { entry: readonly { readonly resource: Event }[] };
  expect(entry.map(({ resource }) => resource)).toMatchObject([
    {
      type: { code: '110113' },
      action: 'U',
      agent: [{}, {}, { type: { coding: [{ code: 'AUT' }] }, who: { identifier: { value: 'root' } } }],
      entity: [{ role: { code: '13' }, description: 'user disable anna' }, { type: { code: 'XrequestId' } }],
    },
  ]);
  expect(validateResource(entry[0]?.resource as object)).toEqual([]);
});
