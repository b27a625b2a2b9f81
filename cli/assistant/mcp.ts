import { createInterface } from 'node:readline';
import { COMMAND_LINE, ownVersion } from '@lapel/schemas/base/version';
import { ADMIN_OPTIONS, APPLICATION_OPTIONS, openAdministration, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import type { Terminal } from '../show/terminal.ts';
import { createExchange } from './exchange.ts';

const { application, secret, url, profile } = APPLICATION_OPTIONS;
const OPTIONS = {
  admin: { text: 'use administration, with the token of its profile, instead of an application' },
  application,
  secret,
  url,
  'admin-url': ADMIN_OPTIONS['admin-url'],
  token: ADMIN_OPTIONS.token,
  profile,
} satisfies Options;

/** The messages that are on their way at a time; the service takes four calls of tools of one caller. */
const AT_A_TIME = 4;

/** Finds the service and the account. Standard input is the assistant's, so nobody can be asked. */
async function openService(given: Given, terminal: Terminal) {
  const silent = { ...terminal, ask: null };
  if (given.flag('admin')) {
    const { baseUrl, headers } = await openAdministration(given, silent);
    return { baseUrl, authorization: async () => headers.authorization };
  }
  const { baseUrl, call } = await openApplication(given, silent);
  const authorization = async () => `Bearer ${await call('get an access token', (lapel) => lapel.accessToken())}`;
  return { baseUrl, authorization };
}

export const mcp: Command = {
  name: 'mcp',
  summary: 'Serves a local assistant on standard input and output, with a profile of lapel login',
  about: `Passes the messages of the Model Context Protocol on to the service, and its answers back; programs of assistants
start it by themselves. Everything else goes to standard error. A service that is away is told to the assistant as an answer,
and the command goes on; it ends when its input ends. docs/assistants.md has the tools.`,
  options: OPTIONS,
  examples: ['lapel mcp', 'lapel mcp --profile production', 'lapel mcp --admin'],
  endsItself: true,
  async run(given, terminal) {
    const { baseUrl, authorization } = await openService(given, terminal);
    const userAgent = `${COMMAND_LINE}/${ownVersion()}`;
    const exchange = createExchange({
      url: new URL('mcp', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`),
      authorization,
      userAgent,
    });
    const onTheirWay = new Set<Promise<void>>();

    async function pass(line: string): Promise<void> {
      const { lines, problem } = await exchange(line);
      if (problem !== undefined) terminal.stderr.write(`lapel mcp: ${problem}\n`);
      for (const answer of lines) terminal.stdout.write(`${answer}\n`);
    }

    const input = createInterface({ input: terminal.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    terminal.interrupted.addEventListener('abort', () => input.close(), { once: true });
    for await (const line of input) {
      if (line.trim() === '') continue;
      const passing = pass(line).finally(() => onTheirWay.delete(passing));
      onTheirWay.add(passing);
      if (onTheirWay.size >= AT_A_TIME) await Promise.race(onTheirWay);
    }
    await Promise.all(onTheirWay);
    return { json: undefined, text: '' };
  },
};
