import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import { type Followed, followTransactions, isFinished } from '../device/follow-transactions.ts';
import { readTerms, TERMS_OPTIONS, type Terms } from '../device/terms-options.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readSeconds } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { byteSize } from '../show/progress.ts';
import { type Column, table } from '../show/table.ts';
import { createScreen, type Screen, type Terminal } from '../show/terminal.ts';
import { beginInstallations } from './installations.ts';
import { identify, openLocalFile } from './local-file.ts';
import { type Distribution, startDistribution } from './start-distribution.ts';
import { uploadFile } from './upload-file.ts';

const DEVICE_ID = /^\d{15}$/;

const OPTIONS = {
  ...APPLICATION_OPTIONS,
  version: { value: 'V', text: 'register this version instead of the one in the file' },
  replace: { text: 'replace the file of a distributed version without asking' },
  'no-distribute': { text: 'do not start the distribution' },
  install: {
    value: 'DEVICE',
    many: true,
    greedy: DEVICE_ID,
    text: 'install it on this device, and wait for the end; several devices: A B C',
  },
  timeout: {
    value: 'SECONDS',
    text: 'wait at most this many seconds for the installations, which go on (default: until their end)',
  },
  ...TERMS_OPTIONS,
} as const;

/** The meaning of the devices' error codes for the person who uploads (contract, section 2). */
const MEANINGS: Readonly<Record<string, string>> = {
  VERSION_NAME_MISMATCH: 'VERSION_NAME_MISMATCH: installed anyway; register a file under the version that it contains',
  VERSION_CODE_NOT_HIGHER:
    'VERSION_CODE_NOT_HIGHER: not installed; build it with a version code above that of the installed one',
  PACKAGE_NAME_MISMATCH: 'PACKAGE_NAME_MISMATCH: not installed; the file belongs to another package',
  DOWNLOAD_FAILED: 'DOWNLOAD_FAILED: not installed; run the command again when the device has a better connection',
  STORAGE_FULL: 'STORAGE_FULL: not installed; free storage on the device, then run the command again',
  BINARY_DELETED: 'BINARY_DELETED: the file was removed meanwhile; run the command again',
  SIGNATURE_INVALID:
    'SIGNATURE_INVALID: not installed; sign the file again (lapel app sign), then run the command again',
  DISTRIBUTION_STOPPED: 'DISTRIBUTION_STOPPED: somebody stopped the distribution meanwhile; run the command again',
};

interface Wanted {
  path: string;
  version: string | undefined;
  distribute: boolean;
  /** True to replace a distributed file without a question. */
  replace: boolean;
  devices: string[];
  /** Milliseconds to follow the installations; null to follow them to their end. */
  timeout: number | null;
  /** The terms of the installations. */
  terms: Terms;
}

function readWanted(given: Given): Wanted {
  const [path = ''] = given.positionals;
  const devices = [...new Set(given.list('install').flatMap((text) => text.split(',')))];
  const odd = devices.find((deviceId) => !DEVICE_ID.test(deviceId));
  if (odd !== undefined) throw new UsageError('--install', `"${odd}" is not a deviceId (15 digits)`);
  const distribute = !given.flag('no-distribute');
  if (devices.length > 0 && !distribute) {
    throw new UsageError(
      '--no-distribute',
      'cannot be combined with --install: only distributed versions can be installed',
    );
  }
  const seconds = given.text('timeout');
  if (seconds !== undefined && devices.length === 0) throw new UsageError('--timeout', 'needs --install');
  const timeout = seconds === undefined ? null : 1000 * readSeconds('timeout', seconds);
  const terms = readTerms(given);
  const [term] = Object.keys(TERMS_OPTIONS).filter((name) => given.flag(name) || given.text(name) !== undefined);
  if (term !== undefined && devices.length === 0) throw new UsageError(`--${term}`, 'needs --install');
  return { path, version: given.text('version'), distribute, replace: given.flag('replace'), devices, timeout, terms };
}

type ReportedInstallation = Omit<Followed, 'record'>;
function withoutRecord({ deviceId, transactionId, status, progress, error }: Followed): ReportedInstallation {
  return { deviceId, transactionId, status, progress, error };
}

/** Everything done so far: the object of `--json`. */
interface Report {
  file: { name: string; size: number; package: string; versionName: string | null; versionCode: number };
  package: string;
  version: string;
  /** Whether the version had a file before this upload. */
  replaced?: boolean;
  uploaded: boolean;
  distribution: Distribution;
  installations: ReportedInstallation[];
}

interface Parts {
  application: Application;
  wanted: Wanted;
  screen: Screen;
  terminal: Terminal;
}

/**
 * 1. Registers the version (op 23). 2. Uploads the file. 3. Starts the distribution (op 26). 4. Installs on the devices
 * (op 28). `begin` gets the report, which grows meanwhile.
 */
