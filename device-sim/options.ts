import { parseArgs } from 'node:util';
import type { Range } from './random.ts';
import { UsageError } from './usage-error.ts';

/** The options of every run: the service, the devices, the reports. */
const OF_A_RUN = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  json: { type: 'boolean' },
  run: { type: 'string' },
  seed: { type: 'string' },
  count: { type: 'string', short: 'n' },
  faster: { type: 'string' },
  shard: { type: 'string' },
  report: { type: 'string' },
  decisions: { type: 'string' },
  record: { type: 'string' },
  baseline: { type: 'string' },
  tolerance: { type: 'string' },
  'print-scenario': { type: 'boolean' },
  figures: { type: 'string' },
  otlp: { type: 'string' },
  wait: { type: 'string' },
  service: { type: 'string', multiple: true },
  'service-fault': { type: 'string' },
  clean: { type: 'boolean' },
  'clean-sessions': { type: 'boolean' },
  client: { type: 'string' },
  state: { type: 'string' },
  'download-dir': { type: 'string' },
  'trusted-key': { type: 'string', multiple: true },
  mqtt: { type: 'string' },
  api: { type: 'string' },
  admin: { type: 'string' },
  'admin-token': { type: 'string' },
  'data-dir': { type: 'string' },
  developer: { type: 'string' },
  enrol: { type: 'string' },
  csr: { type: 'boolean' },
  ca: { type: 'string' },
  certificates: { type: 'string' },
  devices: { type: 'string' },
  save: { type: 'string' },
  application: { type: 'string' },
  secret: { type: 'string' },
  'authentication-key': { type: 'string' },
  'webhook-listen': { type: 'string' },
  'webhook-url': { type: 'string' },
} as const;

/** The options of the command `receiver`, which other commands do not have. */
const OF_A_RECEIVER = {
  forward: { type: 'string' },
  self: { type: 'boolean' },
  key: { type: 'string' },
  once: { type: 'string' },
  kept: { type: 'string' },
  ordered: { type: 'boolean' },
} as const;

/** The options of the command `device`, which other commands do not have. */
const OF_A_DEVICE_TEST = {
  transport: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'mqtt-client-ca': { type: 'string' },
  'files-listen': { type: 'string' },
  'public-host': { type: 'string' },
  device: { type: 'string' },
  credential: { type: 'string' },
  operations: { type: 'string' },
  cases: { type: 'string' },
  'answer-time': { type: 'string' },
  'signing-key': { type: 'string' },
  wifi: { type: 'string' },
  apn: { type: 'string' },
  'revert-after': { type: 'string' },
  'by-hand': { type: 'string' },
  thorough: { type: 'boolean' },
  hours: { type: 'string' },
} as const;

/** The options of the commands for which devices connect to the simulator. */
const OF_A_LISTENER = {
  listen: { type: 'string' },
} as const;

/** The options that only the commands `receiver` and `device` have. */
const OF_A_TEST = {
  restart: { type: 'string' },
  junit: { type: 'string' },
  'signed-report': { type: 'string' },
  'report-key': { type: 'string' },
} as const;

/** The options of the command `verify`, which other commands do not have. */
const OF_A_CHECK = {
  'public-key': { type: 'string' },
  page: { type: 'string' },
} as const;

/** The options of a run without a scenario; in a run with one, the scenario says these things. */
const OF_THE_SHORT_WAY = {
  load: { type: 'string' },
  duration: { type: 'string' },
  'until-idle': { type: 'string' },
  'connect-rate': { type: 'string' },
  latency: { type: 'string' },
  'offline-rate': { type: 'string' },
  calls: { type: 'string' },
} as const;

