import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLapelClient, type LapelClient } from '@lapel/client/lapel-client';
import { createTransport, type Request } from '@lapel/client/transport';
import { COMMAND_LINE, ownVersion } from '@lapel/schemas/base/version';
import { type Given, readUrl } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { toFailure } from '../show/failure.ts';
import type { Terminal } from '../show/terminal.ts';
import { DEFAULT_PROFILE, type Profile, readProfiles } from './credentials.ts';

const PROFILE = { profile: { value: 'NAME', text: 'the profile to use, as stored by lapel login (LAPEL_PROFILE)' } };

/** The options of every command that acts for an application. */
export const APPLICATION_OPTIONS = {
  application: { value: 'ID', text: 'the applicationId (LAPEL_APPLICATION)' },
  secret: {
    value: 'S',
    text: 'the secret of the application; better in LAPEL_APPLICATION_SECRET, because other users of the machine see options',
  },
  'secret-stdin': { text: 'read the secret from the first line of standard input, a text or JSON with "secret"' },
  url: { value: 'URL', text: 'URL of the REST API (LAPEL_URL; http://127.0.0.1:8080)' },
  ...PROFILE,
} satisfies Options;

/** The options of every command of administration. */
export const ADMIN_OPTIONS = {
  'admin-url': { value: 'URL', text: 'URL of administration (LAPEL_ADMIN_URL; http://127.0.0.1:8081)' },
  token: { value: 'TOKEN', text: 'your token, or the administrator token; better in LAPEL_ADMIN_TOKEN' },
  'token-stdin': { text: 'read the token from the first line of standard input, a text or JSON with "token"' },
  'data-dir': {
    value: 'FOLDER',
    text: 'the data folder of the service, which holds the token (LAPEL_DATA_DIR, ./data)',
  },
  ...PROFILE,
} satisfies Options;

const APPLICATION_URL = 'http://127.0.0.1:8080';
const ADMIN_URL = 'http://127.0.0.1:8081';

/** The REST API, called in the name of an application. */
export interface Application {
  applicationId: string;
  baseUrl: string;
  /**
   * Makes calls with the client. `what` names the action for error messages: `start the distribution`. Throws a
   * Failure.
   */
  call<Result>(what: string, use: (lapel: LapelClient) => Promise<Result>): Promise<Result>;
}

/** The administration API, called with the administrator token. */
export interface Administration {
  baseUrl: string;
  /** The headers of every request to administration. */
  headers: { authorization: string; 'user-agent': string };
  /** Sends a request and returns the body of its answer; undefined without a body. Throws a Failure. */
  request(what: string, request: AdminRequest): Promise<unknown>;
  /** Like `request`, but also returns the query of the next page, when there is one. */
  page(what: string, request: AdminRequest): ReturnType<ReturnType<typeof createTransport>>;
}

/**
 * A request to administration; one with an `idempotencyKey` is carried out once, however often it is sent, and one with
 * `ifMatch` only if the object is as the caller has read it.
 */
type AdminRequest = Omit<Request, 'headers' | 'repeatable'> & { idempotencyKey?: string; ifMatch?: string | undefined };

async function firstLineOf(stdin: Terminal['stdin'], option: string): Promise<string> {
  for await (const line of createInterface({ input: stdin })) {
    if (line.trim() !== '') return line.trim();
    break;
  }
  throw new UsageError(option, 'standard input is empty');
}

/** The secret in a line of standard input, which may be the JSON of the command that has made it. */
function secretIn(line: string, member: string, option: string): string {
  if (!line.startsWith('{')) return line;
  try {
    const value = (JSON.parse(line) as Record<string, unknown>)[member];
    if (typeof value === 'string') return value;
  } catch {
    // The text is no JSON, so there is no member either.
  }
  throw new UsageError(option, `standard input is JSON without "${member}"`);
}

/** Reads a secret from an option, from standard input, from the environment (`fallback`), or by asking the person. */
export async function readSecret(
  given: Given,
  { option, fallback, question }: { option: string; fallback?: string | undefined; question: string },
  { stdin, ask }: Pick<Terminal, 'stdin' | 'ask'>,
): Promise<string | undefined> {
  const said = given.text(option);
  if (given.flag(`${option}-stdin`)) {
    if (said !== undefined) throw new UsageError(`--${option}-stdin`, `cannot be combined with --${option}`);
    return secretIn(await firstLineOf(stdin, `--${option}-stdin`), option, `--${option}-stdin`);
  }
  return said ?? (fallback || ((await ask?.(question, { hidden: true })) ?? undefined) || undefined);
}

/**
 * Finds the profile of a command. A profile named on the command line takes precedence over the environment variables,
 * which are then ignored. Without a name it is `default`, which need not exist. Throws a UsageError.
 */
async function findProfile(given: Given, terminal: Terminal): Promise<{ profile: Profile; env: Terminal['env'] }> {
  const named = given.text('profile');
  const name = named ?? (terminal.env['LAPEL_PROFILE'] || undefined);
  const profiles = await readProfiles(terminal);
  const profile = profiles.get(name ?? DEFAULT_PROFILE);
  if (name !== undefined && !profile) {
    const names = [...profiles.keys()].join(', ') || 'none yet';
    throw new UsageError(
      '--profile',
      `there is no profile "${name}" (profiles: ${names}); create it with lapel login --profile ${name}`,
    );
  }
  return { profile: profile ?? {}, env: named === undefined ? terminal.env : {} };
}

