import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { htmlCodec, narrative, plainText } from '../../../src/mapping/codecs/html.ts';
import { rtfText } from '../../../src/mapping/codecs/rtf.ts';
import { cpuTime } from '../../cpu-time.ts';
import { runsOf } from '../../share.ts';
import { nullable, RUNS, rowsOf, text } from './arbitrary.ts';
import { CLOCK, expectPresent, table } from './law.ts';

const DIV = '<div xmlns="http://www.w3.org/1999/xhtml">';

describe('html', () => {
  it.each([
    ['plain text', 'Seen today.\nBetter.', 'Seen today.\nBetter.'],
    ['a comparison', 'BP < 120 & falling', 'BP < 120 & falling'],
    ['paragraphs', '<p>One</p><p>Two<br>Three</p>', 'One\nTwo\nThree'],
    ['entities', 'caf&eacute; &lt;b&gt; &#65;&nbsp;x', 'café <b> A\u00a0x'],
    ['white space', '<p>  a \r\n  <b> b </b>c</p>', 'a b c'],
    ['preformatted text', '<pre>a\n  b</pre>', 'a\n  b'],
    ['tables', '<table><tr><td>Na</td><td>140</td></tr><tr><td>K</td><td>4</td></tr></table>', 'Na\t140\nK\t4'],
    ['scripts and styles', '<style>p{}</style><script>alert(1)</script>x<svg><text>y</text></svg>', 'x'],
    ['nothing to read', '<p> </p><img src="x">', '(no text)'],
    ['control characters', 'a\u0007b', 'ab'],
    ['blanks at the end of lines', 'a \t\n  b\u00a0\nc ', 'a\n  b\nc'],
  ])('reads %s', (_, note, wanted) => {
    expect(plainText(note)).toBe(wanted);
  });

  it.each([
    ['plain text', 'a < b\nc', 'a &lt; b<br/>c'],
    ['allowed elements', '<p class="x" onclick="y()">a <b>b</b><br></p>', '<p>a <b>b</b><br/></p>'],
    [
      'links, images and forms',
      '<a href="javascript:x()">l</a><img src=x onerror=y><form><input value=z>f</form>',
      'lf',
    ],
    ['scripts', 'a<script>x</script><scr<script>ipt>b', 'aipt&gt;b'],
    ['unclosed elements', '<ul><li>a<li>b', '<ul><li>a</li><li>b</li></ul>'],
    [
      'spans of cells',
      '<table><tr><td colspan=2 style="x">a</td></tr></table>',
      '<table><tr><td colspan="2">a</td></tr></table>',
    ],
    ['nothing to read', '<p> </p>', '(no text)'],
    [
      'a table in a paragraph',
      '<p>a <b>x<table><tr><td>Na<td>140</table>',
      '<p>a <b>x</b></p><table><tr><td><b>Na</b></td><td><b>140</b></td></tr></table>',
    ],
    ['paragraphs in bold', '<b><p>T</p>x</b>', '<p><b>T</b></p><b>x</b>'],
    ['items without a list', '<li>a<li>b<p>c', '<ul><li>a</li><li>b<p>c</p></li></ul>'],
    ['cells without a table', '<td>1<td>2</td>z', '<table><tr><td>1</td><td>2</td></tr></table>z'],
    ['text between rows', '<table>x<tr><td>1</table>', '<table><tr><td>x</td></tr><tr><td>1</td></tr></table>'],
    ['text between items', '<ul>\n <li>a</li> b <p>c</ul>', '<ul><li>a</li><li> b <p>c</p></li></ul>'],
    ['a list without items', '<ul> <br></ul><table></table>x', 'x'],
    ['a caption alone', '<table><caption>C</table>', '<table><caption>C</caption><tr><td></td></tr></table>'],
    [
      'row groups',
      '<table><tbody><tr><td>1<tfoot><tr><td>2</table>',
      '<table><tr><td>1</td></tr><tr><td>2</td></tr></table>',
    ],
    ['text in a quotation', '<blockquote>a<br>b<p>c</blockquote>', '<blockquote><p>a<br/>b</p><p>c</p></blockquote>'],
    ['a rule in a paragraph', '<p>a<hr>b', '<p>a</p><hr/>b'],
  ])('writes a narrative of %s', (_, note, wanted) => {
    expect(narrative(note)).toBe(`${DIV}${wanted}</div>`);
  });

  it('concatenates several notes, each parsed separately', () => {
    expect(htmlCodec('xhtml', 2).decode('<p>Not at goal', 'Recheck & call')).toBe(
      `${DIV}<div><p>Not at goal</p></div><div>Recheck &amp; call</div></div>`,
    );
    expect(htmlCodec('xhtml', 2).decode(null, 'Recheck')).toBe(`${DIV}Recheck</div>`);
    expect(htmlCodec('xhtml', 2).decode(' ', null)).toBeUndefined();
    expect(htmlCodec('plain', 2).decode('<p>Not at goal</p>', 'Recheck')).toBe('Not at goal\n\nRecheck');
  });

  it('keeps the text of too deep nesting, once', () => {
    const deep = narrative(`${'<div>'.repeat(5000)}${'<b><i>'.repeat(5000)}x<p>y`);
    expect(deep.replace(/<[^>]*>/g, '')).toBe('xy');
    expect(deep.length).toBeLessThan(2000);
  });

  it('always writes well-formed XML with allowed elements where XHTML allows them, whatever it is given', () => {
    const pieces = fc.constantFrom(
      '<p>',
      '</p>',
      '<b>',
      '</b>',
      '<i',
      '<br/>',
      '<script>',
      '</script>',
      '<style',
      '&',
      '&amp;',
      '&bogus;',
      '&#0;',
      '&#xD800;',
      '\ud800',
      '\u0000',
      '\uffff',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?x',
      '?>',
      '"',
      "'",
      '<td onclick=x',
      '>',
      '<',
      'text',
      ' ',
      '<svg><p>',
      '<table><tr><td>',
      '</table>',
      '<a href="x">',
      ...'table tr td th tbody caption ul li dl dt dd blockquote div h1 pre address span q hr /tr /td /ul /li /div /span'
        .split(' ')
        .map(name => `<${name}>`),
    );
    const notes = fc.oneof(
      text,
      fc.array(pieces, { maxLength: 12 }).map(some => some.join('')),
    );
    const names = new Set<string>();
    const parser = new XMLParser({ preserveOrder: true, processEntities: true });
    fc.assert(
      fc.property(notes, note => {
        const value = htmlCodec('xhtml').decode(note);
        if (value === undefined) return;
        expect(XMLValidator.validate(String(value))).toBe(true);
        const nodes = parser.parse(String(value));
        collect(nodes, names);
        expectPlaces(nodes, []);
      }),
      { numRuns: runsOf(1000) },
    );
    for (const name of ['script', 'style', 'svg', 'a', 'img']) expect(names).not.toContain(name);
    expect(names).toContain('p');
  });

  it('is present exactly where it writes something, and has no inverse', () => {
    const rows = table('NVARCHAR(400)');
    fc.assert(
      fc.property(rowsOf(nullable(text)), raws => {
        rows.fill(raws.map(raw => [raw]));
        expectPresent(htmlCodec('plain'), rows);
        expectPresent(htmlCodec('xhtml'), rows);
      }),
      RUNS,
    );
    const pairs = table('NVARCHAR(400)', 'NVARCHAR(400)');
    fc.assert(
      fc.property(rowsOf(fc.tuple(nullable(text), nullable(text))), raws => {
        pairs.fill(raws);
        expectPresent(htmlCodec('plain', 2), pairs);
        expectPresent(htmlCodec('xhtml', 2), pairs);
      }),
      RUNS,
    );
    expect(htmlCodec('plain').match(rows.columns, { kind: 'exact', text: 'a' }, CLOCK)).toBeUndefined();
  });
});

