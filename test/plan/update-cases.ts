/** Rewrites cases.json from the planner's present results: `node test/plan/update-cases.ts`. Read the difference. */
import { writeFileSync } from 'node:fs';
import { type Case, openPlannedDemo, planOf } from './plans.ts';
import { REQUESTS } from './requests.ts';

const demo = await openPlannedDemo();
const cases: Case[] = [];
for (const asked of REQUESTS) {
  const { mssqlTexts: _, ...readable } = await planOf(asked, demo);
  cases.push(readable);
}
await demo.close();
writeFileSync(new URL('cases.json', import.meta.url), `${JSON.stringify(cases, null, 2)}\n`);
