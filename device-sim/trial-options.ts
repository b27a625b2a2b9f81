import type { OptionName, Options } from './options.ts';
import type { TrialSettings } from './trial/run-trial.ts';
import { UsageError } from './usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Checks the form of an authenticationKey: `whsec_`, followed by valid base64. */
function readKey(text: string): string {
  const encoded = text.startsWith('whsec_') ? text.slice('whsec_'.length) : '';
  if (encoded === '' || Buffer.from(encoded, 'base64').toString('base64') !== encoded)
    throw new UsageError('--key', 'the authenticationKey is not "whsec_" and base64');
  return text;
}

/** The options of other commands that would be ignored. */
const OF_A_SERVICE: readonly OptionName[] = ['application', 'api', 'webhook-listen', 'webhook-url'];

/** Reads the options of `receiver`. Throws a UsageError that names the wrong one. */
export function readTrial(
  options: Options,
  env: Environment,
  { application, webhook }: Pick<TrialSettings, 'application' | 'webhook'>,
): TrialSettings {
  if (!options.has('forward')) throw new UsageError('--forward', 'is needed: the URL of your receiver');
  const isSelf = options.has('self');
  const misplaced = isSelf && OF_A_SERVICE.find((name) => options.has(name));
  if (misplaced) throw new UsageError(`--${misplaced}`, 'cannot be used with --self, which needs no service');
  if (options.has('ordered') && !options.has('kept'))
    throw new UsageError('--ordered', 'needs --kept, the list whose order it is about');
  if (options.has('restart') && !options.has('kept'))
    throw new UsageError('--restart', 'needs --kept, the list that shows what a restart has cost');
  const key = options.text('key') ?? options.text('authentication-key') ?? env['LAPEL_AUTHENTICATION_KEY'];
  if (!key && !application)
    throw new UsageError('--key', 'is needed without --application (or LAPEL_AUTHENTICATION_KEY)');
  return {
    forward: options.url('forward', '', ['http:', 'https:']),
    seed: options.number('seed', 1, { min: 0, max: 4_294_967_295, whole: true }),
    once: options.has('once') ? options.number('once', 1, { min: 1, max: 1_000_000, whole: true }) : undefined,
    isSelf,
    authenticationKey: key ? readKey(key) : undefined,
    application,
    api: options.url('api', 'http://127.0.0.1:8080', ['http:', 'https:']),
    wait: 1000 * options.number('wait', 5, { min: 0, max: 3600 }),
    webhook,
    kept: options.text('kept'),
    isOrdered: options.has('ordered'),
    restart: options.text('restart'),
    json: options.has('json'),
    junitFile: options.text('junit'),
  };
}