const OPTIONS = {
  ...OF_A_RUN,
  ...OF_A_RECEIVER,
  ...OF_A_DEVICE_TEST,
  ...OF_A_LISTENER,
  ...OF_A_TEST,
  ...OF_A_CHECK,
  ...OF_THE_SHORT_WAY,
};
export type OptionName = keyof typeof OPTIONS;
export const optionNames = Object.keys(OPTIONS) as readonly OptionName[];
export const deviceTestNames = Object.keys({ ...OF_A_LISTENER, ...OF_A_DEVICE_TEST }) as OptionName[];
/** The commands that alone have an option, by its name. */
export const commandsOf: ReadonlyMap<OptionName, readonly string[]> = new Map(
  [
    { options: OF_A_RECEIVER, commands: ['receiver'] },
    { options: OF_A_DEVICE_TEST, commands: ['device'] },
    { options: OF_A_LISTENER, commands: ['device', 'record'] },
    { options: OF_A_TEST, commands: ['receiver', 'device'] },
    { options: OF_A_CHECK, commands: ['verify'] },
  ].flatMap(({ options, commands }) =>
    (Object.keys(options) as OptionName[]).map((name): [OptionName, string[]] => [name, commands]),
  ),
);
export const shortWayNames = Object.keys(OF_THE_SHORT_WAY) as OptionName[];

/** The options of a command line as they were written, and its other words. */
export interface Options {
  readonly words: readonly string[];
  has(name: OptionName): boolean;
  text(name: OptionName): string | undefined;
  /** All values of an option that may be given several times. */
  texts(name: OptionName): readonly string[];
  number(name: OptionName, fallback: number, bounds: Range & { whole?: boolean }): number;
  range(name: OptionName, fallback: string, bounds?: Range): Range;
  url(name: OptionName, fallback: string, protocols: readonly string[]): string;
  /** Several URLs, separated by commas. */
  urls(name: OptionName, fallback: string, protocols: readonly string[]): readonly string[];
}

const DAY = 86_400_000;

function readNumber(name: string, text: string, { min, max, whole = false }: Range & { whole?: boolean }): number {
  const value = Number(text);
  const kind = whole ? 'a whole number' : 'a number';
  if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max || (whole && !Number.isInteger(value))) {
    throw new UsageError(`--${name}`, `"${text}" is not ${kind} from ${min} to ${max}`);
  }
  return value;
}

function readRange(name: string, text: string, bounds: Range): Range {
  const [min = '', max = min, ...more] = text.split('-');
  const range = { min: readNumber(name, min, bounds), max: readNumber(name, max, bounds) };
  if (more.length > 0 || range.max < range.min)
    throw new UsageError(`--${name}`, `"${text}" is neither one number nor MIN-MAX`);
  return range;
}

function readUrl(name: string, text: string, protocols: readonly string[]): string {
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new UsageError(`--${name}`, `"${text}" is not a URL of ${protocols.join(' or ')}`);
  }
  return text.replace(/\/+$/, '');
}

/**
 * Joins an option and a value that begins with a hyphen, as secrets may, so that the value is not taken for an option.
 * Words that are options stay apart.
 */
function joinValues(args: readonly string[]): string[] {
  const takesValue = (arg: string): boolean =>
    Object.entries(OPTIONS).some(([name, { type }]) => type === 'string' && arg === `--${name}`);
  const isOption = (arg: string): boolean =>
    arg === '-h' || arg === '-n' || Object.keys(OPTIONS).some((name) => arg.split('=')[0] === `--${name}`);
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    if (takesValue(before) && arg.startsWith('-') && !isOption(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/**
 * Reads the options of a command line. Throws a UsageError that names the wrong one. The users of the options read the
 * values.
 */
export function readOptions(args: readonly string[]): Options {
  let values: Partial<Record<OptionName, string | boolean | string[]>>;
  let words: string[];
  try {
    const parsed = parseArgs({ args: joinValues(args), options: OPTIONS, strict: true, allowPositionals: true });
    values = parsed.values;
    words = parsed.positionals;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError(/--?[\w-]+/.exec(text)?.[0] ?? 'arguments', text.split('. ')[0] ?? text);
  }
  const text = (name: OptionName): string | undefined => values[name] as string | undefined;
  return {
    words,
    has: (name) => values[name] !== undefined,
    text,
    texts: (name) => (values[name] as string[] | undefined) ?? [],
    number(name, fallback, bounds) {
      const given = text(name);
      return given === undefined ? fallback : readNumber(name, given, bounds);
    },
    range: (name, fallback, bounds = { min: 0, max: DAY }) => readRange(name, text(name) ?? fallback, bounds),
    url: (name, fallback, protocols) => readUrl(name, text(name) ?? fallback, protocols),
    urls: (name, fallback, protocols) =>
      (text(name) ?? fallback).split(',').map((one) => readUrl(name, one.trim(), protocols)),
  };
}
