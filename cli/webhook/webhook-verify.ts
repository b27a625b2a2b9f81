import { readFile } from 'node:fs/promises';
import { explainSignature } from '@lapel/schemas/base/explain-signature';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';

async function fileOf(given: Given, option: string): Promise<Buffer> {
  const path = given.text(option);
  if (path === undefined) throw new UsageError(`--${option}`, 'is needed');
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`--${option}`, (error as Error).message);
  }
}

/** The key of the environment, or that of the application. */
async function keyOf(given: Given, terminal: Terminal): Promise<string> {
  const known = terminal.env['LAPEL_AUTHENTICATION_KEY'];
  if (known) return known;
  const application = await openApplication(given, terminal);
  const { authenticationKey } = await application.call('read the key', (lapel) => lapel.readSettings());
  return authenticationKey ?? '';
}

export const webhookVerify: Command = {
  name: 'webhook verify',
  summary: 'Says whether a received webhook is signed with the key, and if not, which part differs',
  about: `The files have the headers, one on each line, and the body as it was received. The key is read from
LAPEL_AUTHENTICATION_KEY, or from the settings of the application. The exit code is 1 when the webhook is not genuine.`,
  options: {
    headers: { value: 'FILE', text: 'the headers of the webhook, one on each line' },
    body: { value: 'FILE', text: 'the body of the webhook, byte by byte' },
    ...APPLICATION_OPTIONS,
  },
  examples: ['lapel webhook verify --headers headers.txt --body body.json'],
  async run(given, terminal) {
    const [headers, body] = [await fileOf(given, 'headers'), await fileOf(given, 'body')];
    const report = await explainSignature({
      headers: headers.toString(),
      body: new Uint8Array(body),
      authenticationKey: await keyOf(given, terminal),
      nowMs: Date.now(),
    });
    return {
      json: { ok: report.isGenuine, ...report },
      text: ({ paint }) =>
        report.findings
          .map(
            ({ part, isFault, text }) =>
              `${paint(isFault ? 'red' : 'green', isFault ? 'wrong' : 'right')}  ${part}: ${oneLine(text)}\n`,
          )
          .join(''),
      ...(!report.isGenuine && { problem: 'the webhook is not genuine' }),
    };
  },
};
