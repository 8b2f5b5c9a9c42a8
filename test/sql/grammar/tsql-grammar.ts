/**
 * Validates that a text is one correct T-SQL SELECT. In: the text. Out: its problems. The grammar is the T-SQL one of
 * ANTLR's grammars-v4 (https://github.com/antlr/grammars-v4/tree/master/sql/tsql, 2024), from the tables in @dbml/core
 * 3.14; later majors no longer expose them. It adds the few rules of SQL Server that the grammar lacks, and those that
 * limit the text to a plain query.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Node, Parsed } from './interpreted-grammar.ts';
import { interpretGrammar, nodesOf } from './interpreted-grammar.ts';
import type { Omissions } from './smaller-automaton.ts';

const require = createRequire(import.meta.url);

/**
 * Returns every reason, as `line:column what is wrong`, why SQL Server (2017 and later) would refuse the text as a
 * syntax error, or why it is not a single read-only SELECT statement that returns rows; empty if there is none. Names
 * and types are not looked up, so a wrong column or number of arguments goes unnoticed where the grammar leaves it
 * open.
 */
export function tsqlProblems(sql: string): string[] {
  const { tree, rest, errors } = parse(sql);
  if (errors.length > 0) return [...errors];
  if (rest) return [`${rest.at} the SELECT ends before ${rest.text}`];
  return [...nodesOf(tree)].flatMap(node => {
    const problem = RULES[node.name]?.(node);
    return problem === undefined ? [] : [`${node.at} ${problem}`];
  });
}

/** True if the text is one correct read-only SELECT statement. */
export function isSingleSelect(sql: string): boolean {
  return tsqlProblems(sql).length === 0;
}

/** Errors in constructs that the grammar accepts, by name of rule or token. */
const RULES: Readonly<Record<string, (node: Node) => string | undefined>> = {
  // An operator since SQL Server 2025; a syntax error before.
  DOUBLE_BAR: () => 'text is put together by + or CONCAT',
  PLACEHOLDER: () => 'a parameter is written @name',
  table_source_item: node =>
    has(node, 'derived_table') && !has(node, 'as_table_alias') ? 'a derived table needs a name' : undefined,
  query_expression: node =>
    has(node, 'select_order_by_clause') && has(node, 'sql_union') ? 'ORDER BY stands after the last branch' : undefined,
  subquery: orderedWithoutTop,
  common_table_expression: orderedWithoutTop,
  // Functions with a special syntax (CAST, SUBSTRING) have rules of their own; wrong uses of them end here.
  scalar_function_name: node => {
    const name = firstToken(node);
    const free = [
      'ID',
      'SQUARE_BRACKET_ID',
      'DOUBLE_QUOTE_ID',
      'LEFT',
      'RIGHT',
      'CHECKSUM',
      'BINARY_CHECKSUM',
      'OPENJSON',
    ];
    return free.includes(name.name) ? undefined : `${name.text} is not called in this way`;
  },
  // These make it more than a query; this grammar allows no statement that writes inside a SELECT.
  query_specification: node => (has(node, 'INTO') ? 'SELECT INTO writes a table' : undefined),
  select_list_elem: node => (has(node, 'LOCAL_ID') ? 'an assignment returns no rows' : undefined),
  built_in_functions: node => (firstToken(node).name === 'NEXT' ? 'NEXT VALUE FOR advances a sequence' : undefined),
  for_clause: () => 'FOR makes a document of the rows',
  rowset_function: () => 'OPENROWSET reads elsewhere',
};

/** Msg 1033: an inner ORDER BY is valid only with TOP or OFFSET. */
function orderedWithoutTop(node: Node): string | undefined {
  const statement = descend(node, 'select_statement');
  const query = statement && descend(statement, 'query_expression');
  const order = query && (descend(query, 'select_order_by_clause') ?? descend(statement, 'select_order_by_clause'));
  const select = query && descend(query, 'query_specification');
  if (!order || !select || has(order, 'OFFSET') || has(select, 'top_clause')) return undefined;
  return 'ORDER BY in a subquery needs TOP or OFFSET';
}

function has(node: Node, name: string): boolean {
  return descend(node, name) !== undefined;
}

function descend(node: Node, name: string): Node | undefined {
  return node.children.find(child => child.name === name);
}

function firstToken(node: Node): Node {
  const [first] = node.children;
  return first ? firstToken(first) : node;
}

/**
 * Without these rules one or two tokens decide on the kind of a call and the owner of an ORDER BY; with them,
 * everything between the parentheses does. ORDER BY belongs both to the statement and to its last query.
 */
const RARE: Omissions = {
  alternatives: {
    function_call: ['partition_function'],
    query_expression: ['select_order_by_clause'],
  },
  tokens: {
    scalar_function_name: ['ID', 'SQUARE_BRACKET_ID', 'DOUBLE_QUOTE_ID', 'CHECKSUM', 'BINARY_CHECKSUM'],
  },
};

/** The full grammar judges what the smaller one refuses. */
function parse(sql: string): Parsed {
  const parsed = withoutRare()(sql);
  return parsed.errors.length === 0 ? parsed : whole()(sql);
}

const withoutRare = lazily(() => interpret(RARE));
const whole = lazily(() => interpret());

function interpret(omissions?: Omissions): (text: string) => Parsed {
  return interpretGrammar(
    readFileSync(require.resolve('@dbml/core/lib/parse/ANTLR/parsers/mssql/TSqlLexer.interp'), 'utf8'),
    readFileSync(require.resolve('@dbml/core/lib/parse/ANTLR/parsers/mssql/TSqlParser.interp'), 'utf8'),
    'select_statement_standalone',
    omissions,
  );
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
