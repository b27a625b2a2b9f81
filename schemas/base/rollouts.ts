/** The states of a device in a rollout. */
export const MEMBER_STATES = [
  'waiting',
  'unfinished',
  'confirming',
  'succeeded',
  'failed',
  'cancelled',
  'unchanged',
  'refused',
] as const;

/** The number of devices that have no final result yet. */
export const openOf = (counts: { readonly [State in 'waiting' | 'unfinished' | 'confirming']: number }): number =>
  counts.waiting + counts.unfinished + counts.confirming;

/** The measures of health rules. */
export const HEALTH_MEASURES = [
  'silent',
  'reconnects',
  'events',
  'failedCommands',
  'batteryDrop',
  'storageFree',
] as const;

/** The operations of rollouts that give a device a version. */
export const VERSION_OPERATIONS: readonly string[] = ['installSoftware', 'updateFirmware'];

/** Those that change a network of a device: it can take its former list again by itself. */
export const NETWORK_OPERATIONS: readonly string[] = ['setWifi', 'setApn'];

/** Those after which a device restarts, or is reached over another network: only being seen again proves their success. */
export const CONFIRMED_OPERATIONS: readonly string[] = [...VERSION_OPERATIONS, ...NETWORK_OPERATIONS];

/** The reasons of a pause that say that the release itself is bad. */
const OF_RELEASE: readonly (string | null)[] = ['ABORT_RULE', 'STAGE_FAILED', 'HEALTH_RULE'];

/** The states of devices that have, or may have, what a rollout gave them. */
const MAY_HAVE_IT = ['succeeded', 'confirming', 'unfinished', 'failed'] as const;

/** Whether a rollout was paused for what its release does, and can be reverted: then that is the first thing to do. */
export const isReleaseBad = (rollout: {
  state: string;
  reason: string | null;
  reverts?: string | undefined;
  counts: { readonly [State in (typeof MAY_HAVE_IT)[number]]: number };
}): boolean =>
  rollout.state === 'paused' &&
  OF_RELEASE.includes(rollout.reason) &&
  rollout.reverts === undefined &&
  MAY_HAVE_IT.some((state) => rollout.counts[state] > 0);
