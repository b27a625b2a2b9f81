import type { FleetRolloutQuery, RolloutDetailQuery, RolloutDeviceQuery } from '@lapel/schemas/contracts/types';
import type { By } from '../../core/rollouts/rollouts.ts';
import { nextPageAfter } from '../http/paging.ts';
import { rolloutDevicesAnswer } from '../http/rollout-answers.ts';
import type { Answer, Input } from '../http/route.ts';
import type { Administrator } from './authorize.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'rolloutViews' | 'rollouts'>;

type At = Input<{ rolloutId: string }, unknown, unknown, Administrator>;

const by = ({ caller }: Pick<At, 'caller'>): By => ({
  actor: 'administration',
  ...(caller.person && { person: { id: caller.person.personId, name: caller.person.name } }),
});

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
export async function readFleetRollout(
  { rollouts, rolloutViews }: Services,
  input: Input<{ rolloutId: string }, unknown, RolloutDetailQuery, Administrator>,
): Promise<Answer> {
  const rollout = await rollouts.find(input.params.rolloutId);
  const withResults = input.query.results === 'true';
  return { status: 200, body: await rolloutViews.detail(rollout, by(input), { withResults }) };
}

/** Pauses a rollout. Its application can let it go on. */
export async function pauseFleetRollout({ rollouts, rolloutViews }: Services, input: At): Promise<Answer> {
  const rollout = await rollouts.pause(input.params.rolloutId, by(input));
  return { status: 200, body: await rolloutViews.detail(rollout, by(input)) };
}

/** Cancels a rollout. */
export async function cancelFleetRollout({ rollouts, rolloutViews }: Services, input: At): Promise<Answer> {
  const rollout = await rollouts.cancel(input.params.rolloutId, by(input));
  return { status: 200, body: await rolloutViews.detail(rollout, by(input)) };
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
