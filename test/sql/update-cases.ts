/** Rewrites cases.json from the dialects' present output: `node test/sql/update-cases.ts`. Read the difference. */
import { writeFileSync } from 'node:fs';
import { CASES } from './cases.ts';
import { expectedOf } from './expected.ts';
import { openSample } from './sample.ts';

const { database, remove } = openSample();
const cases = [];
for (const of of CASES) cases.push(await expectedOf(of, database));
await remove();
writeFileSync(new URL('cases.json', import.meta.url), `${JSON.stringify(cases, null, 2)}\n`);
