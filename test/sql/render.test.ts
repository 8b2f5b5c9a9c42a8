import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTEGER, NUMBER, UNICODE } from '../../src/sql/column-type.ts';
import { among, call, equals, TRUE, value } from '../../src/sql/construct.ts';
import type { Expression, Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { likePattern, MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render, renderExpression, renderPredicate } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { runsOf, shareOf } from '../share.ts';
import { predicate } from './arbitrary.ts';
import { CASES } from './cases.ts';
import type { Expected } from './expected.ts';
import { expectedOf } from './expected.ts';
import { tsqlProblems } from './grammar/tsql-grammar.ts';
import { column, openSample } from './sample.ts';

const expected: readonly Expected[] = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8'));
const DIALECTS = [SQLITE, MSSQL];

function planOf(where: Predicate): SqlPlan {
  const from = { table: { name: identifier('A') }, alias: identifier('a'), joins: [], where };
  return { from, columns: [column('a', 'ID')], orderBy: [], limit: 10, shape: 'rows' };
}

function raw(text: string): SqlPlan {
  return planOf({ kind: 'raw', parts: [text], not: false });
}

describe('a plan renders', () => {
  let sample: ReturnType<typeof openSample>;
  beforeAll(() => {
    sample = openSample();
  });
  afterAll(() => sample.remove());

  it('has one expected text per case', () => {
    expect(expected.map(e => e.title)).toEqual(CASES.map(c => c.title));
  });

  /** The cases whose T-SQL the grammar parses, which takes far longer than rendering it. */
  const PARSED = new Set(shareOf(CASES, 4));

  for (const [i, of] of CASES.entries()) {
    it(of.title, async () => {
      expect(await expectedOf(of, sample.database)).toEqual(expected[i]);
      if (PARSED.has(of)) expect(tsqlProblems(render(of.plan, MSSQL).text)).toEqual([]);
    });
  }
});

describe('every statement', () => {
  const INJECTED = "'; DROP TABLE A --";
  const shapeless = (where: Predicate): Predicate => JSON.parse(JSON.stringify(where), replaceValue);
  /**
   * Replaces a value by another of the same kind: digits stay digits, numbers keep their decimals; constants of a
   * mapping stay.
   */
  function replaceValue(this: { readonly constant?: true }, key: string, found: unknown): unknown {
    if (this.constant) return found;
    if (key === 'text' && typeof found === 'string') return `${found}other`;
    if (key !== 'value') return found;
    if (typeof found === 'number') return found + 1;
    return typeof found === 'string' && found.length > 1 && !/^\d/.test(found) ? `${found}${INJECTED}` : found;
  }

  it('is one SELECT, whatever the predicate', () => {
    fc.assert(
      fc.property(predicate, where => {
        for (const dialect of DIALECTS) {
          const { text } = render(planOf(where), dialect);
          expect(text).toMatch(/^SELECT /);
          expect(text.replace(/'(?:[^']|'')*'/g, '')).not.toMatch(
            /;|--|\b(?:INSERT|UPDATE|DELETE|DROP|EXEC|MERGE|INTO|ALTER|CREATE|GRANT|PRAGMA|ATTACH)\b/i,
          );
        }
      }),
      { numRuns: runsOf(300) },
    );
  });

  it('is one correct SELECT to the grammar of T-SQL', () => {
    fc.assert(
      fc.property(predicate, where => {
        expect(tsqlProblems(render(planOf(where), MSSQL).text)).toEqual([]);
      }),
      { numRuns: runsOf(50) },
    );
  });

  it('has a text that depends on the shape of the plan and not on its values', () => {
    fc.assert(
      fc.property(predicate, where => {
        for (const dialect of DIALECTS) {
          const text = render(planOf(where), dialect).text;
          expect(render(planOf(shapeless(where)), dialect).text).toBe(text);
        }
      }),
      { numRuns: runsOf(300) },
    );
  });

  it('binds its parameters in the order of their placeholders', () => {
    fc.assert(
      fc.property(predicate, where => {
        const sqlite = render(planOf(where), SQLITE);
        const places = sqlite.text.replace(/'(?:[^']|'')*'/g, '').match(/\?/g) ?? [];
        expect(places.length).toBe(sqlite.parameters.length);
        const mssql = render(planOf(where), MSSQL);
        const names = new Set(mssql.text.match(/@p\d+/g));
        expect([...names].sort()).toEqual(mssql.parameters.map(p => `@${p.name}`).sort());
      }),
      { numRuns: runsOf(300) },
    );
  });
});

