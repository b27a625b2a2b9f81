import { APPLICATION_OPTIONS, type ApplicationClient, openApplication } from './application-client.ts';
import type { Command, Outcome } from './command.ts';
import { type Given, namePositionals, readArguments, readSeconds } from './command-line.ts';
import { Failure } from './failure.ts';
import { beginInstallations, followInstallations, type Installation, isFinished } from './installations.ts';
import { identify, openLocalFile } from './local-file.ts';
import { byteSize } from './progress.ts';
import { table } from './table.ts';
import { createScreen, type Screen, type Terminal } from './terminal.ts';
import { uploadFile } from './upload-file.ts';
import { UsageError } from './usage-error.ts';

const SCOPES = ['svc:application:read', 'svc:application:write'];
const DEVICE_SCOPES = ['svc:device:read', 'svc:device:write'];
const DEVICE_ID = /^\d{15}$/;

const OPTIONS = {
  ...APPLICATION_OPTIONS,
  version: { value: 'V', text: 'register it as this version instead of the one in the file' },
  'no-distribute': { text: 'do not start the distribution' },
  install: { value: 'DEVICE', many: true, text: 'install it there, and follow that to its end; also several: A B C' },
  timeout: { value: 'SECONDS', text: 'follow no longer than that (without: until the end); the installation goes on' },
} as const;

/** What the errors of devices mean for who uploads (contract, section 2). */
const MEANINGS: Readonly<Record<string, string>> = {
  VERSION_NAME_MISMATCH:
    'VERSION_NAME_MISMATCH: it is installed all the same; register a file under the version that it names',
  VERSION_CODE_NOT_HIGHER:
    'VERSION_CODE_NOT_HIGHER: not installed; build it with a version code above that of the installed one',
  PACKAGE_NAME_MISMATCH: 'PACKAGE_NAME_MISMATCH: not installed; the file is of another package',
  DOWNLOAD_FAILED: 'DOWNLOAD_FAILED: not installed; run the command again when the device has a better connection',
  STORAGE_FULL: 'STORAGE_FULL: not installed; free storage on the device, then run the command again',
  BINARY_DELETED: 'BINARY_DELETED: the file was removed meanwhile; run the command again',
  DISTRIBUTION_STOPPED: 'DISTRIBUTION_STOPPED: somebody stopped the distribution meanwhile; run the command again',
};

interface Wanted {
  path: string;
  version: string | undefined;
  distribute: boolean;
  devices: string[];
  /** Milliseconds. */
  timeout: number | null;
}

function readWanted(given: Given): Wanted {
  const [path = ''] = namePositionals(given.positionals, ['FILE.apk']);
  const devices = [...new Set(given.list('install').flatMap((text) => text.split(',')))];
  const odd = devices.find((deviceId) => !DEVICE_ID.test(deviceId));
  if (odd !== undefined) throw new UsageError('--install', `"${odd}" is no device identifier (15 digits)`);
  const distribute = !given.flag('no-distribute');
  if (devices.length > 0 && !distribute) {
    throw new UsageError('--no-distribute', 'makes no sense with --install: only what is distributed is installed');
  }
  const seconds = given.text('timeout');
  if (seconds !== undefined && devices.length === 0) throw new UsageError('--timeout', 'needs --install');
  const timeout = seconds === undefined ? null : 1000 * readSeconds('timeout', seconds);
  return { path, version: given.text('version'), distribute, devices, timeout };
}

/** All that was done by now: the object of `--json`. */
interface Report {
  file: { name: string; size: number; package: string; versionName: string | null; versionCode: number };
  package: string;
  version: string;
  /** Whether there was a file of this version before. */
  replaced?: boolean;
  uploaded: boolean;
  distribution: 'started' | 'already started' | 'not started';
  installations: Installation[];
}

interface Parts {
  application: ApplicationClient;
  wanted: Wanted;
  screen: Screen;
  terminal: Terminal;
}

