import type { KeyObject } from 'node:crypto';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readSeconds } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import type { Options } from '../line/options.ts';
import { readJson, readText } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { BODY_OPTIONS, type Body, readBody } from '../rollout/rollout-body.ts';
import { linesOf } from '../rollout/rollout-text.ts';
import { follow } from '../rollout/rollout-watch.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { createScreen, type Screen, type Terminal } from '../show/terminal.ts';
import { identify, type LocalFile, openLocalFile } from '../software/local-file.ts';
import { digestOf, privateKeyOf } from '../software/sign-file.ts';
import { type Ending, endingOf, isAtEnd, TIME_OVER } from './ending.ts';
import { COMMIT, findRollout, type Identity, keyOf, labelOf, NAME, type Search } from './identity.ts';
import { withOptionLines } from './option-lines.ts';
import { patient } from './patient.ts';
import { hasThisFile, type Publishing, publish } from './publish.ts';
import { checkPlaces, type Places, type Report, writeReport } from './report.ts';

// Seconds. Jobs of a CI have a limit, and one that is killed says nothing.
const TIMEOUT = 3600;
const { label: _, continuous: __, ...ROLLOUT_OPTIONS } = BODY_OPTIONS;

const OPTIONS = {
  commit: { value: 'ID', text: 'the commit of the build (GITHUB_SHA, CI_COMMIT_SHA)' },
  name: { value: 'NAME', text: 'tells several rollouts of a version apart, such as canary and fleet (release)' },
  as: { value: 'V', text: 'register it as this version instead of the one in the file' },
  key: {
    value: 'FILE.pem',
    file: true,
    text: 'sign with this private key; - reads standard input (LAPEL_SIGNING_KEY: its text)',
  },
  signature: {
    value: 'FILE.json',
    file: true,
    text: 'a signature that was made elsewhere: lapel app sign --no-upload --json',
  },
  timeout: { value: 'SECONDS', text: `wait at most this many seconds for all of it (${TIMEOUT}); the rollout goes on` },
  'on-approval': {
    value: 'WHAT',
    choices: ['wait', 'end'],
    text: 'a stage that waits for an approval: wait on, or end with exit code 0',
  },
  'on-interrupt': {
    value: 'WHAT',
    choices: ['leave', 'pause'],
    text: 'a job that is cancelled: leave the rollout as it is, or pause it',
  },
  options: {
    value: 'TEXT',
    text: 'further options, one a line, as --stage 5%: for the input of an action, without a shell',
  },
  summary: { value: 'FILE', text: 'append a summary in Markdown to this file' },
  variables: { value: 'FILE', text: 'append the results to this file, as lines NAME=value' },
  ...ROLLOUT_OPTIONS,
} satisfies Options;

type Signature = SchemaTypes['rest/signature-put'];

interface Wanted {
  identity: Identity;
  file: LocalFile;
  sha256: string;
  signer: KeyObject | Signature | undefined;
  body: Body;
  /** Milliseconds for all of it. */
  timeout: number;
  endsAtApproval: boolean;
  pauses: boolean;
  places: Places;
}

const fromEnvironment = ({ env }: Terminal, ...names: string[]): string | undefined =>
  names.map((name) => env[name]).find((text) => text !== undefined && text !== '');

async function readSigner(given: Given, terminal: Terminal): Promise<Wanted['signer']> {
  const [key, signature] = [given.text('key'), given.text('signature')];
  if (key !== undefined && signature !== undefined)
    throw new UsageError('--signature', 'cannot be combined with --key');
  if (signature !== undefined) {
    const { keyId, sha256, signature: text } = (await readJson('--signature', signature, terminal)) as Signature;
    if (typeof text !== 'string') throw new UsageError('--signature', `${signature} has no signature`);
    return { keyId, sha256, signature: text };
  }
  if (key !== undefined) return privateKeyOf(await readText('--key', key, terminal), '--key', key);
  const pem = fromEnvironment(terminal, 'LAPEL_SIGNING_KEY');
  return pem === undefined ? undefined : privateKeyOf(pem, 'LAPEL_SIGNING_KEY', 'the variable');
}

async function readIdentity(given: Given, file: LocalFile, terminal: Terminal): Promise<Identity> {
  const commit = given.text('commit') ?? fromEnvironment(terminal, 'GITHUB_SHA', 'CI_COMMIT_SHA');
  const name = given.text('name') ?? 'release';
  if (commit === undefined) throw new UsageError('--commit', 'is needed (or GITHUB_SHA, CI_COMMIT_SHA)');
  if (!COMMIT.test(commit))
    throw new UsageError('--commit', 'is 1 to 64 letters, digits, dots, hyphens and underscores');
  if (!NAME.test(name)) throw new UsageError('--name', 'is 1 to 24 letters, digits and hyphens');
  const manifest = await identify(file);
  if (!manifest) throw new UsageError(oneLine(file.name), 'is not an APK file');
  const version = given.text('as') ?? manifest.versionName;
  if (version === null) throw new UsageError('--as', 'is needed: the file has no version name');
  return { package: manifest.package, version, name, commit };
}

