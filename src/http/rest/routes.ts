/**
 * Serves the REST interface: login, patients, encounters, CCDS documents. All but login and logout need a session.
 * docs/interfaces.md
 */

import { Hono } from 'hono';
import { makeDocument } from '../../ccda/document.ts';
import type { PageLinks } from '../../ccda/page.ts';
import { isCalendarDay, readRange } from '../../ccda/range.ts';
import { ENCOUNTER_TOPIC, TOPICS, type Topic } from '../../ccda/topics.ts';
import type { RequestContext } from '../../facade.ts';
import { isListed, listedEncounters } from '../../rest/encounters.ts';
import { idOfNumber } from '../../rest/fhir-source.ts';
import { readPatient } from '../../rest/patient-info.ts';
import { GENDERS, lookUpPatient, type Sex } from '../../rest/patient-lookup.ts';
import { searchPatients } from '../../rest/patient-summary.ts';
import type { RestParts } from '../../rest/start.ts';
import { type AppParts, type HttpContext, type HttpEnv, serverBase } from '../context.ts';
import { breakGlass, refuseGlass } from '../middleware/break-glass.ts';
import { limitRate } from '../middleware/rate.ts';
import { urlParameters } from '../middleware/request.ts';
import { chartAddress } from '../pages/chart-address.ts';
import { chartRoutes } from '../pages/chart-routes.ts';
import { documentFormat, respondWithDocument } from './documents.ts';
import { RestError } from './errors.ts';
import { contextOf, parameter, patientOf, unknownPatient, wholeNumber, wrongMethod } from './request.ts';
import { login, logout, refuseOtherSites, requireSession } from './session.ts';

export function restRoutes(parts: AppParts, rest: RestParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.use(refuseOtherSites(parts));
  routes.use(
    '/users/*',
    refuseGlass(() => false),
  );
  routes.post('/users/login', c => login(c, parts, rest));
  routes.post('/users/logout', c => logout(c, parts, rest));
  routes.all('/users/login', () => wrongMethod('POST'));
  routes.all('/users/logout', () => wrongMethod('POST'));

  routes.use(requireSession(rest, parts.entry));
  if (parts.rate !== undefined) routes.use(limitRate(parts.rate));
  routes.use(breakGlass(parts));
  routes.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', () => wrongMethod('GET, HEAD'));

  routes.route('/', chartRoutes(parts, rest));
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
  // An unknown parameter may be the one that tells two people apart.
  if (urlParameters(c).some(([name]) => !Object.hasOwn(query, name)))
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
      const most =
        result.count > 1 ? `At least ${result.count} patients match` : 'Too many patients may match to decide';
      const count = result.more ? most : `${result.count} patients match`;
      const hint =
        result.narrowing.length > 0
          ? `add ${result.narrowing.join(', ')}`
          : 'none of the parameters distinguishes them; patientsummary finds by record or telephone number';
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
  const format = documentFormat(c.req.header('accept'), parameter(c, '_format'));
  const range =
    encounterId === undefined
      ? readRange({
          date: parameter(c, 'date'),
          rangeStart: parameter(c, 'rangeStart'),
          rangeEnd: parameter(c, 'rangeEnd'),
        })
      : undefined;
  const { handling: _strict, ...context } = contextOf(c, parts);
  const made = await makeDocument(
    {
      topic,
      patientId,
      range,
      encounterId,
      context,
      now: rest.clock(),
    },
    { facade: rest.source.facade, content: rest.source.content, software: rest.software },
  );
  if (made === undefined) throw unknownPatient();
  return respondWithDocument(c, made, { format, links: documentLinks(c, parts) }, parts);
}

/** Returns the links on the page of a document. */
function documentLinks(c: HttpContext, parts: AppParts): PageLinks {
  const { pathname, searchParams } = new URL(c.req.url);
  const xml = new URLSearchParams(searchParams);
  xml.set('_format', 'xml');
  return {
    chart: chartAddress(c, parts, c.req.param('patientId')),
    xml: `${serverBase(c, parts)}${pathname}?${xml}`,
  };
}

async function patientExists(id: string, rest: RestParts, context: RequestContext): Promise<boolean> {
  const parameters = [
    ['_id', id],
    ['_elements', 'id'],
  ] as const;
  return (await rest.source.facade.search({ type: 'Patient', parameters }, context)).entries > 0;
}

function sexOf(text: string | undefined): Sex | undefined {
  const sex = text?.toUpperCase();
  if (sex === undefined || isSex(sex)) return sex;
  throw new RestError('bad-request', 'sex expects M, F, other or unknown');
}

function isSex(text: string): text is Sex {
  return Object.hasOwn(GENDERS, text);
}
