/** Checks the files for containers against the configuration that they set. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { describeVariables } from '../../src/config/variables.ts';
import { lintel } from '../cli/lintel.ts';
import { temporaryFolder } from '../temporary-folder.ts';

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

/** As compose fills them in without variables in the environment. */
const filled = (environment: Service['environment']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, text]) => [name, text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')]),
  );

test.each(['compose.yaml', 'compose.mssql.yaml'])('%s sets existing variables, with valid values', file => {
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

/** A stand-in for openssl: decides by its text whether a certificate is valid, and makes a valid one. */
const OPENSSL = `#!/bin/sh
case $1 in
  x509) for file; do :; done; exec grep -qs good "$file" ;;
  req) for word; do case $before in -keyout) echo key > "$word" ;; -out) echo good > "$word" ;; esac; before=$word; done ;;
esac
`;

test('compose.yaml generates a certificate if none is valid, and repeats an incomplete one', () => {
  const { services } = parse(readFileSync('compose.yaml', 'utf8')) as {
    readonly services: {
      readonly certificate: { readonly entrypoint: readonly string[]; readonly command: readonly string[] };
    };
  };
  const { entrypoint, command } = services.certificate;
  const [shell = '', ...flags] = entrypoint;
  const folder = temporaryFolder();
  const [tls, bin] = [join(folder, 'tls'), join(folder, 'bin')];
  for (const made of [tls, bin]) mkdirSync(made);
  writeFileSync(join(bin, 'openssl'), OPENSSL, { mode: 0o755 });
  const run = (chown: string): number | null => {
    writeFileSync(join(bin, 'chown'), `#!/bin/sh\n${chown}\n`, { mode: 0o755 });
    const [script = ''] = command;
    const environment = { PATH: `${bin}:${process.env['PATH']}` };
    return spawnSync(shell, [...flags, script.replaceAll('/tls', tls)], { env: environment }).status;
  };
  const cert = join(tls, 'cert.pem');
  // The script fails if it ends before the facade's user owns the key.
  expect(run('exit 1')).not.toBe(0);
  expect(existsSync(cert)).toBe(false);
  expect(run('exit 0')).toBe(0);
  expect(readFileSync(cert, 'utf8')).toBe('good\n');
  // A valid one stays: nothing is created, so nothing changes its owner.
  expect(run('exit 1')).toBe(0);
  writeFileSync(cert, 'ended\n');
  expect(run('exit 0')).toBe(0);
  expect(readFileSync(cert, 'utf8')).toBe('good\n');
});

test('the health check of the image uses an existing command', async () => {
  const [, written = ''] =
    /HEALTHCHECK[^[]*(\[.*\])/s.exec(readFileSync('Dockerfile', 'utf8').split('\n\n').join('\n')) ?? [];
  const [list = ''] = written.split('\n');
  const [node, script, ...argv] = JSON.parse(list) as readonly string[];
  expect([node, script]).toEqual(['node', 'bin/lintel.mjs']);
  expect((await lintel({}, ...argv, '--help')).code).toBe(0);
});
