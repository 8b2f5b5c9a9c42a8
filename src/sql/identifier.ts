/**
 * Names of tables, columns and aliases. Only an Identifier can be part of SQL text, and only the mapping loader and
 * the catalog readers make them: a string of a request as a name is a type error.
 */

declare const minted: unique symbol;
export type Identifier = string & { readonly [minted]: true };

/** Letters of any language. */
const LEGAL = /^[\p{L}_][\p{L}\p{M}\p{N}_$#@ ]{0,127}$/u;

/** Mints an identifier from a mapping or a catalog. Throws a TypeError on a name that no mapping can write. */
export function identifier(text: string): Identifier {
  if (!isIdentifier(text)) throw new TypeError(`not an SQL identifier: ${JSON.stringify(text)}`);
  return text;
}

/** Whether a text can be an identifier. */
export function isIdentifier(text: string): text is Identifier {
  return LEGAL.test(text);
}

/** A table, with its schema where the engine has schemas. */
export interface TableName {
  readonly schema?: Identifier;
  readonly name: Identifier;
}

/** `dbo.PERSON`, as messages name a table. */
export function printTable({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}
