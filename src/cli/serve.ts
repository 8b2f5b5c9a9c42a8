/**
 * `lintel serve`: the server, as `npm start` runs it.
 */

import { readConfig } from '../config/config.ts';
import { describeVariables } from '../config/variables.ts';
import { runServer } from '../main.ts';
import { type Command, overrides, textOf } from './command.ts';

const variables = describeVariables()
  .map(
    one =>
      `  ${one.name}\n      ${one.meaning.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '$1: docs/$2')}\n      Default: ${one.default.replaceAll('`', '')}.`,
  )
  .join('\n');

export const serve: Command = {
  summary: 'answers FHIR requests over HTTP until it is told to stop',
  help: `Usage: lintel serve [--port PORT] [--database URL] [--mappings FOLDER] [--schema VERSION]
                    [--degraded]

Checks the mappings and answers FHIR requests over HTTP until SIGTERM or SIGINT.
Without any configuration it serves a demo database.

Options replace the environment variables of the same names. The variables are:

${variables}`,
  exits: ['it was told to stop, and answered what was under way', 'it could not start, or not end what was under way'],
  options: {
    port: { type: 'string' },
    database: { type: 'string' },
    mappings: { type: 'string' },
    schema: { type: 'string' },
    degraded: { type: 'boolean' },
  },
  positionals: [0, 0],
  async run(args, terminal) {
    const instead = overrides({
      PORT: textOf(args, 'port'),
      DATABASE_URL: textOf(args, 'database'),
      MAPPINGS: textOf(args, 'mappings'),
      SCHEMA: textOf(args, 'schema'),
      DEGRADED: args.values['degraded'] === true ? 'true' : undefined,
    });
    return runServer(readConfig(terminal.environment, instead), terminal);
  },
};
