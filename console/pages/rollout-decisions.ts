import { type Verdict, verdictChanges } from '@lapel/schemas/base/rollout-verdict';
import { signal } from '@preact/signals';
import { type Child, div, p, use } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { operation, RequestError, read, send } from '../base/requests.ts';
import { reasonWords } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { ask, Told } from '../parts/dialog.ts';
import { changedView, verdictView } from '../parts/verdict.ts';

interface Decision {
  title: string;
  text: Child;
  does: string;
  /** Sends the decision; `seen` is the tag of the verdict that the dialog shows. */
  send(seen: string | undefined): Promise<unknown>;
  done(): string;
}

/** The verdict on the present stage, with its tag; null before the first stage. */
function presentOf({ stages, stage }: RolloutDetails): { verdict: Verdict; tag: string } | null {
  const { verdict = null, verdictTag = null } = stages[stage - 1] ?? {};
  return verdict !== null && verdictTag !== null ? { verdict, tag: verdictTag } : null;
}

/**
 * Asks somebody who looks at the verdict on the present stage to decide. When it has changed meanwhile, nothing is sent: the
 * dialog says which words have changed, and shows the present ones, of which the next decision is.
 */
function decide(rollout: RolloutDetails, { title, text, does, send: sendIt, done }: Decision): void {
  const seen = signal(presentOf(rollout));
  const Shown = (): Child =>
    div(
      { class: 'stack' },
      text,
      seen.value ? verdictView(seen.value.verdict, `Verdict on stage ${rollout.stage}`) : null,
    );
  ask({
    title,
    text: use(Shown, {}),
    does,
    async act() {
      try {
        await sendIt(seen.peek()?.tag);
        return done();
      } catch (error) {
        if (!(error instanceof RequestError && error.code === 'VERDICT_CHANGED')) throw error;
        const { rolloutId } = rollout;
        const now = await read<RolloutDetails>(operation('readRollout', { rolloutId }));
        // A later stage is another decision.
        const next = now.stage === rollout.stage ? presentOf(now) : null;
        const before = seen.peek();
        if (next === null || before === null) throw error;
        seen.value = next;
        throw new Told(changedView(verdictChanges(before.verdict, next.verdict)));
      }
    },
  });
}

const ifMatch = (tag: string | undefined) => (tag === undefined ? {} : { ifMatch: tag });

/** Asks for the approval of the present stage. */
export function approve(rollout: RolloutDetails, done: () => void): void {
  const { rolloutId, stage } = rollout;
  decide(rollout, {
    title: `Approve stage ${stage}?`,
    text: p(
      { class: 'soft' },
      'The next stage begins when this one has its share of successes. You approve these figures:',
    ),
    does: 'Approve',
    // Named, so that a repetition never approves a stage that nobody has seen.
    send: (seen) => send(operation('approveRollout', { rolloutId }), { json: { stage }, ...ifMatch(seen) }),
    done() {
      done();
      return `Stage ${stage} is approved.`;
    },
  });
}

/** The states that a resume accepts beside the failures so far, by the reason of the pause. */
const ACCEPTED: Readonly<Record<string, string>> = {
  STAGE_FAILED:
    ' The stage is let pass, although too few of its devices have succeeded, unless its failed devices try again.',
  HEALTH_RULE:
    ' You accept how the devices are that have the release: the health rules judge those that get it from here on.',
  HEALTH_UNKNOWN: ' The stage is let pass, although a health rule knows too little of its devices.',
};

/** Asks whether a paused rollout may go on. */
export function resume(rollout: RolloutDetails, done: () => void): void {
  const { rolloutId, reason, counts } = rollout;
  const failures =
    counts.failed === 0
      ? 'No device has failed so far.'
      : `You accept the ${counted(counts.failed, 'failure')} so far: the abort rule counts anew from here.`;
  decide(rollout, {
    title: 'Let the rollout go on?',
    text: [
      reason === null || reason === 'REQUESTED' ? null : p(null, reasonWords(reason)),
      p({ class: 'soft' }, failures, ACCEPTED[reason ?? ''] ?? ''),
    ],
    does: 'Let it go on',
    send: (seen) => send(operation('resumeRollout', { rolloutId }), ifMatch(seen)),
    done() {
      done();
      return 'The rollout goes on.';
    },
  });
}
