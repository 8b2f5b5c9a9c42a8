/** Writes the statements that create and maintain a table of words in SQLite (`WordTable` of ../engine.ts). */

import { type WordTable, wordTableName } from '../engine.ts';
import { bracketed, identifier } from '../identifier.ts';
import { BETWEEN, fold, LEFT_OUT } from '../shared-functions.ts';

/**
 * Returns the statements. SQLite knows no Unicode letters, and a trigger cannot call our functions. A text with other
 * than Latin letters is listed as `*`, which stands for any word, so that such rows are compared one by one.
 */
export function sqliteWordTable(words: WordTable): string {
  const [table, own] = [quoteName(wordTableName(words)), quoteName(words.of.name)];
  const view = quoteName(`${wordTableName(words)}_NOW`);
  const names = words.key.map(({ name }) => quoteName(name));
  const whole = words.columns.map(({ name }) => `coalesce(t.${quoteName(name)}, '')`).join(` || ' ' || `);
  const same = (row: string): string => names.map(name => `${name} = ${row}.${name}`).join(' AND ');
  const read = [...words.key, ...words.columns].map(({ name }) => quoteName(name)).join(', ');
  const changed = (event: string, rows: readonly string[]): string => {
    const either = rows.map(same).join(' OR ');
    const when = event === 'UPDATE' ? `UPDATE OF ${read}` : event;
    return `CREATE TRIGGER ${quoteName(`${wordTableName(words)}_${event}`)} AFTER ${when} ON ${own} BEGIN
  DELETE FROM ${table} WHERE ${either};
  INSERT INTO ${table} SELECT DISTINCT * FROM ${view} WHERE ${either};
END;`;
  };
  return `CREATE TABLE ${table} (
  ${words.key.map(({ name, declared, type }) => `${quoteName(name)} ${declared}${type?.kind === 'text' ? ' COLLATE RTRIM' : ''},`).join('\n  ')}
  WORD TEXT NOT NULL COLLATE RTRIM
);
CREATE INDEX ${quoteName(`${wordTableName(words)}_BY_WORD`)} ON ${table} (WORD, ${names.join(', ')});
CREATE INDEX ${quoteName(`${wordTableName(words)}_BY_KEY`)} ON ${table} (${names.join(', ')});

-- The words of each row as it is now; * where a text has other letters than Latin ones.
CREATE VIEW ${view} AS
SELECT ${names.map(name => `x.${name}`).join(', ')},
  CASE WHEN x.TXT GLOB ${OTHERS} OR instr(x.TXT, char(0)) > 0 THEN '*' ELSE p.value END AS WORD
FROM (SELECT ${names.map(name => `t.${name}`).join(', ')}, ${whole} AS TXT FROM ${own} AS t) AS x,
  json_each('[' || replace(json_quote(${spaced('x.TXT')}), ' ', '","') || ']') AS p
WHERE p.value <> '';

${changed('INSERT', ['new'])}
${changed('UPDATE', ['old', 'new'])}
${changed('DELETE', ['old'])}

INSERT INTO ${table} SELECT DISTINCT * FROM ${view};`;
}

/** The last character of Latin Extended-A: up to it, SQL folds characters as searches do. */
const LAST_FOLDED = 0x17f;
const LINE = "' || char(9, 10, 13) || '";
const SEPARATORS = [...LEFT_OUT, ...BETWEEN].filter(character => character > '\x7f').join('');
/** Matches texts with letters beyond ASCII, and texts with letters that the folding below does not cover. */
const ACCENTED = `'*[^ -~${LINE}]*'`;
const OTHERS = `'*[^ -~${LINE}\u00a1-${String.fromCodePoint(LAST_FOLDED)}${SEPARATORS}]*'`;

/** Returns SQL for the folded words of a Latin text, with blanks between them. */
function spaced(text: string): string {
  const latin = Array.from({ length: LAST_FOLDED - 0x7f }, (_, i) => String.fromCodePoint(0x80 + i));
  const letters = latin.filter(letter => fold(letter) !== letter && !SEPARATORS.includes(letter));
  const rules = [
    ...['char(9)', 'char(10)', 'char(13)'].map(separator => [separator, "' '"]),
    ...[...BETWEEN].filter(separator => separator !== ' ').map(separator => [quoted(separator), "' '"]),
    ...[...LEFT_OUT].map(character => [quoted(character), "''"]),
  ];
  const isAscii = ([from = '']: readonly string[]): boolean => !/[^\0-\x7f]/.test(from);
  const beyond = [...rules.filter(rule => !isAscii(rule)), ...letters.map(one => [quoted(one), quoted(fold(one))])];
  const replaced = (sql: string, by: readonly (readonly string[])[]): string =>
    by.reduce((inner, [from, to]) => `replace(${inner}, ${from}, ${to})`, sql);
  // Most texts have no such letter, and each would pay for hundreds of replacements.
  const plain = `CASE WHEN ${text} GLOB ${ACCENTED} THEN ${replaced(text, beyond)} ELSE ${text} END`;
  return `lower(${replaced(plain, rules.filter(isAscii))})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Quotes a name. Throws a TypeError on a name that no mapping could have either. */
function quoteName(name: string): string {
  return bracketed(identifier(name));
}
