/**
 * Serves chart pages, behind the session of the REST interface: `/chart` looks up patients, `/chart/<number>` shows
 * one, `/chart/<number>/document` redirects to the document that a form asks for.
 */
import { Hono } from 'hono';
import type { Patient } from '../../ccda/fhir/people.ts';
import { readableAge } from '../../ccda/page.ts';
import { localTime, readableTime } from '../../ccda/time.ts';
import { encounterLines } from '../../rest/encounters.ts';
import { searchSome } from '../../rest/fhir-source.ts';
import { patientSummary } from '../../rest/patient-info.ts';
import { searchPatients } from '../../rest/patient-summary.ts';
import type { RestParts } from '../../rest/start.ts';
import { type AppParts, type HttpContext, type HttpEnv, serverBase } from '../context.ts';
import { contextOf, parameter, patientOf, unknownPatient } from '../rest/request.ts';
import { nameOf } from '../rest/session.ts';
import { CHART_PATH, chartAddress } from './chart-address.ts';
import { type ChartPlace, chartPage, lookUpPage } from './chart-page.ts';
import { type Html, PAGE_POLICY } from './page-frame.ts';

/** Parameters that the form of a document may have. */
const ASKED = ['rangeStart', 'rangeEnd', '_format'] as const;

export function chartRoutes(parts: AppParts, rest: RestParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get(CHART_PATH, async c => {
    const search = parameter(c, 'search');
    const found = search && {
      search,
      result: await searchPatients(search, rest.source, contextOf(c, parts), rest.clock()),
    };
    return respondWithPage(c, lookUpPage(placeOf(c, parts), found || undefined));
  });
  routes.get(`${CHART_PATH}/:patientId`, async c => {
    const { number, id } = await patientOf(c, parts, rest);
    const context = contextOf(c, parts, id);
    const { source } = rest;
    const asked = { parameters: [['_id', id]] } as const;
    const [patient] = (await searchSome<Patient>(source, 'Patient', asked, 1, context)).resources;
    if (patient === undefined) throw unknownPatient();
    const now = localTime(rest.clock(), source.facade.registry.pack.zone);
    const { deceasedDateTime, deceasedBoolean } = patient;
    const died = readableTime(deceasedDateTime) || (deceasedBoolean === true ? 'yes, date unknown' : undefined);
    return respondWithPage(
      c,
      chartPage(placeOf(c, parts), {
        patient: patientSummary(patient, number, source.content.mrn),
        age: readableAge(patient, now),
        died,
        ...(await encounterLines(id, source, context)),
      }),
    );
  });
  routes.get(`${CHART_PATH}/:patientId/document`, async c => {
    const { number } = await patientOf(c, parts, rest);
    const topic = parameter(c, 'topic') ?? '';
    const given = ASKED.flatMap(name => {
      const value = parameter(c, name);
      return value === undefined ? [] : [[name, value]];
    });
    const address = `${serverBase(c, parts)}${parts.config.apiPath}/${number}/ccds/api/${encodeURIComponent(topic)}`;
    return c.redirect(`${address}?${new URLSearchParams(given)}`, 303);
  });
  return routes;
}

function placeOf(c: HttpContext, parts: AppParts): ChartPlace {
  const server = serverBase(c, parts);
  return {
    home: `${server}/`,
    charts: chartAddress(c, parts),
    api: `${server}${parts.config.apiPath}`,
    account: nameOf(c),
  };
}

function respondWithPage(c: HttpContext, content: Html): Response | Promise<Response> {
  c.header('Content-Security-Policy', PAGE_POLICY);
  return c.html(content);
}
