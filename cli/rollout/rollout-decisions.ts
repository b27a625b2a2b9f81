import type { LapelClient } from '@lapel/client/lapel-client';
import { verdictChanges, verdictText } from '@lapel/schemas/base/rollout-verdict';
import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Terminal } from '../show/terminal.ts';
import { type Rollout, stateText } from './rollout-text.ts';

const ROLLOUT = 'rol_0193480f3a5b00112233445566778899';
const CHANGED = 'VERDICT_CHANGED';

const SEEN_OPTION = {
  seen: {
    value: 'TAG',
    text: 'the verdict that you have read, by its tag of rollout show or watch; refused if it has changed since',
  },
} satisfies Options;

interface Decision {
  rolloutId: string;
  /** The decision in the words of its question: `Approve stage 1`. */
  question(rollout: Rollout): string;
  /** The stage whose verdict counts, from 1. */
  stageOf(rollout: Rollout): number;
  /** Names the action for error messages. */
  what: string;
  send(lapel: LapelClient, ifMatch: { ifMatch?: string }): Promise<Rollout>;
}

/** Says what has changed since the verdict was shown. */
async function changesSince(application: Application, before: Rollout, { rolloutId, stageOf }: Decision) {
  const now = await application.call('read the rollout', (lapel) => lapel.readRollout({ rolloutId }));
  const [was, is] = [before, now].map((rollout) => rollout.stages[stageOf(before) - 1]?.verdict);
  return was && is ? verdictChanges(was, is).join('; ') : '';
}

/**
 * Shows the verdict on a stage, asks on a terminal, and sends the decision with the tag of the verdict that was shown. With
 * --seen the person has read it before, and is not asked. Throws a Failure, also when the figures have changed meanwhile.
 */
async function decide(decision: Decision, given: Given, terminal: Terminal): Promise<Outcome> {
  const { rolloutId, what, send } = decision;
  const application = await openApplication(given, terminal);
  const seen = given.text('seen');
  let read: Rollout | undefined;
  if (seen === undefined) {
    read = await application.call('read the rollout', (lapel) => lapel.readRollout({ rolloutId }));
    const verdict = read.stages[decision.stageOf(read) - 1]?.verdict;
    if (verdict) {
      terminal.stderr.write(`${oneLine(`stage ${decision.stageOf(read)}: ${verdictText(verdict)}`)}\n`);
      const answer = await terminal.ask?.(`${decision.question(read)}? Type yes: `, { hidden: false });
      if (terminal.ask && answer?.trim() !== 'yes') throw new Failure('nothing was sent: it was not confirmed');
    }
  }
  const tag = seen ?? read?.stages[decision.stageOf(read) - 1]?.verdictTag ?? undefined;
  try {
    const rollout = await application.call(what, (lapel) => send(lapel, tag === undefined ? {} : { ifMatch: tag }));
    return { json: { ok: true, ...rollout }, text: `${rolloutId} is ${stateText(rollout)}\n` };
  } catch (error) {
    if (!(error instanceof Failure) || error.refusal?.code !== CHANGED) throw error;
    const { reason } = error.refusal;
    const told = reason.slice(reason.indexOf('(') + 1, reason.lastIndexOf(')'));
    const changes = (read && (await changesSince(application, read, decision))) || told;
    throw new Failure(oneLine(`the figures have changed since you read them: ${changes}; look again`), {
      refusal: error.refusal,
      advice: [`lapel rollout show ${rolloutId}`],
      cause: error,
    });
  }
}

const ABOUT =
  'It names the figures that were seen, and is refused when they have changed meanwhile. A terminal shows them and asks; with --seen nothing is asked.';

export const rolloutApprove: Command = {
  name: 'rollout approve',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Approves the present stage of a rollout',
  about: ABOUT,
  options: {
    stage: { value: 'N', text: 'only this stage, from 1; so a repetition never approves the next one' },
    ...SEEN_OPTION,
    ...APPLICATION_OPTIONS,
  },
  examples: [`lapel rollout approve ${ROLLOUT}`, `lapel rollout approve ${ROLLOUT} --stage 2`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const stage = given.text('stage');
    const body = stage === undefined ? {} : { stage: readWhole('stage', stage) };
    const decision: Decision = {
      rolloutId,
      question: (rollout) => `Approve stage ${body.stage ?? rollout.stage}`,
      stageOf: (rollout) => body.stage ?? rollout.stage,
      what: 'approve the stage',
      send: (lapel, ifMatch) => lapel.approveRollout({ rolloutId, body, ...ifMatch }),
    };
    return decide(decision, given, terminal);
  },
};

export const rolloutResume: Command = {
  name: 'rollout resume',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Lets a paused rollout go on',
  about: ABOUT,
  options: { ...SEEN_OPTION, ...APPLICATION_OPTIONS },
  examples: [`lapel rollout resume ${ROLLOUT}`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const decision: Decision = {
      rolloutId,
      question: () => 'Let the rollout go on',
      stageOf: (rollout) => rollout.stage,
      what: 'resume the rollout',
      send: (lapel, ifMatch) => lapel.resumeRollout({ rolloutId, ...ifMatch }),
    };
    return decide(decision, given, terminal);
  },
};
