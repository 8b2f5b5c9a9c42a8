/**
 * Serves the demo as `npm start` does, over a small fixture, on a free port: for clients that real applications use.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { writeFixture } from '../fixtures/built.ts';

export interface StartedDemo {
  /** Address of the FHIR interface. */
  readonly base: string;
  stop(): Promise<void>;
}

export async function startDemo(environment: Readonly<Record<string, string>> = {}): Promise<StartedDemo> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const file = join(folder, 'fixture.sqlite');
  writeFixture(12, file);
  const config = readConfig({
    DATABASE_URL: `sqlite:${file}`,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ...environment,
  });
  const log = createLog({ level: 'error', format: 'json', write: line => console.log(line) });
  const running = await startServer(config, { out: () => {}, note: text => console.log(text) }, log);
  if (!running) throw new Error('Expected the demo to start');
  return {
    base: `${running.url}/fhir`,
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
