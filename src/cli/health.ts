/**
 * `lintel health`: checks whether the server of this configuration is alive, for a container's health check.
 */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { ANY_ADDRESS } from '../common/loopback.ts';
import type { Config } from '../config/config.ts';
import { type Command, configOf, printJson } from './command.ts';

/** Milliseconds; a statement on SQLite may block the server for up to 10 seconds. */
const TIME_LIMIT = 12_000;

/** Error code of a server that demands client certificates: it is alive. */
const DEMANDED = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

export const health: Command = {
  summary: 'reports whether the server with this configuration is healthy',
  help: `Usage: lintel health [--port PORT] [--ready] [--json]

Asks /health of the server that runs on this machine with the same environment: HOST, PORT, TLS_CERT. It accepts any
certificate, as it knows the server by its address and sends nothing secret. With TLS_CLIENT_CA it has no certificate
to show, so a server that requires one counts as healthy. It waits 12 seconds: a search on SQLite may block the server
for 10.`,
  exits: ['the answer is yes', 'the answer is no, or no server answers'],
  options: {
    port: ['PORT', 'port of the server, instead of PORT'],
    ready: 'requests /ready instead: whether the server can answer and reach its database',
    json: 'prints one JSON object: well (true or false) and text',
  },
  positionals: [0, 0],
  async run(args, terminal) {
    const said = await ask(configOf(args, terminal), args.is('ready') ? '/ready' : '/health');
    if (args.json) printJson(said, terminal);
    else terminal.out(said.text);
    return said.well ? 0 : 1;
  },
};

interface Said {
  readonly well: boolean;
  readonly text: string;
}

function ask({ host, port, tls }: Config, path: string): Promise<Said> {
  const own = ANY_ADDRESS.has(host) ? (host === '0.0.0.0' ? '127.0.0.1' : '::1') : host;
  const options = { host: own.replace(/^\[(.*)\]$/, '$1'), port, path, timeout: TIME_LIMIT, agent: false } as const;
  return new Promise(resolve => {
    const place = `${own}:${port}`;
    const request =
      // Any certificate is accepted: the request is not secret, and the answer only shows that a server is at this
      // address.
      tls === undefined ? plainRequest(options) : secureRequest({ ...options, rejectUnauthorized: false });
    request.on('response', response => {
      response.resume();
      const { statusCode = 0 } = response;
      resolve({ well: statusCode === 200, text: `${place}${path} answers ${statusCode}` });
    });
    request.on('timeout', () => request.destroy(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })));
    request.on('error', error => {
      const code = 'code' in error ? String(error.code) : error.name;
      if (tls?.clientCa !== undefined && code === DEMANDED)
        resolve({ well: path === '/health', text: `${place} demands a certificate of its clients` });
      else resolve({ well: false, text: `${place} does not answer (${code})` });
    });
    request.end();
  });
}
