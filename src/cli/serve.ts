/**
 * `lintel serve`: the server, as `npm start` runs it.
 */

import { describeVariables } from '../config/variables.ts';
import { runServer } from '../main.ts';
import { type Command, configOf, DATABASE, MAPPINGS, SCHEMA } from './command.ts';

const variables = describeVariables()
  .map(
    one =>
      `  ${one.name}\n      ${one.meaning.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1: docs/$2')}\n      Default: ${one.default.replaceAll('`', '')}.`,
  )
  .join('\n');

export const serve: Command = {
  summary: 'answers FHIR requests over HTTP until it is told to stop',
  help: `Usage: lintel serve [options]

Checks the mappings and answers FHIR requests over HTTP until SIGTERM or SIGINT.
Without any configuration it serves a demo database.

Options replace the environment variables of the same names. The variables are:

${variables}`,
  exits: ['it was told to stop, and answered what was under way', 'it could not start, or not end what was under way'],
  options: {
    port: ['PORT', 'where it listens'],
    ...DATABASE,
    ...MAPPINGS,
    ...SCHEMA,
    degraded: 'serves the mappings that work where some do not',
  },
  positionals: [0, 0],
  async run(args, terminal) {
    return runServer(configOf(args, terminal), terminal);
  },
};
