import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { Interrupted } from '../line/interrupted.ts';
import { Failure } from '../show/failure.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { linesOf, type Rollout, stateText } from './rollout-text.ts';

// Milliseconds between two reads; longer while nothing changes.
const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 5_000;
const FAILURES_IN_A_ROW = 15;

/** Whether nothing more happens to a rollout without a person. */
const rests = ({ state }: Rollout): boolean => state === 'completed' || state === 'cancelled' || state === 'paused';

/**
 * Shows a rollout until it has completed, was cancelled, or is paused. On a terminal the lines are overwritten; elsewhere a
 * line is printed for each change of the state, of the stage and of the errors. Throws a Failure.
 */
async function follow(application: Application, rolloutId: string, terminal: Terminal): Promise<Rollout | undefined> {
  const screen = createScreen(terminal.stderr);
  const { interrupted, pause: rest } = terminal;
  const printed = new Set<string>();
  let pause = SHORTEST_PAUSE;
  let failures = 0;
  let last = '';
  try {
    while (!interrupted.aborted) {
      try {
        const rollout = await application.call(`read rollout ${rolloutId}`, (lapel) =>
          lapel.readRollout({ rolloutId, signal: interrupted }),
        );
        failures = 0;
        const news = [`${stateText(rollout)}, stage ${rollout.stage} of ${rollout.stages.length}`];
        news.push(...rollout.errors.map(({ state, code }) => `devices have ${state}: ${code}`));
        for (const line of news.filter((one) => !printed.has(one))) {
          printed.add(line);
          screen.line(line);
        }
        screen.show(linesOf(rollout));
        if (rests(rollout)) return rollout;
        const shown = JSON.stringify(rollout.counts);
        pause = shown === last ? Math.min(LONGEST_PAUSE, pause * 1.5) : SHORTEST_PAUSE;
        last = shown;
      } catch (error) {
        if (interrupted.aborted) break;
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) screen.line(`${error.message}; trying again`);
      }
      await rest(pause, interrupted).catch(() => undefined);
    }
    return undefined;
  } finally {
    screen.show([]);
  }
}

/** Follows a rollout to the end of a command: exit code 1 unless it has completed. */
export async function outcomeOf(application: Application, rolloutId: string, terminal: Terminal): Promise<Outcome> {
  const rollout = await follow(application, rolloutId, terminal);
  if (!rollout) {
    throw new Interrupted(
      `Rollout ${rolloutId} goes on without this command.`,
      `  lapel rollout watch ${rolloutId}`,
      `  lapel rollout pause ${rolloutId}`,
    );
  }
  const text = `${stateText(rollout)}\n${linesOf(rollout)
    .map((line) => `${line}\n`)
    .join('')}`;
  const json = { ok: rollout.state === 'completed', ...rollout };
  if (rollout.state === 'completed') return { json, text };
  const hint = rollout.state === 'paused' ? `; to let it go on: lapel rollout resume ${rolloutId}` : '';
  return { json, text, problem: `rollout ${rolloutId} is ${stateText(rollout)}${hint}` };
}

export const rolloutWatch: Command = {
  name: 'rollout watch',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Follows a rollout until it completes, is paused, or is cancelled',
  about:
    'The exit code is 0 only when the rollout has completed, so that a job of a CI fails when a rule has paused it.',
  options: APPLICATION_OPTIONS,
  examples: ['lapel rollout watch rol_0193480f3a5b00112233445566778899'],
  endsItself: true,
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    return outcomeOf(await openApplication(given, terminal), rolloutId, terminal);
  },
};
