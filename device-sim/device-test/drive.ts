import type { Range } from '../random.ts';

/** The settings of the case `drive`. */
export interface DriveSettings {
  readonly milliseconds: number;
  /** The drive has at least so many moments of commands and trouble, however short it is. */
  readonly leastMoments: number;
  /** The pause between two moments of commands and trouble. */
  readonly betweenMs: Range;
  /** How long the network stays slow, and how slow it is. */
  readonly slowMs: Range;
  readonly delay: Range;
  readonly bytesPerSecond: Range;
}

/** The pauses and the networks of a car in a city, with some of its places out of reach. */
export const CAR: Omit<DriveSettings, 'milliseconds'> = {
  leastMoments: 10,
  betweenMs: { min: 2000, max: 60_000 },
  slowMs: { min: 5000, max: 60_000 },
  delay: { min: 200, max: 2000 },
  bytesPerSecond: { min: 500, max: 20_000 },
};

/** The figures of a drive so far. Times are the longest ones, in milliseconds. */
export interface DriveFigures {
  milliseconds: number;
  commands: number;
  repeated: number;
  cuts: number;
  halfOpen: number;
  slow: number;
  /** From a cut, or the beginning of a silence, to the next connection with its subscription. */
  longestReturnMs: number;
  /** From the return of the device, or the command, to the last answer of a moment. */
  longestAnswerMs: number;
}

export const noFigures = (): DriveFigures => ({
  milliseconds: 0,
  commands: 0,
  repeated: 0,
  cuts: 0,
  halfOpen: 0,
  slow: 0,
  longestReturnMs: 0,
  longestAnswerMs: 0,
});
