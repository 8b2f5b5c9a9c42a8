/**
 * Serves bulk export: kick-off, poll, pause, resume, list, delete, by GET and POST each. files.ts sends the files.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html, docs/interfaces.md
 */

import { Hono } from 'hono';
import { reaches } from '../../auth/access.ts';
import { createMeters } from '../../auth/meter.ts';
import { type ExportLevel, GROUP_TYPE } from '../../export/job.ts';
import { type JobView, manifest, progressText } from '../../export/manifest.ts';
import { exportable, readExportRequest } from '../../export/request.ts';
import type { Parameters, RequestContext } from '../../facade.ts';
import { FhirError, type Issue, issueOf } from '../../outcome.ts';
import {
  type AppParts,
  type ExportParts,
  fhirBase,
  type HttpContext,
  type HttpEnv,
  requestContext,
  seeing,
  serverBase,
} from '../context.ts';
import { ID } from '../fhir/record-routes.ts';
import { bodyParameters } from '../fhir/resource-body.ts';
import { representationOf, respond, respondWithOutcome } from '../middleware/answer.ts';
import { mustBeWhole } from '../middleware/break-glass.ts';
import { wrongMethod } from '../middleware/methods.ts';
import { lastOf, urlParameters } from '../middleware/request.ts';
import { downloadFile } from './files.ts';

/** The parts of an application that has exports. */
type Parts = AppParts & { readonly exports: ExportParts };

type Operation = (c: HttpContext, parameters: Parameters) => Promise<Response>;

/** Methods of operations. HEAD must not begin an export. */
const ASKING: readonly string[] = ['GET', 'HEAD', 'POST'];
const CHANGING: readonly string[] = ['GET', 'POST'];
const POLLING: readonly string[] = [...ASKING, 'DELETE'];

const NO_EXPORTS = 'not available for exports; send the request without the header';

/** Seconds that a client should wait between polls. */
const RETRY_AFTER = 5;

