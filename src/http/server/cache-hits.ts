/**
 * Kept answers, sent without a framework in between: where the same plain GET was answered before, what it takes is a
 * look into the cache and the bytes. In: a request as Node has it. Out: true, and it is answered with the headers that
 * the application gave the first time; or false, and the application has to answer. Whatever is not surely the same is
 * false, and so is a token that was not seen before or has ended since.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { createMiddleware } from 'hono/factory';
import type { AppParts, HttpEnv } from '../context.ts';
import { type Answer, SMALL } from '../middleware/answer.ts';
import { hitStatus } from '../middleware/answer-cache.ts';
import { type RecordOfHits, recordOfHits, UNWRITTEN } from '../middleware/audit.ts';
import { type Coding, isWorthCoding } from '../middleware/compress.ts';
import { type AnsweredAlike, isTraced, tellHits } from '../middleware/request-log.ts';
import { isPublic } from '../public.ts';
import { type Asking, askedOf, knownClients } from './known-clients.ts';

export type Hits = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A whole response but for what each has of its own. */
interface Sendable {
  readonly alike: AnsweredAlike;
  /** Names and values in turn; the values at ID and STATUS are set before each sending. */
  readonly headers: string[];
  /** Small ones as text of bytes: Node sends that with the head in one piece. */
  readonly body: string | Buffer;
}

const ID = 1;
const STATUS = 3;

/** Headers of answers that each request has its own of. */
const OWN = new Set(['cache-status', 'date', 'server-timing', 'x-correlation-id', 'x-request-id']);

interface Forms {
  readonly worthCoding: boolean;
  /** By coding; '' for none. */
  readonly sendable: Map<string, Sendable>;
  /** What the audit says of each sending to a caller on one connection. */
  readonly records: WeakMap<Asking, { readonly url: string; readonly record: RecordOfHits }>;
}

const formsOf = new WeakMap<Answer, Forms>();

/** Remembers how a plain GET was answered. Stands around everything that sets headers. */
export const rememberAnswers = ({ config }: Pick<AppParts, 'config'>) =>
  createMiddleware<HttpEnv>(async (c, next) => {
    await next();
    const answer = c.get('answer');
    if (answer === undefined || c.res.status !== 200 || c.req.method !== 'GET') return;
    const raw = c.env?.incoming?.rawHeaders ?? Object.entries(c.req.header()).flat();
    if (askedOf(raw, config.access !== 'open') === undefined) return;
    const forms = formsOf.get(answer) ?? {
      worthCoding: isWorthCoding(answer, answer.contentType),
      sendable: new Map(),
      records: new WeakMap(),
    };
    const coding = c.res.headers.get('content-encoding') ?? '';
    const form = coding === '' ? answer.body : answer.made(coding as Coding);
    if (forms.sendable.has(coding) || form === undefined) return;
    const same = [...c.res.headers].filter(([name]) => !OWN.has(name)).flat();
    forms.sendable.set(coding, {
      alike: { method: 'GET', route: c.get('route') ?? '', status: 200, bytes: form.byteLength },
      headers: ['x-request-id', '', 'cache-status', '', 'server-timing', 'cache;desc=hit', ...same],
      body: form.byteLength < SMALL ? form.toString('latin1') : form,
    });
    formsOf.set(answer, forms);
  });

/** Undefined where nothing is kept. */
export function answerHits(parts: AppParts): Hits | undefined {
  const { answers, audit, config, facade } = parts;
  if (answers === undefined) return undefined;
  const { cache, version } = answers;
  const askingOf = knownClients(parts, version);
  const nextId = createIds();
  const tell = tellHits(parts);
  const told = isPublic(config.fhirPath);
  const isOpen = (url = '/'): boolean => told(url.split('?', 1)[0] ?? url);

  const recordFor = (asking: Asking, url: string, { patients }: Answer, { alike }: Sendable, { records }: Forms) => {
    const known = records.get(asking);
    if (known?.url === url) return known.record;
    const record = recordOfHits({ url, route: alike.route, patients, ...asking }, config, facade);
    records.set(asking, { url, record });
    return record;
  };

  return (request, response) => {
    if (request.method !== 'GET' || isTraced()) return false;
    const begun = performance.now();
    const asking = askingOf(request);
    if (asking === undefined) return false;
    const ready = cache.ready(asking.stem + request.url);
    if (ready === undefined) return false;
    const { answer, ttl } = ready;
    const forms = formsOf.get(answer);
    const found = forms?.sendable.get(forms.worthCoding ? asking.coding : '');
    if (forms === undefined || found === undefined) return false;
    cache.sent();
    const { alike, headers, body } = found;
    const id = nextId();
    const send = (): void => {
      headers[ID] = id;
      headers[STATUS] = hitStatus(ttl);
      response.writeHead(200, headers);
      response.end(body, 'latin1');
      tell(alike, id, performance.now() - begun);
    };
    if (audit === undefined || isOpen(request.url)) send();
    else {
      const record = recordFor(asking, request.url ?? '/', answer, found, forms);
      audit.write({ at: Date.now(), request: id, ...record }).then(send, () => {
        response.writeHead(503, { ...UNWRITTEN.headers, 'X-Request-Id': id });
        response.end(UNWRITTEN.body);
        tell({ ...alike, status: 503, bytes: UNWRITTEN.body.length }, id, performance.now() - begun);
      });
    }
    return true;
  };
}

/**
 * UUIDs in form: a random half, and a half that counts, for a random one each time costs as much as the look-up. The
 * last digits come from a table, for a number of that size takes longer to write.
 */
function createIds(): () => string {
  const random = randomUUID().slice(0, 24);
  let high = 0x100000000;
  let low = DIGITS.length;
  let stem = '';
  return () => {
    if (low === DIGITS.length) {
      low = 0;
      stem = random + (++high).toString(16);
    }
    return stem + DIGITS[low++];
  };
}

const DIGITS = Array.from({ length: 0x1000 }, (_, i) => i.toString(16).padStart(3, '0'));