describe('notes that are made to take long', () => {
  const shapes: Readonly<Record<string, (length: number) => string>> = {
    'blanks in a line': length => `x${' '.repeat(length)}x`,
    'blanks before markup': length => `<p>x${' '.repeat(length)}</p>x`,
    'blanks in RTF': length => `{\\rtf1 x${' \t'.repeat(length / 2)}x}`,
    'cells of no row': length => '<td>'.repeat(length / 4),
    'end tags of nothing': length => `${'<b>'.repeat(length / 7)}${'</i>'.repeat(length / 7)}`,
  };
  it.each(Object.entries(shapes))('%s: four times the length takes less than ten times as long', (_name, shape) => {
    for (const read of [plainText, narrative]) {
      const [short, long] = [shape(50_000), shape(200_000)];
      read(short);
      const bound =
        10 *
        Math.max(
          cpuTime(() => read(short), 0),
          200,
        );
      // Quadratic time took 5 s and more.
      expect(cpuTime(() => read(long), bound)).toBeLessThanOrEqual(bound);
    }
  });

  it.each([
    ['elements that never end', '<b>'],
    ['tables in tables', '<table><tr><td>'],
    ['dropped elements in others', `${'<b>'.repeat(499)}<svg>`],
  ])('%s, hundreds of thousands deep, take a second or two', (_name, piece) => {
    const note = piece.repeat(2_000_000 / piece.length);
    // Quadratic time took 6 s and more.
    for (const read of [plainText, narrative]) expect(cpuTime(() => read(note), 3000)).toBeLessThanOrEqual(3000);
  });

  it('no text is lost where elements nest too deep', () => {
    const deep = `${'<b>'.repeat(3000)}in${'</b>'.repeat(3000)}<p>behind</p>`;
    expect(plainText(deep)).toBe('in\nbehind');
    expect(narrative(deep).replace(/<[^>]*>/g, '')).toBe('inbehind');
    expect(plainText(`${'<b>'.repeat(499)}<b`)).toBe('(no text)');
    const drawn = `<svg>${'<g>'.repeat(3000)}drawn${'</g>'.repeat(3000)}</svg><p>behind</p>`;
    expect(plainText(drawn)).toContain('behind');
  });
});

