import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attribute, escapeXml, templateIds, textElement } from '../../src/ccda/xml.ts';
import { parseXml, textOf } from './xml-tree.ts';

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(']]>', '<!--', '&#0;', '\ud800', '\u0000', '\ufffe'),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** As XML hands it back: what it cannot hold is replaced, blanks around it are cut. */
const expected = (text: string): string => text.trim().toWellFormed().replace(FORBIDDEN, '\ufffd');

test('whatever a text holds, the element is well-formed and holds it', () => {
  fc.assert(
    fc.property(anything, text => {
      const written = textElement('a', text);
      if (text.trim() === '') expect(written).toBe('');
      else expect(textOf(parseXml(written)).replace(/\r\n?/g, '\n')).toBe(expected(text).replace(/\r\n?/g, '\n'));
    }),
  );
});

test('whatever a text holds, the attribute is well-formed', () => {
  fc.assert(
    fc.property(anything, text => {
      const root = parseXml(`<a${attribute('b', text)}/>`);
      const blank = expected(text.replace(/[\s\u0085]+/g, ' '));
      expect(root.attributes['b'] ?? '').toBe(blank);
    }),
  );
});

test('plain text is left alone', () => {
  const text = 'Zoë O’Brien 🌻';
  expect(escapeXml('Essential hypertension')).toBe('Essential hypertension');
  expect(escapeXml(text)).toBe(text);
  expect(escapeXml('a < b & "c"')).toBe('a &lt; b &amp; &quot;c&quot;');
});

test('templates have the prefix of C-CDA', () => {
  expect(templateIds('4.4', '4.4:2015-08-01')).toBe(
    '<templateId root="2.16.840.1.113883.10.20.22.4.4"/><templateId root="2.16.840.1.113883.10.20.22.4.4" extension="2015-08-01"/>',
  );
});
