/** Keys that are numbers in texts with leading zeros: short ones are kept, like short numbers. */
import { expect, test } from 'vitest';
import { replaced } from '../../src/workbench/record/replace.ts';
import { Invented } from '../../src/workbench/record/tokens.ts';
import { keptForm } from '../../src/workbench/record/uses.ts';

const TEXT = { kind: 'text', unicode: false, fixed: true, length: 10 } as const;

function replacedOf(text: string): ReturnType<typeof replaced> {
  const uses = {
    ...{ kept: new Set<string>(), codes: new Set<string>(), dates: [], patterns: new Set<string>() },
    ...{ isJoined: true, isTimeOfDay: false, dayPart: undefined, isHtml: false },
    ...{ isTableCode: false, pieces: undefined },
  };
  const texts = ['0000000001', '000000000002', '3', '4', '5', '6', '7', '8', '9', '0000012345'];
  // One-digit keys leave no other number to invent.
  const invented = new Invented(texts, texts.map(keptForm), () => 0.5);
  const shift = { days: -500, hours: 1, minutes: 1 };
  return replaced(text, TEXT, uses, { invented, shift, usesOf: () => uses });
}

test.each(['0000000001', '000000000002'])('the number %s is kept', text => {
  expect(replacedOf(text)).toEqual({ text });
});

test('a long number is replaced', () => {
  expect(replacedOf('0000012345')).toMatchObject({ text: expect.stringMatching(/^00000(?!12345)\d{5}$/) });
});
