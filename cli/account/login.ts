import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import type { Command } from '../line/command.ts';
import { type Given, readUrl } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';
import { table } from '../show/table.ts';
import type { Terminal } from '../show/terminal.ts';
import { ADMIN_OPTIONS, APPLICATION_OPTIONS, connectAdministration, connectApplication, readSecret } from './access.ts';
import { credentialsFile, DEFAULT_PROFILE, type Profile, readProfiles, writeProfiles } from './credentials.ts';

const NAME = { value: 'NAME', text: `name of the profile (${DEFAULT_PROFILE}, which commands use without --profile)` };
const { application, secret, url } = APPLICATION_OPTIONS;
const OPTIONS = {
  application,
  secret,
  'secret-stdin': APPLICATION_OPTIONS['secret-stdin'],
  url,
  admin: { text: 'log in as the administrator instead of an application' },
  'admin-url': ADMIN_OPTIONS['admin-url'],
  token: ADMIN_OPTIONS.token,
  'token-stdin': ADMIN_OPTIONS['token-stdin'],
  profile: NAME,
} satisfies Options;

/**
 * Reads a value from an option, the environment or the person; `fallback` is the answer when the person presses Enter
 * only.
 */
async function inquire(
  {
    given,
    option,
    variable,
    question,
    fallback,
  }: Record<'option' | 'variable' | 'question', string> & {
    given: Given;
    fallback?: string;
  },
  { env, ask }: Terminal,
): Promise<string> {
  const said = given.text(option) ?? (env[variable] || undefined);
  if (said !== undefined) return said;
  const hint = fallback === undefined ? '' : ` [${fallback}]`;
  const answer = (await ask?.(`${question}${hint}: `, { hidden: false })) || fallback;
  if (!answer) throw new UsageError(`--${option}`, `is needed (or ${variable})`);
  return answer;
}

async function askForApplication(given: Given, terminal: Terminal): Promise<Required<Profile>['application']> {
  const { env } = terminal;
  const parts = { given, option: 'url', variable: 'LAPEL_URL', question: 'REST API' };
  const baseUrl = readUrl('url', await inquire({ ...parts, fallback: 'http://127.0.0.1:8080' }, terminal));
  const idParts = { given, option: 'application', variable: 'LAPEL_APPLICATION', question: 'Application' };
  const applicationId = await inquire(idParts, terminal);
  const question = 'Secret (is not shown): ';
  const fallback = env['LAPEL_APPLICATION_SECRET'];
  const value = await readSecret(given, { option: 'secret', fallback, question }, terminal);
  if (!value) throw new UsageError('--secret', 'is needed (or LAPEL_APPLICATION_SECRET, or --secret-stdin)');
  const tried = connectApplication({ baseUrl, applicationId, secret: value }, terminal);
  await tried.call('log in', (lapel) => lapel.readSettings());
  return { url: baseUrl, applicationId, secret: value };
}

async function askForAdministration(
  given: Given,
  terminal: Terminal,
): Promise<{ who: string; account: Required<Profile>['administration'] }> {
  const parts = { given, option: 'admin-url', variable: 'LAPEL_ADMIN_URL', question: 'Administration' };
  const baseUrl = readUrl('admin-url', await inquire({ ...parts, fallback: 'http://127.0.0.1:8081' }, terminal));
  const fallback = terminal.env['LAPEL_ADMIN_TOKEN'];
  const question = 'Your token, or the administrator token of the data folder (is not shown): ';
  const token = await readSecret(given, { option: 'token', fallback, question }, terminal);
  if (!token) throw new UsageError('--token', 'is needed (or LAPEL_ADMIN_TOKEN, or --token-stdin)');
  const tried = connectAdministration({ baseUrl, token }, terminal);
  const { name, role } = (await tried.request(
    'log in',
    adminRequest('readCaller', {}),
  )) as AdminOperations['readCaller']['answer'];
  const who = name === null ? 'the administrator' : `${oneLine(name)} (${role})`;
  return { who, account: { url: baseUrl, token } };
}

export const login: Command = {
  name: 'login',
  summary: 'Checks and stores your account: an application and its secret, or an administrator token',
  about: `Asks for missing values; it is best to type a secret in, or to send it on standard input. Valid credentials are
stored in $XDG_CONFIG_HOME/lapel/credentials.json (else ~/.config/lapel/credentials.json), which only you can read. A profile
can have both, an application and the administrator. A secret is only sent to the service that it was stored for.`,
  options: OPTIONS,
  examples: [
    'lapel login',
    'lapel login --url https://lapel.example.com --application patrol --profile production',
    'lapel login --admin --token-stdin < data/admin-token',
  ],
  async run(given, terminal) {
    const isAdmin = given.flag('admin');
    const name = given.text('profile') ?? (terminal.env['LAPEL_PROFILE'] || DEFAULT_PROFILE);
    const admin = isAdmin ? await askForAdministration(given, terminal) : undefined;
    const found: Profile = admin
      ? { administration: admin.account }
      : { application: await askForApplication(given, terminal) };
    const all = await readProfiles(terminal);
    const file = await writeProfiles(terminal, all.set(name, { ...all.get(name), ...found }));
    const who = admin?.who ?? found.application?.applicationId;
    const where = (found.application ?? found.administration)?.url;
    return {
      json: { ok: true, profile: name, file, url: where, applicationId: found.application?.applicationId ?? null },
      text: `Logged in to ${where} as ${who}: profile "${name}" in ${file}\n`,
    };
  },
};

export const logout: Command = {
  name: 'logout',
  summary: 'Removes a profile that lapel login stored; the secret itself stays valid',
  options: {
    profile: { value: 'NAME', text: `the profile to remove (${DEFAULT_PROFILE})` },
    all: { text: 'remove all profiles' },
  },
  examples: ['lapel logout', 'lapel logout --profile production', 'lapel logout --all'],
  async run(given, terminal) {
    const all = await readProfiles(terminal);
    const name = given.text('profile') ?? (terminal.env['LAPEL_PROFILE'] || DEFAULT_PROFILE);
    const names = given.flag('all') ? [...all.keys()] : [name];
    if (!given.flag('all') && !all.has(name)) throw new UsageError('--profile', `there is no profile "${name}"`);
    for (const one of names) all.delete(one);
    const file = await writeProfiles(terminal, all);
    return { json: { ok: true, forgotten: names }, text: `Removed: ${names.join(', ') || 'nothing'} (${file})\n` };
  },
};

export const profiles: Command = {
  name: 'profiles',
  summary: 'Shows the profiles that lapel login stored, without secrets',
  options: {},
  examples: ['lapel profiles'],
  async run(_given, terminal) {
    const rows = [...(await readProfiles(terminal))].map(([profile, { application: own, administration }]) => ({
      profile,
      applicationId: own?.applicationId ?? null,
      url: own?.url ?? null,
      adminUrl: administration?.url ?? null,
    }));
    return {
      json: { ok: true, file: credentialsFile(terminal), profiles: rows },
      text: table(
        [
          { head: 'PROFILE', cell: (row) => row.profile },
          { head: 'APPLICATION', cell: (row) => row.applicationId },
          { head: 'REST API', cell: (row) => row.url },
          { head: 'ADMINISTRATION', cell: (row) => row.adminUrl },
        ],
        rows,
        'There are none; add one with lapel login',
      ),
    };
  },
};
