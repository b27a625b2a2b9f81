import { writeFileSync } from 'node:fs';
import { ownVersion } from '@lapel/schemas/base/version';
import type { Certificate } from './certificate/certificate.ts';
import { certificateOfDevice } from './certificate/of-device.ts';
import { certificateOfReceiver } from './certificate/of-receiver.ts';
import { openSigning, type Signing } from './certificate/signing.ts';
import { type VerifySettings, verifyReport } from './certificate/verify-report.ts';
import { type BaselineFile, type Command, readCommandLine } from './command-line.ts';
import type { DeviceTestSettings } from './device-test/device-test-settings.ts';
import { deviceTestText } from './device-test/device-test-text.ts';
import { runDeviceTest } from './device-test/run-device-test.ts';
import { requireWritable } from './files-of-options.ts';
import { help } from './help.ts';
import { mergeReports } from './merge.ts';
import { plainText } from './plain-text.ts';
import { type RecordSettings, recordText, runRecord } from './relay/run-record.ts';
import { hasHeld, replayText } from './replay/replay-text.ts';
import { type ReplaySettings, runReplay } from './replay/run-replay.ts';
import { type Baseline, compare, incomparable } from './report/baseline.ts';
import { closingTable } from './report/closing.ts';
import { junitReport } from './report/junit.ts';
import type { RunRecord } from './report/record.ts';
import { isBrokenPromise } from './report/summary.ts';
import { writeReport } from './report/write-report.ts';
import { run } from './run.ts';
import { editorSchemaText } from './scenario/editor-schema.ts';
import { Unreachable } from './scenario/reach.ts';
import { readReport, reportSchemaText } from './scenario/read-report.ts';
import { readScenarioFile } from './scenario/read-scenario.ts';
import { openScenario, readyNames } from './scenario/ready.ts';
import { ScenarioError } from './scenario/scenario-error.ts';
import { runTrial, type TrialSettings } from './trial/run-trial.ts';
import { trialText } from './trial/trial-text.ts';
import { UsageError } from './usage-error.ts';
import type { LiveStream } from './watch.ts';

const HOLDS = 0;
const DOES_NOT_HOLD = 1;
const WRONG_INPUT = 2;
const UNREACHABLE = 3;
const NOT_RUN = 4;

/** The surroundings of a command line. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Gets the result, and nothing else. */
  readonly stdout: { write(text: string): unknown };
  /** Gets everything else. */
  readonly stderr: LiveStream;
  /** Called by a command that lasts: the signal that ends it early. */
  interruption(): AbortSignal;
}

const sayTo =
  ({ stderr }: Surroundings) =>
  (text: string): void =>
    void stderr.write(`${text}\n`);

function list(): string {
  const rows = readyNames().map((name) => ({ name, about: openScenario(name).scenario.about }));
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(({ name, about }) => `${name.padEnd(width)}  ${about}\n`).join('');
}

/** Checks whether each file is a scenario. */
function check(files: readonly string[], around: Surroundings): number {
  let wrong = 0;
  for (const file of files) {
    try {
      const { groups, phases, expectations } = readScenarioFile(file).scenario;
      const devices = groups.reduce((sum, { count }) => sum + count, 0);
      around.stdout.write(
        `${file}: ${devices} devices in ${groups.length} groups, ${phases.length} phases, ${expectations.length} expectations\n`,
      );
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      wrong += 1;
      sayTo(around)(plainLines(error.message));
    }
  }
  return wrong > 0 ? WRONG_INPUT : HOLDS;
}

/** Reads the report to compare with. Throws a UsageError if it is of another scenario or number of devices. */
function readBaseline(
  given: BaselineFile | undefined,
  now: Pick<RunRecord, 'scenario' | 'groups'>,
): Baseline | undefined {
  if (!given) return undefined;
  const report = readReport('--baseline', given.file);
  const reason = incomparable(report, now);
  if (reason !== undefined) throw new UsageError('--baseline', `${given.file} ${reason}`);
  return { report, tolerance: given.tolerance };
}

/** Writes the reports of a run; returns its exit code. */
function conclude(
  own: RunRecord,
  { json, folder, baseline }: { json: boolean; folder: string | undefined; baseline: Baseline | undefined },
  { stdout }: Surroundings,
): number {
  const record = baseline ? { ...own, verdicts: [...own.verdicts, compare(own, baseline)] } : own;
  // What was seen is told first: a disk may be full, and the run is not played again for it.
  stdout.write(json ? `${JSON.stringify(record)}\n` : closingTable(record));
  if (folder !== undefined) writeReport(folder, record);
  // An expectation such as `lost == 0` that does not hold is reported before NOT RUN, because the service broke a
  // promise.
  if (record.verdicts.some(isBrokenPromise)) return DOES_NOT_HOLD;
  if (record.notRun.length > 0) return NOT_RUN;
  return record.verdicts.every(({ holds }) => holds) ? HOLDS : DOES_NOT_HOLD;
}

/** Tests a customer's receiver, and writes the report; returns the exit code. */
async function testReceiver(settings: TrialSettings, signing: Signing | null, around: Surroundings): Promise<number> {
  const write = openTestFiles(settings, signing);
  const record = await runTrial(settings, { stopped: around.interruption(), say: sayTo(around) });
  around.stdout.write(settings.json ? `${JSON.stringify(record)}\n` : trialText(record));
  write('receiver', record, () => certificateOfReceiver(record));
  return codeOf(record);
}

