import type { Target } from './closed-loop.ts';
import type { Process } from './processes.ts';

/** What is measured, and how it is ended. */
export interface RunningTarget extends Target {
  process: Process;
  /** All of them, where there are several nodes. */
  processes: readonly Process[];
  /** Seconds of processor time that the database server has used; 0 when there is none. */
  databaseSeconds(): number;
  close(): Promise<void>;
}

export const pathOf = (deviceId: string): string => `/v1/applications/bench/devices/${deviceId}/settings/wifi`;
