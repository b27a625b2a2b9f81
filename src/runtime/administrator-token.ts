import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';

/** The file of the administrator token in the data folder. */
export const TOKEN_FILE = 'admin-token';
/** The fewest characters of a token that the operator has chosen. */
export const ADMIN_TOKEN_LENGTH = 32;
/** The most tokens in a file: the newest, and the one of before until everybody has the new one. */
const MOST_TOKENS = 2;
/** Microseconds between two looks at the file. */
const LOOK_MICROS = 1_000_000;

/** The lines of a text that have a token, the newest first. */
export const tokensOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '');

/** The fault of tokens that the operator has chosen, for people; undefined when they are good. */
export function faultOfTokens(tokens: readonly string[]): string | undefined {
  if (tokens.length === 0) return 'is empty';
  if (tokens.length > MOST_TOKENS) return `has more than ${MOST_TOKENS} lines with tokens`;
  if (tokens.some((token) => token.length < ADMIN_TOKEN_LENGTH))
    return `must have ${ADMIN_TOKEN_LENGTH} characters or more`;
  return undefined;
}

interface Parts {
  clock: Pick<Clock, 'now'>;
  ids: Ids;
  log: Log;
  /** The value of the setting; null when there is none. */
  token: string | null;
  /** The file of the setting; null when there is none. */
  file: string | null;
  folder: string;
}

export type AdministratorToken = ReturnType<typeof createAdministratorToken>;

/**
 * The administrator token: that of the settings, or else the one in the file `admin-token` of the data folder, which is
 * created at the first start, and which only its owner can read. A file is looked at when a token is compared, once a
 * second at most, and after a SIGHUP, so that the token is changed without a restart. It may have two lines: then both tokens are accepted, and the first is the newest. A file that
 * cannot be used changes nothing.
 */
export function createAdministratorToken({ clock, ids, log, token, file, folder }: Parts) {
  const path = file ?? (token === null ? join(folder, TOKEN_FILE) : null);
  if (file === null && path !== null)
    try {
      writeFileSync(path, `${ids.secret()}\n`, { flag: 'wx', mode: 0o600 });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  let text = path === null ? (token ?? '') : readFileSync(path, 'utf8');
  let tokens = tokensOf(text);
  let digests = tokens.map(digestOf);
  let faulty = '';
  let lookedAt = clock.now();
  const listeners: (() => void)[] = [];

  /** Reads the file again. Returns true when there are other tokens now. */
  function look(): boolean {
    if (path === null) return false;
    let read: string;
    try {
      read = readFileSync(path, 'utf8');
    } catch {
      return false; // it is being replaced
    }
    if (read === text || read === faulty) return false;
    const found = tokensOf(read);
    const fault = faultOfTokens(found);
    if (fault !== undefined) {
      faulty = read;
      log.error({ file: path }, `the file of the administrator token ${fault}; the former tokens stay in use`);
      return false;
    }
    text = read;
    tokens = found;
    digests = tokens.map(digestOf);
    log.info({ file: path, tokens: tokens.length }, 'the administrator token was read again');
    for (const listener of listeners) listener();
    return true;
  }

  function lookSometimes(): void {
    if (clock.now() < lookedAt + LOOK_MICROS) return;
    lookedAt = clock.now();
    look();
  }

  return {
    /** The newest token. */
    newest(): string {
      lookSometimes();
      return tokens[0] ?? '';
    },
    /** The SHA-256 of the tokens that are accepted. */
    digests(): readonly Buffer[] {
      lookSometimes();
      return digests;
    },
    look,
    /** Registers a listener for a change of the tokens. */
    onChange: (listener: () => void): void => void listeners.push(listener),
  };
}

/** The SHA-256 of a token: hashes of tokens are equally long, so they can be compared in constant time. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
