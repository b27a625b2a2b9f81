import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { CASES } from './device-test/cases.ts';
import { readContract } from './device-test/contract.ts';
import type { DeviceTestSettings } from './device-test/device-test-settings.ts';
import { CAR } from './device-test/drive.ts';
import { TRANSPORTS, type Transport, usesTls } from './device-test/entrance.ts';
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
  'certificates',
];
/** Addresses that mean all interfaces, at which no device can reach this machine. */
const ANY: readonly string[] = ['0.0.0.0', '::'];
const OF_TLS = ['tls-cert', 'tls-key', 'mqtt-client-ca', 'certificates'] as const;
type TlsOption = (typeof OF_TLS)[number];
const BEGIN = '-----BEGIN CERTIFICATE-----';
const CREDENTIAL = { min: 32, max: 256 };
const HOUR_SECONDS = 3600;
const HOUR_MILLISECONDS = 3_600_000;
/** A month. */
const MOST_HOURS = 744;
/** The port of --listen, by the conventions of the service. */
const PORTS: Readonly<Record<Transport, number>> = { mqtt: 1883, mqtts: 8883, ws: 8083, wss: 8083 };

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

function readTransport(options: Options): Transport {
  const name = options.text('transport') ?? 'mqtt';
  const found = TRANSPORTS.find((one) => one === name);
  if (!found) throw new UsageError('--transport', `there is no "${name}"; ${suggestName(name, TRANSPORTS)}`);
  return found;
}

/** Reads a file for TLS. `check` throws if it has the wrong content. */
function readTlsFile(option: TlsOption, file: string, check: (content: Buffer) => unknown): Buffer {
  try {
    const content = readFileSync(file);
    check(content);
    return content;
  } catch (error) {
    throw new UsageError(`--${option}`, `${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Reads the options of TLS, which have no use on a connection without it. */
function readTls(
  options: Options,
  transport: Transport,
): Pick<DeviceTestSettings, 'serverPair' | 'clientCa' | 'certificateFolder'> {
  const useless = !usesTls(transport) && OF_TLS.find((name) => options.has(name));
  if (useless) throw new UsageError(`--${useless}`, 'has no use without --transport mqtts or wss');
  const [certFile, keyFile, caFile] = [
    options.text('tls-cert'),
    options.text('tls-key'),
    options.text('mqtt-client-ca'),
  ];
  const certificateFolder = options.text('certificates') ?? null;
  const clientCa =
    caFile === undefined
      ? null
      : readTlsFile('mqtt-client-ca', caFile, (content) => {
          if (!content.includes(BEGIN)) throw new Error('it has no certificate in PEM');
          createSecureContext({ ca: content });
        });
  if (certFile === undefined && keyFile === undefined) return { serverPair: null, clientCa, certificateFolder };
  if (certFile === undefined) throw new UsageError('--tls-cert', 'is needed with --tls-key');
  if (keyFile === undefined) throw new UsageError('--tls-key', 'is needed with --tls-cert');
  const cert = readTlsFile('tls-cert', certFile, (content) => createSecureContext({ cert: content }));
  const key = readTlsFile('tls-key', keyFile, (content) => createSecureContext({ cert, key: content }));
  return { serverPair: { cert, key }, clientCa, certificateFolder };
}

/** Reads the options of `device`. Throws a UsageError that names the wrong one. */
export function readDeviceTest(options: Options, env: Environment): DeviceTestSettings {
  const misplaced = optionNames.find(
    (name) => options.has(name) && !SHARED.includes(name) && !deviceTestNames.includes(name),
  );
  if (misplaced) throw new UsageError(`--${misplaced}`, 'is no option of "device"');
  const transport = readTransport(options);
  const listen = readListen('listen', options.text('listen') ?? `127.0.0.1:${PORTS[transport]}`);
  const publicHost = options.text('public-host') ?? listen.host;
  if (ANY.includes(publicHost))
    throw new UsageError('--public-host', `is needed with ${listen.host}: the address of this machine for the device`);
  const seed = options.number('seed', 1, { min: 0, max: 4_294_967_295, whole: true });
  const seconds = (name: 'wait' | 'answer-time' | 'by-hand', fallback: number, min: number): number =>
    1000 * options.number(name, fallback, { min, max: HOUR_SECONDS });
  const { operations } = readContract();
  const signingKey = options.text('signing-key');
  return {
    transport,
    ...readTls(options, transport),
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
    drive: options.has('hours')
      ? { ...CAR, milliseconds: HOUR_MILLISECONDS * options.number('hours', 1, { min: 0.001, max: MOST_HOURS }) }
      : null,
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
