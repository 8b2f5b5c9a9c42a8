/**
 * The version of this server, as package.json says.
 */
import { readFileSync } from 'node:fs';

export const SOFTWARE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
