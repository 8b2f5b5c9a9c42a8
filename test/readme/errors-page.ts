/** Makes docs/errors.md from the tables of src/errors. `npm run errors` writes it. */
import { PACK_ERRORS, START_ERRORS } from '../../src/errors/pack-errors.ts';
import { NOTICES, REQUEST_ERRORS, STATUS } from '../../src/errors/request-errors.ts';
import { issueOf } from '../../src/outcome.ts';

const INTRODUCTION = `# Error codes

Each error has a code that stays the same while its words may change. Write programs against the code.

- An OperationOutcome has it in \`issue.details.coding\`, with the system \`urn:lintel:error\`.
- \`lintel check\` and other commands print it in brackets at the end of a line; \`--json\` has it as \`code\`, SARIF as
  \`ruleId\`, JUnit as \`type\` of a failure.

\`npm run errors\` makes this page from the tables in [src/errors](../src/errors).
`;

const kinds = <Kind extends string>(table: Readonly<Record<Kind, unknown>>): readonly Kind[] =>
  Object.keys(table) as Kind[];

interface Row {
  readonly code: string;
  readonly cells: readonly string[];
}

/** The whole page. */
export function errorsPage(): string {
  const requests = kinds(REQUEST_ERRORS).map(kind => {
    const [code, type, cause, cure] = REQUEST_ERRORS[kind];
    return { code, cells: [`\`${issueOf(kind, '').code}\`, ${statusOf(code, type)}`, cause, cure] };
  });
  const notices = Object.values(NOTICES).map(([code, type, cause, cure]) => ({
    code,
    cells: [`\`${type}\``, cause, cure],
  }));
  const packs = Object.values({ ...PACK_ERRORS, ...START_ERRORS }).map(([code, ...cells]) => ({ code, cells }));
  return [
    INTRODUCTION,
    section('Requests', ['issue type, status'], requests.filter(within('1'))),
    section('Access', ['issue type, status'], requests.filter(within('2'))),
    section('The server', ['issue type, status'], requests.filter(within('3'))),
    section('Notices of successful answers', ['issue type'], notices),
    section('Packs: files, keys and names', [], packs.filter(within('4'))),
    section('Packs: elements and columns', [], packs.filter(within('5'))),
    section('Packs: the schema of the database', [], packs.filter(within('6'))),
    section('Packs: what the rows show', [], packs.filter(within('7'))),
    section('Packs: their tests', [], packs.filter(within('8'))),
    section('What ends a start or a command', [], packs.filter(within('9'))),
  ].join('\n');
}

const within =
  (group: string) =>
  ({ code }: Row): boolean =>
    code.startsWith(`LNT-${group}`);

function section(title: string, columns: readonly string[], rows: readonly Row[]): string {
  const head = ['code', ...columns, 'cause', 'cure'];
  const lines = rows.map(({ code, cells }) => `| ${[code, ...cells].join(' | ')} |`);
  return `## ${title}\n\n| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${lines.join('\n')}\n`;
}

/** HTTP statuses that are more specific than the one of the issue type. */
const OTHER: Readonly<Record<string, string>> = {
  'LNT-108': '400, 408',
  'LNT-110': '415',
  'LNT-111': '413, 414, 431',
  'LNT-121': '421',
  'LNT-125': '416',
};

function statusOf(code: string, type: keyof typeof STATUS): string {
  return OTHER[code] ?? String(STATUS[type]);
}
