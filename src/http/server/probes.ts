/** Serves `/health` (the process lives), `/ready` (it can answer) and `/metrics`. None contains patients' data. */
import { Hono } from 'hono';
import { inTime } from '../../common/in-time.ts';
import type { Metrics } from '../../observe/metrics.ts';
import type { DatabaseLoad } from '../../sql/database.ts';
import type { AppParts, HttpEnv, Served } from '../context.ts';

/** Milliseconds after which a silent database counts as unreachable. */
const TIME_LIMIT = 2000;

/** The page at `/` and the log list the problems. */
const NOT_SERVED = 'The mappings on disk have problems; the version before them is served';
const LACKING =
  'The database lacks tables or columns that mappings need; requests that read them fail; / and the log say which';

export function probeRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get('/health', c => c.json({ status: 'ok' }));
  routes.get('/ready', async c => {
    const found = [...warningsOf(parts.served), ...unexplainedBy(parts.load?.().unexplained)];
    const warnings = found.length === 0 ? {} : { warnings: found };
    const checks = {
      database: await answersInTime(parts.ping),
      mappings: parts.served.mappings > 0,
      answers: parts.admission?.answers.isStalled?.() !== true,
      ...(parts.audit?.isFailing && { audit: !parts.audit.isFailing() }),
    };
    const ready = Object.values(checks).every(isGood => isGood);
    return c.json({ status: ready ? 'ok' : 'unavailable', checks, ...warnings }, ready ? 200 : 503);
  });
  return routes;
}

function warningsOf({ refused, lacking, unserved = [] }: Served): readonly string[] {
  return [
    ...(refused?.() === undefined ? [] : [NOT_SERVED]),
    ...(lacking?.() === undefined ? [] : [LACKING]),
    ...(unserved.length === 0
      ? []
      : [`Mappings that do not work on this database are not served: ${unserved.join(', ')}`]),
  ];
}

/** Warns of error numbers of the engine that this server does not know: an administrator may. */
function unexplainedBy(errors: DatabaseLoad['unexplained'] = []): readonly string[] {
  if (errors.length === 0) return [];
  const numbers = errors.map(({ number, times }) => `${number} (${times}×)`).join(', ');
  return [`The database answered with errors that this server has no rule for: ${numbers}`];
}

/** Serves the metrics for Prometheus. */
export function metricsRoutes({ text, contentType }: Pick<Metrics, 'text' | 'contentType'>): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get('/metrics', async c => c.body(await text(), 200, { 'Content-Type': contentType }));
  return routes;
}

/** True if the database answers within two seconds. */
export async function answersInTime(ping: () => Promise<void>): Promise<boolean> {
  try {
    return await inTime<boolean>(
      ping().then(() => true),
      TIME_LIMIT,
      () => false,
    );
  } catch {
    return false;
  }
}
