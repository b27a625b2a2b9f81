import type { DownloadedFile } from '../files/fetcher.ts';
import type { Failure } from '../mqtt/messages.ts';
import type { Peer } from './bluetooth.ts';
import type { DeviceState } from './device-state.ts';
import type { Outcome } from './software.ts';

export type Parameters = Readonly<Record<string, unknown>>;

/** One command that a device knows. More of them are more rows of `operations.ts`. */
export interface Operation {
  /** In words what is wrong with the parameters: the command fails with INVALID_PARAMETERS. */
  readonly fault: (parameters: Parameters) => string | undefined;
  /** What keeps it from being done now, though the parameters are good. */
  readonly hindrance?: (state: DeviceState, parameters: Parameters, peers: readonly Peer[]) => Failure | undefined;
  /** Carries it out; what it returns is the `result` of the answer. */
  readonly apply: (
    state: DeviceState,
    parameters: Parameters,
    peers: readonly Peer[],
  ) => Record<string, unknown> | undefined;
  readonly download?: undefined;
}

/** A command whose parameters name a file that is downloaded first; until then it has no effect. */
export interface DownloadOperation {
  readonly fault: Operation['fault'];
  /** Whether the file has to be an APK. */
  readonly download: 'apk' | 'any';
  readonly apply: (state: DeviceState, parameters: Parameters, file: DownloadedFile) => Outcome;
}
