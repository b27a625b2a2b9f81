import type { Target } from './closed-loop.ts';
import type { Process } from './processes.ts';

/** A started service that can be measured, and ended. */
export interface RunningTarget extends Target {
  process: Process;
  /** All processes of the service, one for each node. */
  processes: readonly Process[];
  /** Seconds of processor time that the database server has used; 0 when there is none. */
  databaseSeconds(): number;
  /** The commits that the service has made, of all nodes together; NaN when it does not count them. */
  commits(): Promise<number>;
  /** The commands that crossed from one node to another. */
  crossed?(): Promise<number>;
  /** Seconds of processor time that the balancer before the nodes has used. */
  balancerSeconds?(): number;
  close(): Promise<void>;
}

export const pathOf = (deviceId: string): string => `/v1/applications/bench/devices/${deviceId}/settings/wifi`;
