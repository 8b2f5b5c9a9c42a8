/** Writes the statements that create and maintain a table of words in SQL Server (`WordTable` of ../engine.ts). */

import { type WordTable, wordTableName } from '../engine.ts';
import { bracketed, identifier } from '../identifier.ts';
import { wordsText } from './functions.ts';

/** Returns the statements. The table's collation compares words as searches do, so words are stored as written. */
export function mssqlWordTable(words: WordTable): string {
  const named = (name: string): string => `${quoteName(words.schema ?? 'dbo')}.${quoteName(name)}`;
  const [table, own] = [named(wordTableName(words)), named(words.of.name)];
  const view = named(`${wordTableName(words)}_NOW`);
  const names = words.key.map(({ name }) => quoteName(name));
  const whole = `CAST(CONCAT(${words.columns.map(({ name }) => `t.${quoteName(name)}`).join(`, N' ', `)}, N'') AS nvarchar(max))`;
  const same = (left: string, right: string): string =>
    names.map(name => `${left}.${name} = ${right}.${name}`).join(' AND ');
  return `CREATE TABLE ${table} (
  ${words.key.map(({ name, declared }) => `${quoteName(name)} ${declared.replace(/ (?:CP\d+|UTC)$/, '')} NOT NULL,`).join('\n  ')}
  WORD nvarchar(200) COLLATE Latin1_General_100_CI_AI NOT NULL
);
CREATE INDEX ${quoteName(`${wordTableName(words)}_BY_WORD`)} ON ${table} (WORD, ${names.join(', ')});
CREATE INDEX ${quoteName(`${wordTableName(words)}_BY_KEY`)} ON ${table} (${names.join(', ')});
GO
CREATE VIEW ${view} AS
SELECT ${names.map(name => `t.${name}`).join(', ')}, LEFT(p.value, 200) AS WORD
FROM ${own} AS t CROSS APPLY STRING_SPLIT(${wordsText(whole)}, N' ') AS p
WHERE p.value <> N'';
GO
CREATE TRIGGER ${named(`${wordTableName(words)}_KEEP`)} ON ${own} AFTER INSERT, UPDATE, DELETE AS
BEGIN
  SET NOCOUNT ON;
  DELETE w FROM ${table} AS w WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE ${same('d', 'w')})
    OR EXISTS (SELECT 1 FROM inserted AS i WHERE ${same('i', 'w')});
  INSERT INTO ${table} SELECT DISTINCT n.* FROM ${view} AS n WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE ${same('d', 'n')})
    OR EXISTS (SELECT 1 FROM inserted AS i WHERE ${same('i', 'n')});
END;
GO
INSERT INTO ${table} SELECT DISTINCT * FROM ${view};`;
}

/** Quotes a name. Throws a TypeError on a name that no mapping could have either. */
function quoteName(name: string): string {
  return bracketed(identifier(name));
}
