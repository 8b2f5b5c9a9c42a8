/**
 * A page from another origin in headless Chromium, which loads fhirclient as applications do. Skipped, with a message,
 * if no Chromium is installed. https://developer.mozilla.org/docs/Web/HTTP/CORS
 */
import { execFile } from 'node:child_process';
import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM } from './chromium.ts';
import { servePage } from './page-server.ts';
import { type StartedDemo, startDemo } from './started-demo.ts';

describe.skipIf(CHROMIUM === undefined)('a page of another origin', () => {
  let pages: Server;
  let demo: StartedDemo;
  let stranger: StartedDemo;
  let origin: string;
  beforeAll(async () => {
    ({ server: pages, origin } = await servePage('page.html'));
    demo = await startDemo({ CORS_ORIGINS: origin });
    stranger = await startDemo({ CORS_ORIGINS: 'https://elsewhere.example.org' });
  });
  afterAll(async () => {
    pages.close();
    await Promise.all([demo.stop(), stranger.stop()]);
  });

  const shown = async (base: string): Promise<Readonly<Record<string, unknown>>> => {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--dump-dom'];
    const url = `${origin}/?base=${encodeURIComponent(base)}`;
    const { stdout } = await promisify(execFile)(CHROMIUM ?? '', [...flags, url], { timeout: 60_000 });
    return JSON.parse(/<body>(.*)<\/body>/s.exec(stdout)?.[1] ?? '{}');
  };

  test('that is allowed can read, follow page links, send a batch and see headers', { timeout: 90_000 }, async () => {
    expect(await shown(demo.base)).toEqual({
      release: 4,
      patient: '1',
      pages: 30,
      batch: '200 OK',
      missing: 'HttpError 404',
      etag: 'W/"',
    });
  });

  test('that is not allowed gets nothing', { timeout: 90_000 }, async () => {
    const { patient, pages: found, batch, etag } = await shown(stranger.base);
    for (const outcome of [patient, found, batch, etag]) expect(outcome).toMatch(/Failed to fetch/);
  });
});
