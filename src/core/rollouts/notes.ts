import type { Audit } from '../audit/audit.ts';
import type { PauseReason, Rollout } from './rollout.ts';
import type { RolloutEvent } from './rollout-repository.ts';

/** Makes the function that writes the transitions which the service makes by itself into the audit log. */
export const createRolloutNotes =
  (audit: Pick<Audit, 'noted'>) =>
  ({ rolloutId, applicationId, entries, stage }: Rollout, event: RolloutEvent, reason: PauseReason | null): void =>
    void audit.noted({
      action: `ROLLOUT ${event}`,
      resource: `/v1/applications/${applicationId}/rollouts/${rolloutId}`,
      id: `${rolloutId}.${entries}`,
      details: { stage: stage < 0 ? null : stage + 1, reason },
      about: [
        { kind: 'application', id: applicationId },
        { kind: 'rollout', id: rolloutId },
      ],
    });
