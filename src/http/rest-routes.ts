/**
 * The REST interface: login, patients, encounters, CCDS documents. All but login and logout need a session.
 * ../shared/spec/interfaces.md sections 2.2, 4.4, 5 and 7
 */
import { Hono } from 'hono';
import type { Access } from '../auth/access.ts';
import { makeDocument } from '../ccda/document.ts';
import { isCalendarDay, readRange } from '../ccda/range.ts';
import { ENCOUNTER_TOPIC, TOPICS, type Topic } from '../ccda/topics.ts';
import type { RequestContext } from '../facade.ts';
import { isListed, listedEncounters } from '../rest/encounters.ts';
import { readPatient } from '../rest/patient-info.ts';
import { lookUpPatient } from '../rest/patient-lookup.ts';
import { searchPatients } from '../rest/patient-summary.ts';
import { idOfNumber } from '../rest/source.ts';
import type { RestParts } from '../rest/start.ts';
import { type AppParts, fhirBase, type HttpContext, type HttpEnv } from './context.ts';
import { parseParameters, queryOf } from './parameters.ts';
import { documentFormat, respondWithDocument } from './rest-documents.ts';
import { RestError } from './rest-errors.ts';
import { accountOf, login, logout, requireSession } from './rest-session.ts';

export function restRoutes(parts: AppParts, rest: RestParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.post('/users/login', c => login(c, parts, rest));
  routes.post('/users/logout', c => logout(c, parts, rest));
  routes.all('/users/login', () => wrongMethod('POST'));
  routes.all('/users/logout', () => wrongMethod('POST'));

  routes.use(requireSession(rest));
  routes.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', () => wrongMethod('GET, HEAD'));

  routes.get('/patientinfo/patient/id', c => patientNumber(c, parts, rest));
  routes.get('/patientinfo/:patientId', async c => {
    const { number, id } = await patientOf(c, parts, rest);
    const info = await readPatient(id, number, rest.source, contextOf(c, parts, id));
    if (info === undefined) throw unknownPatient();
    return c.json(info);
  });
  routes.get('/patientsummary', async c => {
    const search = parameter(c, 'search');
    if (search === undefined) throw new RestError('bad-request', 'Expected the parameter search');
    return c.json(await searchPatients(search, rest.source, contextOf(c, parts), rest.clock()));
  });

  routes.get('/:patientId/ccds/api/list-encounters', async c => {
    const { id } = await patientOf(c, parts, rest);
    const context = contextOf(c, parts, id);
    if (!(await patientExists(id, rest, context))) throw unknownPatient();
    return c.json(await listedEncounters(id, rest.source, context));
  });
  routes.get('/:patientId/ccds/api/encounter-ccds', async c => {
    const { id } = await patientOf(c, parts, rest);
    const number = wholeNumber(parameter(c, 'encounterId'), 'encounterId');
    const { source } = rest;
    const context = contextOf(c, parts, id);
    const encounterId = await idOfNumber(source, 'Encounter', source.encounters, number, context);
    if (encounterId === undefined || !(await isListed(encounterId, id, source, context))) {
      throw new RestError('not-found', 'This patient has no such encounter with a signed and available document');
    }
    return document(c, ENCOUNTER_TOPIC, id, encounterId, parts, rest);
  });
  for (const topic of TOPICS) {
    routes.get(`/:patientId/ccds/api/${topic.name}`, async c =>
      document(c, topic, (await patientOf(c, parts, rest)).id, undefined, parts, rest),
    );
  }
  routes.get('/:patientId/ccds/api/*', () => {
    const names = ['list-encounters', ENCOUNTER_TOPIC.name, ...TOPICS.map(({ name }) => name)];
    throw new RestError('not-found', `No such topic; there are ${names.join(', ')}`);
  });
  return routes;
}

async function patientNumber(c: HttpContext, parts: AppParts, rest: RestParts): Promise<Response> {
  const query = {
    firstName: parameter(c, 'firstName'),
    lastName: parameter(c, 'lastName'),
    dob: parameter(c, 'dob'),
    sex: sexOf(parameter(c, 'sex')),
  };
  // An unknown one may be what tells two people apart.
  if (parametersOf(c).some(([name]) => !Object.hasOwn(query, name)))
    throw new RestError('bad-request', `Unknown parameter; expected ${Object.keys(query).join(', ')}`);
  if (query.dob !== undefined && !isCalendarDay(query.dob))
    throw new RestError('bad-request', 'dob expects a day as yyyy-MM-dd');
  if (Object.values(query).every(value => value === undefined)) {
    throw new RestError('bad-request', 'Expected at least one of firstName, lastName, dob and sex');
  }
  const result = await lookUpPatient(query, rest.source, contextOf(c, parts));
  switch (result.kind) {
    case 'one':
      return c.json(result.number);
    case 'none':
      throw unknownPatient();
    case 'several': {
      const most = result.count > 1 ? `At least ${result.count} patients match` : 'Too many patients may match to tell';
      const count = result.more ? most : `${result.count} patients match`;
      const hint =
        result.narrowing.length > 0
          ? `add ${result.narrowing.join(', ')}`
          : 'none of the parameters tells them apart; patientsummary finds by record or telephone number';
      throw new RestError('conflict', `${count}; ${hint}`);
    }
  }
}

