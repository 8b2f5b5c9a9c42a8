/**
 * Holds the state of a workbench: one pack, one database, and the unsaved texts of the page. In: questions of the page.
 * Out: problems, mappings, previews. The schema is read once, and again on request; the pack is read from the disk each
 * time.
 */
import type { Content } from '../../ccda/content.ts';
import type { Config } from '../../config/config.ts';
import type { Facade } from '../../facade.ts';
import { type LoadedPack, settingsOf } from '../../mapping/load/pack/pack.ts';
import type { Settings } from '../../mapping/load/pack/settings.ts';
import { type PackFiles, readPackFiles } from '../../mapping/load/read/files.ts';
import { namesOf } from '../../mapping/load/rows/tables-used.ts';
import type { Position, Registry } from '../../mapping/model.ts';
import { type Catalog, spelled, withDenied } from '../../sql/catalog.ts';
import type { Database } from '../../sql/database.ts';
import { CheckMemory } from '../../start/check-memory.ts';
import { checkKnown, facadeOf } from '../../start/setup.ts';
import type { Names } from '../completion/complete.ts';
import { namesIn } from '../completion/names.ts';
import type { Unsaved } from '../wire/mapping.ts';
import { movedPlaces } from './moved-places.ts';

export type DeskConfig = Pick<Config, 'mappings' | 'schema' | 'page' | 'linkSecret'>;

export interface Checked {
  readonly pack: LoadedPack;
  readonly catalog: Catalog;
  /** Content of documents; undefined if ccds.yaml is missing or has errors. */
  readonly content: Content | undefined;
}

/** A pack that can be searched. */
export interface Served {
  readonly registry: Registry;
  readonly facade: Facade;
  readonly catalog: Catalog;
  /** Content of documents; undefined if the pack has no ccds.yaml. */
  readonly content: Content | undefined;
  /** True if the current texts have errors: these are the last ones without. */
  readonly stale: boolean;
  /** The `deny` rules that it respects. */
  readonly denied: ReadonlySet<string>;
  /** Maps a place in its files to the current texts. */
  readonly placeNow: (place: Position) => Position;
}

export class Desk {
  readonly database: Database;
  readonly folder: string;
  /** Memory for the pack as loaded for tests. */
  readonly testMemory = new CheckMemory();
  readonly #config: DeskConfig;
  #catalog: Promise<Catalog> | undefined;
  /** Lower-case names of tables whose permissions were checked. */
  #permitted = new Set<string>();
  #last: { readonly version: string; readonly checked: Promise<Checked> } | undefined;
  readonly #memory = new CheckMemory();
  #sound: (Omit<Served, 'stale' | 'placeNow'> & { readonly files: PackFiles }) | undefined;
  #saved: { readonly version: string; readonly served: Promise<Served | undefined> } | undefined;

  constructor(database: Database, config: DeskConfig) {
    this.database = database;
    this.folder = config.mappings;
    this.#config = config;
  }

