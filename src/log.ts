import { type Logger, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type Log = Logger;

// Paths whose values never reach a log line, at any depth that the service uses.
const SECRETS = ['password', 'secret', 'credential', 'authenticationKey', 'authorization', 'token', 'parameters'];
const redact = { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' };

/** JSON lines on standard error; readable ones when `pretty` (a terminal). Standard output is for the service's own answer lines. */
export function createLog(options: { level: string; pretty: boolean; destination?: NodeJS.WritableStream }): Log {
  const settings = { level: options.level, redact, base: null };
  if (options.destination) return pino(settings, options.destination as Parameters<typeof pino>[1] & object);
  if (options.pretty) return pino(settings, PinoPretty({ destination: 2, colorize: true, ignore: 'pid,hostname' }));
  return pino(settings, pino.destination({ dest: 2, sync: false }));
}

/** What is said of a database. */
export const databaseWords = (log: Log) => ({
  onEffectError: (err: unknown) => log.error({ err }, 'something after a commit failed'),
  onAway: (err: unknown) => log.error({ err }, 'the database cannot be used'),
  onBack: () => log.info('the database can be used again'),
});
