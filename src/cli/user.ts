/**
 * `lintel user`: manages accounts of people. A password is typed without echo, or is the first line of standard input.
 * It is never an argument, because other users can see arguments in the process list.
 */
import { randomBytes } from 'node:crypto';
import { type Account, isAccountName, isFhirUser, readAccounts, writeAccounts } from '../auth/accounts.ts';
import { newEra } from '../auth/era.ts';
import { hashPassword, LONGEST_PASSWORD } from '../auth/password.ts';
import { type Arguments, ArgumentsError, type Command, configOf, printJson, refuse, type Terminal } from './command.ts';
import { isRecorded } from './recorded.ts';
import { readSecret } from './secret.ts';

const SHORTEST_PASSWORD = 12;

export const user: Command = {
  summary: 'manages the accounts of people',
  help: `Usage: lintel user add NAME [--fhir-user TYPE/ID] [--generate]
       lintel user link NAME --fhir-user TYPE/ID
       lintel user passwd NAME [--generate]
       lintel user allow-password NAME | deny-password NAME | disable NAME | enable NAME | rm NAME
       lintel user list

  add             makes an account
  link            sets the resource of the person; sessions, and the access of apps, end if it is another one
  passwd          changes the password; its sessions end, and the access that it gave to apps
  allow-password  it logs in at the REST interface by its password, also where people log in at an issuer
                  (LOGIN_PASSWORDS=false)
  deny-password   undoes that; its sessions end
  disable         prevents logins; its sessions end, and the access that it gave to apps
  enable          allows logins again; what has ended stays ended
  rm              removes it; its sessions end, and the access that it gave to apps
  list            names all accounts

The password is asked for without echo, or read as the first line of standard input. It has ${SHORTEST_PASSWORD} to
${LONGEST_PASSWORD} characters.`,
  exits: [
    'done',
    'not done: there is no such account, there is one already, its name, password or resource is wrong, or the ' +
      'audit takes no record',
  ],
  options: {
    'fhir-user': ['TYPE/ID', 'the resource of the person: Practitioner/7, Patient/1, RelatedPerson/3'],
    generate: 'makes a random password and prints it',
    accounts: [
      'FILE',
      'the file of accounts (default: ACCOUNTS, or accounts.json in DATA_DIR); a running server sees changes',
    ],
    json:
      'prints one JSON object: accounts, each with name, disabled, fhirUser and restPassword; or account, done, and ' +
      'password where one was made',
  },
  positionals: [1, 2],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const file = config.accounts;
    const [action = '', name] = args.positionals;
    if (action === 'list' && name === undefined) return list(file, args, terminal);
    const change = Object.hasOwn(CHANGES, action) ? CHANGES[action] : undefined;
    if (change === undefined || name === undefined) {
      throw new ArgumentsError([`Expected ${Object.keys(CHANGES).join(', ')} with a name, or list.`]);
    }
    if (!isAccountName(name))
      return refuse(['A name has 1 to 64 letters, digits and . _ @ - and begins with a letter or digit.'], terminal);
    const fhirUser = args.text('fhir-user');
    if (fhirUser !== undefined && !isFhirUser(fhirUser))
      return refuse(['--fhir-user: expected a type and an id, such as Practitioner/7.'], terminal);
    const before = readAccounts(file);
    const own = before.find(account => account.name === name);
    if ((own === undefined) !== (action === 'add'))
      return refuse([own ? `There is an account ${name} already.` : `There is no account ${name}.`], terminal);
    const changed = await change(own ?? { name, password: '', disabled: false }, args, terminal);
    if (changed === undefined) return 1;
    const { after, made } = changed;
    const words = ['user', action, name, ...(fhirUser === undefined ? [] : ['--fhir-user', fhirUser])];
    if (!isRecorded(words, !TAKING.has(action), config, terminal)) return 1;
    const others = before.filter(account => account !== own);
    writeAccounts(
      file,
      after === 'removed' ? others : own ? before.map(one => (one === own ? after : one)) : [...before, after],
    );
    if (args.json) {
      const account = after === 'removed' ? null : shownOf(after);
      printJson({ account, done: DONE[action] ?? '', ...(made === undefined ? {} : { password: made }) }, terminal);
      return 0;
    }
    if (made !== undefined) terminal.out(`Password: ${made}`);
    terminal.out(`${name}: ${DONE[action] ?? ''}`);
    return 0;
  },
};

/** Actions that remove access. */
const TAKING: ReadonlySet<string> = new Set(['deny-password', 'disable', 'rm']);

const DONE: Readonly<Record<string, string>> = {
  add: 'added',
  link: 'linked',
  passwd: 'has a new password',
  'allow-password': 'logs in at the REST interface by its password',
  'deny-password': 'logs in by its password only where all do',
  disable: 'disabled',
  enable: 'enabled',
  rm: 'removed',
};

interface Changed {
  /** The account after the change. */
  readonly after: Account | 'removed';
  /** A generated password. */
  readonly made?: string;
}

/**
 * Changes an account. `own`: the existing account, or a new one. Resolves to undefined if the change is impossible; the
 * reason has been reported.
 */
type Change = (own: Account, args: Arguments, terminal: Terminal) => Promise<Changed | undefined>;

const CHANGES: Readonly<Record<string, Change>> = {
  async add(own, args, terminal) {
    const fhirUser = args.text('fhir-user');
    return withNewPassword(fhirUser === undefined ? own : { ...own, fhirUser }, args, terminal);
  },
  async link(own, args, terminal) {
    const fhirUser = args.text('fhir-user');
    if (fhirUser === undefined) return complain(terminal, 'Expected --fhir-user.');
    return { after: fhirUser === own.fhirUser ? own : { ...own, fhirUser, era: newEra() } };
  },
  passwd: withNewPassword,
  'allow-password': async own => ({ after: { ...own, restPassword: true } }),
  'deny-password': async ({ restPassword: _gone, ...rest }) => ({ after: rest }),
  disable: async own => ({ after: { ...own, disabled: true, era: newEra() } }),
  enable: async own => ({ after: { ...own, disabled: false } }),
  rm: async () => ({ after: 'removed' }),
};

function complain(terminal: Terminal, text: string): undefined {
  terminal.note(text);
  return undefined;
}

/** Returns the account with a typed or generated password. */
async function withNewPassword(own: Account, args: Arguments, terminal: Terminal): Promise<Changed | undefined> {
  const made = args.is('generate') ? randomBytes(15).toString('base64url') : undefined;
  const password = made ?? (await (terminal.secret ?? readSecret)('Password: '));
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    return complain(terminal, `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters.`);
  }
  const after = { ...own, password: await hashPassword(password), era: newEra() };
  return made === undefined ? { after } : { after, made };
}

/** Returns the account without the hash of the password. */
function shownOf({ name, disabled, fhirUser, restPassword }: Account): object {
  return { name, disabled, fhirUser: fhirUser ?? null, restPassword: restPassword === true };
}

function list(file: string, args: Arguments, terminal: Terminal): number {
  const accounts = readAccounts(file);
  if (args.json) {
    printJson({ accounts: accounts.map(shownOf) }, terminal);
    return 0;
  }
  for (const { name, disabled, fhirUser } of accounts) {
    terminal.out(`${name}${fhirUser === undefined ? '' : ` ${fhirUser}`}${disabled ? ' (disabled)' : ''}`);
  }
  if (accounts.length === 0) terminal.note('There are no accounts; lintel user add NAME makes one.');
  return 0;
}