  /** Returns the whole schema. Rejects with DatabaseError. */
  catalog(): Promise<Catalog> {
    this.#catalog ??= this.database.catalog().catch((error: unknown) => {
      this.#catalog = undefined;
      throw error;
    });
    return this.#catalog;
  }

  /** Forgets the schema, so that it is read again when it is needed. */
  forget(): void {
    this.#catalog = undefined;
    this.#permitted = new Set();
    this.#last = undefined;
    this.#saved = undefined;
  }

  /** Returns the `deny` rules of these texts; undefined if pack.yaml cannot be read and the rules are unknown. */
  deny(unsaved: Unsaved): Settings['deny'] | undefined {
    const settings = settingsOf(this.files(unsaved));
    return 'deny' in settings ? settings.deny : undefined;
  }

  /** Returns the files of the pack, with these texts in place of those on the disk. */
  files(unsaved: Unsaved): PackFiles {
    return readPackFiles(this.folder, this.#config.schema, new Map(Object.entries(unsaved)));
  }

  /** Returns the names of the pack with these texts and of the database. Rejects with DatabaseError. */
  async names(unsaved: Unsaved): Promise<Names> {
    return namesIn(this.files(unsaved), await this.catalog(), this.#memory.pack);
  }

  /** Checks the pack with these texts; caches the last result. Rejects with DatabaseError. */
  check(unsaved: Unsaved): Promise<Checked> {
    const files = this.files(unsaved);
    if (this.#last?.version === files.version) return this.#last.checked;
    const checked = this.#check(files);
    this.#last = { version: files.version, checked };
    checked.catch(() => {
      this.#last = undefined;
    });
    return checked;
  }

  async #check(files: PackFiles): Promise<Checked> {
    const checked = await checkKnown(this.database, await this.catalog(), files, this.#memory);
    const { registry } = checked.pack;
    const names = registry ? [...namesOf(registry)].filter(name => !this.#permitted.has(name)) : [];
    if (names.length === 0) return checked;
    const { unreadable } = await this.database.permissions(names.map(name => spelled(checked.catalog, name)));
    for (const name of names) this.#permitted.add(name);
    if (unreadable.length === 0) return checked;
    this.#catalog = Promise.resolve(withDenied(await this.catalog(), unreadable));
    return checkKnown(this.database, await this.#catalog, files, this.#memory);
  }

  /** Returns the pack on the disk; undefined if it has errors, or reads columns that these texts deny. */
  async saved(unsaved: Unsaved): Promise<Served | undefined> {
    const served = await this.#onDisk();
    return served && this.#keepsTo(served, unsaved) ? served : undefined;
  }

  #onDisk(): Promise<Served | undefined> {
    const files = this.files({});
    if (this.#saved?.version === files.version) return this.#saved.served;
    const served = this.#check(files).then(
      ({ pack: { registry }, catalog, content }): Served | undefined =>
        registry && {
          ...{ registry, catalog, content, stale: false, placeNow: asItIs },
          ...{ facade: this.#facadeOf(registry), denied: rulesOf(files) ?? new Set() },
        },
    );
    this.#saved = { version: files.version, served };
    served.catch(() => {
      this.#saved = undefined;
    });
    return served;
  }

  #facadeOf(registry: Registry): Facade {
    return facadeOf(registry, this.database, new Date(), this.#config);
  }

  /** True if a pack of other texts respects all `deny` rules of these texts. */
  #keepsTo({ denied }: Pick<Served, 'denied'>, unsaved: Unsaved): boolean {
    return [...(rulesOf(this.files(unsaved)) ?? [])].every(rule => denied.has(rule));
  }

  /**
   * Returns the pack with these texts; if they have errors, its last version without. Undefined if there is none, or if
   * it reads columns that these texts deny.
   */
  async served(unsaved: Unsaved): Promise<Served | undefined> {
    const { pack, catalog, content } = await this.check(unsaved);
    const { registry } = pack;
    const files = this.files(unsaved);
    if (registry === undefined) {
      if (!this.#sound || !this.#keepsTo(this.#sound, unsaved)) return undefined;
      return { ...this.#sound, stale: true, placeNow: movedPlaces(textsOf(this.#sound.files), textsOf(files)) };
    }
    if (this.#sound?.registry !== registry) {
      const denied = rulesOf(files) ?? new Set<string>();
      this.#sound = { registry, catalog, content, denied, files, facade: this.#facadeOf(registry) };
    }
    return { ...this.#sound, stale: false, placeNow: asItIs };
  }
}

function asItIs(place: Position): Position {
  return place;
}

/** Returns the files that places of a registry refer to, by path. */
function textsOf({ pack, bases = [], codes, tables, mappings }: PackFiles): ReadonlyMap<string, string> {
  const files = [...(pack ? [pack] : []), ...bases, ...codes, ...tables, ...mappings];
  return new Map(files.map(({ path, text }) => [path, text]));
}

/** Returns the rules of `deny`; undefined if pack.yaml cannot be read. */
function rulesOf(files: PackFiles): ReadonlySet<string> | undefined {
  const settings = settingsOf(files);
  return 'deny' in settings ? new Set(settings.denyRules.map(({ text }) => text)) : undefined;
}
