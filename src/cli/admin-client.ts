import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Given, type Options, readUrl } from './command-line.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** The options of every command of administration. */
export const ADMIN_OPTIONS = {
  'admin-url': { value: 'URL', text: 'administration (http://127.0.0.1:8081)' },
  token: { value: 'TOKEN', text: 'the administrator token; or LAPEL_ADMIN_TOKEN; or the file admin-token in' },
  'data-dir': { value: 'FOLDER', text: 'the data folder of the service (LAPEL_DATA_DIR, else ./data)' },
} satisfies Options;

async function findToken(given: Given, env: Terminal['env']): Promise<string> {
  const folder = given.text('data-dir');
  // What is on the command line wins over the environment, also when it is the folder.
  const token = given.text('token') ?? (folder === undefined ? env['LAPEL_ADMIN_TOKEN'] : undefined);
  if (token) return token;
  const file = join(folder ?? env['LAPEL_DATA_DIR'] ?? './data', 'admin-token');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = code === 'ENOENT' ? `there is no ${file}` : message;
    if (folder !== undefined) throw new UsageError('--data-dir', fault);
    throw new UsageError('--token', `is needed (or LAPEL_ADMIN_TOKEN, or --data-dir): ${fault}`);
  }
}

/** A client of the administration API. Throws a UsageError. */
export async function openAdministration(given: Given, { env }: Terminal): Promise<HttpClient> {
  const baseUrl = readUrl('admin-url', given.text('admin-url') ?? 'http://127.0.0.1:8081');
  const authorization = `Bearer ${await findToken(given, env)}`;
  return createHttpClient({ baseUrl, option: 'admin-url', authorization: () => authorization });
}