/** Op 23, the upload, op 26, op 28 on the devices; `begin` gets the report that grows. */
async function upload(
  { application, wanted, screen, terminal }: Parts,
  begin: (report: Report) => void,
): Promise<Report> {
  const { request, base } = application;
  await using file = await openLocalFile(wanted.path);
  const manifest = await identify(file);
  if (!manifest) throw new UsageError(wanted.path, 'is no APK file');
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
  screen.line(`${file.name}: ${name} ${versionName ?? '?'} (version code ${versionCode}), ${byteSize(file.size)}`);
  if (versionName !== version) {
    screen.line(`note: registered as ${version}, the file says ${versionName}: devices report VERSION_NAME_MISMATCH`);
  }

  const what = `register ${name} ${version}`;
  const body = { package: name, version, fileSize: file.size };
  const registered = (await request('POST', `${base}/apps`, { what, body })).body;
  report.replaced = registered.appFileExists === true;
  if (report.replaced) screen.line('note: this version has a file already, which is replaced');
  await uploadFile(file, { url: String(registered.urlList[0].uploadUrl), screen, terminal });
  report.uploaded = true;
  if (!wanted.distribute) return report;

  const path = `${base}/packages/${name}/versions/${encodeURIComponent(version)}/distributions`;
  const { status } = await request('POST', path, {
    what: `start the distribution of ${name} ${version}`,
    alsoGood: 409,
  });
  report.distribution = status === 409 ? 'already started' : 'started';
  screen.line(`distribution ${report.distribution}`);

  const software = { package: name, version };
  report.installations = await beginInstallations(wanted.devices, software, { application, screen });
  await followInstallations(report.installations, { application, screen, terminal, timeout: wanted.timeout });
  return report;
}

const COLUMNS = [
  { head: 'DEVICE', cell: (row: Installation) => row.deviceId },
  { head: 'TRANSACTION', cell: (row: Installation) => row.transactionId },
  { head: 'STATUS', cell: (row: Installation) => row.status },
  { head: 'DETAIL', cell: (row: Installation) => (row.error ? `${row.error.code}: ${row.error.message}` : '') },
];

function outcomeOf(report: Report): Outcome {
  const { installations } = report;
  const bad = installations.filter(({ status }) => status !== 'succeeded');
  const outcome = {
    json: { ok: bad.length === 0, ...report },
    text: installations.length === 0 ? '' : table(COLUMNS, installations, ''),
  };
  if (bad.length === 0) return outcome;
  const names = bad.map(({ deviceId, status, error }) => `${deviceId} (${error?.code ?? status})`).join(', ');
  const meanings = new Set(bad.map(({ error }) => MEANINGS[error?.code ?? '']).filter((text) => text !== undefined));
  if (!bad.every(isFinished))
    meanings.add('what is not finished goes on without this command: the device gets it when it comes');
  const lines = [`${bad.length} of ${installations.length} not installed as ordered: ${names}`, ...meanings];
  return { ...outcome, problem: lines.join('\n  ') };
}

export const appUpload: Command = {
  name: 'app upload',
  usage: 'FILE.apk --application ID [options]',
  summary: 'Uploads an APK file, distributes it, and installs it on devices',
  about: `Package and version are read from the file. What is not registered yet is registered, the file is uploaded, and the
distribution is started; a file that this version has already is replaced. The secret is best left in the environment:
  export LAPEL_APPLICATION_SECRET=...`,
  options: OPTIONS,
  examples: [
    'lapel app upload camera-1.1.0.apk --application patrol',
    'lapel app upload camera-1.1.0.apk --application patrol --install 490154203237518 352099001761481',
    'lapel app upload camera.apk --application patrol --version 1.2.0-rc.1 --no-distribute',
    'lapel app upload camera.apk --application patrol --install 490154203237518 --timeout 60 --json | jq .ok',
  ],
  async run(args, terminal) {
    const given = readArguments(args, OPTIONS, DEVICE_ID);
    const wanted = readWanted(given);
    const scopes = wanted.devices.length > 0 ? [...SCOPES, ...DEVICE_SCOPES] : SCOPES;
    const application = openApplication(given, terminal, scopes);
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