describe('inputs that cannot be rendered', () => {
  for (const text of ['1 = 1; DELETE FROM A', '1 = 1 -- so', '1 = 1 /* so', "a.CD = 'open"]) {
    it(`is refused as raw text: ${text}`, () => {
      for (const dialect of DIALECTS) expect(() => render(raw(text), dialect)).toThrow(TypeError);
    });
  }

  it('is a separator that could stand in an escape, or has several characters', () => {
    for (const dialect of DIALECTS) {
      for (const separator of ['u', '5', '::', '']) {
        const piece = call('piece', [column('a', 'CD'), value(separator, UNICODE), 1], UNICODE);
        expect(() => renderExpression(piece, dialect)).toThrow(TypeError);
      }
    }
  });

  it('is a position other than a whole number from 1', () => {
    for (const dialect of DIALECTS) {
      for (const position of [0, -1, 1.5, Number.NaN]) {
        const piece = call('piece', [column('a', 'CD'), value(';', UNICODE), position], UNICODE);
        expect(() => renderExpression(piece, dialect)).toThrow(TypeError);
      }
    }
  });

  it('is a comparison of a number with another text', () => {
    const where = equals(column('a', 'QTY'), value('abc', UNICODE));
    for (const dialect of DIALECTS) expect(() => renderPredicate(where, dialect)).toThrow(TypeError);
  });
});

describe('parameters are declared so that SQL Server keeps the index and the value', () => {
  const typeOf = (left: Expression, right: Expression): unknown =>
    renderPredicate(equals(left, right), MSSQL).parameters[0]?.type;

  it('a text by its column, and longer only where it is longer', () => {
    expect(typeOf(column('a', 'CD'), value('12345678', UNICODE))).toMatchObject({ unicode: false, length: 8 });
    expect(typeOf(column('a', 'CD'), value('123456789', UNICODE))).toMatchObject({ unicode: false, length: 8000 });
    expect(typeOf(column('a', 'NAM'), value('x', UNICODE))).toMatchObject({ unicode: true, length: 60 });
    expect(typeOf(column('a', 'CD'), value('Ā', UNICODE))).toMatchObject({ unicode: true, length: 8 });
  });

  it('a number by its value', () => {
    expect(typeOf(column('a', 'QTY'), value(5_000_000_000, INTEGER))).toEqual({ kind: 'integer', bits: 64 });
    expect(typeOf(column('a', 'QTY'), value('-1', INTEGER))).toEqual({ kind: 'integer', bits: 32 });
    expect(typeOf(column('a', 'QTY'), value('0.125', NUMBER))).toEqual({ kind: 'decimal', precision: 38, scale: 3 });
    expect(typeOf(column('a', 'CD'), value(5, INTEGER))).toMatchObject({ kind: 'text', unicode: false });
  });

  it('no list has more than a few lengths', () => {
    const lengths = new Set<number>();
    for (let n = 1; n <= 1000; n++) {
      const list = Array.from({ length: n }, (_, i) => value(i, INTEGER));
      lengths.add(renderPredicate(among(column('a', 'ID'), list), MSSQL).parameters.length);
    }
    expect([...lengths]).toEqual([1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  });
});

describe('T-SQL by itself', () => {
  it('writes a GLOB pattern as a LIKE pattern in which percent and underscore stand for themselves', () => {
    expect(likePattern('*[0-9]')).toBe('%[0-9]');
    expect(likePattern('*[^-0-9.]*')).toBe('%[^-0-9.]%');
    expect(likePattern('?_50%')).toBe('_[_]50[%]');
    expect(likePattern('[[]x][*]')).toBe('[[]x][*]');
  });

  it('casts the old type TEXT before it compares', () => {
    const note: Expression = {
      kind: 'column',
      alias: identifier('a'),
      column: identifier('NOTE'),
      type: { kind: 'text', unicode: false, fixed: false, length: 'max', lob: true },
    };
    expect(renderPredicate(equals(note, value('x', UNICODE)), MSSQL).text).toContain('CAST(a.NOTE AS varchar(max)) =');
    expect(renderPredicate(equals(note, value('x', UNICODE)), SQLITE).text).toBe('a.NOTE COLLATE RTRIM = ?');
  });

  it('reads money with its four digits', () => {
    const fee: Expression = {
      kind: 'column',
      alias: identifier('a'),
      column: identifier('FEE'),
      type: { kind: 'decimal', precision: 19, scale: 4 },
    };
    expect(render({ ...planOf(TRUE), columns: [fee] }, MSSQL).text).toContain(
      'CONVERT(nvarchar(42), CAST(a.FEE AS decimal(19,4)))',
    );
  });
});