export function exportRoutes(app: AppParts, exports: ExportParts): Hono<HttpEnv> {
  const parts: Parts = { ...app, exports };
  const routes = new Hono<HttpEnv>();
  const polls = createMeters(POLLS);

  const operation = (path: string, asked: Operation, methods = ASKING): void => {
    const run: Operation = (c, parameters) => {
      mustBeWhole(c, NO_EXPORTS);
      return asked(c, parameters);
    };
    const refused = wrongMethod(methods.join(', '), 'This operation takes');
    routes.get(path, c => (methods.includes(c.req.method) ? run(c, urlParameters(c)) : refused(c)));
    routes.post(path, async c => run(c, await bodyParameters(c)));
    routes.all(path, refused);
  };
  const changing = (path: string, run: Operation): void => operation(path, run, CHANGING);

  const cancel = async (c: HttpContext, parameters: Parameters): Promise<Response> => {
    const found = await parts.exports.jobs.remove(callerOf(c, parts), jobId(parameters));
    if (!found) throw noSuchJob();
    return respondWithOutcome(c, 202, [stateIssue('The export was cancelled and its files are removed')]);
  };
  routes.delete('/$export-poll-status', c => {
    mustBeWhole(c, NO_EXPORTS);
    return cancel(c, urlParameters(c));
  });
  // For clients that cannot send DELETE, such as a form of a page.
  operation('/$cancel-job', cancel, ['POST']);
  changing('/$export', (c, parameters) => kickOff(c, parts, { kind: 'system' }, parameters));
  changing('/Patient/$export', (c, parameters) => kickOff(c, parts, { kind: 'patient' }, parameters));
  changing('/Group/$export', (c, parameters) => kickOff(c, parts, { kind: 'group', id: undefined }, parameters));
  changing('/Group/:id/$export', async (c, parameters) => {
    const id = c.req.param('id') ?? '';
    const group = ID.test(id)
      ? await parts.facade.read(GROUP_TYPE, id, [['_elements', 'type']], contextToExport(c, parts))
      : undefined;
    if (group === undefined) throw new FhirError('no-such-resource', 'No Group has this id');
    return kickOff(c, parts, { kind: 'group', id }, parameters);
  });
  operation(
    '/$export-poll-status',
    async (c, parameters) => {
      const id = jobId(parameters);
      const view = parts.exports.jobs.view(callerOf(c, parts), id);
      if (!view) throw parts.exports.jobs.isLost(id) ? lostJob() : noSuchJob();
      if (polls(view.job.id).take() > 0) {
        throw new FhirError('too-many-requests', 'Too many polls; wait as Retry-After says', {
          retryAfter: RETRY_AFTER,
        });
      }
      return poll(c, parts, view);
    },
    POLLING,
  );
  changing('/$pause-job', async (c, parameters) => {
    const view = await parts.exports.jobs.pause(callerOf(c, parts), jobId(parameters));
    return changed(c, view, 'paused', 'The export is paused; $resume-job resumes it');
  });
  changing('/$resume-job', async (c, parameters) => {
    const view = parts.exports.jobs.resume(callerOf(c, parts), jobId(parameters));
    return changed(c, view, 'running', 'The export resumes');
  });
  operation('/$list-jobs', (c, parameters) => {
    const listed = parts.exports.jobs.list(callerOf(c, parts)).map(view => jobParameter(c, parts, view));
    // HL7's validator refuses an empty resource in XML, so the list begins with its length.
    const body = { resourceType: 'Parameters', parameter: [{ name: 'total', valueInteger: listed.length }, ...listed] };
    return respond(c, JSON.stringify(body), representationOf(c, parameters));
  });
  operation('/$download-resource', async (c, parameters) => {
    const id = idIn(parameters, '_jobResourceId', 'the id of a file');
    const [, job = '', name = ''] = /^([0-9a-f]{32})-(\d{1,4}-\d{1,6}|error)$/.exec(id) ?? [];
    refuseLess(c, parts, job);
    const download = parts.exports.jobs.download(callerOf(c, parts), job, name);
    if (!download) throw new FhirError('no-such-export', 'There is no such file; it may have expired');
    noteFile(c, parts, job);
    return downloadFile(c, download, parts);
  });
  return routes;
}

/**
 * Returns the error for an export whose record is damaged. Any caller who knows the id gets it, because the export's
 * own caller is unknown.
 */
function lostJob(): FhirError {
  return new FhirError(
    'export-failed',
    'The state of this export was damaged and its files were removed; begin it again',
  );
}

/**
 * Starts an export. Unsupported parameters are refused unless the client is lenient.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html
 */
async function kickOff(c: HttpContext, parts: Parts, level: ExportLevel, parameters: Parameters): Promise<Response> {
  // An export is a job, with or without `Prefer: respond-async`.
  const context = contextToExport(c, parts);
  const understood = readExportRequest(level, parameters, parts.exports.facade, context);
  const { pathname, search } = new URL(c.req.url);
  const url = serverBase(c, parts) + pathname + search;
  const { jobs } = parts.exports;
  const { job } = jobs.start(understood, { access: exportable(context.access), base: context.base, url });
  // Without the answer, nobody would know where the job is.
  c.set('undo', () => jobs.remove(callerOf(c, parts), job.id));
  const begun = stateIssue('The export has begun; Content-Location has its status URL');
  return respondWithOutcome(c, 202, [...understood.remarks, begun, ...leftOut(level, parts.exports.facade)], {
    'Content-Location': statusUrl(c, parts, job.id),
  });
}

/**
 * Returns the context of an export, in which only the `system/` scopes of a token count. Throws FhirError
 * `no-permission` if it has none.
 */
function contextToExport(c: HttpContext, parts: Parts): RequestContext {
  const context = requestContext(c, parts, 'strict');
  const grant = c.get('grant');
  const access = grant === undefined ? context.access : parts.entry?.toExport(grant);
  if (access === undefined || (access.kind === 'limited' && access.permissions.length === 0))
    throw new FhirError('no-permission', 'Exports need system scopes');
  return { ...context, access };
}

