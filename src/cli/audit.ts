/**
 * `lintel audit`: lists who saw whose data, for the privacy officer, as text, as CSV for an accounting of disclosures
 * (45 CFR 164.528), or as JSON lines. It reads the audit file, which a server may be writing at the same time.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Disclosure, disclosures } from '../audit/disclosures.ts';
import { escapeInLine } from '../common/markup.ts';
import { AUDIT_FILE } from '../config/config.ts';
import { csvField } from '../mapping/load/read/csv.ts';
import { type Arguments, ArgumentsError, type Command, configOf, refuse } from './command.ts';

export const auditCommand: Command = {
  summary: 'prints the audit, as text, CSV or JSON',
  help: `Usage: lintel audit [--patient ID] [--since TIME] [--until TIME] [--who NAME] [--break-glass]
       [--csv | --json] [--file FILE]

Prints the records of the audit by time. With --patient these are the answers that held the patient's data, searches
that named the patient, reads of the patient that were refused, and files of exports that may contain data of any
patient: their column "patients" is "unknown".`,
  exits: ['records, or none', 'the file does not exist'],
  options: {
    patient: ['ID', 'logical id of a patient, as in Patient/ID'],
    since: ['TIME', 'from this day (2026-01-31) or instant (2026-01-31T08:00:00Z) on; days begin at midnight UTC'],
    until: ['TIME', 'before this day or instant'],
    who: [
      'NAME',
      'only requests of this person (subject, or a reference such as Practitioner/7) or application (client)',
    ],
    'break-glass': 'only break-the-glass requests, granted or not',
    csv: 'CSV with a header line, for an accounting of disclosures',
    json: 'one JSON object a line',
    file: ['FILE', `the file (default: ${AUDIT_FILE} in DATA_DIR)`],
  },
  positionals: [0, 0],
  async run(args, terminal) {
    const times = ['since', 'until'].map(name => timeOf(args, name));
    if (times.includes('wrong')) {
      throw new ArgumentsError([
        '--since and --until: expected a day like 2026-01-31 or an instant like 2026-01-31T08:00:00Z',
      ]);
    }
    if (args.is('csv') && args.json)
      throw new ArgumentsError(['--csv and --json do not go together; give one of them.']);
    const [since, until] = times.map(time => (typeof time === 'number' ? time : undefined));
    const file = args.text('file') ?? join(configOf(args, terminal).dataDir, AUDIT_FILE);
    if (!existsSync(file)) {
      return refuse(
        [`There is no audit at ${file}; DATA_DIR or --file says where it is. A server with ACCESS=open keeps none.`],
        terminal,
      );
    }
    const write = args.is('csv') ? csvLine : args.json ? jsonLine : textLine;
    if (write === csvLine) terminal.exactly(COLUMNS.map(([name]) => name).join(','));
    const print = write === csvLine ? terminal.exactly : terminal.out;
    let count = 0;
    const glass = args.is('break-glass');
    const wanted = { patient: args.text('patient'), who: args.text('who'), since, until, glass };
    for (const one of disclosures(file, wanted)) {
      print(write(one));
      count++;
    }
    if (count === 0) terminal.note('No record of the audit matches.');
    return 0;
  },
};

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Returns the option's time in milliseconds since the epoch. */
function timeOf(args: Arguments, name: string): number | undefined | 'wrong' {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const time = DAY.test(text) || INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? 'wrong' : time;
}

const COLUMNS: readonly (readonly [name: string, of: (one: Disclosure) => string])[] = [
  ['time', one => one.time],
  ['person', one => one.subject ?? ''],
  ['user', one => one.user ?? ''],
  ['application', one => one.client],
  ['issuer', one => one.issuer ?? ''],
  ['purpose', one => one.purpose ?? ''],
  ['break-glass', one => one.glass ?? ''],
  ['address', one => one.address],
  ['kind', one => one.interaction],
  ['request', one => one.query],
  ['status', one => String(one.status)],
  ['patients', one => (one.patients === 'unknown' ? 'unknown' : one.patient.join(' '))],
  ['answers', one => String(one.answers)],
  ['request id', one => one.request],
];

function csvLine(one: Disclosure): string {
  return COLUMNS.map(([, of]) => cell(of(one))).join(',');
}

/** Protects a field from being evaluated as a formula by spreadsheets. */
function cell(text: string): string {
  return csvField(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}

function jsonLine(one: Disclosure): string {
  return JSON.stringify(one);
}

function textLine(one: Disclosure): string {
  const { time, client, subject, user, purpose, glass, status, patients, patient, answers, query } = one;
  const person = subject === null ? '' : `${subject}${user === null ? '' : ` (${user})`} by `;
  const whom =
    patients === 'unknown' ? 'patients unknown' : patient.length === 0 ? '' : `patients ${patient.join(' ')}`;
  const parts = [
    time,
    `${person}${client}`,
    ...(purpose === null ? [] : [`for ${purpose}`]),
    ...(glass === null ? [] : [`broke the glass: ${glass}`]),
    query.replaceAll('\n', ' '),
    String(status),
    ...(whom === '' ? [] : [whom]),
    ...(answers > 1 ? [`${answers} answers`] : []),
  ];
  return parts.map(escapeInLine).join('  ');
}