async function readRollout(given: Given, identity: Identity, terminal: Terminal): Promise<Body> {
  const { package: software, version } = identity;
  const asked = { operation: 'installSoftware' as const, parameters: { package: software, version } };
  const { dryRun: ___, ...read } = await readBody(given, asked, terminal);
  if (read.label !== undefined)
    throw new UsageError('--file', 'has a label, but the label of a release names its commit; leave it out');
  if (read.continuous)
    throw new UsageError('--file', 'a continuous rollout never completes, so no job can wait for it');
  if (read.devices === undefined)
    throw new UsageError(
      '--all',
      'is needed to release to the whole fleet; or select devices, such as --tag ring=canary',
    );
  return { ...read, label: labelOf(identity) } as Body;
}

async function readWanted(given: Given, file: LocalFile, terminal: Terminal): Promise<Wanted> {
  const places = { summary: given.text('summary'), variables: given.text('variables') };
  const seconds = given.text('timeout');
  const identity = await readIdentity(given, file, terminal);
  const wanted = {
    identity,
    file,
    signer: await readSigner(given, terminal),
    body: await readRollout(given, identity, terminal),
    timeout: 1000 * (seconds === undefined ? TIMEOUT : readSeconds('timeout', seconds)),
    endsAtApproval: given.text('on-approval') === 'end',
    pauses: given.text('on-interrupt') === 'pause',
    places,
  };
  await checkPlaces(places);
  return { ...wanted, sha256: await digestOf(file) };
}

interface Parts {
  wanted: Wanted;
  application: Application;
  screen: Screen;
  terminal: Terminal;
  left: () => number;
  report: Report;
  /** Whether the start of a rollout was sent. Its answer may be lost, and the rollout goes on. */
  sent: boolean;
}

/** Answers to a start that another job has made with the same key: its request still runs, or has other options. */
const OF_ANOTHER_JOB: readonly unknown[] = ['IDEMPOTENCY_KEY_RUNNING', 'IDEMPOTENCY_KEY_REUSED'];
// Milliseconds.
const LOOK_AGAIN = 1_000;

/** Starts the rollout. A second job at the same moment gets the same one: by its key, or by a look at the list. */
async function start(parts: Parts, application: Application, cancelled: number): Promise<string> {
  const { wanted, report, terminal, left } = parts;
  const { body, identity } = wanted;
  parts.sent = true;
  for (let search: Search = { found: undefined, cancelled }; ; search = await findRollout(application, identity)) {
    if (search.found) {
      terminal.stderr.write('note: another job started this release at the same moment, and its options hold\n');
      return search.found.rolloutId;
    }
    const idempotencyKey = keyOf(identity, search.cancelled);
    try {
      const made = await application.call('start the rollout', (lapel) => lapel.startRollout({ body, idempotencyKey }));
      for (const { message } of made.warnings) terminal.stderr.write(`note: ${oneLine(message)}\n`);
      report.started = true;
      return made.rolloutId;
    } catch (error) {
      if (!(error instanceof Failure) || !OF_ANOTHER_JOB.includes(error.refusal?.code) || left() <= 0) throw error;
    }
    await terminal.pause(LOOK_AGAIN, terminal.interrupted).catch(() => undefined);
    if (terminal.interrupted.aborted) throw new Interrupted();
  }
}

/** Finds the rollout of the release; makes version and rollout where there is none. */
async function begin(parts: Parts, publishing: Publishing): Promise<string> {
  const { wanted, screen, report } = parts;
  const { application } = publishing;
  const { identity } = wanted;
  const { commit } = identity;
  const { found, cancelled } = await findRollout(application, identity);
  if (!found) {
    report.keyId = await publish(publishing);
    return start(parts, application, cancelled);
  }
  await hasThisFile(publishing);
  const of = found.commit === commit ? 'this commit' : `commit ${found.commit}, with the same file`;
  screen.line(`rollout ${found.rolloutId} of ${of} is there already; no other one is started`);
  return found.rolloutId;
}

/** Pauses the rollout of a job that was cancelled. The time is short, so it tries no more than once. */
async function interruptionOf({ wanted, application, report, sent }: Parts): Promise<Interrupted> {
  const { rolloutId } = report;
  if (rolloutId === null && sent)
    return new Interrupted(
      'The job was cancelled before the start of its rollout was answered.',
      '  lapel rollout list',
    );
  if (rolloutId === null)
    return new Interrupted('The job was cancelled before a rollout was started: nothing goes on.');
  const watch = `  lapel rollout watch ${rolloutId}`;
  const goesOn = `The job was cancelled. Rollout ${rolloutId} goes on without it.`;
  if (!wanted.pauses) return new Interrupted(goesOn, watch, `  lapel rollout pause ${rolloutId}`);
  try {
    await application.call('pause the rollout', (lapel) => lapel.pauseRollout({ rolloutId }));
    return new Interrupted(
      `The job was cancelled. Rollout ${rolloutId} is paused.`,
      `  lapel rollout resume ${rolloutId}`,
    );
  } catch (error) {
    return new Interrupted(goesOn, `  it was not paused: ${(error as Error).message}`, watch);
  }
}

