import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { htmlCodec, narrative, plainText } from '../../../src/mapping/codecs/html.ts';
import { rtfText } from '../../../src/mapping/codecs/rtf.ts';
import { nullable, RUNS, text } from './arbitrary.ts';
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
  ])('writes a narrative of %s', (_, note, wanted) => {
    expect(narrative(note)).toBe(`${DIV}${wanted}</div>`);
  });

  it('puts several notes under each other, each read by itself', () => {
    expect(htmlCodec('xhtml', 2).decode('<p>Not at goal', 'Recheck & call')).toBe(
      `${DIV}<div><p>Not at goal</p></div><div>Recheck &amp; call</div></div>`,
    );
    expect(htmlCodec('xhtml', 2).decode(null, 'Recheck')).toBe(`${DIV}Recheck</div>`);
    expect(htmlCodec('xhtml', 2).decode(' ', null)).toBeUndefined();
    expect(htmlCodec('plain', 2).decode('<p>Not at goal</p>', 'Recheck')).toBe('Not at goal\n\nRecheck');
  });

  it('always writes well-formed XML with allowed elements, whatever it is given', () => {
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
        collect(parser.parse(String(value)), names);
      }),
      { numRuns: 1000 },
    );
    for (const name of ['script', 'style', 'svg', 'a', 'img']) expect(names).not.toContain(name);
    expect(names).toContain('p');
  });

  it('is present exactly where it writes something, and has no inverse', () => {
    const rows = table('NVARCHAR(400)');
    fc.assert(
      fc.property(fc.array(nullable(text), { minLength: 1, maxLength: 12 }), raws => {
        rows.fill(raws.map(raw => [raw]));
        expectPresent(htmlCodec('plain'), rows);
        expectPresent(htmlCodec('xhtml'), rows);
      }),
      RUNS,
    );
    const pairs = table('NVARCHAR(400)', 'NVARCHAR(400)');
    fc.assert(
      fc.property(fc.array(fc.tuple(nullable(text), nullable(text)), { minLength: 1, maxLength: 12 }), raws => {
        pairs.fill(raws);
        expectPresent(htmlCodec('plain', 2), pairs);
        expectPresent(htmlCodec('xhtml', 2), pairs);
      }),
      RUNS,
    );
    expect(htmlCodec('plain').match(rows.columns, { kind: 'exact', text: 'a' }, CLOCK)).toBeUndefined();
  });
});

describe('RTF', () => {
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
