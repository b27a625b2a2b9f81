import { type Logger, pino, stdSerializers } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { isSecretName } from './secret-names.ts';
import { withoutSecrets } from './without-secrets.ts';

export type Log = Logger;

/** Of commands no parameters are written: what is secret among them may have any name. */
const isSecret = (name: string): boolean => name === 'parameters' || isSecretName(name);

/** No line has a secret, at any depth, in texts and in errors, too. */
const withoutSecret = {
  formatters: { log: (line: object) => withoutSecrets(line, isSecret) as Record<string, unknown> },
  serializers: { err: (error: Error) => withoutSecrets({ ...stdSerializers.err(error) }, isSecret) },
};

/** JSON lines on standard error; readable ones when `pretty` (a terminal). Standard output is for the service's own answer lines. */
export function createLog(options: { level: string; pretty: boolean; destination?: NodeJS.WritableStream }): Log {
  const settings = { level: options.level, ...withoutSecret, base: null };
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
