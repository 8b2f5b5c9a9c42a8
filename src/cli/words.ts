/**
 * `lintel words`: prints the statements that create and maintain a table of words, which searches by words use, and its
 * lines for pack.yaml. In: a table and columns. Out: SQL for the engine; nothing is executed.
 * docs/decisions/0316-an-index-of-words.md
 */
import { settingsOf } from '../mapping/load/pack/pack.ts';
import { problemLine } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import type { Registry } from '../mapping/model.ts';
import { type ColumnInfo, findColumn, findTable, type TableInfo } from '../sql/catalog.ts';
import { type WordTable, wordTableName } from '../sql/engine.ts';
import { engineNamed } from '../sql/engines.ts';
import { isIdentifier } from '../sql/identifier.ts';
import { checkAgainst } from '../start/setup.ts';
import { type Command, configOf, DATABASE, printJson, refuse, withNearest } from './command.ts';
import { withDatabase } from './with-pack.ts';

export const words: Command = {
  summary: 'prints the SQL of an index for searches by words, such as those of names',
  help: `Usage: lintel words TABLE COLUMN... [--json] [--database URL] [--mappings FOLDER]

Prints the statements for a table with the words of these columns, kept by triggers, and the lines of pack.yaml that
let searches use it. \`lintel explain\` names the tables and columns that a search compares by words. Lintel
executes nothing: the administrator of the database does, and grants Lintel's login SELECT on the table.`,
  exits: [
    'statements',
    'no such table or column, one that has no words, no key, an engine without such tables, or the pack has errors',
  ],
  options: {
    json: 'prints one JSON object: statements, and pack with the lines of pack.yaml',
    ...DATABASE,
    mappings: [
      'FOLDER',
      'folder of the pack: the key is that of its mappings of TABLE, else the primary key; its deny rules hold',
    ],
  },
  positionals: [2, 60],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const [written = '', ...names] = args.positionals;
    const files = readPackFiles(config.mappings, config.schema);
    const settings = settingsOf(files);
    if (!('deny' in settings)) return refuse(settings.map(problemLine), terminal);
    return await withDatabase(config, terminal, async database => {
      const { title, wordTable } = engineNamed(database.engine);
      if (wordTable === undefined) return refuse([`${title} has no tables of words`], terminal);
      const catalog = await database.catalog();
      const schema = written.includes('.') ? written.replace(/\..*/, '') : undefined;
      const of = findTable(catalog, written);
      if (!of) {
        const known = [...catalog.tables.values()].map(table => table.name);
        return refuse([withNearest(`There is no table ${written}`, written, known)], terminal);
      }
      const columns: ColumnInfo[] = [];
      for (const one of names) {
        const column = findColumn(of, one);
        if (!column) {
          const known = [...of.columns.values()].map(info => info.name);
          return refuse([withNearest(`Table ${of.name} has no column ${one}`, one, known)], terminal);
        }
        const rule = settings.deny(schema, of.name, column.name);
        if (rule !== undefined) return refuse([`Column ${column.name} is denied by ${rule}`], terminal);
        if (column.type?.kind !== 'text')
          return refuse([`Column ${column.name} is ${column.declared}: only texts have words`], terminal);
        columns.push(column);
      }
      const { registry } = (await checkAgainst(database, files, {})).pack;
      const key = keyOf(of, registry);
      if (key.length === 0) return refuse([`Table ${of.name} has no primary key, and no mapping reads it`], terminal);
      if (![of, ...key, ...columns].every(one => isIdentifier(one.name)))
        return refuse(['A name has characters that no mapping supports'], terminal);
      const table = { of, schema: schema ?? (of.schema?.needed ? of.schema.name : undefined), key, columns };
      const [statements, lines] = [wordTable(table), packLines(written, table)];
      if (args.json) printJson({ statements, pack: lines }, terminal);
      else
        terminal.out([statements, '', '-- In pack.yaml:', ...lines.split('\n').map(line => `-- ${line}`)].join('\n'));
      return 0;
    });
  },
};

/** Returns the table's key. If the table declares none, the key of a mapping that reads it. */
function keyOf(of: TableInfo, registry: Registry | undefined): readonly ColumnInfo[] {
  const source = registry?.mappings.find(mapping => mapping.source.table.name.toLowerCase() === of.name.toLowerCase());
  const names = of.primaryKey.length > 0 ? of.primaryKey : (source?.source.key.map(({ column }) => column) ?? []);
  return names.flatMap(name => findColumn(of, name) ?? []);
}

function packLines(written: string, { of, schema, key, columns }: WordTable): string {
  const names = (all: readonly ColumnInfo[]): string => all.map(({ name }) => name).join(', ');
  const table = `${schema === undefined ? '' : `${schema}.`}${wordTableName({ of })}`;
  const on = key.map(({ name }) => `${name}: ${name}`).join(', ');
  return `words:
  ${written}: { table: ${table}, on: { ${on} }, word: WORD, columns: [${names(columns)}] }`;
}