describe('RTF', () => {
  it('has no text for words that are none of its own', () => {
    expect(rtfText('{\\rtf1 a \\constructor b \\toString c}')).toBe('a b c');
  });

  it('is read without fonts, styles and pictures', () => {
    const rtf = String.raw`{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}{\colortbl;\red255\green0\blue0;}{\*\generator X;}\pard\f0 Caf\'e9 \b bold\b0\par 5 \u8804? x\{y\}\tab z{\pict abcdef}}`;
    expect(rtfText(rtf)).toBe('Café bold\n5 ≤ x{y}\tz');
    expect(narrative(rtf)).toBe(`${DIV}Café bold<br/>5 ≤ x{y}\tz</div>`);
  });
});

function collect(nodes: unknown, names: Set<string>): void {
  if (!Array.isArray(nodes)) return;
  for (const node of nodes as readonly Readonly<Record<string, unknown>>[]) {
    for (const [name, children] of Object.entries(node)) {
      if (name.startsWith('#') || name === ':@') continue;
      names.add(name);
      collect(children, names);
    }
  }
}

const INLINE = '#text b strong i em small big sub sup tt code kbd samp var cite dfn abbr acronym q span br'.split(' ');
const BLOCKS = 'p h1 h2 h3 h4 h5 h6 div ul ol dl pre hr blockquote address table'.split(' ');
/** Allowed content of each element in XHTML 1.0 Strict; all others contain INLINE. */
const HOLDS: Readonly<Record<string, readonly string[]>> = {
  ...{ ul: ['li'], ol: ['li'], dl: ['dt', 'dd'], table: ['caption', 'tr'], tr: ['td', 'th'], blockquote: BLOCKS },
  ...Object.fromEntries(['div', 'li', 'dd', 'td', 'th'].map(name => [name, [...INLINE, ...BLOCKS]])),
};
const NEVER_EMPTY = ['ul', 'ol', 'dl', 'tr'];

function expectPlaces(nodes: readonly Readonly<Record<string, unknown>>[], path: readonly string[]): void {
  for (const node of nodes) {
    const [name = ''] = Object.keys(node).filter(one => one !== ':@');
    const holds = path.length === 0 ? ['div'] : (HOLDS[path.at(-1) ?? ''] ?? INLINE);
    expect([...path, name, holds.includes(name)]).toEqual([...path, name, true]);
    const inner = node[name];
    if (!Array.isArray(inner)) continue;
    if (NEVER_EMPTY.includes(name)) expect(inner.length).toBeGreaterThan(0);
    if (name === 'table') {
      const names = inner.flatMap(one => Object.keys(one));
      expect(names).toContain('tr');
      expect(names.lastIndexOf('caption')).toBeLessThanOrEqual(0);
    }
    expectPlaces(inner, [...path, name]);
  }
}
