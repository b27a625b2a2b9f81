import type { Target } from './closed-loop.ts';
import type { Process } from './processes.ts';

/** What is measured, and how it is ended. */
export interface RunningTarget extends Target {
  process: Process;
  close(): Promise<void>;
}

export const pathOf = (deviceId: string): string => `/v1/applications/bench/devices/${deviceId}/settings/wifi`;
