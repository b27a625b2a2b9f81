import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { OnLate } from '../transactions/early-ends.ts';
import type { Finished, OnFinished } from '../transactions/ends.ts';
import type { TransactionRecord } from '../transactions/transaction-record.ts';
import { addTime, findCounts, moveCount } from './count-repository.ts';
import { byState, type Count, isOverLimit, withoutResults } from './counts.ts';
import { watchDevice } from './health/watch-repository.ts';
import { findMember, type Member, updateMember } from './member-repository.ts';
import { isAtWork, type MemberState, type Rollout } from './rollout.ts';
import { findRollout, updateRollout } from './rollout-repository.ts';
import type { Transitions } from './transitions.ts';

const SECOND = 1_000_000;
const NOTHING = {};

/** The version cannot be installed any more. It is no fault of the device, which waits until somebody resumes. */
const UNAVAILABLE = [
  'DISTRIBUTION_STOPPED',
  'BINARY_DELETED',
  'SIGNATURE_MISSING',
  'SIGNATURE_INVALID',
  'CERTIFICATE_CHANGED',
  'CERTIFICATE_UNREADABLE',
];

/** The end of a transaction. */
export type Result = Pick<Finished, 'status' | 'errorCode'>;

interface Parts {
  clock: Clock;
  transitions: Pick<Transitions, 'pause'>;
  /** Called after a commit in which a device of a rollout has ended, or waits again. */
  wake(rolloutId: string): void;
  /** Called after a commit in which a device got the release, and is to be looked at. */
  provisional(): void;
}

/**
 * The codes of failures that are told apart in one rollout; devices choose codes, so further ones are counted together. The
 * codes that the service gives, and those that the rules of the rollout name, always count as what they are.
 */
const MOST_CODES = 100;
const OTHER = 'OTHER';
const OWN_CODES = ['EXPIRED', 'NO_ANSWER', 'SUPERSEDED', 'SILENT', 'VERSION_LOST', ...UNAVAILABLE];

/** The first devices with the release of a rollout, whose health is watched. */
const MOST_WATCHED = 5_000;

/**
 * Counts the results of rollouts' transactions in the commits in which the transactions end. If a result makes the abort
 * rule true, the rollout is paused in the same commit.
 */
