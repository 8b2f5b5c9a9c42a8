/**
 * A modifier, added as docs/extending.md describes: `:starts`, which matches the beginning of a text and not of a later
 * word.
 */
import { expect, test } from 'vitest';
import { smallClinic } from '../cli/small-clinic.ts';
import { copiedTree, isListed } from './tree.ts';

const TEST = `mapping: people
rows: { PERSON: [{ ID: "1", SURNAME: Kowalski-Nowak }] }
matches: [family:starts=kowal, family=nowak]
misses: [family:starts=nowak]
`;

test('a modifier needs the listed files, and is then tested by the law', async () => {
  const { environment } = smallClinic({ 'person.test.yaml': TEST });
  const tree = copiedTree();
  const before = await tree.lintel(environment, 'check');
  expect(before.code).toBe(1);
  expect(before.out).toContain(
    'person.test.yaml:3:11: this search is refused: modifier of family:starts is not supported',
  );

  tree.insert('src/search/query.ts', "  'below',\n", "  'starts',\n");
  tree.insert('src/search/types/types.ts', '    below: undefined,\n', '    starts: undefined,\n');
  tree.insert(
    'src/search/types/string.ts',
    '  return inParts(texts.map(criteriaOf), ask);\n',
    "  if (modifier === 'starts') return inParts(texts.map(text => [{ kind: 'string', mode: 'starts', text }]), ask);\n",
  );
  tree.insert('src/plan/offers.ts', "['contains']]", "['starts'], ");
  tree.insert(
    'src/law/questions.ts',
    "          if (modifiers.has('contains'))\n",
    "          if (modifiers.has('starts')) for (const s of [text.slice(0, 3), text.slice(1, 4)]) ask(s, 'starts');\n",
  );
  const asked = await tree.lintel(environment, 'check');
  expect(asked.notes, 'the law does not know what it means').toContain('LNT-906');

  tree.insert('src/law/oracle.ts', "'below', 'above']", "'starts', ");
  const { code, out } = await tree.lintel(environment, 'check', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out).problems).toEqual([]);
  expect(tree.touched().filter(file => !isListed('A modifier')(file))).toEqual([]);
});
