/**
 * Makes everything that belongs to one version of the mappings: facade, REST interface, HTTP application. In: a pack
 * without errors, and the parts that outlive it. Out: an application that knows only this version, so that a request
 * ends with the version with which it began.
 */
import { glassOf } from '../access/glass.ts';
import type { Audit } from '../audit/audit.ts';
import { seeingPatients } from '../audit/patients-in.ts';
import { type Trail, typesOf, withTrail } from '../audit/trail.ts';
import { accessOfAccounts } from '../auth/granted.ts';
import type { Meters } from '../auth/meter.ts';
import type { AnswerCache } from '../cache/answers.ts';
import { freshnessOf } from '../cache/freshness.ts';
import { summaryMaker } from '../ccda/summary.ts';
import type { Config } from '../config/config.ts';
import { explainSearch } from '../explain/search.ts';
import type { Jobs } from '../export/jobs.ts';
import type { Facade } from '../facade.ts';
import { createApp } from '../http/app.ts';
import type { AppParts, Problem, Refused } from '../http/context.ts';
import type { Authorization } from '../http/fhir/authorization.ts';
import type { Answer } from '../http/middleware/answer.ts';
import type { Entry } from '../http/middleware/bearer.ts';
import type { Admission } from '../http/middleware/limits.ts';
import { answerHits } from '../http/server/cache-hits.ts';
import type { Intake } from '../http/server/intake.ts';
import type { Answers } from '../http/server/server.ts';
import type { Log } from '../log.ts';
import { problemLine } from '../mapping/load/problem.ts';
import type { Metrics } from '../observe/metrics.ts';
import { type Entrance, type RestParts, restParts } from '../rest/start.ts';
import type { Database } from '../sql/database.ts';
import { engineNamed } from '../sql/engines.ts';
import { facadeOf } from '../start/setup.ts';
import { SOFTWARE_VERSION } from '../start/version.ts';
import type { SoundPack } from './pack.ts';

export interface Version {
  readonly app: Answers;
  readonly facade: Facade;
  /** Undefined: the pack has no REST interface. */
  readonly rest: RestParts | undefined;
}

/** Parts that all versions share. */
export interface Lasting {
  readonly config: Config;
  readonly log: Log;
  readonly database: Database;
  /** Undefined: there is no folder for their files, so exports are not offered. */
  readonly jobs: Jobs | undefined;
  readonly entrance: Entrance;
  /** Without it no answer is cached. */
  readonly cache: AnswerCache<Answer> | undefined;
  readonly refused: () => Refused | undefined;
  readonly lacking: () => Refused | undefined;
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly intake: Intake;
  /** Rate limit of each client; undefined: none. */
  readonly rate: Meters | undefined;
  /** Undefined: there is no audit. */
  readonly audit: Audit | undefined;
  /** True if a browser app is registered at an origin; undefined if there are no apps. */
  readonly isAppOrigin: ((origin: string) => boolean) | undefined;
  /** How a caller gets a token; undefined if access is open. */
  readonly authorization: Authorization | undefined;
  /** Decides by token who may come in; undefined if access is open. */
  readonly entry: Entry | undefined;
  /** The audit as FHIR. */
  readonly trail: Trail | undefined;
  /** The latest warnings and errors of the log, newest first. */
  readonly problems: () => readonly Problem[];
}

const SOFTWARE = { name: 'Lintel', version: SOFTWARE_VERSION } as const;

/**
 * Distinguishes versions in cache keys: the same mappings may read rows differently, and cached answers hold for one
 * version only.
 */
let versions = 0;

export function versionOf({ registry, catalog, pack, content, access, changed }: SoundPack, lasting: Lasting): Version {
  const { config, log, database, jobs, entrance, cache, refused, lacking, metrics, admission, intake, problems } =
    lasting;
  const { audit, authorization, entry, isAppOrigin, rate, trail } = lasting;
  const made = facadeOf(registry, database, changed, {
    ...config,
    documents: content !== undefined,
    exports: jobs !== undefined,
  });
  const seen = audit === undefined ? made : seeingPatients(made);
  const facade = trail === undefined ? seen : withTrail(seen, { facade: seeingPatients(trail.facade) });
  const accessOf = accessOfAccounts(access, config.access === 'open');
  const rest = restParts(entrance, facade, content, accessOf, SOFTWARE_VERSION);
  const glass = glassOf(made, access);
  const { name, title } = registry.pack;
  const freshness = freshnessOf(registry, catalog, database);
  cache?.serve(freshness);
  const parts: AppParts = {
    facade,
    ...(jobs && { exports: { jobs, facade } }),
    served: {
      pack: { name, title, version: registry.version },
      software: SOFTWARE_VERSION,
      mappings: registry.mappings.length,
      warnings: pack.problems.filter(({ severity }) => severity !== 'notice').map(problemLine),
      unserved: pack.registry === undefined ? [] : (pack.unserved ?? []),
      refused,
      lacking,
    },
    config,
    log,
    metrics,
    admission,
    intake,
    rate,
    entry,
    glass,
    authorization,
    isAppOrigin,
    ping: () => database.ping(),
    load: () => ({ engine: engineNamed(database.engine).title, ...database.load() }),
    problems,
    audit,
    ...(trail && { unkept: new Set(typesOf(trail.facade, seen)) }),
    async explain(request) {
      const { handling } = config;
      const explanation = await explainSearch(facade, database, request, { now: Date.now(), handling });
      return { explanation, engine: database.engine };
    },
    rest,
    ...(content === undefined ? {} : { summary: summaryMaker({ facade, content, software: SOFTWARE }) }),
    ...(cache && { answers: { cache, freshness, version: `${registry.version}/${++versions}` } }),
  };
  return { app: { fetch: createApp(parts).fetch, hits: answerHits(parts) }, facade, rest };
}
