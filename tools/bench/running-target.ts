import type { Target } from './closed-loop.ts';
import type { Figures } from './processes.ts';

/** A started service that can be measured, and ended. */
export interface RunningTarget extends Target {
  /** All processes of the service, without those of a database server: one for each node, or for each part. */
  processes: readonly Figures[];
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

/** A part of a target that can be killed with SIGKILL, and started again with its data and its port. */
export interface Part {
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A target whose parts can be killed; its devices connect to `mqttPort`. */
export interface KillableTarget extends RunningTarget {
  parts: Readonly<Record<string, Part>>;
  mqttPort: number;
  credentialOf(deviceId: string): string;
}

export const pathOf = (deviceId: string): string => `/v1/applications/bench/devices/${deviceId}/settings/wifi`;
