import { MOVIE_MIN } from './files/movie.ts';
import { quietLife } from './fleet/life.ts';
import { OLD_FIRMWARE } from './model/firmware-versions.ts';
import { isPackageName, operations } from './model/operations.ts';
import type { Options } from './options.ts';
import type { Range } from './random.ts';
import { among } from './scenario/among.ts';
import { durationText } from './scenario/quantities.ts';
import type * as file from './scenario/scenario-file.ts';
import { UsageError } from './usage-error.ts';

const SHARE = { min: 0, max: 1 };
const PER_HOUR = { min: 0, max: 3_600_000 };

/** The expectations of every run without a scenario. */
const PROMISES = ['lost == 0', 'doubled == 0', 'late == 0', 'unordered == 0', 'forged == 0', 'errors == 0'];

const span = ({ min, max }: Range, unit: number): string =>
  min === max ? durationText(min * unit) : `${durationText(min * unit)}-${durationText(max * unit)}`;

/** `package@versionName:code`, several separated by commas. */
function readSoftware(text: string): file.Software {
  const software: file.Software = [];
  for (const item of text.split(',').filter((part) => part !== '')) {
    const [, name, version, code] = /^([^@]+)@([^@:]+):(\d{1,15})$/.exec(item) ?? [];
    if (!isPackageName(name) || version === undefined || software.some((other) => other.package === name)) {
      throw new UsageError('--preinstall', `"${item}" is not package@versionName:versionCode, or occurs twice`);
    }
    software.push({ package: name, version, versionCode: Number(code) });
  }
  return software;
}

function readOperations(text: string): file.Operation[] {
  const names = text.split(',').filter((name) => name !== '');
  for (const name of names)
    if (!operations.has(name))
      throw new UsageError('--silent-operations', `there is no "${name}"; ${among(name, [...operations.keys()])}`);
  return names as file.Operation[];
}

function behaviourOf(options: Options): file.Behaviour {
  const size = options.range('file-size', '65536-524288', { min: MOVIE_MIN, max: 5 * 1024 ** 3 });
  const silent = readOperations(options.text('silent-operations') ?? '');
  return {
    latency: span(options.range('latency', '0'), 1),
    failures: options.number('failure-rate', 0, SHARE),
    repeats: options.number('duplicate-ack-rate', 0, SHARE),
    processing: options.has('processing'),
    uploadFailures: options.number('upload-failure-rate', 0, SHARE),
    fileSize: size.min === size.max ? size.min : `${size.min} B-${size.max} B`,
    ...(silent.length > 0 && { silent }),
  };
}

const lifeOf = (options: Options): file.Life => ({
  statusInterval: durationText(
    1000 * options.number('status-interval', quietLife.statusInterval / 1000, { min: 0, max: 86_400 }),
  ),
  peerMoves: `${options.number('peer-moves', 6, PER_HOUR)}/h`,
  alarms: `${options.number('alarms', 1, PER_HOUR)}/h`,
  calls: `${options.number('calls', 0, PER_HOUR)}/h`,
  callLength: span(options.range('call-length', '20-120', { min: 0, max: 86_400 }), 1000),
  recorded: options.number('recorded', quietLife.recorded, SHARE),
  fileUploads: `${options.number('file-uploads', 0, PER_HOUR)}/h`,
});

function groupsOf(options: Options): [file.Group, ...file.Group[]] {
  const away = options.number('offline-rate', 0, { min: 0, max: 0.95 });
  const software = readSoftware(options.text('preinstall') ?? '');
  const [firmware, managementClient, language] = [
    options.text('firmware'),
    options.text('management-client'),
    options.text('lang'),
  ];
  const storage = options.number('storage', 0, { min: 0, max: Number.MAX_SAFE_INTEGER, whole: true });
  const all: file.Group = {
    name: 'all',
    ...(firmware && { firmware }),
    ...(managementClient && { managementClient }),
    ...(language && { language }),
    ...(options.has('storage') && { storage }),
    ...(software.length > 0 && { software }),
    ...(away > 0 && { network: { away, window: span(options.range('offline-window', '5000-30000'), 1) } }),
    behaviour: behaviourOf(options),
    life: lifeOf(options),
  };
  const old = options.number('old-firmware', 0, SHARE);
  if (old === 0) return [all];
  const { firmwareVersion, managementClientVersion } = OLD_FIRMWARE;
  return [
    { ...all, share: 1 - old },
    { ...all, name: 'old', share: old, firmware: firmwareVersion, managementClient: managementClientVersion },
  ];
}

/**
 * Makes a scenario from options of the command line: a fleet that answers commands. With an application or a load it
 * also has a customer.
 */
export function shortWay(options: Options, devices: number): file.ScenarioFile {
  if (options.has('duration') && options.has('until-idle')) {
    throw new UsageError('--until-idle', 'makes no sense with --duration');
  }
  const seconds = (name: 'duration' | 'until-idle'): string =>
    durationText(1000 * options.number(name, 0, { min: 0.1, max: 31_536_000 }));
  const load = options.number('load', 0, { min: 0, max: 100_000 });
  const activate = load > 0 || options.has('application');
  return {
    name: 'short',
    about: 'A fleet as the options of the command line say.',
    devices,
    activate,
    connectRate: `${options.number('connect-rate', 200, { min: 0, max: 1_000_000 })}/s`,
    groups: groupsOf(options),
    phases: [
      {
        name: 'work',
        ...(options.has('duration') && { duration: seconds('duration') }),
        ...(options.has('until-idle') && { untilIdle: seconds('until-idle') }),
        ...(load > 0 && { actions: [{ do: 'setWifi', rate: `${load}/s` }] }),
      },
    ],
    expectations: [...(activate ? PROMISES : []), 'violations == 0', 'connectFailures == 0'],
  };
}
