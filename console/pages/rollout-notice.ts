import { findingText } from '@lapel/schemas/base/rollout-health';
import { isReleaseBad } from '@lapel/schemas/base/rollouts';
import { now } from '../base/clock.ts';
import { button, type Child, div, p, use } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { approvalWords, closedWords, hasStoppedItself, reasonWords, waitsForApproval } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { verdictView } from '../parts/verdict.ts';
import { approve } from './rollout-decisions.ts';
import { mayOrder } from './rollout-orders.ts';
import { revert } from './rollout-revert.ts';

type Entry = RolloutDetails['history'][number];

const whoPaused = ({ by, person }: Entry): string =>
  person !== null ? visible(person) : by === 'administration' ? 'The operator' : 'The application';

/** Says why a rollout is paused, with the figures of that moment, and the first thing to do. */
function pausedNotice(rollout: RolloutDetails, reason: string, done: () => void): Child {
  const paused = rollout.history.find(({ event }) => event === 'paused');
  const words = reason === 'REQUESTED' && paused ? `${whoPaused(paused)} has paused it.` : reasonWords(reason);
  const isBad = isReleaseBad(rollout);
  const advice = isBad
    ? ' The first thing to do is to bring its devices back. To let it go on sends the release to more devices.'
    : ' No further command is published until the application lets it go on.';
  return div(
    { class: `note ${hasStoppedItself(rollout) ? 'bad' : 'warn'} stack tight`, role: 'status' },
    div(
      { class: 'row spread' },
      p(null, words, advice),
      isBad && mayOrder(rollout, 'revert')
        ? button({ type: 'button', class: 'tiny', onClick: () => revert(rollout, done) }, 'Bring the devices back')
        : null,
    ),
    paused?.health ? p({ class: 'small' }, visible(`Seen: ${findingText(paused.health)}.`)) : null,
    paused?.verdict
      ? div(
          { class: 'stack tight small' },
          p(null, 'The figures when it was paused:'),
          verdictView(paused.verdict, 'Figures at the pause'),
        )
      : null,
  );
}

const Approval = ({ stage, present }: { stage: number; present: RolloutDetails['stages'][number] }): Child =>
  p(null, approvalWords(stage, present, now.value));

/** Says why the rollout does not go on, and who has to do something. */
export function notice(rollout: RolloutDetails, done: () => void): Child {
  const { state, reason, stages, stage } = rollout;
  if (state === 'paused' && reason !== null) return pausedNotice(rollout, reason, done);
  const closed = closedWords(rollout);
  if (closed !== null) return div({ class: 'note', role: 'status' }, p(null, closed));
  const present = stages[stage - 1];
  if (state !== 'running' || !present || !waitsForApproval(present) || stage === stages.length) return null;
  return div(
    { class: 'note warn row spread', role: 'status' },
    use(Approval, { stage, present }),
    mayOrder(rollout, 'approve')
      ? button({ type: 'button', class: 'tiny', onClick: () => approve(rollout, done) }, 'Approve')
      : null,
  );
}
