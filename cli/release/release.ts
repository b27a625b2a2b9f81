import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { Interrupted } from '../line/interrupted.ts';
import { linesOf } from '../rollout/rollout-text.ts';
import { follow } from '../rollout/rollout-watch.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { createScreen, type Screen, type Terminal } from '../show/terminal.ts';
import { openLocalFile } from '../software/local-file.ts';
import { calm, calmTerminal } from './calm.ts';
import { type Ending, endingOf, isAtEnd, TIME_OVER } from './ending.ts';
import { findRollout, keyOf, type Search } from './identity.ts';
import { withOptionLines } from './option-lines.ts';
import { patient } from './patient.ts';
import { hasThisFile, type Publishing, publish } from './publish.ts';
import { type Report, writeReport } from './report.ts';
import { OPTIONS, readWanted, type Wanted } from './wanted.ts';

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
      calm([...(rollout ? linesOf(rollout, width) : []), ...(failed ? [] : lines)].map((line) => `${line}\n`).join('')),
    ...(failed && { problem: calm(lines.join('\n')), ...(code !== undefined && { exitCode: code }) }),
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
  // An application can replace the file meanwhile, and devices would have got that one.
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
  async run(said, ownTerminal) {
    const terminal = calmTerminal(ownTerminal);
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
