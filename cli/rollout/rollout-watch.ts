import { verdictText } from '@lapel/schemas/base/rollout-verdict';
import { isReleaseBad } from '@lapel/schemas/base/rollouts';
import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readSeconds } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import type { Options } from '../line/options.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { errorText, linesInRoom, linesOf, type Rollout, stateText } from './rollout-text.ts';

// Milliseconds between two reads; longer while nothing changes.
const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 5_000;
/** Milliseconds that a read may take at least, also at the end of the time. */
const SHORTEST_WAIT = 10_000;
/** The most milliseconds of a timer. */
const LONGEST_TIMER = 2 ** 31 - 1;
const FAILURES_IN_A_ROW = 15;

export const TIMEOUT_OPTION = {
  timeout: { value: 'SECONDS', text: 'wait at most this many seconds; the rollout goes on' },
} satisfies Options;

/** Milliseconds to wait for the end of a rollout; null without a limit. Throws a UsageError. */
export function readTimeout(given: Given): number | null {
  const seconds = given.text('timeout');
  return seconds === undefined ? null : 1000 * readSeconds('timeout', seconds);
}

interface Followed {
  application: Application;
  rolloutId: string;
  /** Milliseconds after which following ends; null to wait until the rollout ends. */
  timeout: number | null;
  /** Following ends with such a rollout; by default when it has ended or is paused. */
  until?: (rollout: Rollout) => boolean;
  /** True: a service that does not answer is asked again until the time is over; else for a minute or two. */
  patient?: boolean;
}

/** Whether nothing more happens to a rollout without a person. */
export const rests = ({ state }: Rollout): boolean =>
  state === 'completed' || state === 'cancelled' || state === 'paused';

/**
 * Shows a rollout until it has completed, was cancelled, or is paused, or the time is over. On a terminal the lines are
 * overwritten; elsewhere a line is printed for each change of the state, of the stage and of the codes of errors. Resolves
 * to the rollout as it was read last; undefined after an interruption. Throws a Failure.
 */
export async function follow(
  { application, rolloutId, timeout, until = rests, patient = false }: Followed,
  terminal: Terminal,
): Promise<Rollout | undefined> {
  const { interrupted, pause: rest, now, stderr } = terminal;
  const screen = createScreen(stderr);
  const began = now();
  const printed = new Set<string>();
  let latest: Rollout | undefined;
  let pause = SHORTEST_PAUSE;
  let failures = 0;

  const timeLeft = (whole: number): number => Math.ceil(whole - (now() - began));
  const tell = (key: string, line: string): void => {
    if (printed.has(key)) return;
    printed.add(key);
    screen.line(line);
  };
  function show(rollout: Rollout): void {
    const state = `${stateText(rollout)}, stage ${rollout.stage} of ${rollout.stages.length}`;
    tell(state, state);
    const asks = approvalText(rollout);
    if (asks !== null) tell(asks, asks);
    // A terminal has the codes in its changing lines, with their numbers.
    if (!screen.live)
      for (const error of rollout.errors) tell(`${error.state} ${error.code}`, `devices have ${errorText(error)}`);
    screen.show(linesInRoom(rollout, (stderr.columns ?? 80) - 1, Math.max(1, (stderr.rows ?? 24) - 2)));
  }

  try {
    while (!interrupted.aborted) {
      try {
        // A network that swallows packets would hold the call longer than the command may wait.
        const limit =
          timeout === null
            ? []
            : [AbortSignal.timeout(Math.min(LONGEST_TIMER, Math.max(SHORTEST_WAIT, timeLeft(timeout))))];
        const rollout = await application.call(`read rollout ${rolloutId}`, (lapel) =>
          lapel.readRollout({ rolloutId, signal: AbortSignal.any([interrupted, ...limit]) }),
        );
        failures = 0;
        show(rollout);
        if (until(rollout)) return rollout;
        const isSame = JSON.stringify(rollout.counts) === JSON.stringify(latest?.counts);
        pause = isSame ? Math.min(LONGEST_PAUSE, pause * 1.5) : SHORTEST_PAUSE;
        latest = rollout;
      } catch (error) {
        if (interrupted.aborted) break;
        failures += 1;
        const isOver = timeout !== null && timeLeft(timeout) <= 0 && !latest;
        const isTooMany = failures >= FAILURES_IN_A_ROW && !patient;
        if (!(error instanceof Failure) || !error.passing || isTooMany || isOver) throw error;
        if (failures === 1) screen.line(oneLine(`${error.message}; trying again`));
      }
      const left = timeout === null ? pause : timeLeft(timeout);
      if (left <= 0 && latest) return latest;
      await rest(Math.max(0, Math.min(pause, left)), interrupted).catch(() => undefined);
    }
    return undefined;
  } finally {
    screen.show([]);
  }
}

/** Says that the present stage waits for an approval, and of which figures; null when it does not. */
export function approvalText({ rolloutId, stages, stage, state }: Rollout): string | null {
  const { verdict = null, verdictTag, approval, approved, soakEndsAt } = stages[stage - 1] ?? {};
  if (state !== 'running' || verdict === null || !approval || approved || soakEndsAt === null) return null;
  const command = `lapel rollout approve ${rolloutId} --stage ${stage} --seen '${verdictTag}'`;
  return oneLine(`stage ${stage} waits for an approval: ${verdictText(verdict)}; to approve it: ${command}`);
}

/** The option that names the figures as they were shown. */
export function seenText({ stages, stage }: Rollout): string {
  const { verdictTag = null } = stages[stage - 1] ?? {};
  return verdictTag === null ? '' : ` --seen '${verdictTag}'`;
}

/** Follows a rollout to the end of a command: exit code 1 unless it has completed. */
export async function outcomeOf(followed: Followed, terminal: Terminal): Promise<Outcome> {
  const { rolloutId } = followed;
  const rollout = await follow(followed, terminal);
  if (!rollout) {
    throw new Interrupted(
      `Rollout ${rolloutId} goes on without this command.`,
      `  lapel rollout watch ${rolloutId}`,
      `  lapel rollout pause ${rolloutId}`,
    );
  }
  const outcome: Outcome = {
    json: { ok: rollout.state === 'completed', ...rollout },
    text: ({ width }) => [stateText(rollout), ...linesOf(rollout, width)].map((line) => `${line}\n`).join(''),
  };
  if (rollout.state === 'completed') return outcome;
  const back = isReleaseBad(rollout) ? `; to bring its devices back: lapel rollout revert ${rolloutId}` : '';
  const hint = {
    paused: `${back}; to let it go on: lapel rollout resume ${rolloutId}${seenText(rollout)}`,
    cancelled: '',
  }[rollout.state as string];
  const goesOn = `; it goes on: lapel rollout watch ${rolloutId}`;
  return { ...outcome, problem: `rollout ${rolloutId} is ${stateText(rollout)}${hint ?? goesOn}` };
}

export const rolloutWatch: Command = {
  name: 'rollout watch',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Follows a rollout until it completes, is paused, or is cancelled',
  about:
    'The exit code is 0 only when the rollout has completed, so that a job of a CI fails when a rule has paused it, or when the time of --timeout is over.',
  options: { ...TIMEOUT_OPTION, ...APPLICATION_OPTIONS },
  examples: [
    'lapel rollout watch rol_0193480f3a5b00112233445566778899',
    'lapel rollout watch rol_0193480f3a5b00112233445566778899 --timeout 600 --json | jq .state',
  ],
  endsItself: true,
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const timeout = readTimeout(given);
    return outcomeOf({ application: await openApplication(given, terminal), rolloutId, timeout }, terminal);
  },
};
