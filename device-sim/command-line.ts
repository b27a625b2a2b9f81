import { createPublicKey, type KeyObject } from 'node:crypto';
import { stringify } from 'yaml';
import type { Signing } from './certificate/signing.ts';
import type { VerifySettings } from './certificate/verify-report.ts';
import { readSigning, readVerify } from './certificate-options.ts';
import { type AccountSource, readAccounts } from './customer/accounts.ts';
import type { DeviceTestSettings } from './device-test/device-test-settings.ts';
import { readDeviceTest } from './device-test-options.ts';
import { MAX_DEVICES } from './fleet/device-ids.ts';
import { readKeyFile } from './key-file.ts';
import { readListen } from './listen-address.ts';
import { commandsOf, type OptionName, type Options, optionNames, readOptions, shortWayNames } from './options.ts';
import { readRecord } from './record-options.ts';
import type { RecordSettings } from './relay/run-record.ts';
import type { ReplaySettings } from './replay/run-replay.ts';
import { readScenario } from './scenario/read-scenario.ts';
import { openScenario } from './scenario/ready.ts';
import { scaled } from './scenario/scale.ts';
import type { Scenario } from './scenario/scenario.ts';
import { suggestName } from './scenario/suggest-name.ts';
import { shortWay } from './short-way.ts';
import type { TrialSettings } from './trial/run-trial.ts';
import { readTrial } from './trial-options.ts';
import { UsageError } from './usage-error.ts';

/** An earlier report.json, and the share by which latencies may be longer than there. */
export interface BaselineFile {
  readonly file: string;
  readonly tolerance: number;
}

/** The settings of a run besides its scenario. */
export interface RunSettings {
  readonly scenario: Scenario;
  readonly run: string;
  /**
   * Several processes can share one run: this process plays part `index` (from 1) of `of` parts. Null: it plays the
   * whole run.
   */
  readonly shard: { readonly index: number; readonly of: number } | null;
  readonly json: boolean;
  readonly reportFolder: string | undefined;
  readonly baseline: BaselineFile | undefined;
  /** Where Prometheus reads the figures of the run while it goes on; undefined: nowhere. */
  readonly figuresListen?: { readonly host: string; readonly port: number } | undefined;
  /** Where the figures are sent by OTLP while the run goes on; undefined: nowhere. */
  readonly otlpUrl?: string | undefined;
  readonly decisionsFile: string | undefined;
  /** The file for the messages of the devices. */
  readonly recordFile: string | undefined;
  /** Milliseconds to wait until the service answers. */
  readonly wait: number;
  /** Whether the run removes its devices, application and packages at the end. */
  readonly clean: boolean;
  readonly cleanSessions: boolean;
  /** The MQTT client of the devices: that of the simulator, or the package `mqtt`. */
  readonly client: 'lean' | 'mqtt';
  readonly stateFolder: string | undefined;
  readonly downloadFolder: string | undefined;
  /** The public keys that must have signed the software which devices install. */
  readonly trustedKeys: readonly KeyObject[];
  /** The addresses of the nodes for devices and for the customer. */
  readonly mqtt: readonly string[];
  readonly api: readonly string[];
  readonly accounts: AccountSource;
  readonly saveFile: string | undefined;
  /** A file of certificate authorities to trust, and the folder of the client certificates of devices. */
  readonly caFile: string | undefined;
  readonly certificateFolder: string | undefined;
  /** An existing application; without it the run makes one. */
  readonly application: { readonly applicationId: string; readonly secret: string } | undefined;
  readonly authenticationKey: string | undefined;
  readonly webhook: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined };
  /** The commands that start the nodes of the service, or the command that makes an existing service fail. */
  readonly service: { readonly commands: readonly string[]; readonly faultCommand: string | undefined };
}

