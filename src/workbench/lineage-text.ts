/** Describes in words where an element of a previewed row comes from: `PERSON.SEX via code map sex.code`. */
import type { PreviewElement } from './preview-elements.ts';

export function lineageText({ kind, sources, codec, target }: PreviewElement): string {
  const from = sources.map(({ table, column }) => `${table}.${column}`).join(', ');
  switch (kind) {
    case 'column':
      return `${from} via ${codec}`;
    case 'reference':
      return `${from} → ${target}`;
    case 'id':
      return `${from} as id`;
    case 'text':
      return `text of ${from}`;
    case 'constant':
      return 'constant';
  }
}
