import type { RolloutDetails } from '@lapel/schemas/contracts/types';
import { mayApprove } from './approval.ts';
import type { StateCounts } from './counts.ts';
import { nextState, type Rollout, type Who } from './rollout.ts';

type Order = RolloutDetails['permits'][number];

/** The orders, as a console shows them: the first advice first. */
const ORDERS: readonly Order[] = ['revert', 'resume', 'approve', 'pause', 'retry', 'change', 'cancel'];
/** Those of the operator, who can only stop a rollout. */
const OF_OPERATOR: readonly Order[] = ['pause', 'cancel'];

/** Why a rollout is not reverted, as an end of `the rollout is ...`; undefined if it can be. */
export function noRevert({ state, startedAt, plan }: Rollout): string | undefined {
  if (plan.revertedBy !== undefined) return `reverted by ${plan.revertedBy}`;
  if (plan.reverts !== undefined) return `the revert of ${plan.reverts}`;
  return startedAt === null ? `${state}, and has not started` : undefined;
}

/** Why the present stage is not approved, as an end of `the rollout is ...`; undefined if it can be. */
export function noApproval({ state, stage, plan }: Rollout): string | undefined {
  if (stage < 0) return `${state}, and no stage has begun`;
  return plan.stages[stage]?.approval ? undefined : `${state}, and its present stage asks for no approval`;
}

/** Why failed devices do not try again, as an end of `the rollout is ...`: no device gets the release after its revert. */
export const noRetry = ({ plan }: Rollout): string | undefined =>
  plan.revertedBy === undefined ? undefined : `reverted by ${plan.revertedBy}`;

/**
 * The orders that a rollout carries out when somebody gives them now. Others are refused, or change nothing. Clients offer
 * these, and no others: so they need no rule of their own.
 */
export function permitsOf(rollout: Rollout, counts: StateCounts, who: Who): Order[] {
  const { state, stage, approved } = rollout;
  const has: Partial<Record<Order, () => boolean>> = {
    approve: () => noApproval(rollout) === undefined && approved < stage && mayApprove(rollout, who),
    retry: () => noRetry(rollout) === undefined && counts.failed > 0,
  };
  return ORDERS.filter((order) => {
    if (who.actor === 'administration' && !OF_OPERATOR.includes(order)) return false;
    if (order === 'revert') return noRevert(rollout) === undefined;
    return nextState(state, order) !== null && (has[order]?.() ?? true);
  });
}
