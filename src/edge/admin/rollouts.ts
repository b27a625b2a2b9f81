import type { FleetRolloutQuery, RolloutDeviceQuery } from '@lapel/schemas/contracts/types';
import { nextPageAfter } from '../http/paging.ts';
import { rolloutDevicesAnswer } from '../http/rollout-answers.ts';
import type { Answer, Input } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'rolloutViews' | 'rollouts'>;

type At = Input<{ rolloutId: string }>;

const BY = { actor: 'administration' } as const;

/** Lists the rollouts of all applications, the newest first. */
export async function listFleetRollouts(
  { rolloutViews }: Services,
  input: Input<unknown, unknown, FleetRolloutQuery>,
): Promise<Answer> {
  const { after, limit, ...filter } = input.query;
  const { rows, next } = await rolloutViews.list(filter, { after, limit });
  const headers = next === undefined ? {} : nextPageAfter(input, { limit }, { after: next });
  return { status: 200, headers, body: { rollouts: rows } };
}

/** Shows a rollout. */
export async function readFleetRollout({ rollouts, rolloutViews }: Services, { params }: At): Promise<Answer> {
  return { status: 200, body: await rolloutViews.detail(await rollouts.find(params.rolloutId)) };
}

/** Pauses a rollout. Its application can let it go on. */
export async function pauseFleetRollout({ rollouts, rolloutViews }: Services, { params }: At): Promise<Answer> {
  return { status: 200, body: await rolloutViews.detail(await rollouts.pause(params.rolloutId, BY)) };
}

/** Cancels a rollout. */
export async function cancelFleetRollout({ rollouts, rolloutViews }: Services, { params }: At): Promise<Answer> {
  return { status: 200, body: await rolloutViews.detail(await rollouts.cancel(params.rolloutId, BY)) };
}

/** Lists the devices of a rollout. */
export async function listFleetRolloutDevices(
  { rollouts, rolloutViews }: Services,
  input: Input<{ rolloutId: string }, unknown, RolloutDeviceQuery>,
): Promise<Answer> {
  const { rolloutId } = await rollouts.find(input.params.rolloutId);
  return rolloutDevicesAnswer(rolloutViews, rolloutId, input);
}

/** Reads the results of a rollout over time. */
export async function readFleetRolloutResults({ rollouts, rolloutViews }: Services, { params }: At): Promise<Answer> {
  return { status: 200, body: await rolloutViews.results(await rollouts.find(params.rolloutId)) };
}
