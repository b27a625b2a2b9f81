/** The most troubles that are kept. */
const TROUBLES_KEPT = 50;

/** The counts of a replay, which the devices and the receiver keep. */
export interface ReplayTally {
  connections: number;
  /** Connections that could not be made. */
  connectFailures: number;
  statuses: number;
  commands: number;
  answers: number;
  /** Messages that the service has not acknowledged at the end, without those of connections that were cut. */
  unconfirmed: number;
  /** Commands for which the record has no answers, because their operation does not occur in it. */
  unknown: number;
  complaints: number;
  violations: number;
  readonly troubles: string[];
  /** The ids of the events that the service has acknowledged, and of those whose webhook has arrived. */
  readonly events: Set<string>;
  readonly arrived: Set<string>;
}

export const newTally = (): ReplayTally => ({
  connections: 0,
  connectFailures: 0,
  statuses: 0,
  commands: 0,
  answers: 0,
  unconfirmed: 0,
  unknown: 0,
  complaints: 0,
  violations: 0,
  troubles: [],
  events: new Set(),
  arrived: new Set(),
});

export function addTrouble({ troubles }: ReplayTally, deviceId: string, text: string): void {
  if (troubles.length < TROUBLES_KEPT) troubles.push(`${deviceId}: ${text}`);
}
