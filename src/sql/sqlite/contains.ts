/**
 * Compares a text with many. In: a text, where in it another text must be (start, end, anywhere), and these as a JSON
 * array. Out: whether one matches. A parsed list is kept while statements use it row by row.
 */

type Test = (text: string) => boolean;

/** A statement compares with a few lists, each with several columns. */
const KEPT = 16;

export function createContains(): (text: string, where: string, texts: string) => boolean {
  const kept: { readonly where: string; readonly texts: string; readonly test: Test }[] = [];
  return (text, where, texts) => {
    const known = kept.find(one => one.texts === texts && one.where === where);
    if (known) return known.test(text);
    const test = testFor(where, JSON.parse(texts) as readonly string[]);
    if (kept.length === KEPT) kept.shift();
    kept.push({ where, texts, test });
    return test(text);
  };
}

function testFor(where: string, texts: readonly string[]): Test {
  if (where === 'words') return beginWords(texts.map(wordsOf));
  if (where === 'anywhere') return text => texts.some(one => text.includes(one));
  // There are far fewer lengths than texts: what stands at the place is looked up once for each.
  const known = new Set(texts);
  const lengths = [...new Set(texts.map(({ length }) => length))];
  switch (where) {
    case 'start':
      return text => lengths.some(length => known.has(text.slice(0, length)));
    case 'end':
      return text => lengths.some(length => length <= text.length && known.has(text.slice(text.length - length)));
    case 'whole':
      return text => known.has(text);
    default:
      throw new TypeError(`a text cannot be looked for ${where}`);
  }
}

/** Words stand behind one blank each. */
function wordsOf(text: string): readonly string[] {
  return text.split(' ').filter(word => word !== '');
}

/** All words of some list begin words of the text. A list is looked up by its longest word, which few others have. */
function beginWords(lists: readonly (readonly string[])[]): Test {
  const byLongest = Map.groupBy(lists, list =>
    list.reduce((longest, word) => (word.length > longest.length ? word : longest), ''),
  );
  const lengths = [...new Set([...byLongest.keys()].map(({ length }) => length))];
  return text => {
    const own = wordsOf(text);
    return own.some(word =>
      lengths.some(length =>
        byLongest.get(word.slice(0, length))?.some(list => list.every(one => own.some(begun => begun.startsWith(one)))),
      ),
    );
  };
}
