/** Makes a column a part of an id rule. In: the column's type. Throws if such a column cannot be used in an id. */
import { type IdPart, idCodec } from '../../src/mapping/id-rule.ts';
import type { ColumnExpression } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';

export function idPart(type: ColumnExpression['type']): IdPart {
  const codec = idCodec(undefined, type);
  if (!codec) throw new Error('the type cannot be used in an id');
  const column: ColumnExpression = { kind: 'column', alias: identifier('t'), column: identifier('K'), type };
  return { kind: 'column', column, codec };
}
