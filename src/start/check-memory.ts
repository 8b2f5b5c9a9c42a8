/**
 * Caches results of checking one pack for the next check, because texts change often and the schema rarely: the results
 * of each stage, and the forms of the columns that the pack names. In: the database and its catalog. Out: the catalog
 * with forms, the same object as long as nothing differs.
 */
import { Memo } from '../common/memo.ts';
import { PackMemory } from '../mapping/load/pack/memory.ts';
import type { PackFile, PackFiles } from '../mapping/load/read/files.ts';
import type { SearchProblem } from '../plan/search-problems.ts';
import type { Catalog, CatalogPart } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';

interface Found {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly asked: ReadonlySet<string>;
  readonly withForms: Catalog;
}

export class CheckMemory {
  readonly pack = new PackMemory();
  readonly searches = new Memo<readonly SearchProblem[]>();
  #found: Found | undefined;

  /**
   * Adds forms by reading the rows of the columns that a text of the pack may mean, and no others. Rejects with
   * DatabaseError.
   */
  async withForms(database: Database, catalog: Catalog, files: PackFiles, { tables }: CatalogPart): Promise<Catalog> {
    if (database.forms === undefined) return catalog;
    const asked = this.#asked(catalog, files, new Set(tables));
    const before = this.#found;
    const isKnown =
      before?.database === database && before.catalog === catalog && [...asked].every(one => before.asked.has(one));
    if (before && isKnown && (await database.formsChanged?.()) === false) return before.withForms;
    const withForms = await database.forms(catalog, (table, column) => asked.has(`${table}.${column}`));
    this.#found = { database, catalog, asked, withForms };
    return withForms;
  }

  /** Returns these columns, as `table.column` in lower case. */
  #asked(
    catalog: Catalog,
    { bases = [], pack, codes, mappings }: PackFiles,
    tables: ReadonlySet<string>,
  ): ReadonlySet<string> {
    const texts = [...bases, ...(pack ? [pack] : []), ...codes, ...mappings].map(file => this.#wordsOf(file));
    const words = new Set(texts.flatMap(of => [...of]));
    // A name with blanks or non-English letters consists of several words.
    const isWritten = (name: string): boolean => (name.match(/\w+/g) ?? []).every(word => words.has(word));
    const isTable = namedBy([...tables], isWritten);
    const isColumn = namedBy([...words], isWritten);
    const named = [...catalog.tables].filter(([key]) => tables.has(key) || isTable(key));
    return new Set(
      named.flatMap(([table, { columns }]) =>
        [...columns.keys()].flatMap(column => (isWritten(column) || isColumn(column) ? [`${table}.${column}`] : [])),
      ),
    );
  }

  /** Returns the words of a file, including those that a macro completes: `diag$n`. */
  #wordsOf({ path, text }: PackFile): ReadonlySet<string> {
    return this.pack.words.get(
      path,
      [text],
      () => new Set([...(text.toLowerCase().match(/\w+/g) ?? []), ...(text.toLowerCase().match(ASSEMBLED) ?? [])]),
    );
  }
}

const ASSEMBLED = /[\w$]*\$[a-z_][\w$]*/g;
const PARAMETER = /\$[a-z_]\w*/;

/**
 * Returns a test whether a macro may assemble a name. `results_$y` may be `results_2020` if `2020` is written somewhere
 * in the pack; `$table` may be any name that is written.
 */
function namedBy(texts: readonly string[], isWritten: (part: string) => boolean): (name: string) => boolean {
  const literally = (part: string): string => part.replace(/[^\w\s]/g, '\\$&');
  const patterns = texts
    .filter(text => PARAMETER.test(text))
    .map(text => new RegExp(`^${text.split(PARAMETER).map(literally).join('(.*)')}$`));
  return name => patterns.some(pattern => pattern.exec(name)?.slice(1).every(isWritten) ?? false);
}