async function upload(
  { application, wanted, screen, terminal }: Parts,
  begin: (report: Report) => void,
): Promise<Report> {
  await using file = await openLocalFile(wanted.path);
  const manifest = await identify(file);
  if (!manifest) throw new UsageError(wanted.path, 'is not an APK file');
  const version = wanted.version ?? manifest.versionName;
  if (version === null) throw new UsageError('--version', 'is needed: the file has no version name');
  const name = manifest.package;
  const report: Report = {
    file: { name: file.name, size: file.size, ...manifest },
    package: name,
    version,
    uploaded: false,
    distribution: 'not started',
    installations: [],
  };
  begin(report);
  const { versionName, versionCode } = manifest;
  screen.line(
    oneLine(`${file.name}: ${name} ${versionName ?? '?'} (version code ${versionCode}), ${byteSize(file.size)}`),
  );
  if (versionName !== version) {
    screen.line(
      oneLine(
        `note: registered as ${version}, but the file contains ${versionName}: devices will report VERSION_NAME_MISMATCH`,
      ),
    );
  }

  const body = { package: name, version, fileSize: file.size };
  const registered = await application.call(`register ${name} ${version}`, (lapel) => lapel.uploadApp({ body }));
  report.replaced = registered.appFileExists;
  if (report.replaced) {
    await mayReplace(application, { package: name, version }, { wanted, terminal });
    screen.line('note: the existing file of this version is replaced');
  }
  await uploadFile(file, { url: String(registered.urlList[0]?.uploadUrl), screen, terminal });
  report.uploaded = true;
  if (!wanted.distribute) return report;

  const software = { package: name, version };
  report.distribution = await startDistribution(application, software);
  screen.line(`distribution ${report.distribution}`);

  const installations = await beginInstallations(wanted, software, { application, screen });
  report.installations = installations;
  await followTransactions(installations, { application, screen, terminal, timeout: wanted.timeout });
  report.installations = installations.map(withoutRecord);
  if (terminal.interrupted.aborted) {
    throw new Interrupted('The installations go on without this command: lapel device transactions DEVICE');
  }
  return report;
}

/**
 * Asks whether to replace the file of a distributed version. Scripts are not asked. Throws a Failure when the answer is
 * no.
 */
async function mayReplace(
  application: Application,
  software: { package: string; version: string },
  { wanted, terminal: { ask } }: Pick<Parts, 'wanted' | 'terminal'>,
): Promise<void> {
  if (wanted.replace || ask === null) return;
  const what = `read the distribution of ${software.package} ${software.version}`;
  const { distributable } = await application.call(what, (lapel) => lapel.readDistribution(software));
  if (!distributable) return;
  const question = oneLine(
    `${software.package} ${software.version} is being distributed. If you replace its file, later installations get the new one. Replace it? [y/N] `,
  );
  const answer = await ask(question, { hidden: false });
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('not replaced; nothing was uploaded');
}

const COLUMNS: readonly Column<ReportedInstallation>[] = [
  { head: 'DEVICE', cell: (row) => row.deviceId },
  { head: 'TRANSACTION', cell: (row) => row.transactionId },
  { head: 'STATUS', cell: (row) => row.status, state: true },
  { head: 'DETAIL', cell: (row) => (row.error ? `${row.error.code}: ${row.error.message}` : ''), flexible: true },
];

function outcomeOf(report: Report): Outcome {
  const { installations } = report;
  const bad = installations.filter(({ status }) => status !== 'succeeded');
  const outcome = {
    json: { ok: bad.length === 0, ...report },
    text: installations.length === 0 ? '' : table(COLUMNS, installations, ''),
  };
  if (bad.length === 0) return outcome;
  const names = bad.map(({ deviceId, status, error }) => oneLine(`${deviceId} (${error?.code ?? status})`)).join(', ');
  const meanings = new Set(bad.map(({ error }) => MEANINGS[error?.code ?? '']).filter((text) => text !== undefined));
  if (!bad.every(isFinished))
    meanings.add('unfinished installations go on without this command: an offline device gets them when it connects');
  const lines = [`${bad.length} of ${installations.length} did not succeed: ${names}`, ...meanings];
  return { ...outcome, problem: lines.join('\n  ') };
}

export const appUpload: Command = {
  name: 'app upload',
  arguments: [{ name: 'FILE.apk', file: true }],
  summary: 'Uploads an APK file, distributes it, and installs it on devices',
  about: `Reads package and version from the file, registers them if necessary, uploads the file and starts the distribution.
An existing file of the version is replaced; on a terminal the command asks first if the version is being distributed. Ctrl-C
ends only the waiting: installations go on, and an offline device gets them when it connects.`,
  options: OPTIONS,
  examples: [
    'lapel app upload camera-1.1.0.apk',
    'lapel app upload camera-1.1.0.apk --install 490154203237518 352099001761481',
    'lapel app upload camera.apk --application patrol --version 1.2.0-rc.1 --no-distribute',
    'lapel app upload camera.apk --install 490154203237518 --timeout 60 --json | jq .ok',
  ],
  endsItself: true,
  async run(given, terminal) {
    const wanted = readWanted(given);
    const application = await openApplication(given, terminal);
    const screen = createScreen(terminal.stderr);
    let done: object = {};
    try {
      const report = await upload({ application, wanted, screen, terminal }, (begun) => {
        done = begun;
      });
      return outcomeOf(report);
    } catch (error) {
      if (error instanceof Failure) error.done = done;
      throw error;
    }
  },
};