/** Throws 403 if the export was made with wider scopes, or under other rules, than this token has. */
function refuseLess(c: HttpContext, parts: Parts, id: string): void {
  const made = parts.exports.jobs.view(callerOf(c, parts), id)?.job.access;
  if (made !== undefined && !reaches(contextToExport(c, parts).access, made))
    throw new FhirError('no-permission', 'The file was exported by scopes that this token does not have');
}

/** Notes for the audit whose data a file holds, if the export was narrowed to some patients. */
function noteFile(c: HttpContext, parts: Parts, job: string): void {
  const { url, request } = parts.exports.jobs.view(callerOf(c, parts), job)?.job ?? {};
  c.set('exportUrl', url ?? '');
  seeing(c, parts).see?.(request?.patients ?? []);
}

/** Lists the server's own resources in a notice: they are not in the database, and not exported. */
function leftOut(level: ExportLevel, { registry, offers }: ExportParts['facade']): readonly Issue[] {
  const own = offers.types.filter(type => !registry.types.includes(type));
  if (level.kind !== 'system' || own.length === 0) return [];
  const diagnostics = `Not exported, for they are the server's own and can be searched: ${own.join(', ')}`;
  return [issueOf('left-out', diagnostics, { severity: 'information' })];
}

function poll(c: HttpContext, parts: Parts, view: JobView): Promise<Response> | Response {
  const { status, failure } = view.job;
  if (status === 'failed') throw new FhirError('export-failed', failure ?? 'The export failed');
  if (status === 'complete') {
    return c.body(JSON.stringify(manifest(view, parts.config.access !== 'open')), 200, {
      'Content-Type': 'application/json',
      ...(view.left !== undefined && { Expires: new Date(Date.now() + view.left).toUTCString() }),
    });
  }
  const progress = progressText(view);
  return respondWithOutcome(c, 202, [stateIssue(progress)], {
    'X-Progress': progress,
    // Without this header, some clients take the text of the OperationOutcome for the address to poll.
    'Content-Location': statusUrl(c, parts, view.job.id),
    'Retry-After': String(RETRY_AFTER),
  });
}

/** Answers a request to change a job's state: 409 if the job is over. */
function changed(
  c: HttpContext,
  view: JobView | undefined,
  wanted: JobView['job']['status'],
  text: string,
): Promise<Response> {
  if (!view) throw noSuchJob();
  if (view.job.status !== wanted) throw new FhirError('export-conflict', `The export is ${view.job.status} already`);
  return respondWithOutcome(c, 200, [stateIssue(text)]);
}

function jobParameter(c: HttpContext, parts: Parts, view: JobView): object {
  const { id, status, url, transactionTime } = view.job;
  return {
    name: 'job',
    part: [
      { name: '_jobId', valueString: id },
      { name: 'status', valueCode: status },
      { name: 'transactionTime', valueInstant: new Date(transactionTime).toISOString() },
      { name: 'request', valueUrl: url },
      { name: 'progress', valueString: progressText(view) },
      { name: 'poll', valueUrl: statusUrl(c, parts, id) },
    ],
  };
}

function statusUrl(c: HttpContext, parts: AppParts, id: string): string {
  return `${fhirBase(c, parts)}/$export-poll-status?_jobId=${id}`;
}

function callerOf(c: HttpContext, parts: AppParts): string {
  return requestContext(c, parts).access.caller;
}

function jobId(parameters: Parameters): string {
  return idIn(parameters, '_jobId', 'the id of an export');
}

function idIn(parameters: Parameters, parameter: string, expected: string): string {
  const id = lastOf(parameters, parameter);
  if (id === undefined) throw new FhirError('wrong-parameters', `${parameter}: expected ${expected}`, { parameter });
  return id;
}

const noSuchJob = (): FhirError => new FhirError('no-such-export', 'There is no such export; it may have expired');

const stateIssue = (diagnostics: string): Issue => issueOf('export-state', diagnostics, { severity: 'information' });

/** Limit of polls per job: a few at once, then one per second. */
const POLLS = { burst: 10, perSecond: 1 } as const;