function outcomeOf(report: Report, { sentence, details, next, failed, code }: Ending): Outcome {
  const lines = [sentence, ...details.map((line) => `  ${line}`), ...next.map((line) => `  next: ${line}`)];
  if (report.page !== null) lines.push(`  in the console: ${report.page}`);
  const { rollout } = report;
  return {
    json: { ok: !failed, ...report },
    text: ({ width }) =>
      [...(rollout ? linesOf(rollout, width) : []), ...(failed ? [] : lines)].map((line) => `${line}\n`).join(''),
    ...(failed && { problem: lines.join('\n'), ...(code !== undefined && { exitCode: code }) }),
  };
}

async function carryOut(parts: Parts): Promise<Ending> {
  const { wanted, terminal, report, screen, left } = parts;
  const { identity, file, sha256, signer } = wanted;
  const application = patient(parts.application, { left, terminal });
  const version = { package: identity.package, version: identity.version, sha256 };
  const publishing: Publishing = { application, version, file, signer, screen, terminal, left };
  const rolloutId = await begin(parts, publishing);
  report.rolloutId = rolloutId;
  report.page = `${application.baseUrl}/console/rollouts/${rolloutId}`;
  screen.line(`rollout ${rolloutId}: ${report.page}`);
  const until = isAtEnd(wanted.endsAtApproval);
  const timeout = Math.max(1, left());
  const rollout = await follow({ application: parts.application, rolloutId, timeout, until, patient: true }, terminal);
  if (!rollout) throw new Interrupted();
  report.rollout = rollout;
  // Whoever can upload could have replaced the file meanwhile, and devices would have got that one.
  if (rollout.state === 'completed') await hasThisFile(publishing);
  const ending = endingOf(rollout, wanted.endsAtApproval);
  report.status = ending.status;
  return ending;
}

/** Carries out the release, and writes its report, however it ends. */
async function release(parts: Parts): Promise<Outcome> {
  const { wanted, terminal, report } = parts;
  const tell = async (ending: Pick<Ending, 'sentence' | 'details' | 'next'>): Promise<void> => {
    for (const fault of await writeReport(wanted.places, report, ending)) terminal.stderr.write(`${fault}\n`);
  };
  try {
    const ending = await carryOut(parts);
    await tell(ending);
    return outcomeOf(report, ending);
  } catch (error) {
    if (error instanceof Interrupted) {
      const interrupted = await interruptionOf(parts);
      report.status = 'interrupted';
      const [sentence = '', ...next] = interrupted.lines.map((line) => line.trim());
      await tell({ sentence, details: [], next });
      throw interrupted;
    }
    const { message } = error as Error;
    const goesOn = report.rolloutId === null ? [] : [`rollout ${report.rolloutId} goes on without this job`];
    await tell({ sentence: message, details: goesOn, next: error instanceof Failure ? [...error.advice] : [] });
    if (error instanceof Failure) error.done = report;
    throw error;
  }
}

export const releaseCommand: Command = {
  name: 'release',
  arguments: [{ name: 'FILE.apk', file: true }],
  summary: 'Releases an APK file from a pipeline: signs, uploads, distributes, rolls out, and waits',
  about: `Started again with the same commit and version, it finds the rollout and waits on: a second one is never started. A
version whose file is another one is refused. Say which devices it is for: with options that select them, --all, or a file
with the whole rollout.

The exit code is 0 only when the rollout has completed (or waits for an approval, with --on-approval end), 1 when a rule or a
person paused or cancelled it, and ${TIME_OVER} when the time is over and the rollout goes on.`,
  options: { ...OPTIONS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel release camera-1.3.0.apk --commit 4f1d2c9 --key release.pem --all --stage 5% --succeeded 95 --soak 1h --abort 10',
    'lapel release camera-1.3.0.apk --commit 4f1d2c9 --name canary --tag ring=canary --timeout 1800 --on-approval end',
    'lapel release camera-1.3.0.apk --commit 4f1d2c9 --file rollout.json --summary summary.md --variables release.env',
  ],
  endsItself: true,
  async run(said, terminal) {
    const given = withOptionLines(said, 'options', { ...OPTIONS, ...APPLICATION_OPTIONS });
    const [path = ''] = given.positionals;
    const began = terminal.now();
    await using file = await openLocalFile(path);
    const wanted = await readWanted(given, file, terminal);
    const { identity, sha256, timeout } = wanted;
    const application = await openApplication(given, terminal);
    const screen = createScreen(terminal.stderr);
    const { package: software, version, commit } = identity;
    screen.line(oneLine(`release ${software} ${version} of commit ${commit}: ${file.name}, SHA-256 ${sha256}`));
    const report: Report = {
      ...identity,
      file: { name: file.name, size: file.size, sha256 },
      keyId: null,
      rolloutId: null,
      started: false,
      page: null,
      status: 'failed',
      rollout: null,
    };
    const left = (): number => timeout - (terminal.now() - began);
    // Awaited here, because the file is closed when this function ends.
    return await release({ wanted, application, screen, terminal, left, report, sent: false });
  },
};
