/**
 * Runs the server of `npm run bench -- soak` in a process of its own. In: its environment, as a message. Out: its port;
 * reloads on request, and reports the result on request.
 */
import { once } from 'node:events';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { answerQuestions } from './servers.ts';

const [environment]: Readonly<Record<string, string>>[] = await once(process, 'message');
const config = readConfig({ PORT: '0', LOG_FORMAT: 'json', RELOAD_INTERVAL: '0', ...environment });
const running = await startServer(config, { out: () => {}, note: () => {} }, createLog(config.log));
if (running === undefined) throw new Error('Lintel does not start');
const outcomes: Record<string, number> = {};
process.on('message', async message => {
  if (message === 'reload') {
    const outcome = await running.reload();
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  } else if (message === 'outcomes') process.send?.({ outcomes });
});
process.send?.({ port: Number(new URL(running.url).port) });
answerQuestions();
