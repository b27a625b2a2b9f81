import type { Range } from '../random.ts';

/** How a device carries out commands and answers them. */
export interface Behaviour {
  /** Milliseconds from beginning a command to its answer; 0 to 0 answers within the same turn. */
  readonly latency: Range;
  /** Share of the commands that fail with INTERNAL, 0 to 1. */
  readonly failureRate: number;
  /** Share of the answers that are sent twice, 0 to 1: devices repeat themselves. */
  readonly duplicateAckRate: number;
  /** Whether a device says `processing` when it begins a command. */
  readonly reportProcessing: boolean;
  /** Operations that are never answered, as an old firmware does with unknown operations. */
  readonly silentOperations: ReadonlySet<string>;
  /** The share of files whose upload breaks off in the middle, at each attempt, 0 to 1. */
  readonly uploadFailureRate: number;
  /** Bytes of the files that a device makes: recordings, and files of the customer's application. */
  readonly fileSize: Range;
  /** How many answers (and attempts) a device remembers; it forgets the oldest first. */
  readonly memory: number;
}

/** Answers every command at once, once, and with success. */
export const promptBehaviour: Behaviour = {
  latency: { min: 0, max: 0 },
  failureRate: 0,
  duplicateAckRate: 0,
  reportProcessing: false,
  silentOperations: new Set(),
  uploadFailureRate: 0,
  fileSize: { min: 64 * 1024, max: 512 * 1024 },
  // The service keeps at most 1000 unfinished transactions of a device, and repeats only these.
  memory: 2000,
};
