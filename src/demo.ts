/**
 * What is served when nothing is configured. The only file of src that knows the demo's place; nothing here is read
 * once DATABASE_URL and MAPPINGS are set.
 */
import { fileURLToPath } from 'node:url';

/** The pack that MAPPINGS means by default. */
export const DEMO_PACK = fileURLToPath(new URL('../mappings/medkeep', import.meta.url));

/** What the demo database is built of; a change of either builds it anew. */
export const DEMO_DATABASE = { patients: 120, seed: 1 } as const;
