/** The files for containers against the configuration that they set. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { describeVariables } from '../../src/config/variables.ts';
import { lintel } from '../cli/lintel.ts';

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const facadeOf = (file: string): Service => {
  const { services } = parse(readFileSync(file, 'utf8')) as Compose;
  const { facade } = services;
  if (facade === undefined) throw new Error(`${file} has no facade`);
  return facade;
};

/** As compose fills them in where the surroundings say nothing. */
const filled = (environment: Service['environment']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, text]) => [name, text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );

test.each(['compose.yaml', 'compose.mssql.yaml'])('%s sets what there is to set, and it is a configuration', file => {
  const environment = filled(facadeOf(file).environment);
  const known = describeVariables().map(({ name }) => name);
  expect(Object.keys(environment).filter(name => !known.includes(name))).toEqual([]);
  expect(() => readConfig(environment)).not.toThrow();
});

test('compose.yaml serves by TLS on every address of the container, under the name and port that clients see', () => {
  const { environment, ports, volumes } = facadeOf('compose.yaml');
  const { host, port, tls, baseUrl, access } = readConfig(filled(environment));
  expect({ host, access }).toEqual({ host: '0.0.0.0', access: 'smart' });
  expect(ports).toEqual([`127.0.0.1:${port}:${port}`]);
  expect(baseUrl).toBe(`https://localhost:${port}`);
  expect(volumes).toContain('tls:/tls:ro');
  expect([tls?.cert, tls?.key].every(path => path?.startsWith('/tls/'))).toBe(true);
});

test('the image asks for its own health by a command that there is', async () => {
  const [, written = ''] =
    /HEALTHCHECK[^[]*(\[.*\])/s.exec(readFileSync('Dockerfile', 'utf8').split('\n\n').join('\n')) ?? [];
  const [list = ''] = written.split('\n');
  const [node, script, ...argv] = JSON.parse(list) as readonly string[];
  expect([node, script]).toEqual(['node', 'bin/lintel.mjs']);
  expect((await lintel({}, ...argv, '--help')).code).toBe(0);
});