/** A parsed command line. */
export type Command =
  | { readonly do: 'help' | 'list' | 'version' }
  | { readonly do: 'schema'; readonly of: 'scenario' | 'report' }
  | { readonly do: 'check'; readonly files: readonly string[] }
  | { readonly do: 'print'; readonly text: string }
  | {
      readonly do: 'merge';
      readonly folders: readonly string[];
      readonly reportFolder: string | undefined;
      readonly baseline: BaselineFile | undefined;
      readonly json: boolean;
    }
  | { readonly do: 'receiver'; readonly settings: TrialSettings; readonly signing: Signing | null }
  | { readonly do: 'device'; readonly settings: DeviceTestSettings; readonly signing: Signing | null }
  | { readonly do: 'verify'; readonly settings: VerifySettings }
  | { readonly do: 'replay'; readonly settings: ReplaySettings }
  | { readonly do: 'record'; readonly settings: RecordSettings }
  | { readonly do: 'run'; readonly settings: RunSettings };

const COMMANDS = ['run', 'check', 'list', 'schema', 'merge', 'receiver', 'device', 'verify', 'record', 'replay'];
const HTTP = ['http:', 'https:'];

type Environment = Readonly<Record<string, string | undefined>>;

function readShard(text: string | undefined): RunSettings['shard'] {
  if (text === undefined) return null;
  const [, index, of] = /^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.of))
    throw new UsageError('--shard', `"${text}" is not I/N, for example 1/4`);
  return shard;
}

function readClient(text = 'lean'): RunSettings['client'] {
  if (text === 'lean' || text === 'mqtt') return text;
  throw new UsageError('--client', `"${text}" is neither "lean" nor "mqtt"`);
}

function accountsOf(options: Options, env: Environment): AccountSource {
  const file = options.text('devices');
  if (file !== undefined && options.has('enrol')) throw new UsageError('--enrol', 'cannot be used with --devices');
  if (file !== undefined && options.has('save')) throw new UsageError('--save', 'cannot be used with --devices');
  const count = options.has('count')
    ? options.number('count', 1, { min: 1, max: MAX_DEVICES, whole: true })
    : undefined;
  if (file !== undefined) return { kind: 'file', file, limit: count };
  const code = options.text('enrol') ?? env['LAPEL_ENROLMENT_CODE'];
  const csr = options.has('csr');
  if (csr && code === undefined) throw new UsageError('--csr', 'needs --enrol');
  if (csr && !options.has('certificates'))
    throw new UsageError('--csr', 'needs --certificates, where the certificates are kept');
  const token = options.text('admin-token') ?? env['LAPEL_ADMIN_TOKEN'];
  return {
    kind: 'register',
    adminUrl: options.url('admin', 'http://127.0.0.1:8081', HTTP),
    token: token ?? { dataDir: options.text('data-dir') ?? env['LAPEL_DATA_DIR'] ?? './data' },
    developerId: options.text('developer') ?? 'simulated',
    code,
    csr,
  };
}

function applicationOf(options: Options, env: Environment): RunSettings['application'] {
  const applicationId = options.text('application');
  if (applicationId === undefined) {
    if (options.has('secret')) throw new UsageError('--secret', 'needs --application');
    return undefined;
  }
  const secret = options.text('secret') ?? env['LAPEL_APPLICATION_SECRET'];
  if (!secret) throw new UsageError('--secret', 'is needed with --application (or LAPEL_APPLICATION_SECRET)');
  return { applicationId, secret };
}

function webhookOf(options: Options): RunSettings['webhook'] {
  const publicUrl = options.has('webhook-url') ? options.url('webhook-url', '', HTTP) : undefined;
  return { ...readListen('webhook-listen', options.text('webhook-listen') ?? '127.0.0.1:0'), publicUrl };
}

function serviceOf(options: Options): RunSettings['service'] {
  const commands = options.texts('service');
  const faultCommand = options.text('service-fault');
  if (commands.length > 0 && faultCommand !== undefined)
    throw new UsageError('--service-fault', 'cannot be used with --service, which plays the faults itself');
  return { commands, faultCommand };
}

function baselineOf(options: Options): BaselineFile | undefined {
  const file = options.text('baseline');
  if (file === undefined && options.has('tolerance')) throw new UsageError('--tolerance', 'needs --baseline');
  return file === undefined
    ? undefined
    : { file, tolerance: options.number('tolerance', 20, { min: 0, max: 10_000 }) / 100 };
}

/** The URL of a collector without a path gets the path of the documents of OpenTelemetry. */
function otlpOf(options: Options): string | undefined {
  if (!options.has('otlp')) return undefined;
  const url = new URL(options.url('otlp', '', HTTP));
  return url.pathname === '/' ? new URL('v1/metrics', url).href : url.href;
}

