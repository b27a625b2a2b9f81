import type { DownloadedFile } from '../files/fetcher.ts';
import type { Command, Failure } from '../mqtt/messages.ts';
import type { Peer } from './bluetooth.ts';
import type { DeviceState } from './device-state.ts';
import type { DiagnosticFile } from './diagnostics.ts';
import type { Outcome } from './software.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** One command that a device knows. To add one, add a row to `operations.ts`. */
export interface Operation {
  /**
   * Checks the parameters. A returned string says what is wrong with them: the command then fails with
   * INVALID_PARAMETERS.
   */
  readonly fault: (parameters: Parameters) => string | undefined;
  /** The reason why the command cannot be carried out now, although its parameters are good. */
  readonly hindrance?: (state: DeviceState, parameters: Parameters, peers: readonly Peer[]) => Failure | undefined;
  /** Carries out the command; the return value is the `result` of the answer. */
  readonly apply: (
    state: DeviceState,
    parameters: Parameters,
    peers: readonly Peer[],
  ) => Record<string, unknown> | undefined;
  /** The part of the state that the command changes, if the device may go back to the former one by itself. */
  readonly tries?: 'networks' | 'apns';
  /** Makes the files that the device uploads before it answers; the answer names them. */
  readonly collects?: (state: Readonly<DeviceState>, command: Command) => readonly DiagnosticFile[];
  readonly download?: undefined;
}

/** A command whose parameters name a file. It has no effect until the file is downloaded. */
export interface DownloadOperation {
  readonly fault: Operation['fault'];
  /** Whether the file has to be an APK. */
  readonly download: 'apk' | 'any';
  readonly apply: (state: DeviceState, parameters: Parameters, file: DownloadedFile) => Outcome;
}