async function document(
  c: HttpContext,
  topic: Topic,
  patientId: string,
  encounterId: string | undefined,
  parts: AppParts,
  rest: RestParts,
): Promise<Response> {
  const format = documentFormat(c.req.header('accept'));
  const range =
    encounterId === undefined
      ? readRange({
          date: parameter(c, 'date'),
          rangeStart: parameter(c, 'rangeStart'),
          rangeEnd: parameter(c, 'rangeEnd'),
        })
      : undefined;
  const { access: _all, handling: _strict, ...context } = contextOf(c, parts);
  const made = await makeDocument(
    {
      topic,
      patientId,
      range,
      encounterId,
      caller: callerOf(c),
      context,
      now: rest.clock(),
    },
    { facade: rest.source.facade, content: rest.source.content, software: rest.software },
  );
  if (made === undefined) throw unknownPatient();
  return respondWithDocument(c, made, format, parts);
}

async function patientExists(id: string, rest: RestParts, context: RequestContext): Promise<boolean> {
  const parameters = [
    ['_id', id],
    ['_elements', 'id'],
  ] as const;
  return (await rest.source.facade.search({ type: 'Patient', parameters }, context)).entries > 0;
}

/** Throws RestError where the path names no patient. */
async function patientOf(
  c: HttpContext,
  parts: AppParts,
  { source }: RestParts,
): Promise<{ readonly number: number; readonly id: string }> {
  const number = wholeNumber(c.req.param('patientId'), 'patientId');
  const id = await idOfNumber(source, 'Patient', source.patients, number, contextOf(c, parts));
  if (id === undefined) throw unknownPatient();
  return { number, id };
}

function wholeNumber(text: string | undefined, name: string): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new RestError('bad-request', `${name} expects a whole number`);
  return Number(text);
}

function sexOf(text: string | undefined): 'M' | 'F' | undefined {
  const sex = text?.toUpperCase();
  if (sex === undefined || sex === 'M' || sex === 'F') return sex;
  throw new RestError('bad-request', 'sex expects M or F');
}

function parametersOf(c: HttpContext): readonly (readonly [name: string, value: string])[] {
  return parseParameters(queryOf(c.req.url), 'query string');
}

/** Characters of a value: names, numbers and dates are shorter, and what they are searched by is several times as long. */
const LONGEST = 200;

/** The value of a parameter; one that is blank counts as not given. Throws RestError where others are given beside it, and for one too long. */
function parameter(c: HttpContext, name: string): string | undefined {
  const given = parametersOf(c).filter(([one]) => one.toLowerCase() === name.toLowerCase());
  // Ignored, a range would give the whole record and a name somebody else.
  const misspelt = given.find(([one]) => one !== name);
  if (misspelt !== undefined) throw new RestError('bad-request', `${misspelt[0]}: expected ${name}`);
  const [value, ...others] = new Set(given.map(([, text]) => text.trim()));
  if (others.length > 0) throw new RestError('bad-request', `${name} is given more than once`);
  if (value !== undefined && value.length > LONGEST)
    throw new RestError('bad-request', `${name} is longer than ${LONGEST} characters`);
  return value || undefined;
}

/** With the rights of who is logged in; within one patient's compartment where one is named. */
function contextOf(c: HttpContext, parts: AppParts, patientId?: string): RequestContext {
  const caller = callerOf(c);
  const access: Access =
    patientId === undefined ? { kind: 'all', caller } : { kind: 'patients', caller, patients: [patientId] };
  return { access, base: fhirBase(c, parts), handling: 'strict', signal: c.get('signal'), stages: c.get('stages') };
}

function callerOf(c: HttpContext): string {
  return `account:${accountOf(c).name}`;
}

function unknownPatient(): RestError {
  return new RestError('not-found', 'Patient not found');
}

function wrongMethod(allow: string): never {
  throw new RestError('not-allowed', `Expected ${allow}`, { Allow: allow });
}
