/** `lintel serve`: runs the server, as `npm start` does. */

import { describeVariables } from '../config/variables.ts';
import { runServer } from '../main.ts';
import { type Command, configOf, DATABASE, MAPPINGS, SCHEMA } from './command.ts';

/** Returns indented lines of at most 110 characters. */
function paragraph(text: string): string {
  return text.replaceAll(/(.{1,104})(?: |$)/g, '      $1\n');
}

const variables = describeVariables()
  .map(({ name, meaning, default: byDefault }) => {
    const text = meaning.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1: docs/$2');
    return `  ${name}\n${paragraph(text)}${paragraph(`Default: ${byDefault.replaceAll('`', '')}.`).trimEnd()}`;
  })
  .join('\n');

export const serve: Command = {
  summary: 'answers FHIR requests over HTTP until it is stopped',
  help: `Usage: lintel serve [options]

Checks the mappings and answers FHIR requests over HTTP until SIGTERM or SIGINT.
Without any configuration it serves a demo database.

Options replace the environment variables of the same names. The variables are:

${variables}`,
  exits: [
    'it was stopped, and answered the running requests',
    'it could not start, or not finish the running requests',
  ],
  options: {
    port: ['PORT', 'where it listens'],
    ...DATABASE,
    ...MAPPINGS,
    ...SCHEMA,
    degraded: 'serves the working mappings even if some fail',
  },
  positionals: [0, 0],
  async run(args, terminal) {
    return runServer(configOf(args, terminal), terminal);
  },
};
