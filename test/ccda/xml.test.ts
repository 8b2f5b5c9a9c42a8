import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { narrativeXml } from '../../src/ccda/narrative.ts';
import { attribute, xml as markup, templateIds, textElement } from '../../src/ccda/xml.ts';
import { runsOf } from '../share.ts';
import { all, type Element, parseXml } from './xml-tree.ts';

/** Random strings, with more of the characters that break XML than by chance. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 3 }),
        fc.constantFrom(
          ...['<', '>', '&', '"', "'", ']]>', '<![CDATA[', '<!--', '-->', '<?xml', '&amp;', '&#13;', '&#x0;', '&nbsp;'],
          ...[
            '\r',
            '\n',
            '\r\n',
            '\t',
            ' ',
            '\u00a0',
            '\u0085',
            '\u2028',
            '\ufeff',
            '\0',
            '\u0001',
            '\u001f',
            '\u007f',
          ],
          ...['\ud800', '\udfff', '\udc00\ud800', '𠮷', '\ufffe', '\uffff', '\u{1fffe}'],
        ),
      ),
    )
    .map(parts => parts.join('')),
);

/** The text as XML 1.0 can represent it: controls, lone surrogates, U+FFFE and U+FFFF become U+FFFD. */
function heldByXml(text: string): string {
  return [...text.toWellFormed()]
    .map(character => {
      const point = character.codePointAt(0) ?? 0;
      const legal =
        [0x9, 0xa, 0xd].includes(point) || (point >= 0x20 && point <= 0xd7ff) || (point >= 0xe000 && point <= 0xfffd);
      return legal || point >= 0x10000 ? character : '\ufffd';
    })
    .join('');
}

/** Every character of a written document is valid in XML 1.0, so readers need not be lenient. */
function read(xml: string): Element {
  expect(heldByXml(xml)).toBe(xml);
  return parseXml(xml);
}

describe('any text', () => {
  test('is read back from an element unchanged, except for characters that XML forbids', () => {
    fc.assert(
      fc.property(anyText, text => {
        const root = read(markup`<a>${text}</a>`.text);
        expect(root.children).toEqual([]);
        expect(root.text).toBe(heldByXml(text));
      }),
      { numRuns: runsOf(2000) },
    );
  });

  test('is read back from an attribute with white space normalised', () => {
    fc.assert(
      fc.property(anyText, text => {
        const root = read(markup`<a${attribute('b', text)}/>`.text);
        const expected = heldByXml(text.replace(/[\s\u0085]+/g, ' ').trim());
        expect(root.attributes).toEqual(expected === '' ? {} : { b: expected });
      }),
      { numRuns: runsOf(2000) },
    );
  });

  test('is an element without blanks around it, or no element', () => {
    fc.assert(
      fc.property(anyText, text => {
        const root = read(markup`<a>${textElement('b', text, markup` c="d"`)}</a>`.text);
        const expected = heldByXml(text.trim());
        expect(root.children).toEqual(
          expected === '' ? [] : [{ name: 'b', attributes: { c: 'd' }, children: [], text: expected }],
        );
      }),
    );
  });

  test('is a cell of the narrative, whose lines are kept', () => {
    fc.assert(
      fc.property(anyText, text => {
        const xml = [...narrativeXml({ columns: ['c'], rows: [{ id: 'r-1', cells: [text] }] }, '')].join('');
        const [cell] = all(read(xml), 'td');
        const expected = heldByXml(text.trim()).split(/\r?\n/);
        expect(cell?.children.map(({ name }) => name)).toEqual(expected.slice(1).map(() => 'br'));
        expect(cell?.text).toBe(expected.join(''));
      }),
    );
  });
});

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['a < b && c > "d"', 'a &lt; b &amp;&amp; c &gt; &quot;d&quot;'],
  [']]>', ']]&gt;'],
  ['one\r\ntwo', 'one&#13;\ntwo'],
  ['\0\u0007\ud800', '\ufffd\ufffd\ufffd'],
  ['𠮷', '𠮷'],
])('%j is written %j', (text, xml) => {
  expect(markup`${text}`.text).toBe(xml);
});

test('templates have their extension, or none', () => {
  expect(templateIds('2.5', '2.5:2015-08-01').text).toBe(
    '<templateId root="2.16.840.1.113883.10.20.22.2.5"/><templateId root="2.16.840.1.113883.10.20.22.2.5" extension="2015-08-01"/>',
  );
});

describe('a template', () => {
  test('inserts markup unescaped, lists in order, and nothing for undefined', () => {
    const items = ['a', '<b>'].map(text => markup`<i>${text}</i>`);
    expect(markup`<p>${items}${undefined}${2}</p>`.text).toBe('<p><i>a</i><i>&lt;b&gt;</i>2</p>');
  });

  test('removes its own line ends and indentation, and none of a value', () => {
    expect(
      markup`
      <p>
        <b> one</b>
        ${' two\n  three '}
      </p>\n`.text,
    ).toBe('<p><b> one</b> two\n  three </p>\n');
  });

  test('accepts element names as values, and no other values in their place', () => {
    expect(markup`<${'sdtc:raceCode'}>1</${'sdtc:raceCode'}>`.text).toBe('<sdtc:raceCode>1</sdtc:raceCode>');
    for (const name of ['a b="c"', 'a>', '', '1', undefined, markup`a`])
      expect(() => markup`<${name}/>`).toThrow(RangeError);
  });
});

test('only the template puts values into markup', () => {
  const files = globSync('src/ccda/**/*.ts').filter(file => !file.endsWith('/xml.ts'));
  expect(files.length).toBeGreaterThan(40);
  const lines = files.flatMap(file =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map(line => `${file}: ${line}`),
  );
  // Templates without the tag, sums with markup, and markup of any text.
  expect(
    lines.filter(line =>
      /(?<!xml|html|\*.*)`(?:\$\{[^`}]*\})*\s*<[/\w$]|'<[/\w][^']*>' *\+|\+ *'<[/\w]|new Markup/.test(line),
    ),
  ).toEqual([]);
});
