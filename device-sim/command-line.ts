import { parseArgs } from 'node:util';
import type { AccountSource } from './customer/accounts.ts';
import { MOVIE_MIN } from './files/movie.ts';
import type { Absence } from './fleet/absences.ts';
import { MAX_DEVICES } from './fleet/device-ids.ts';
import { type Life, quietLife } from './fleet/life.ts';
import type { Behaviour } from './model/behaviour.ts';
import { promptBehaviour } from './model/behaviour.ts';
import { type Equipment, type InstalledSoftware, plainEquipment } from './model/device-state.ts';
import { isPackageName } from './model/operations.ts';
import type { Range } from './random.ts';
import { UsageError } from './usage-error.ts';

/** A command line, understood. */
export interface Command {
  help: boolean;
  json: boolean;
  mqtt: string;
  count: number;
  seed: number;
  behaviour: Behaviour;
  absence: Absence;
  clean: boolean;
  stateFolder: string | undefined;
  equipment: Equipment;
  oldFirmware: number;
  life: Life;
  downloadFolder: string | undefined;
  connectRate: number | null;
  /** Milliseconds. */
  duration: number | undefined;
  untilIdle: number | undefined;
  accounts: AccountSource;
  saveFile: string | undefined;
  application: { applicationId: string; secret: string; apiUrl: string; load: number } | undefined;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  mqtt: { type: 'string' },
  count: { type: 'string', short: 'n' },
  seed: { type: 'string' },
  latency: { type: 'string' },
  'failure-rate': { type: 'string' },
  'offline-rate': { type: 'string' },
  'offline-window': { type: 'string' },
  'duplicate-ack-rate': { type: 'string' },
  'silent-operations': { type: 'string' },
  processing: { type: 'boolean' },
  clean: { type: 'boolean' },
  state: { type: 'string' },
  storage: { type: 'string' },
  preinstall: { type: 'string' },
  firmware: { type: 'string' },
  'management-client': { type: 'string' },
  'old-firmware': { type: 'string' },
  lang: { type: 'string' },
  'status-interval': { type: 'string' },
  'peer-moves': { type: 'string' },
  alarms: { type: 'string' },
  calls: { type: 'string' },
  'call-length': { type: 'string' },
  recorded: { type: 'string' },
  'file-uploads': { type: 'string' },
  'file-size': { type: 'string' },
  'upload-failure-rate': { type: 'string' },
  'download-dir': { type: 'string' },
  'connect-rate': { type: 'string' },
  duration: { type: 'string' },
  'until-idle': { type: 'string' },
  devices: { type: 'string' },
  save: { type: 'string' },
  admin: { type: 'string' },
  'admin-token': { type: 'string' },
  'data-dir': { type: 'string' },
  developer: { type: 'string' },
  api: { type: 'string' },
  application: { type: 'string' },
  secret: { type: 'string' },
  load: { type: 'string' },
} as const;

type Values = { [Name in keyof typeof OPTIONS]?: string | boolean };
/** Every option's name, for the test that holds the help text to them. */
export const optionNames: readonly string[] = Object.keys(OPTIONS);

function readNumber(name: string, text: string, { min, max, whole = false }: Range & { whole?: boolean }): number {
  const value = Number(text);
  const kind = whole ? 'a whole number' : 'a number';
  if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max || (whole && !Number.isInteger(value))) {
    throw new UsageError(`--${name}`, `"${text}" is not ${kind} from ${min} to ${max}`);
  }
  return value;
}

function readRange(name: string, text: string, bounds: Range = { min: 0, max: 86_400_000 }): Range {
  const [min = '', max = min, ...more] = text.split('-');
  const range = { min: readNumber(name, min, bounds), max: readNumber(name, max, bounds) };
  if (more.length > 0 || range.max < range.min)
    throw new UsageError(`--${name}`, `"${text}" is neither one number nor MIN-MAX`);
  return range;
}

function readUrl(name: string, text: string, protocols: readonly string[]): string {
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new UsageError(`--${name}`, `"${text}" is no ${protocols.join(' or ')} URL`);
  }
  return text.replace(/\/+$/, '');
}

/** `package@versionName:code`, several separated by commas. */
function readSoftware(name: string, text: string): Record<string, InstalledSoftware> {
  const software: Record<string, InstalledSoftware> = {};
  for (const item of text.split(',').filter((part) => part !== '')) {
    const [, packageName, version, code] = /^([^@]+)@([^@:]+):(\d{1,15})$/.exec(item) ?? [];
    if (!isPackageName(packageName) || version === undefined || Object.hasOwn(software, packageName)) {
      throw new UsageError(`--${name}`, `"${item}" is no package@versionName:versionCode, or comes twice`);
    }
    software[packageName] = { version, versionCode: Number(code), size: 0 };
  }
  return software;
}

/** Secrets may begin with a hyphen: what follows an option with a value is its value, unless it is an option itself. */
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

