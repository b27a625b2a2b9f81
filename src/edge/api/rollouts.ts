import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Rollout, Window } from '../../core/rollouts/rollout.ts';
import type { By, RolloutChange } from '../../core/rollouts/rollouts.ts';
import { changedValues } from '../http/changed-values.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { healthFaults } from '../http/health-faults.ts';
import { nextPageAfter } from '../http/paging.ts';
import { rolloutDevicesAnswer } from '../http/rollout-answers.ts';
import type { Answer } from '../http/route.ts';
import { rateFaults, windowFaults } from './rollout-start.ts';
import { type ApiServices, type AtApplication, type AtRollout, personOf } from './services.ts';

type Services = Pick<ApiServices, 'rolloutViews' | 'rollouts' | 'contracts'>;

/** Lists the rollouts of the application, the newest first. */
export async function listRollouts(
  { rolloutViews }: Services,
  input: AtApplication<never, 'rest/rollout-query'>,
): Promise<Answer> {
  const { after, limit, ...filter } = input.query;
  const { rows, next } = await rolloutViews.list(
    { ...filter, applicationId: input.params.applicationId },
    { after, limit },
  );
  return {
    status: 200,
    headers: next === undefined ? {} : nextPageAfter(input, { limit }, { after: next }),
    body: { rollouts: rows },
  };
}

const by = ({ params, caller }: Pick<AtRollout, 'params' | 'caller'>): By => ({
  applicationId: params.applicationId,
  actor: 'application',
  person: personOf(caller),
});

/** The fields of a rollout that can be changed. */
const stateOf = ({ label, plan }: Rollout): unknown =>
  [label, plan.ratePerMinute, plan.maxUnfinished, plan.abort, plan.window, plan.health].map((part) => part ?? null);
const tagged = (rollout: Rollout): Record<string, string> => ({ ETag: entityTag(stateOf(rollout)) });

/** Shows a rollout. */
export async function readRollout(
  { rollouts, rolloutViews }: Services,
  input: AtRollout<never, 'common/rollout-detail-query'>,
): Promise<Answer> {
  const { params, query } = input;
  const rollout = await rollouts.find(params.rolloutId, params.applicationId);
  const body = await rolloutViews.detail(rollout, by(input), { withResults: query.results === 'true' });
  return { status: 200, headers: tagged(rollout), body };
}

/** Makes the handler of an action that answers with the rollout. */
function action(name: 'pause' | 'cancel', handlerName: string) {
  const handler = async ({ rollouts, rolloutViews }: Services, input: AtRollout): Promise<Answer> => {
    const rollout = await rollouts[name](input.params.rolloutId, by(input));
    return { status: 200, body: await rolloutViews.detail(rollout, by(input)) };
  };
  return Object.defineProperty(handler, 'name', { value: handlerName });
}
export const pauseRollout = action('pause', 'pauseRollout');
export const cancelRollout = action('cancel', 'cancelRollout');

/** Lets a paused rollout go on. With `If-Match` only if the verdict on its stage is the one that the caller has read. */
export async function resumeRollout({ rollouts, rolloutViews }: Services, input: AtRollout): Promise<Answer> {
  const rollout = await rollouts.resume(input.params.rolloutId, by(input), input.headers['if-match']);
  return { status: 200, body: await rolloutViews.detail(rollout, by(input)) };
}

/** Approves the present stage, or the named one. With `If-Match` only if its verdict is the one that the caller has read. */
export async function approveRollout(
  { rollouts, rolloutViews }: Services,
  input: AtRollout<'rest/rollout-approval'>,
): Promise<Answer> {
  const seen = input.headers['if-match'];
  const rollout = await rollouts.approve(input.params.rolloutId, by(input), {
    ...(input.body.stage !== undefined && { named: input.body.stage }),
    ...(seen !== undefined && { seen }),
  });
  return { status: 200, body: await rolloutViews.detail(rollout, by(input)) };
}

/** Changes the rules of a rollout that is paused or scheduled. */
export async function updateRollout(
  { rollouts, rolloutViews, contracts }: Services,
  input: AtRollout<'rest/rollout-update'>,
): Promise<Answer> {
  const { window, abort, ratePerMinute, health } = input.body;
  const faults = [
    ...(ratePerMinute != null ? contracts.faults('common/rollout-rate', ratePerMinute, 'body', 'ratePerMinute') : []),
    ...(window ? contracts.faults('common/rollout-window', window, 'body', 'window') : []),
    ...(abort ? contracts.faults('common/rollout-abort', abort, 'body', 'abort') : []),
    ...(health ? healthFaults(health) : []),
  ];
  if (faults.length === 0)
    faults.push(...windowFaults(window as Window | null | undefined), ...rateFaults(ratePerMinute));
  if (faults.length > 0) throw DomainError.invalid(...faults);
  const check = matcher(input.headers);
  const change = input.body as RolloutChange;
  let before: Rollout | undefined;
  const rollout = await rollouts.update(input.params.rolloutId, by(input), change, (known) => {
    before = known;
    check(stateOf(known));
  });
  const values = ({ label, plan }: Rollout): object => {
    const { changedBy: _, ...rules } = plan; // the audit log names the person by itself
    return { ...before?.plan, label, ...rules };
  };
  await input.changed(changedValues(before ? values(before) : {}, values(rollout)));
  return { status: 200, headers: tagged(rollout), body: await rolloutViews.detail(rollout, by(input)) };
}

/** Lets failed devices have another command, or answers how many that would be. */
export async function retryRollout({ rollouts }: Services, input: AtRollout<'rest/rollout-retry'>): Promise<Answer> {
  const devices = await rollouts.retryFailed(input.params.rolloutId, by(input), input.body);
  if (input.body.dryRun) await input.changed({ dryRun: true, devices });
  return { status: 200, body: { devices } };
}
/** Lists the devices of a rollout; as CSV if the caller accepts only that. */
export async function listRolloutDevices(
  { rollouts, rolloutViews }: Services,
  input: AtRollout<never, 'rest/rollout-device-query'>,
): Promise<Answer> {
  const { rolloutId } = await rollouts.find(input.params.rolloutId, input.params.applicationId);
  return rolloutDevicesAnswer(rolloutViews, rolloutId, input);
}

/** Reads the results of a rollout over time. */
export async function readRolloutResults({ rollouts, rolloutViews }: Services, { params }: AtRollout): Promise<Answer> {
  return {
    status: 200,
    body: await rolloutViews.results(await rollouts.find(params.rolloutId, params.applicationId)),
  };
}
