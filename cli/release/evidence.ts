import { abortText } from '@lapel/schemas/base/rollout-distance';
import { findingText } from '@lapel/schemas/base/rollout-health';
import { isReleaseBad } from '@lapel/schemas/base/rollouts';
import { countsText, errorText, type Rollout } from '../rollout/rollout-text.ts';
import { seenText } from '../rollout/rollout-watch.ts';
import { oneLine } from '../show/plain-text.ts';

const MOST_CODES = 3;

/** What each rule saw that pauses a rollout, in the words of the service. */
const FINDINGS: Readonly<Record<string, (rollout: Rollout) => string>> = {
  ABORT_RULE: ({ abortRule }) => `too many devices failed${abortRule ? `: ${abortText(abortRule)}` : ''}`,
  HEALTH_RULE: (rollout) => {
    const health = pauseOf(rollout)?.health;
    return `devices with the release are not well${health ? `: ${findingText(health)}` : ''}`;
  },
  HEALTH_UNKNOWN: () => 'too little is known about the health of the devices with the release',
  STAGE_FAILED: ({ stages, stage }) => {
    const present = stages[stage - 1];
    return `too few devices of stage ${stage} succeeded${present ? `: ${countsText(present.counts, present.inWork)}` : ''}`;
  },
  REQUESTED: (rollout) => {
    const pause = pauseOf(rollout);
    return `${pause?.person ?? pause?.by ?? 'somebody'} asked for it`;
  },
};

const pauseOf = ({ history }: Rollout) => history.find(({ event }) => event === 'paused');

const findingOf = (rollout: Rollout): string =>
  FINDINGS[rollout.reason ?? '']?.(rollout) ?? 'the service could not go on';

/** Why a rollout is paused: the rule, what it saw, and the codes of the devices. */
export function evidenceOf(rollout: Rollout): string[] {
  const codes = rollout.errors.slice(0, MOST_CODES).map((error) => `devices have ${errorText(error)}`);
  return [`${rollout.reason}: ${findingOf(rollout)}`, ...codes].map(oneLine);
}

/** What can be done about a rollout that is paused. */
export function nextSteps(rollout: Rollout): string[] {
  const { rolloutId } = rollout;
  const revert = `bring its devices back: lapel rollout revert ${rolloutId}`;
  const resume = `let it go on: lapel rollout resume ${rolloutId}${seenText(rollout)}`;
  const cancel = `end it: lapel rollout cancel ${rolloutId}`;
  return isReleaseBad(rollout) ? [revert, resume] : [resume, cancel];
}
