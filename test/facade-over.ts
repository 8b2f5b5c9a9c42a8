/**
 * Makes a facade for tests. In: a registry and a database, and options; by default pages have 50 resources and at most
 * 1,000, and links are sealed with a well-known key.
 */
import { createFacade, type Facade, type FacadeOptions } from '../src/facade.ts';

export function facadeOver(options: Pick<FacadeOptions, 'registry' | 'database'> & Partial<FacadeOptions>): Facade {
  return createFacade({
    ...{ pageSize: 50, pageMax: 1000, secret: new Uint8Array(32), softwareVersion: '0', date: '2026-06-30' },
    ...options,
  });
}
