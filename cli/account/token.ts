import type { Command } from '../line/command.ts';
import { APPLICATION_OPTIONS, openApplication } from './access.ts';

export const token: Command = {
  name: 'token',
  summary: 'Prints an access token of an application, for calls with curl',
  about: `The token is valid for an hour and has all scopes of the application. A thief of it can act for the application, so
give it to a variable, not to a file.`,
  options: APPLICATION_OPTIONS,
  examples: ['lapel token', 'TOKEN=$(lapel token --application patrol)'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const accessToken = await application.call('get an access token', (lapel) => lapel.accessToken());
    return { json: { ok: true, accessToken }, text: `${accessToken}\n` };
  },
};
