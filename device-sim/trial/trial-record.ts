import type { Verdict } from '../report/record.ts';
import type { Kind } from './kinds.ts';

/** The answers of the receiver to the webhooks of one kind. */
export interface KindRecord {
  readonly kind: Kind;
  readonly about: string;
  /** `refused`: each must be answered with a 4xx; `accepted`: with a 2xx within 15 s. */
  readonly expected: 'accepted' | 'refused';
  readonly sent: number;
  /** The number of answers for each status; `none` counts the webhooks without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** The time from a webhook to its answer, in milliseconds; null if no webhook of this kind was answered. */
  readonly median: number | null;
  readonly p99: number | null;
}

/** The result of a test of a customer's receiver; `--json` prints it. */
export interface TrialRecord {
  readonly forward: string;
  readonly seed: number;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly milliseconds: number;
  /** The verified webhooks of the service, or those that the simulator made in its place. */
  readonly webhooks: number;
  /** Requests without a valid signature, which were not passed on. */
  readonly unverified: number;
  readonly kinds: readonly KindRecord[];
  readonly verdicts: readonly Verdict[];
  /** Why the test is NOT RUN; empty if it took place. */
  readonly notRun: readonly string[];
}
