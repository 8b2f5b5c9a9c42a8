/**
 * One server of `npm run bench -- sqlite-threads`, a process of its own. In: the way, and a file as a message. Out:
 * its port.
 */
import { once } from 'node:events';
import { readConfig } from '../../src/config/config.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLog } from '../../src/log.ts';
import { demoOver } from '../law/demo.ts';
import { answerQuestions } from './servers.ts';
import { openWith, WAYS } from './threads-database.ts';

const way = WAYS.find(one => one === process.argv[2]);
if (way === undefined) throw new Error('There is no such way');
const [task]: { readonly file: string }[] = await once(process, 'message');
if (task === undefined) throw new Error('Nothing is asked');
const { facade, registry } = await demoOver(openWith(way, task.file));
const app = createApp({
  facade,
  served: { pack: { name: 'medkeep', title: 'Demo', version: '1' }, mappings: registry.mappings.length, warnings: [] },
  config: readConfig({}),
  log: createLog({ level: 'info', format: 'json', write: () => {} }),
  ping: async () => {},
});
const { url } = await listen(app, { host: '127.0.0.1', port: 0, drain: 0 });
process.send?.({ port: Number(new URL(url).port) });
answerQuestions();
