import type { Rollout } from '../rollout/rollout-text.ts';
import { approvalText, rests } from '../rollout/rollout-watch.ts';
import { oneLine } from '../show/plain-text.ts';
import { evidenceOf, nextSteps } from './evidence.ts';

/** The exit code when the time is over: the rollout goes on, and nothing is known to be wrong. */
export const TIME_OVER = 3;

export type Status = 'completed' | 'paused' | 'cancelled' | 'reverted' | 'approval' | 'unfinished' | 'empty';

/** How a release stands at the end of a job. */
export interface Ending {
  status: Status;
  /** What happened, in a sentence. */
  sentence: string;
  /** Further lines: the evidence, and what can be done. */
  details: string[];
  next: string[];
  /** Whether the job has failed, and with which exit code. */
  failed: boolean;
  code?: number;
}

export const waitsForApproval = (rollout: Rollout): boolean => approvalText(rollout) !== null;

const devicesText = (devices: number): string => `${devices} ${devices === 1 ? 'device' : 'devices'}`;

function completed(rollout: Rollout): Ending {
  const { rolloutId, counts, devices } = rollout;
  if (devices === 0) {
    const sentence = `no device matches, so rollout ${rolloutId} had nothing to do`;
    const next = ['lapel device list with the same options shows which devices match'];
    return { status: 'empty', sentence, details: [], next, failed: true };
  }
  const others = counts.succeeded === devices ? '' : `; ${counts.succeeded} succeeded, ${counts.failed} failed`;
  const sentence = `rollout ${rolloutId} has completed: ${devicesText(devices)}${others}`;
  return { status: 'completed', sentence, details: [], next: [], failed: false };
}

function cancelled({ rolloutId, history }: Rollout): Ending {
  const cancel = history.find(({ event }) => event === 'cancelled' || event === 'reverted');
  const sentence = `rollout ${rolloutId} was cancelled by ${cancel?.person ?? cancel?.by ?? 'somebody'}, and a job never starts it again`;
  const next = ['release a new commit, or start one by hand: lapel rollout start'];
  return { status: 'cancelled', sentence: oneLine(sentence), details: [], next, failed: true };
}

/** Says how a release stands, by the rollout as it was read last. `endsAtApproval`: a stage that waits for one is an end. */
export function endingOf(rollout: Rollout, endsAtApproval: boolean): Ending {
  const { rolloutId, state, revertedBy, reason } = rollout;
  if (revertedBy !== undefined) {
    const sentence = `rollout ${rolloutId} was reverted: ${revertedBy} brings its devices back`;
    const next = [`lapel rollout watch ${revertedBy}`];
    return { status: 'reverted', sentence, details: [], next, failed: true };
  }
  if (state === 'completed') return completed(rollout);
  if (state === 'cancelled') return cancelled(rollout);
  if (state === 'paused') {
    const [details, next] = [evidenceOf(rollout), nextSteps(rollout)];
    const sentence = `rollout ${rolloutId} is paused (${oneLine(reason ?? 'no reason')})`;
    return { status: 'paused', sentence, details, next, failed: true };
  }
  const asks = approvalText(rollout);
  const details = asks === null ? [] : [asks];
  if (asks !== null && endsAtApproval)
    return {
      status: 'approval',
      sentence: `rollout ${rolloutId} waits for an approval`,
      details,
      next: [],
      failed: false,
    };
  const sentence = `the time is over, and rollout ${rolloutId} goes on (${state}, stage ${rollout.stage} of ${rollout.stages.length})`;
  const next = [`start the job again to wait on, or: lapel rollout watch ${rolloutId}`];
  return { status: 'unfinished', sentence, details, next, failed: true, code: TIME_OVER };
}

/** Whether a job need not wait any longer. */
export const isAtEnd =
  (endsAtApproval: boolean) =>
  (rollout: Rollout): boolean =>
    rests(rollout) || rollout.revertedBy !== undefined || (endsAtApproval && waitsForApproval(rollout));
