import type { Micros } from '../../runtime/units.ts';

/** The change that a device action makes to each of its devices. */
export type ActionName = 'tag' | 'block' | 'unblock' | 'move' | 'cancel' | 'delete';

/** An action with its parameters, as one value that is stored as JSON. */
export interface ActionParameters {
  /** `tag`: a value sets the tag of its key, null removes it. */
  tags?: Readonly<Record<string, string | null>>;
  /** `move`: the application for which the devices are activated. */
  applicationId?: string;
  /** `delete`: activated devices, too. */
  force?: boolean;
}

/**
 * `gathering`: its devices are being found. `running`: they are being changed. `refused`: nothing was changed, because
 * it has too many devices.
 */
export type ActionState = 'gathering' | 'running' | 'completed' | 'stopped' | 'refused';

/** Why an action was stopped or refused. */
export type ActionReason = 'REQUESTED' | 'DATABASE_RESTORED' | 'MORE_THAN_CONFIRMED' | 'TOO_MANY_DEVICES';

/**
 * `unchanged`: the device was already as wanted. `skipped`: it does not match the filter any more, or is gone. `refused`:
 * it cannot be changed; its code says why.
 */
export type DeviceState = 'waiting' | 'done' | 'unchanged' | 'skipped' | 'refused';

/** The outcome of a device. */
export interface Outcome {
  state: Exclude<DeviceState, 'waiting'>;
  /** Of a device that was skipped or refused. */
  code?: string;
}

export interface DeviceAction {
  actionId: string;
  action: ActionName;
  parameters: ActionParameters;
  /** The number of devices that the caller expects; null: any. */
  confirmed: number | null;
  state: ActionState;
  reason: ActionReason | null;
  /** The last deviceId that was gathered; the gathering goes on after it. */
  place: string;
  /** The devices found so far. */
  devices: number;
  createdAt: Micros;
  startedAt: Micros | null;
  endedAt: Micros | null;
}

/** The number of devices in a state, with a code. */
export interface Count {
  state: DeviceState;
  code: string;
  devices: number;
}

/** The developer and the applications that an action names; their histories have it. */
export function objectsOf(
  { developerId, applicationId }: { developerId?: string | undefined; applicationId?: string | undefined },
  { applicationId: target }: ActionParameters,
): { kind: 'developer' | 'application'; id: string }[] {
  const applications = new Set([applicationId, target]);
  return [
    ...(developerId === undefined ? [] : [{ kind: 'developer' as const, id: developerId }]),
    ...[...applications].flatMap((id) => (id === undefined ? [] : [{ kind: 'application' as const, id }])),
  ];
}

/** The actions that cannot be undone. They need the number of devices that the caller expects. */
export const FINAL: readonly ActionName[] = ['move', 'cancel', 'delete'];

/** The share by which more devices may match than the caller expects, because a fleet changes while it is counted. */
const TOLERATED = 0.05;

/** Whether an action may begin that has found this many devices; otherwise the reason against it. */
export function reasonAgainst(
  { devices, confirmed }: Pick<DeviceAction, 'devices' | 'confirmed'>,
  most: number,
): ActionReason | undefined {
  if (devices > most) return 'TOO_MANY_DEVICES';
  if (confirmed !== null && devices > Math.floor(confirmed * (1 + TOLERATED))) return 'MORE_THAN_CONFIRMED';
  return undefined;
}
