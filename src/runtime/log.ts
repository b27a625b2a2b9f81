import { isSecretName } from '@lapel/schemas/base/secret-names';
import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import { isPassing } from '@lapel/schemas/contracts/errors';
import { type Logger, pino, stdSerializers } from 'pino';

export type Log = Logger;

/** The parameters of commands are not logged at all, because a secret among them may have any name. */
const isSecret = (name: string): boolean => name === 'parameters' || isSecretName(name);

/** Removes secrets from every line of the log, at any depth, also from texts and errors. */
const withoutSecret = {
  formatters: { log: (line: object) => withoutSecrets(line, isSecret) as Record<string, unknown> },
  serializers: { err: (error: Error) => withoutSecrets({ ...stdSerializers.err(error) }, isSecret) },
};

/**
 * Creates the log: JSON lines on standard error, or on `destination`. Standard output is reserved for the output of the
 * commands.
 */
export function createLog(options: { level: string; destination?: NodeJS.WritableStream | undefined }): Log {
  const settings = { level: options.level, ...withoutSecret, base: null };
  if (options.destination) return pino(settings, options.destination as Parameters<typeof pino>[1] & object);
  return pino(settings, pino.destination({ dest: 2, sync: false }));
}

/** The destination of a log that a person reads in a terminal: readable lines on standard error. */
export async function readableLines(): Promise<NodeJS.WritableStream> {
  const { PinoPretty } = await import('pino-pretty'); // loaded only here, because a service without a terminal needs none
  return PinoPretty({ destination: 2, colorize: true, ignore: 'pid,hostname' });
}

/**
 * The level of an error in work that is tried again: `warn` if it passes by itself, such as an object store that does not
 * answer; otherwise `error`.
 */
export const levelOf = (err: unknown): 'warn' | 'error' => (isPassing(err) ? 'warn' : 'error');

/** Writes the log lines for the events that a database reports. */
export const databaseWords = (log: Log) => ({
  onEffectError: (err: unknown) => log.error({ err }, 'work that had to follow a commit failed'),
  onAway: (err: unknown) => log.error({ err }, 'the database is unavailable'),
  onBack: () => log.info('the database is available again'),
  onDoubt: (sentence: string) => log.warn(sentence),
  onUpgrade: (line: string) => log.warn(`upgrade of the database: ${line.trim()}`),
});