export function createResults({ clock, transitions, wake, provisional }: Parts) {
  /** The member after the end of its transaction, or after its success was confirmed or not. */
  function after(member: Member, { plan, state }: Rollout, { status, errorCode }: Result): Member {
    // One that was unchanged has reported the wanted state, which is more than the answer to the command says.
    const isProvisional = member.state !== 'confirming' && member.state !== 'unchanged';
    if (status === 'succeeded' && plan.confirm && isProvisional)
      return {
        ...member,
        state: 'confirming',
        code: null,
        notBefore: clock.now() + plan.confirm.seenAgainWithin * SECOND,
      };
    if (!isAtWork(state)) return { ...member, state: status, code: errorCode };
    const waiting = { ...member, state: 'waiting', code: null } as const;
    if (UNAVAILABLE.includes(errorCode ?? '')) return { ...waiting, attempts: member.attempts - 1 };
    const { retry } = plan;
    if (status === 'failed' && retry?.codes.includes(errorCode ?? '') && member.attempts < retry.attempts)
      return { ...waiting, notBefore: clock.now() + retry.after * SECOND };
    return { ...member, state: status, code: errorCode };
  }

  /** The code under which a failure is counted. */
  function codeOf(code: string | null, { plan }: Rollout, counts: readonly Count[]): string | null {
    const named = [...OWN_CODES, ...(plan.abort?.codes ?? []), ...(plan.retry?.codes ?? [])];
    if (code === null || named.includes(code)) return code;
    const known = new Set(counts.map((count) => count.code));
    return known.has(code) || known.size < MOST_CODES ? code : OTHER;
  }

  /** Changes the member and the counts, and judges the abort rule. */
  async function apply(unit: UnitOfWork, rollout: Rollout, member: Member, result: Result): Promise<void> {
    const { rolloutId } = rollout;
    const counts = await findCounts(unit, rolloutId);
    const to = after(member, rollout, { ...result, errorCode: codeOf(result.errorCode, rollout, counts) });
    await updateMember(unit, rolloutId, member, to, clock.now());
    await moveCount(unit, rolloutId, member.stage, member, to);
    unit.onCommit(() => wake(rolloutId));
    // A confirmation is no new result.
    if (result.status === 'succeeded' && member.state !== 'confirming') begin(unit, rollout, to, counts);
    if (rollout.state !== 'running') return;
    const { abort, accepted } = rollout.plan;
    if (UNAVAILABLE.includes(result.errorCode ?? ''))
      await transitions.pause(unit, rollout, { actor: 'service', reason: result.errorCode ?? '' });
    else if (abort && isOverLimit(abort, await findCounts(unit, rolloutId), accepted))
      await transitions.pause(unit, rollout, { actor: 'service', reason: 'ABORT_RULE' });
  }

  /** Begins to look at a device that has the release: whether it is seen again, and how it is. */
  function begin(unit: UnitOfWork, { rolloutId, plan }: Rollout, member: Member, counts: readonly Count[]): void {
    const { succeeded, confirming } = byState(counts);
    const isWatched = (plan.stages.length > 1 || plan.health !== undefined) && succeeded + confirming < MOST_WATCHED;
    if (isWatched) watchDevice(unit, rolloutId, member, { isControl: false, since: clock.now() });
    if (isWatched || member.state === 'confirming') unit.onCommit(provisional);
  }

  /** Finds the rollout of a transaction, and the device in it, if this is its latest transaction, in one of the states. */
  async function find(
    unit: UnitOfWork,
    { rolloutId, deviceId, transactionId }: TransactionRecord,
    states: readonly MemberState[],
  ) {
    const rollout = rolloutId === null ? undefined : await findRollout(unit, rolloutId, unit.forUpdate);
    const member = rollout && (await findMember(unit, rollout.rolloutId, deviceId));
    return rollout && member?.transactionId === transactionId && states.includes(member.state)
      ? { rollout, member }
      : undefined;
  }

  async function settle(unit: UnitOfWork, finished: Finished): Promise<void> {
    const found = await find(unit, finished, ['unfinished']);
    if (!found) return;
    const { createdAt, deliveredAt, completedAt } = finished;
    const { rolloutId } = found.rollout;
    await apply(unit, found.rollout, found.member, finished);
    if (deliveredAt !== null) await addTime(unit, rolloutId, 'delivered', deliveredAt - createdAt);
    if (deliveredAt !== null && completedAt !== null && !finished.endedEarly)
      await addTime(unit, rolloutId, 'result', completedAt - createdAt);
  }

  const onFinished: OnFinished = (unit, finished) =>
    finished.rolloutId === null ? NOTHING : { written: settle(unit, finished) };

  /**
   * Counts the result of a device whose transaction the service had ended before. A device that waits for another command
   * does not get it then. A late success also counts where the end counted as a failure or a cancel, or where the device
   * has reported the wanted state meanwhile, or could get no further command: it has done it.
   */
  const onLate: OnLate = async (unit, record, { status, error }) => {
    if (record.rolloutId === null) return;
    if (status !== 'succeeded') return; // the device that waits gets the command that somebody asked for
    const found = await find(unit, record, ['waiting', 'failed', 'cancelled', 'unchanged', 'refused']);
    if (!found) return;
    const { rollout, member } = found;
    const { stage, code } = member;
    const gone: Count[] = member.state === 'failed' ? [{ stage, state: 'failed', code: code ?? '', devices: 1 }] : [];
    const judged = { ...rollout, plan: withoutResults(rollout.plan, gone) };
    if (judged.plan !== rollout.plan) await updateRollout(unit, judged);
    await apply(unit, judged, member, { status, errorCode: error?.code ?? null });
  };

  return { onFinished, onLate, confirm: apply };
}
