import { type Promised, promisesOf } from './promise.ts';

const { seen, tested } = promisesOf('rollouts.md');

/** The promises about rollouts. */
export const OF_ROLLOUTS: readonly Promised[] = [
  seen('A rollout has the devices that its selector matches.', 'start-one', 'rollout-members', ['canary', 'campaign']),
  seen('Its counts, of all stages and of each, are those of its devices.', 'pauses-and-stops', 'rollout-counts', [
    'canary',
    'campaign',
  ]),
  seen('A device has the state of its result, and one final result.', 'pauses-and-stops', 'rollout-device', [
    'canary',
    'campaign',
  ]),
  seen(
    'The list of transactions of a rollout agrees with the webhooks, which name the rollout.',
    'pauses-and-stops',
    ['rollout-transactions', 'rollout-named'],
    ['canary', 'campaign'],
  ),
  seen('A stage, a pause and an end have one webhook each.', 'pauses-and-stops', 'rollout-events', [
    'canary',
    'campaign',
  ]),
  seen('The abort rule is judged in the commit that brings a result.', 'pauses-and-stops', 'rollout-abort', [
    'canary',
    'campaign',
  ]),
  seen(
    'A stage begins only after the one before had its share of successes.',
    'the-numbers-to-choose-and-why',
    'rollout-share',
    'campaign',
  ),
  seen('A stage begins only after the soak of the one before.', 'the-numbers-to-choose-and-why', 'rollout-soak', [
    'canary',
    'campaign',
  ]),
  seen('A stage that needs an approval keeps the next one waiting for it.', 'pauses-and-stops', 'rollout-approval', [
    'canary',
    'campaign',
  ]),
  seen(
    'No command is published for the first time while the rollout is paused or cancelled.',
    'pauses-and-stops',
    'rollout-paused',
    'canary',
  ),
  seen(
    'No command is published for the first time outside of the window.',
    'windows-and-time-zones',
    'rollout-window',
    'campaign',
  ),
  tested('A rollout makes commands at its rate.', 'the-numbers-to-choose-and-why', 'rollouts/stages.test.ts'),
  tested(
    'Failed devices get another command by the codes and the pause of `retry`.',
    'the-numbers-to-choose-and-why',
    'rollouts/stages.test.ts',
  ),
  tested(
    'With `confirm` a success is final only when the device was heard of 30 seconds after its result.',
    'when-a-success-is-final',
    'rollouts/confirm.test.ts',
  ),
  tested(
    'A device that is not seen again in time has failed with `SILENT`, and without the version with `VERSION_LOST`.',
    'when-a-success-is-final',
    'rollouts/confirm.test.ts',
  ),
  tested(
    'No device counts as silent while the service could not hear it.',
    'when-a-success-is-final',
    'rollouts/confirm.test.ts',
  ),
  tested(
    'A health rule pauses the rollout when the devices with the release are less well than it allows.',
    'health-of-a-stage',
    'rollouts/health.test.ts',
  ),
  tested(
    'A rule against the waiting devices stops nothing in an outage that hits both.',
    'health-of-a-stage',
    'rollouts/health.test.ts',
  ),
  tested(
    'The next stage begins only when each health rule has seen enough devices.',
    'health-of-a-stage',
    'rollouts/health.test.ts',
  ),
  tested(
    'Reconnections, events, failures of other commands, battery and storage are measured for each device.',
    'health-of-a-stage',
    'rollouts/health-measures.test.ts',
  ),
  tested('`resume` accepts the failures so far.', 'pauses-and-stops', 'rollouts/stops.test.ts'),
  tested(
    'A pause takes back what was never published, and holds what was.',
    'pauses-and-stops',
    'rollouts/held-commands.test.ts',
  ),
  tested(
    'A window follows the clocks of its zone when they are put forward or back.',
    'windows-and-time-zones',
    'rollouts/window.test.ts',
  ),
  tested(
    'After a restore a rollout that had run is paused before devices can connect.',
    'pauses-and-stops',
    'rollouts/life.test.ts',
  ),
];