/** Tests a device, and writes the report; returns the exit code. */
async function testDevice(
  settings: DeviceTestSettings,
  signing: Signing | null,
  around: Surroundings,
): Promise<number> {
  const write = openTestFiles(settings, signing);
  const record = await runDeviceTest(settings, { stopped: around.interruption(), say: sayTo(around) });
  around.stdout.write(settings.json ? `${JSON.stringify(record)}\n` : deviceTestText(record));
  write('device', record, () => certificateOfDevice(record));
  return codeOf(record);
}

type TestRecord = Pick<RunRecord, 'verdicts' | 'notRun' | 'startedAt' | 'milliseconds'>;

/**
 * Makes the function that writes the files of a test. It tries the files before the test, which takes minutes. Throws a
 * UsageError.
 */
function openTestFiles({ junitFile }: { junitFile: string | undefined }, signing: Signing | null) {
  if (junitFile !== undefined) requireWritable('junit', junitFile);
  const sign = openSigning(signing);
  return (scenario: string, record: TestRecord, certificate: () => Certificate): void => {
    if (junitFile !== undefined) writeFileSync(junitFile, junitReport({ scenario, ...record }));
    sign(certificate);
  };
}

/** The exit code of a test. A broken rule or a wrong answer is reported before NOT RUN, because it was seen. */
function codeOf({ verdicts, notRun }: TestRecord): number {
  if (verdicts.some(({ holds, measurable }) => !holds && measurable)) return DOES_NOT_HOLD;
  return notRun.length > 0 ? NOT_RUN : HOLDS;
}

/** Checks a signed report, and prints it; returns the exit code. */
function verify(settings: VerifySettings, { stdout, stderr }: Surroundings): number {
  const { outcome, text } = verifyReport(settings);
  (outcome === 'forged' ? stderr : stdout).write(text);
  if (outcome === 'incomplete') return NOT_RUN;
  return outcome === 'passed' ? HOLDS : DOES_NOT_HOLD;
}

/** Plays a record, and prints its result; returns the exit code. */
async function replay(settings: ReplaySettings, around: Surroundings): Promise<number> {
  const record = await runReplay(settings, around.interruption());
  around.stdout.write(settings.json ? `${JSON.stringify(record)}\n` : replayText(record));
  if (!hasHeld(record)) return DOES_NOT_HOLD;
  return record.isStopped ? NOT_RUN : HOLDS;
}

/** Records devices until Ctrl-C, and prints the result; returns the exit code. */
async function record(settings: RecordSettings, around: Surroundings): Promise<number> {
  const report = await runRecord(settings, { stopped: around.interruption(), say: sayTo(around) });
  around.stdout.write(settings.json ? `${JSON.stringify(report)}\n` : recordText(report));
  return HOLDS;
}

async function carryOut(command: Command, around: Surroundings): Promise<number> {
  switch (command.do) {
    case 'help':
      around.stdout.write(help);
      return HOLDS;
    case 'version':
      around.stdout.write(`${ownVersion()}\n`);
      return HOLDS;
    case 'list':
      around.stdout.write(list());
      return HOLDS;
    case 'schema':
      around.stdout.write(command.of === 'report' ? reportSchemaText() : editorSchemaText());
      return HOLDS;
    case 'print':
      around.stdout.write(command.text);
      return HOLDS;
    case 'check':
      return check(command.files, around);
    case 'merge': {
      const { folders, json, reportFolder: folder } = command;
      const merged = mergeReports(folders);
      return conclude(merged, { json, folder, baseline: readBaseline(command.baseline, merged) }, around);
    }
    case 'receiver':
      return testReceiver(command.settings, command.signing, around);
    case 'device':
      return testDevice(command.settings, command.signing, around);
    case 'verify':
      return verify(command.settings, around);
    case 'record':
      return record(command.settings, around);
    case 'replay':
      return replay(command.settings, around);
    case 'run': {
      const { settings } = command;
      const { scenario, json, reportFolder: folder } = settings;
      // Before the run, because a wrong file must not cost its time.
      const groups = scenario.groups.map(({ name, count }) => ({ name, devices: count }));
      const baseline = readBaseline(settings.baseline, { scenario: scenario.name, groups });
      const { record, gone, notes } = await run(settings, { stopped: around.interruption(), stream: around.stderr });
      const code = conclude(record, { json, folder, baseline }, around);
      const say = sayTo(around);
      for (const note of notes) say(plainText(note));
      if (!gone) return code;
      say(plainText(gone.message));
      return UNREACHABLE;
    }
  }
}

/** Escapes each line of a message of several lines. */
const plainLines = (text: string): string => text.split('\n').map(plainText).join('\n');

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof ScenarioError) return WRONG_INPUT;
  return error instanceof Unreachable ? UNREACHABLE : DOES_NOT_HOLD;
}

/** Carries out a command line; resolves to its exit code. It never rejects: a failure is told on standard error. */
export async function simulate(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await carryOut(readCommandLine(args, around.env), around);
  } catch (error) {
    const say = sayTo(around);
    say(plainLines(error instanceof Error ? error.message : String(error)));
    if (error instanceof UsageError) say('"lapel-sim --help" explains the options.');
    return exitCodeOf(error);
  }
}
