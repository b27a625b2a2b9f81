import { NETWORK_OPERATIONS } from '@lapel/schemas/base/rollouts';
import type { Child } from '../base/elements.ts';
import { duration } from '../base/format.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { choice } from './fields.ts';

/** The name of the field, and of the member and the query parameter that are made from it. */
export const REVERT_AFTER = 'revertAfter';

/** The times within which a device has to reach the service with its new list, in seconds. */
const TIMES = [
  ['120', '2 minutes'],
  ['300', '5 minutes'],
  ['600', '10 minutes'],
  ['1800', '30 minutes'],
  ['3600', '1 hour'],
] as const;
const SECOND = 1000;

/**
 * The field that lets a device take its former list again; none for operations that leave its network as it is. `rules`:
 * those of a rollout whose revert takes its time, and its time for an answer, which has to be the longer one.
 */
export function revertField(
  operation: string,
  {
    revertAfter,
    answerWithin = Number.POSITIVE_INFINITY,
  }: Pick<RolloutDetails['rules'], 'revertAfter' | 'answerWithin'> = {},
): Child {
  if (!NETWORK_OPERATIONS.includes(operation)) return null;
  const usual =
    revertAfter === undefined ? 'keep the new list' : `as in this rollout: ${duration(revertAfter * SECOND)}`;
  const others = TIMES.filter(([seconds]) => Number(seconds) < answerWithin && Number(seconds) !== revertAfter);
  return choice(
    {
      name: REVERT_AFTER,
      label: 'If the device does not reach the service within',
      hint: 'It then takes its former list again, and has failed with REVERTED. Older firmware ignores this.',
    },
    [['', usual], ...others],
  );
}