/** All settings of a run except its scenario. */
function surroundings(options: Options, env: Environment): Omit<RunSettings, 'scenario' | 'run'> {
  return {
    shard: readShard(options.text('shard')),
    json: options.has('json'),
    reportFolder: options.text('report'),
    baseline: baselineOf(options),
    figuresListen: options.has('figures') ? readListen('figures', options.text('figures') ?? '') : undefined,
    otlpUrl: otlpOf(options),
    decisionsFile: options.text('decisions'),
    recordFile: options.text('record'),
    wait: 1000 * options.number('wait', 5, { min: 0, max: 3600 }),
    clean: options.has('clean'),
    cleanSessions: options.has('clean-sessions'),
    client: readClient(options.text('client')),
    stateFolder: options.text('state'),
    downloadFolder: options.text('download-dir'),
    trustedKeys: options.texts('trusted-key').map((file) => readKeyFile('trusted-key', file, createPublicKey)),
    mqtt: options.urls('mqtt', 'mqtt://127.0.0.1:1883', ['mqtt:', 'mqtts:', 'ws:', 'wss:']),
    api: options.urls('api', 'http://127.0.0.1:8080', HTTP),
    accounts: accountsOf(options, env),
    saveFile: options.text('save'),
    caFile: options.text('ca'),
    certificateFolder: options.text('certificates'),
    application: applicationOf(options, env),
    authenticationKey: options.text('authentication-key') ?? env['LAPEL_AUTHENTICATION_KEY'],
    webhook: webhookOf(options),
    service: serviceOf(options),
  };
}

function runName(options: Options, fallback: string): string {
  const name = options.text('run') ?? fallback;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new UsageError('--run', `"${name}" is not a name of 1 to 64 letters, digits, dots, hyphens and underscores`);
  return name;
}

const PLAIN_COUNT = 10;
const COUNT = { min: 1, max: MAX_DEVICES, whole: true };
const FASTER = { min: 0.01, max: 1000 };
const SEED = { min: 0, max: 4_294_967_295, whole: true };

/** A run of an existing scenario. */
function runOf(name: string, options: Options, env: Environment): Command {
  const misplaced = shortWayNames.find((option) => options.has(option));
  if (misplaced)
    throw new UsageError(`--${misplaced}`, 'is part of the scenario; it is an option only without "run FILE"');
  const { file, scenario } = openScenario(name);
  if (options.has('print-scenario')) return { do: 'print', text: stringify(file) };
  const sized = scaled(scenario, {
    devices: options.has('count') ? options.number('count', 1, COUNT) : undefined,
    faster: options.number('faster', 1, FASTER),
  });
  const seeded = { ...sized, seed: options.number('seed', scenario.seed, SEED) };
  return {
    do: 'run',
    settings: { ...surroundings(options, env), scenario: seeded, run: runName(options, scenario.name) },
  };
}

/** A test of a customer's receiver. */
function receiverOf(options: Options, env: Environment): Command {
  const misplaced = shortWayNames.find((option) => options.has(option));
  if (misplaced) throw new UsageError(`--${misplaced}`, 'is no option of "receiver"');
  const parts = { application: applicationOf(options, env), webhook: webhookOf(options) };
  return { do: 'receiver', settings: readTrial(options, env, parts), signing: readSigning(options) };
}

/** The options of runs that a replay has as well. */
const OF_A_REPLAY: readonly OptionName[] = [
  ...(['help', 'json', 'run', 'seed', 'faster', 'wait', 'clean', 'mqtt', 'api', 'admin', 'admin-token'] as const),
  ...(['data-dir', 'developer', 'devices', 'application', 'secret', 'webhook-listen', 'webhook-url', 'ca'] as const),
];

/** A replay of a record. */
function replayOf(file: string, options: Options, env: Environment): Command {
  const misplaced = optionNames.find((option) => options.has(option) && !OF_A_REPLAY.includes(option));
  if (misplaced) throw new UsageError(`--${misplaced}`, 'is no option of "replay"');
  const { mqtt, api, wait, clean, json, webhook, application, accounts, caFile } = surroundings(options, env);
  const [firstApi = '', ...others] = api;
  if (others.length > 0) throw new UsageError('--api', 'has several addresses; "replay" takes one');
  return {
    do: 'replay',
    settings: {
      file,
      mqtt,
      caFile,
      api: firstApi,
      wait,
      clean,
      json,
      webhook,
      application,
      run: runName(options, 'replay'),
      seed: options.number('seed', 1, SEED),
      faster: options.number('faster', 1, FASTER),
      accounts,
    },
  };
}

