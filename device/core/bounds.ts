import type { AnswerBounds } from '../disk/memory.ts';

export interface Bounds extends AnswerBounds {
  /** Events in the store; one more of the lowest importance goes. */
  mostEvents: number;
  /** Bytes of the events in the store, as JSON. */
  mostEventBytes: number;
  /** Events without a PUBACK at a time. */
  mostOnTheWay: number;
}

export const BOUNDS: Readonly<Bounds> = {
  leastAnswers: 1000,
  mostAnswers: 10_000,
  mostEvents: 10_000,
  mostEventBytes: 1024 * 1024,
  mostOnTheWay: 100,
};
