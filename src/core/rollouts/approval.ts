import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Rollout, Who } from './rollout.ts';

/**
 * Whether somebody may approve the present stage. If it asks for another person, those who started the rollout and changed
 * it last may not, nor may the token of an application, which is nobody.
 */
export function mayApprove({ plan, stage }: Rollout, { person }: Who): boolean {
  if (plan.stages[stage]?.approvalBy !== 'other') return true;
  return person !== undefined && person.id !== plan.startedBy?.id && person.id !== plan.changedBy?.id;
}

/** Throws APPROVAL_BY_OTHER when somebody may not approve the present stage. */
export function requireOther(rollout: Rollout, who: Who): void {
  if (mayApprove(rollout, who)) return;
  const { person } = who;
  const starter = rollout.plan.startedBy;
  const is = person
    ? `${person.name} has ${person.id === starter?.id ? 'started' : 'changed'} it`
    : 'the token of an application is no person';
  throw new DomainError('APPROVAL_BY_OTHER', { values: { reason: is } });
}

/** The plan after somebody has changed the rollout. */
export function changedBy({ plan }: Pick<Rollout, 'plan'>, { person }: Who): Rollout['plan'] {
  const { changedBy: _, ...rest } = plan;
  return person ? { ...rest, changedBy: person } : rest;
}
