/**
 * Exports in a process of its own, to be killed: continues the job in a folder, or starts one. Prints `begun`, then
 * `done`.
 */
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import { openExports } from '../../src/export/open.ts';
import { partsOf } from '../../src/export/parts.ts';
import { createLog } from '../../src/log.ts';
import { facadeOf, setUp } from '../../src/start/setup.ts';
import { exportRequest } from './export-request.ts';

const [root = ''] = process.argv.slice(2);
const config = readConfig();
const { database, pack, files, changed } = await setUp(config, () => {});
if (!pack.registry) throw new Error('the pack has errors');
const { registry } = pack;
const log = createLog({ level: 'error', format: 'text' });
const settings = { batch: 20, fileLines: 90, checkpoint: 0 };
const jobs = openExports(config, () => files, log, { root, settings });
const [known] = jobs.list('open');
const facade = facadeOf(registry, database, changed, config);
const request = exportRequest({ level: { kind: 'group', id: undefined }, types: facade.registry.types });
const origin = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', url: 'http://127.0.0.1/fhir/$export' };
const { job } = known ?? jobs.start({ request, stages: partsOf(request, registry), remarks: [] }, origin);
process.stdout.write('begun\n');
await jobs.settled(job.id);
const status = jobs.view('open', job.id)?.job.status;
await jobs.close();
await database.close();
process.stdout.write(`done ${status}\n`);