function readValues(args: readonly string[]): Values {
  try {
    return parseArgs({ args: joinValues(args), options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError(/--?[\w-]+/.exec(text)?.[0] ?? 'arguments', text.split('. ')[0] ?? text);
  }
}

/**
 * Reads a command line (without `node` and the script); secrets may come from `env` instead, where other users of the
 * machine do not see them. Throws a UsageError that names the faulty option.
 */
export function readCommandLine(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Command {
  const values = readValues(args);
  const text = (name: keyof Values): string | undefined => values[name] as string | undefined;
  const number = (name: keyof Values, fallback: number, bounds: Range & { whole?: boolean }): number => {
    const given = text(name);
    return given === undefined ? fallback : readNumber(name, given, bounds);
  };
  const share = { min: 0, max: 1 };
  const perHour = { min: 0, max: 3_600_000 };
  const secondsOf = ({ min, max }: Range): Range => ({ min: 1000 * min, max: 1000 * max });
  const seconds = (name: keyof Values): number | undefined =>
    text(name) === undefined ? undefined : 1000 * number(name, 0, { min: 0.1, max: 31_536_000 });
  const http = ['http:', 'https:'];

  const applicationId = text('application');
  const secret = text('secret') ?? env['LAPEL_APPLICATION_SECRET'];
  if (applicationId === undefined && text('load') !== undefined) throw new UsageError('--load', 'needs --application');
  if (applicationId === undefined && text('secret') !== undefined)
    throw new UsageError('--secret', 'needs --application');
  if (applicationId !== undefined && !secret) {
    throw new UsageError('--secret', 'is needed with --application (or LAPEL_APPLICATION_SECRET)');
  }
  const file = text('devices');
  if (file !== undefined && text('save') !== undefined) throw new UsageError('--save', 'makes no sense with --devices');
  if (values['duration'] !== undefined && values['until-idle'] !== undefined) {
    throw new UsageError('--until-idle', 'makes no sense with --duration');
  }
  const token = text('admin-token') ?? env['LAPEL_ADMIN_TOKEN'];
  const dataDir = text('data-dir') ?? env['LAPEL_DATA_DIR'] ?? './data';

  const count = number('count', 10, { min: 1, max: MAX_DEVICES, whole: true });

  return {
    help: values.help === true,
    json: values.json === true,
    mqtt: readUrl('mqtt', text('mqtt') ?? 'mqtt://127.0.0.1:1883', ['mqtt:', 'mqtts:', 'ws:', 'wss:']),
    count,
    seed: number('seed', 1, { min: 0, max: 4_294_967_295, whole: true }),
    behaviour: {
      ...promptBehaviour,
      latency: readRange('latency', text('latency') ?? '0'),
      failureRate: number('failure-rate', 0, share),
      duplicateAckRate: number('duplicate-ack-rate', 0, share),
      reportProcessing: values.processing === true,
      uploadFailureRate: number('upload-failure-rate', 0, share),
      fileSize: readRange('file-size', text('file-size') ?? '65536-524288', { min: MOVIE_MIN, max: 5 * 1024 ** 3 }),
      silentOperations: new Set((text('silent-operations') ?? '').split(',').filter((name) => name !== '')),
    },
    absence: {
      share: number('offline-rate', 0, { min: 0, max: 0.95 }),
      window: readRange('offline-window', text('offline-window') ?? '5000-30000'),
    },
    clean: values.clean === true,
    stateFolder: text('state'),
    equipment: {
      storage: number('storage', plainEquipment.storage, { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
      firmwareVersion: text('firmware') || plainEquipment.firmwareVersion,
      managementClientVersion: text('management-client') || plainEquipment.managementClientVersion,
      software: readSoftware('preinstall', text('preinstall') ?? ''),
      lang: text('lang') || plainEquipment.lang,
    },
    oldFirmware: number('old-firmware', 0, share),
    life: {
      statusInterval: 1000 * number('status-interval', quietLife.statusInterval / 1000, { min: 0, max: 86_400 }),
      peerMoves: number('peer-moves', 6, perHour),
      alarms: number('alarms', 1, perHour),
      calls: number('calls', 0, perHour),
      callLength: secondsOf(readRange('call-length', text('call-length') ?? '20-120', { min: 0, max: 86_400 })),
      recorded: number('recorded', quietLife.recorded, share),
      fileUploads: number('file-uploads', 0, perHour),
    },
    downloadFolder: text('download-dir'),
    connectRate: number('connect-rate', 200, { min: 0, max: 1_000_000 }) || null,
    duration: seconds('duration'),
    untilIdle: seconds('until-idle'),
    accounts:
      file !== undefined
        ? { kind: 'file', file, limit: text('count') === undefined ? undefined : count }
        : {
            kind: 'register',
            adminUrl: readUrl('admin', text('admin') ?? 'http://127.0.0.1:8081', http),
            token: token ?? { dataDir },
            developerId: text('developer') ?? 'simulated',
          },
    saveFile: text('save'),
    application:
      applicationId === undefined || !secret
        ? undefined
        : {
            applicationId,
            secret,
            apiUrl: readUrl('api', text('api') ?? 'http://127.0.0.1:8080', http),
            load: number('load', 0, { min: 0, max: 100_000 }),
          },
  };
}
