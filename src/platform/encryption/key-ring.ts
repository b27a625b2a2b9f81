import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DomainError } from '@lapel/schemas/contracts/errors';

/** A key of the operator: 32 random bytes under a name. */
export interface EncryptionKey {
  keyId: string;
  secret: Buffer;
}

/** Where the keys come from: a file, or the standard output of a command of the shell; null: there are none. */
export type KeySource = { file: string } | { command: string } | null;

const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;
const KEY_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;
/** The most keys, and the bytes of the file or the output that has them. */
const MOST_KEYS = 100;
const MOST_BYTES = 64 * 1024;
/** Milliseconds after which a command that has not ended is ended. */
const COMMAND_MS = 30_000;

const run = promisify(execFile);

const settingOf = (source: Exclude<KeySource, null>): string =>
  'file' in source ? 'LAPEL_ENCRYPTION_KEY_FILE' : 'LAPEL_ENCRYPTION_KEY_COMMAND';

/**
 * Reads the lines `ID KEY`, the newest first; KEY is 32 bytes in base64. Empty lines and those that begin with `#` do not
 * count. Throws an Error whose message names the line, and shows nothing of it.
 */
export function parseKeys(text: string): EncryptionKey[] {
  const keys: EncryptionKey[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/);
    const [keyId = '', encoded = ''] = words;
    if (keyId === '' || keyId.startsWith('#')) continue;
    const where = `line ${index + 1}`;
    if (words.length !== 2) throw new Error(`${where} is not "ID KEY"`);
    if (!KEY_ID.test(keyId))
      throw new Error(`${where}: an id has 1 to 32 letters, digits, dots, underscores and hyphens`);
    const secret = Buffer.from(BASE64.test(encoded) ? encoded : '', 'base64');
    if (secret.length !== KEY_BYTES) throw new Error(`${where}: the key ${keyId} is not 32 bytes in base64`);
    if (keys.some((key) => key.keyId === keyId)) throw new Error(`${where}: the id ${keyId} comes twice`);
    keys.push({ keyId, secret });
    if (keys.length > MOST_KEYS) throw new Error(`there are more than ${MOST_KEYS} keys`);
  }
  if (keys.length === 0) throw new Error('there is no key');
  return keys;
}

async function textOf(source: Exclude<KeySource, null>): Promise<string> {
  if ('command' in source) {
    const options = { timeout: COMMAND_MS, maxBuffer: MOST_BYTES, encoding: 'utf8' } as const;
    return (await run('/bin/sh', ['-c', source.command], options)).stdout;
  }
  const text = await readFile(source.file, 'utf8');
  if (text.length > MOST_BYTES) throw new Error(`${source.file} has more than ${MOST_BYTES} bytes`);
  return text;
}

/** The reason why a file or a command gave nothing. The output of a command can hold keys, so it is never part of it. */
function reasonOf(source: Exclude<KeySource, null>, cause: unknown): string {
  const { code, killed, message } = cause as { code?: string | number; killed?: boolean; message: string };
  if ('file' in source) return code === undefined ? message : `${source.file} cannot be read (${code})`;
  if (killed === true) return `the command has not ended within ${COMMAND_MS / 1000} seconds`;
  if (typeof code === 'number') return `the command ended with exit code ${code}`;
  return typeof code === 'string' ? `the command cannot be used (${code})` : message;
}

/** Reads the keys, the newest first. Throws SETTING_INVALID, which names the setting. */
export async function readKeys(source: KeySource): Promise<EncryptionKey[]> {
  if (source === null) return [];
  try {
    return parseKeys(await textOf(source));
  } catch (cause) {
    const values = { setting: settingOf(source), problem: reasonOf(source, cause) };
    throw new DomainError('SETTING_INVALID', { values });
  }
}
