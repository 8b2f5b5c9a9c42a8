/**
 * State of a workbench: one pack, one database, and the unsaved texts of the page. In: questions of the page. Out:
 * problems, mappings, previews. The schema is read once, and again when a person asks; the pack is read from the disk
 * each time.
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
  /** What goes into documents; undefined: ccds.yaml is not there, or has errors. */
  readonly content: Content | undefined;
}

/** A pack that can be asked. */
export interface Served {
  readonly registry: Registry;
  readonly facade: Facade;
  readonly catalog: Catalog;
  /** What goes into documents; undefined: the pack has no ccds.yaml. */
  readonly content: Content | undefined;
  /** The texts at hand have errors: these are the last that had none. */
  readonly stale: boolean;
  /** The rules of `deny` that it keeps to. */
  readonly denied: ReadonlySet<string>;
  /** Where a place of its files stands in the texts at hand. */
  readonly placeNow: (place: Position) => Position;
}

export class Desk {
  readonly database: Database;
  readonly folder: string;
  /** Of the pack as it is loaded for tests. */
  readonly testMemory = new CheckMemory();
  readonly #config: DeskConfig;
  #catalog: Promise<Catalog> | undefined;
  /** Tables whose permissions were asked for, in lower case. */
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

  /** The whole schema. Rejects with DatabaseError. */
  catalog(): Promise<Catalog> {
    this.#catalog ??= this.database.catalog().catch((error: unknown) => {
      this.#catalog = undefined;
      throw error;
    });
    return this.#catalog;
  }

  /** Reads the schema anew when it is needed next. */
  forget(): void {
    this.#catalog = undefined;
    this.#permitted = new Set();
    this.#last = undefined;
    this.#saved = undefined;
  }

  /** Which columns are never read, by these texts. Undefined: pack.yaml cannot be read, so nobody knows. */
  deny(unsaved: Unsaved): Settings['deny'] | undefined {
    const settings = settingsOf(this.files(unsaved));
    return 'deny' in settings ? settings.deny : undefined;
  }

  /** The files of the pack, with these texts instead of those of the disk. */
  files(unsaved: Unsaved): PackFiles {
    return readPackFiles(this.folder, this.#config.schema, new Map(Object.entries(unsaved)));
  }

  /** The names that the pack with these texts and the database have. Rejects with DatabaseError. */
  async names(unsaved: Unsaved): Promise<Names> {
    return namesIn(this.files(unsaved), await this.catalog(), this.#memory.pack);
  }

  /** Checks the pack with these texts; equal texts once. Rejects with DatabaseError. */
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

  /** The pack as it is on the disk; undefined where it has errors, or reads what these texts deny. */
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

  /** Whether a pack of other texts may be asked: these may have rules of `deny` that it does not know. */
  #keepsTo({ denied }: Pick<Served, 'denied'>, unsaved: Unsaved): boolean {
    return [...(rulesOf(this.files(unsaved)) ?? [])].every(rule => denied.has(rule));
  }

  /**
   * The pack with these texts; with errors in them, as it was before. Undefined: it never was without, or reads what
   * these texts deny.
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

/** The files that places of a registry are in, by path. */
function textsOf({ pack, bases = [], codes, tables, mappings }: PackFiles): ReadonlyMap<string, string> {
  const files = [...(pack ? [pack] : []), ...bases, ...codes, ...tables, ...mappings];
  return new Map(files.map(({ path, text }) => [path, text]));
}

/** The rules of `deny`; undefined: pack.yaml cannot be read. */
function rulesOf(files: PackFiles): ReadonlySet<string> | undefined {
  const settings = settingsOf(files);
  return 'deny' in settings ? new Set(settings.denyRules.map(({ text }) => text)) : undefined;
}