/**
 * The default of `--count`: with a file of accounts, the number of accounts in it. A file that cannot be read counts as
 * no file here; its fault is reported when the run reads it.
 */
function countedIn(accounts: AccountSource): number {
  if (accounts.kind !== 'file') return PLAIN_COUNT;
  try {
    return readAccounts(accounts.file, accounts.limit).length;
  } catch {
    return PLAIN_COUNT;
  }
}

/** A run whose scenario is made from options of the command line (`--count`, `--load` ...), not read from a file. */
function shortRun(options: Options, env: Environment): Command {
  if (options.has('faster')) throw new UsageError('--faster', 'needs a scenario: run FILE');
  const seed = options.number('seed', 1, SEED);
  const around = surroundings(options, env);
  const file = { ...shortWay(options, options.number('count', countedIn(around.accounts), COUNT)), seed };
  const text = stringify(file);
  if (options.has('print-scenario')) return { do: 'print', text };
  const { scenario } = readScenario(text, 'the scenario of these options');
  return { do: 'run', settings: { ...around, scenario, run: runName(options, 'short') } };
}

/**
 * Reads a command line (without `node` and the script); secrets may come from `env` instead, where other users of the
 * machine do not see them. Throws a UsageError that names the faulty option, or a ScenarioError.
 */
export function readCommandLine(args: readonly string[], env: Environment): Command {
  const options = readOptions(args);
  const [command, ...words] = options.words;
  if (options.has('help')) return { do: 'help' };
  if (options.has('version') || (command === 'version' && words.length === 0)) return { do: 'version' };
  for (const [option, commands] of commandsOf) {
    if (!options.has(option) || commands.some((name) => name === command)) continue;
    throw new UsageError(`--${option}`, `is an option of ${commands.map((name) => `"${name}"`).join(' and ')} only`);
  }
  if (command === undefined) return shortRun(options, env);
  const [first] = words;
  switch (command) {
    case 'run':
      if (first === undefined || words.length > 1)
        throw new UsageError('run', 'needs one scenario: a file, or a name of "list"');
      return runOf(first, options, env);
    case 'check':
      if (words.length === 0) throw new UsageError('check', 'needs a file');
      return { do: 'check', files: words };
    case 'merge':
      if (words.length === 0) throw new UsageError('merge', 'needs the report folders of the shards');
      return {
        do: 'merge',
        folders: words,
        reportFolder: options.text('report'),
        baseline: baselineOf(options),
        json: options.has('json'),
      };
    case 'replay':
      if (first === undefined || words.length > 1) throw new UsageError('replay', 'needs one file of --record');
      return replayOf(first, options, env);
    case 'record':
      if (first === undefined || words.length > 1) throw new UsageError('record', 'needs one file to write');
      return { do: 'record', settings: readRecord(first, options) };
    case 'receiver':
      if (first !== undefined) throw new UsageError('receiver', `takes no "${first}"`);
      return receiverOf(options, env);
    case 'device':
      if (first !== undefined) throw new UsageError('device', `takes no "${first}"`);
      return { do: 'device', settings: readDeviceTest(options, env), signing: readSigning(options) };
    case 'verify':
      if (words.length > 1) throw new UsageError('verify', 'needs one file of --signed-report');
      return { do: 'verify', settings: readVerify(first, options) };
    case 'schema':
      if (words.length > 1 || (first !== undefined && first !== 'report'))
        throw new UsageError('schema', `takes no "${words.join(' ')}"; it takes nothing or "report"`);
      return { do: 'schema', of: first ?? 'scenario' };
    case 'list':
      if (words.length > 0) throw new UsageError(command, `takes no "${first}"`);
      return { do: command };
    default:
      throw new UsageError('command', `there is no "${command}"; ${suggestName(command, COMMANDS)}`);
  }
}
