import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CASES } from './device-test/cases.ts';
import { readContract } from './device-test/contract.ts';
import type { DeviceTestSettings } from './device-test/device-test-settings.ts';
import { ORDINARY } from './device-test/values.ts';
import { deviceIdFor, isDeviceId } from './fleet/device-ids.ts';
import { readKeyFile } from './key-file.ts';
import { readListen } from './listen-address.ts';
import { deviceTestNames, type OptionName, type Options, optionNames } from './options.ts';
import { suggestName } from './scenario/suggest-name.ts';
import { UsageError } from './usage-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The options that `device` shares with other commands. */
const SHARED: readonly OptionName[] = [
  'help',
  'seed',
  'wait',
  'json',
  'junit',
  'signed-report',
  'report-key',
  'restart',
];
/** Addresses that mean all interfaces, at which no device can reach this machine. */
const ANY: readonly string[] = ['0.0.0.0', '::'];
const CREDENTIAL = { min: 32, max: 256 };
const HOUR_SECONDS = 3600;

/** A list of names, separated by commas; all of them without the option. */
function readNames(options: Options, option: 'operations' | 'cases', all: readonly string[]): readonly string[] {
  const names = options.text(option)?.split(',') ?? all;
  for (const name of names)
    if (!all.includes(name)) throw new UsageError(`--${option}`, `there is no "${name}"; ${suggestName(name, all)}`);
  return names;
}

/** A list of networks in a file, as the REST API takes it. */
function readList(options: Options, option: 'wifi' | 'apn'): unknown[] | undefined {
  const file = options.text(option);
  if (file === undefined) return undefined;
  try {
    const list: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(list)) return list;
  } catch (error) {
    throw new UsageError(`--${option}`, (error as Error).message);
  }
  throw new UsageError(`--${option}`, `${file} has no JSON array`);
}

function readAccount(options: Options, env: Environment, seed: number): DeviceTestSettings['account'] {
  const deviceId = options.text('device') ?? deviceIdFor(seed, 0);
  if (!isDeviceId(deviceId))
    throw new UsageError(
      '--device',
      `"${deviceId}" is not a deviceId: 15 digits, of which the last is the check digit`,
    );
  const credential = options.text('credential') ?? env['LAPEL_CREDENTIAL'] ?? `test-credential-of-${deviceId}`;
  if (credential.length < CREDENTIAL.min || credential.length > CREDENTIAL.max)
    throw new UsageError('--credential', `a credential has ${CREDENTIAL.min} to ${CREDENTIAL.max} characters`);
  return { deviceId, credential };
}

/** Reads the options of `device`. Throws a UsageError that names the wrong one. */
export function readDeviceTest(options: Options, env: Environment): DeviceTestSettings {
  const misplaced = optionNames.find(
    (name) => options.has(name) && !SHARED.includes(name) && !deviceTestNames.includes(name),
  );
  if (misplaced) throw new UsageError(`--${misplaced}`, 'is no option of "device"');
  const listen = readListen('listen', options.text('listen') ?? '127.0.0.1:1883');
  const publicHost = options.text('public-host') ?? listen.host;
  if (ANY.includes(publicHost))
    throw new UsageError('--public-host', `is needed with ${listen.host}: the address of this machine for the device`);
  const seed = options.number('seed', 1, { min: 0, max: 4_294_967_295, whole: true });
  const seconds = (name: 'wait' | 'answer-time' | 'by-hand', fallback: number, min: number): number =>
    1000 * options.number(name, fallback, { min, max: HOUR_SECONDS });
  const { operations } = readContract();
  const signingKey = options.text('signing-key');
  return {
    listen,
    filesListen: readListen('files-listen', options.text('files-listen') ?? `${listen.host}:0`),
    publicHost,
    account: readAccount(options, env, seed),
    seed,
    operations: readNames(options, 'operations', operations),
    cases: readNames(options, 'cases', Object.keys(CASES)),
    waitMs: seconds('wait', 60, 0),
    answerMs: seconds('answer-time', 30, 0.1),
    byHandMs: options.has('by-hand') ? seconds('by-hand', 60, 1) : null,
    restartCommand: options.text('restart') ?? null,
    isThorough: options.has('thorough'),
    networks: {
      setWifi: { networks: readList(options, 'wifi') ?? ORDINARY.setWifi.networks },
      setApn: { apns: readList(options, 'apn') ?? ORDINARY.setApn.apns },
    },
    revertAfter: options.number('revert-after', 30, { min: 1, max: HOUR_SECONDS, whole: true }),
    signingKey: signingKey === undefined ? null : readKeyFile('signing-key', signingKey, createPrivateKey),
    json: options.has('json'),
    junitFile: options.text('junit'),
  };
}