/**
 * Opens the REST API for an application. Its access tokens are kept in memory only, and lost when the command ends.
 * Throws a UsageError.
 */
export async function openApplication(given: Given, terminal: Terminal): Promise<Application> {
  const { profile, env } = await findProfile(given, terminal);
  const stored = profile.application;
  const applicationId = given.text('application') ?? (env['LAPEL_APPLICATION'] || stored?.applicationId);
  if (applicationId === undefined) {
    throw new UsageError('--application', 'is needed (or LAPEL_APPLICATION, or lapel login)');
  }
  const baseUrl = readUrl('url', given.text('url') ?? (env['LAPEL_URL'] || stored?.url || APPLICATION_URL));
  // A stored secret is sent only to the service that it was stored for.
  const isStored = stored?.applicationId === applicationId && stored.url === baseUrl;
  const fallback = env['LAPEL_APPLICATION_SECRET'] || (isStored ? stored.secret : undefined);
  const question = `Secret of ${applicationId} (is not shown): `;
  const secret = await readSecret(given, { option: 'secret', fallback, question }, terminal);
  if (!secret) throw new UsageError('--secret', 'is needed (or LAPEL_APPLICATION_SECRET, --secret-stdin, lapel login)');
  return connectApplication({ baseUrl, applicationId, secret }, terminal);
}

export function connectApplication(
  account: { baseUrl: string; applicationId: string; secret: string },
  { now, pause }: Terminal,
): Application {
  const { baseUrl, applicationId } = account;
  const lapel = createLapelClient({ ...account, now, pause, exactNumbers: true });
  return {
    applicationId,
    baseUrl,
    async call(what, use) {
      try {
        return await use(lapel);
      } catch (error) {
        throw toFailure(error, { what, baseUrl, option: 'url' });
      }
    },
  };
}

/** The newest token of a file: the service accepts a second one while everybody changes over. */
const newestOf = (text: string): string => text.trim().split(/\r?\n/, 1)[0] ?? '';

async function tokenIn(folder: string): Promise<string> {
  return newestOf(await readFile(join(folder, 'admin-token'), 'utf8'));
}

const faultOf = (error: unknown, folder: string): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? `there is no ${join(folder, 'admin-token')}` : message;
};

/** Opens administration with the administrator token. Throws a UsageError. */
export async function openAdministration(given: Given, terminal: Terminal): Promise<Administration> {
  const { profile, env } = await findProfile(given, terminal);
  const stored = profile.administration;
  const baseUrl = readUrl('admin-url', given.text('admin-url') ?? (env['LAPEL_ADMIN_URL'] || stored?.url || ADMIN_URL));
  const silent = { ...terminal, ask: null };
  const said = await readSecret(given, { option: 'token', question: '' }, silent);
  const folder = given.text('data-dir');
  if (said !== undefined && folder !== undefined) throw new UsageError('--data-dir', 'cannot be combined with --token');
  const fromFolder = async (path: string): Promise<string> => {
    try {
      return await tokenIn(path);
    } catch (error) {
      throw new UsageError('--data-dir', faultOf(error, path));
    }
  };
  const last = async (): Promise<string> => {
    const path = env['LAPEL_DATA_DIR'] || './data';
    try {
      return await tokenIn(path);
    } catch (error) {
      const asked = await terminal.ask?.('Administrator token (is not shown): ', { hidden: true });
      if (asked) return asked;
      throw new UsageError(
        '--token',
        `is needed (or LAPEL_ADMIN_TOKEN, or --data-dir, or lapel login --admin): ${faultOf(error, path)}`,
      );
    }
  };
  const inFile = env['LAPEL_ADMIN_TOKEN_FILE'];
  const fromEnvironment = async (): Promise<string> => {
    if (env['LAPEL_ADMIN_TOKEN'] || !inFile) return env['LAPEL_ADMIN_TOKEN'] ?? '';
    try {
      return newestOf(await readFile(inFile, 'utf8'));
    } catch (error) {
      throw new UsageError('LAPEL_ADMIN_TOKEN_FILE', (error as Error).message);
    }
  };
  const storedToken = stored?.url === baseUrl && !env['LAPEL_DATA_DIR'] ? stored.token : undefined;
  const token =
    said ??
    (folder === undefined ? (await fromEnvironment()) || storedToken || (await last()) : await fromFolder(folder));
  return connectAdministration({ baseUrl, token }, terminal);
}

export function connectAdministration(
  { baseUrl, token }: { baseUrl: string; token: string },
  { pause }: Terminal,
): Administration {
  const send = createTransport(baseUrl, { pause, exactNumbers: true });
  const headers = { authorization: `Bearer ${token}`, 'user-agent': `${COMMAND_LINE}/${ownVersion()}` };
  const page: Administration['page'] = async (what, { idempotencyKey, ifMatch, ...request }) => {
    try {
      const repeatable = request.method !== 'POST' || idempotencyKey !== undefined;
      const own = {
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      };
      return await send({ ...request, headers: { ...headers, ...own }, repeatable });
    } catch (error) {
      throw toFailure(error, { what, baseUrl, option: 'admin-url' });
    }
  };
  return {
    baseUrl,
    headers,
    page,
    request: async (what, request) => (await page(what, request)).body,
  };
}
