/**
 * Evaluates criteria on constants while planning, so that a mapping that cannot match is not queried.
 */
import { upperAscii } from '../mapping/codecs/any-case.ts';
import { isBelow } from '../mapping/codecs/text.ts';
import type { Criterion, DigitsTest, StringMode } from '../mapping/criterion.ts';
import type { Json } from '../mapping/model.ts';
import { dateInterval } from '../search/dates.ts';
import { fold, spacedWords } from '../sql/shared-functions.ts';
import { zoneOf } from '../time/zone.ts';
import type { Environment } from './environment.ts';

export function constantSatisfies(json: Json, criterion: Criterion, env: Environment): boolean {
  if (json === null || typeof json === 'object') return false;
  const text = String(json);
  switch (criterion.kind) {
    case 'exact':
      return criterion.anyCase ? upperAscii(text) === upperAscii(criterion.text) : text === criterion.text;
    case 'string':
      return stringSatisfies(text, criterion.mode, criterion.text);
    case 'uri-below':
      return isBelow(text, criterion.text);
    case 'date': {
      const value = dateInterval(text, zoneOf(env.registry.pack.zone));
      if (!value) return false;
      return criterion.any.some(all =>
        all.every(({ edge, op, at }) => compares(edge === 'start' ? value.low : value.high, op, at)),
      );
    }
    case 'number': {
      const value = Number(text);
      return (
        !Number.isNaN(value) && criterion.any.some(all => all.every(({ op, at }) => compares(value, op, Number(at))))
      );
    }
    case 'digits': {
      const digits = text.replace(/[^0-9]/g, '');
      return criterion.any.some(one => passes(digits, /[xX#]/.test(text), one));
    }
  }
}

function stringSatisfies(text: string, mode: StringMode, wanted: string): boolean {
  switch (mode) {
    case 'exact':
      return text === wanted;
    case 'starts':
      return fold(text).startsWith(fold(wanted));
    case 'contains':
      return fold(text).includes(fold(wanted));
    case 'word':
      return spacedWords(text).includes(` ${wanted}`);
  }
}

function passes(found: string, extended: boolean, { digits, where }: DigitsTest): boolean {
  if (!/^[0-9]+$/.test(digits)) return false;
  if (where === 'whole') return found === digits;
  return where === 'end' ? found.endsWith(digits) : extended && found.startsWith(digits);
}

function compares(left: number, op: '<' | '<=' | '>' | '>=', right: number): boolean {
  switch (op) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}
