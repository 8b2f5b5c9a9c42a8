/** The version of this server, from package.json. */
import { readFileSync } from 'node:fs';

export const SOFTWARE_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
