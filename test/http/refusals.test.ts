import { IncomingMessage, ServerResponse } from 'node:http';
import { Server, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRefusals } from '../../src/http/server/malformed.ts';
import { listen } from '../../src/http/server/server.ts';

const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

test('refusals are delayed, unless too many are waiting', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const refuse = createRefusals();
  const responses = Array.from({ length: 2001 }, response);
  for (const one of responses) refuse(one);
  expect(responses.filter(({ writableEnded }) => writableEnded)).toEqual([responses.at(-1)]);
  vi.advanceTimersByTime(250);
  expect(responses.every(({ writableEnded, statusCode }) => writableEnded && statusCode === 503)).toBe(true);
  const later = response();
  refuse(later);
  expect(later.writableEnded).toBe(false);
});

test('the listen backlog is the connection limit', async () => {
  const listening = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => void listening.mockRestore());
  const answers = { fetch: () => new Response('') };
  const server = await listen(answers, { host: '127.0.0.1', port: 0, drain: 0, connections: { most: 3000 } });
  await server.close();
  expect(listening.mock.calls[0]?.[0]).toMatchObject({ backlog: 3000 });
});
