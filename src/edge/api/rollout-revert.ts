import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Stuck, WantedRevert } from '../../core/rollouts/reverting.ts';
import { isAtWork, type Rollout } from '../../core/rollouts/rollout.ts';
import { termsOfRevert } from '../../core/transactions/terms.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Answer } from '../http/route.ts';
import { answeredOnce } from './answered-once.ts';
import { confirmFaults, revertAfterFaults, windowFaults } from './rollout-start.ts';
import { type ApiServices, type AtRollout, personOf } from './services.ts';

type Services = Pick<ApiServices, 'rollouts' | 'transactions'>;
type Body = SchemaTypes['rest/rollout-revert'];

/** The revert that a body asks for. Throws REQUEST_INVALID. */
function wantedOf(body: Body, { operation, plan }: Rollout, developerId: string): WantedRevert {
  const faults = [
    ...windowFaults(body.window),
    ...confirmFaults({ operation, ...(body.confirm && { confirm: body.confirm }) }),
    ...revertAfterFaults({ operation, ...(body.revertAfter !== undefined && { revertAfter: body.revertAfter }) }),
  ];
  if (faults.length > 0) throw DomainError.invalid(...faults);
  const {
    failed = false,
    version,
    label,
    stages,
    ratePerMinute,
    window,
    abort,
    confirm,
    expireIn,
    answerWithin,
    revertAfter,
  } = body;
  return {
    developerId,
    failed,
    terms: termsOfRevert(plan.terms, {
      ...(expireIn !== undefined && { expireIn }),
      ...(answerWithin !== undefined && { answerWithin }),
      ...(revertAfter !== undefined && { revertAfter }),
    }),
    ...(version !== undefined && { version }),
    ...(label != null && { label }),
    ...(stages && { stages: stages as NonNullable<WantedRevert['stages']> }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(window && { window }),
    ...(abort && { abort }),
    ...(confirm && { confirm }),
  };
}

/** Makes a rollout that brings the devices of another one back to what they had before it, or answers what it would be. */
export async function revertRollout(services: Services, input: AtRollout<'rest/rollout-revert'>): Promise<Answer> {
  const { rollouts, transactions } = services;
  const { params, body, caller, baseUrl, headers, changed } = input;
  const { applicationId, developerId } = caller;
  const by = { applicationId, actor: 'application', person: personOf(caller) } as const;
  const rollout = await rollouts.find(params.rolloutId, applicationId);
  const wanted = wantedOf(body, rollout, developerId);
  if (body.dryRun) {
    const { plan, found, connected, version, stuck } = await rollouts.previewRevert(params.rolloutId, by, wanted);
    await changed({ dryRun: true, devices: found.length });
    const stages = plan.stages.map(({ devices }) => devices);
    const cancels = isAtWork(rollout.state);
    const answer = { devices: found.length, connected, stages, leftOut: [...stuck], cancels, version: version ?? null };
    return { status: 200, body: answer satisfies SchemaTypes['rest/rollout-revert-dry-run'] };
  }
  const answerOf = (made: Rollout, stuck: readonly Stuck[]) => ({
    status: 201,
    headers: { Location: `${baseUrl}/v1/applications/${applicationId}/rollouts/${made.rolloutId}` },
    body: { rolloutId: made.rolloutId, devices: made.devices, leftOut: stuck },
  });
  const request = { applicationId, revert: params.rolloutId, body };
  const answer = await answeredOnce<ReturnType<typeof answerOf>>(
    { transactions },
    applicationId,
    headers,
    request,
    async (keep) => {
      const also =
        keep && ((unit: UnitOfWork, made: Rollout, stuck: readonly Stuck[]) => keep(unit, answerOf(made, stuck)));
      const { made, stuck } = await rollouts.revert(params.rolloutId, by, wanted, also);
      return answerOf(made, stuck);
    },
  );
  const { rolloutId, devices } = answer.body;
  await changed({ by: rolloutId, devices }, [{ kind: 'rollout', id: rolloutId }]);
  return answer;
}
