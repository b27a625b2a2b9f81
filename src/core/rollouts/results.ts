import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Finished, OnFinished } from '../transactions/settlement.ts';
import { addTime, findCounts, moveCount } from './count-repository.ts';
import { isOverLimit } from './counts.ts';
import { findMember, type Member, updateMember } from './member-repository.ts';
import { isAtWork, type Rollout } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';
import type { Transitions } from './transitions.ts';

const SECOND = 1_000_000;
const NOTHING = { written: Promise.resolve() };

/** The version cannot be installed any more. It is no fault of the device, which waits until somebody resumes. */
const UNAVAILABLE = ['DISTRIBUTION_STOPPED', 'BINARY_DELETED'];
/** The service took the command back before its delivery; see `withdraw`. */
const WITHDRAWN = 'WITHDRAWN';

interface Parts {
  clock: Clock;
  transitions: Pick<Transitions, 'pause'>;
  /** Called after a commit in which a device of a rollout has ended, or waits again. */
  wake(): void;
}

/**
 * Counts the result of a rollout's transaction in the commit in which the transaction ends. If the result makes the abort
 * rule true, the rollout is paused in the same commit.
 */
export function createResults({ clock, transitions, wake }: Parts): OnFinished {
  /** The member after the end of its transaction. */
  function after(member: Member, { plan, state }: Rollout, { status, errorCode }: Finished): Member {
    const waiting = { ...member, state: 'waiting', code: null, transactionId: null } as const;
    if (!isAtWork(state)) return { ...member, state: status, code: errorCode };
    if (errorCode === WITHDRAWN || UNAVAILABLE.includes(errorCode ?? ''))
      return { ...waiting, attempts: member.attempts - 1 };
    const { retry } = plan;
    if (status === 'failed' && retry?.codes.includes(errorCode ?? '') && member.attempts < retry.attempts)
      return { ...waiting, notBefore: clock.now() + retry.after * SECOND };
    return { ...member, state: status, code: errorCode };
  }

  async function settle(unit: UnitOfWork, finished: Finished, rolloutId: string): Promise<void> {
    const { deviceId, transactionId, createdAt, deliveredAt, completedAt, errorCode } = finished;
    const rollout = await findRollout(unit, rolloutId, unit.forUpdate);
    const member = rollout && (await findMember(unit, rolloutId, deviceId));
    if (!member || member.transactionId !== transactionId || member.state !== 'unfinished') return;
    const to = after(member, rollout, finished);
    await updateMember(unit, rolloutId, member, to, clock.now());
    await moveCount(unit, rolloutId, member.stage, member, to);
    if (deliveredAt !== null) await addTime(unit, rolloutId, 'delivered', deliveredAt - createdAt);
    if (deliveredAt !== null && completedAt !== null && finished.late === null)
      await addTime(unit, rolloutId, 'result', completedAt - createdAt);
    unit.onCommit(wake);
    if (rollout.state !== 'running') return;
    if (UNAVAILABLE.includes(errorCode ?? ''))
      await transitions.pause(unit, rollout, { actor: 'service', reason: errorCode ?? '' });
    else if (rollout.plan.abort && isOverLimit(rollout.plan.abort, await findCounts(unit, rolloutId)))
      await transitions.pause(unit, rollout, { actor: 'service', reason: 'ABORT_RULE' });
  }

  return (unit, finished) =>
    finished.rolloutId === null ? NOTHING : { written: settle(unit, finished, finished.rolloutId) };
}
