/** Runs `lintel workbench` in a process of its own, for browsers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ServedBench {
  /** Works once. */
  readonly link: string;
  stop(): Promise<void>;
}

export async function serveBench(environment: Readonly<Record<string, string>>): Promise<ServedBench> {
  const child = spawn(process.execPath, ['bin/lintel.mjs', 'workbench'], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const link = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.on('exit', code => reject(new Error(`the workbench ended with ${code}`)));
    child.stdout.on('data', chunk => {
      out += String(chunk);
      const [, found] = /(http:\S+)\s/.exec(out) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    link,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
