import { type Operations, URL_SETTINGS } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { kebab, type Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { recordText } from '../show/table.ts';
import { settingsHistory } from './settings-history.ts';

type Update = Operations['updateSettings']['input']['body'];

type Setting = keyof typeof URL_SETTINGS;

/** `Events of calls.` becomes `gets events of calls`. */
const gets = (requests: string): string => `gets ${requests.slice(0, 1).toLowerCase()}${requests.slice(1, -1)}`;

const NAMES = Object.keys(URL_SETTINGS) as Setting[];
const URLS: Options = Object.fromEntries(
  NAMES.flatMap((name) => [
    [kebab(name), { value: 'URL', text: gets(URL_SETTINGS[name]) }],
    [`no-${kebab(name)}`, { text: `remove ${name}` }],
  ]),
);

const show: Command = {
  name: 'settings show',
  summary: 'Shows the webhook URLs of the application, and its authenticationKey',
  options: APPLICATION_OPTIONS,
  examples: ['lapel settings show', 'lapel settings show --json | jq -r .settings.authenticationKey'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const settings = await application.call('read the settings', (lapel) => lapel.readSettings());
    const shown = { ...Object.fromEntries(NAMES.map((name) => [name, '-'])), ...settings };
    const hint = settings.authenticationKey
      ? ''
      : 'There is no authenticationKey yet; issue one with lapel settings key\n';
    return { json: { ok: true, settings }, text: (look) => recordText(shown)(look) + hint };
  },
};

const set: Command = {
  name: 'settings set',
  summary: 'Changes the webhook URLs of the application; --no-NAME removes a URL',
  about: 'Other settings stay unchanged.',
  options: { ...URLS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel settings set --device-event https://example.com/lapel',
    'lapel settings set --call-event https://example.com/calls --no-file-upload-event',
  ],
  async run(given, terminal) {
    const body: Update = {};
    for (const name of NAMES) {
      const url = given.text(kebab(name));
      if (given.flag(`no-${kebab(name)}`)) {
        if (url !== undefined) throw new UsageError(`--no-${kebab(name)}`, `cannot be combined with --${kebab(name)}`);
        body[name] = null;
      } else if (url !== undefined) body[name] = url;
    }
    if (Object.keys(body).length === 0) throw new UsageError('--device-event', 'is needed, or another setting');
    const application = await openApplication(given, terminal);
    await application.call('change the settings', (lapel) => lapel.updateSettings({ body }));
    const settings = await application.call('read the settings', (lapel) => lapel.readSettings());
    return { json: { ok: true, settings }, text: recordText(settings) };
  },
};

const key: Command = {
  name: 'settings key',
  summary: 'Issues the authenticationKey that signs webhooks; for 24 hours the former key signs, too',
  about:
    'For 24 hours webhooks also carry a signature with the old key, so that receivers can change over. To read the current key, use lapel settings show.',
  options: { replace: { text: 'replace the existing key' }, ...APPLICATION_OPTIONS },
  examples: ['lapel settings key', 'lapel settings key --replace'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const { authenticationKey: old } = await application.call('read the settings', (lapel) => lapel.readSettings());
    if (old !== undefined && !given.flag('replace')) {
      throw new UsageError(
        '--replace',
        'is needed: there is a key already. To read it: lapel settings show. To replace it: --replace',
      );
    }
    const { authenticationKey } = await application.call('issue the key', (lapel) => lapel.issueKey());
    return { json: { ok: true, authenticationKey }, text: `${authenticationKey}\n` };
  },
};

export const SETTINGS_COMMANDS: readonly Command[] = [show, set, key, settingsHistory];
