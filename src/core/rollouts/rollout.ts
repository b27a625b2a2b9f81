import type { Micros } from '../../runtime/units.ts';
import type { Terms } from '../transactions/terms.ts';

/** The operations that a rollout can carry out. */
export const ROLLOUT_OPERATIONS = [
  'setApn',
  'setWifi',
  'setLanguage',
  'setConnectivityState',
  'installSoftware',
  'updateFirmware',
] as const;
export type RolloutOperation = (typeof ROLLOUT_OPERATIONS)[number];

/** `preparing`: its devices are being stored, and nobody knows of it yet. */
export type RolloutState = 'preparing' | 'scheduled' | 'running' | 'paused' | 'completed' | 'cancelled';

/** `unfinished`: its transaction has no result yet. */
export type MemberState = 'waiting' | 'unfinished' | 'succeeded' | 'failed' | 'cancelled' | 'unchanged' | 'refused';

/** The person, application or part of the service that changed a rollout. */
export type Actor = 'application' | 'administration' | 'service';

/** The reason why the service paused a rollout by itself, or a person did. */
export type PauseReason =
  | 'REQUESTED'
  /** The share of failures reached the limit of the abort rule. */
  | 'ABORT_RULE'
  /** All devices of a stage have ended, and too few have succeeded for the next one. */
  | 'STAGE_FAILED'
  /** The database was restored from a backup, so the later part of the rollout is unknown. */
  | 'DATABASE_RESTORED'
  /** The version cannot be installed any more, or the application cannot send commands: the code of the error. */
  | (string & {});

export interface Stage {
  /** The number of its devices when the rollout was made. */
  devices: number;
  /** The conditions for the next stage to begin; without them, all devices of the stage must have ended. */
  continueWhen?: { succeededPercent: number; soakFor?: number };
  /** Whether the next stage begins only when somebody has approved this one. */
  approval?: boolean;
}

export interface Window {
  /** The days on which it begins; all by default. */
  days?: readonly Day[];
  /** Local times of day, `HH:MM`. If `to` is not after `from`, the window ends on the next day. */
  from: string;
  to: string;
  /** IANA name. */
  timeZone: string;
}
export type Day = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

export interface AbortRule {
  failedPercent: number;
  minimumResults: number;
  /** The codes of errors that count as failures; by default all except EXPIRED. */
  codes?: readonly string[];
}

export interface RetryRule {
  codes: readonly string[];
  /** The most transactions of a device. */
  attempts: number;
  /** Seconds between a failure and the next attempt. */
  after: number;
}

/** How a rollout is carried out. */
export interface Plan {
  developerId: string;
  stages: readonly Stage[];
  ratePerMinute?: number;
  window?: Window;
  startAt?: Micros;
  abort?: AbortRule;
  /** The results before the latest resume, which somebody has accepted: the abort rule counts those after it. */
  accepted?: { failures: number; results: number };
  /** The last stage that somebody let pass although it had too few successes. */
  letPass?: number;
  /** The time since which the rollout works without a pause, and the number of results at that time. */
  since?: { at: Micros; results: number };
  retry?: RetryRule;
  terms: Terms;
  continuous?: boolean;
  preferConnected?: boolean;
}

/** A stored rollout. Times are microseconds. */
export interface Rollout {
  rolloutId: string;
  applicationId: string;
  label: string | null;
  operation: RolloutOperation;
  subject: string | null;
  plan: Plan;
  state: RolloutState;
  reason: PauseReason | null;
  /** False while none of its commands may be published: it is paused, or outside of its window. */
  publishes: boolean;
  /** True when no undelivered command is left since `publishes` became false. */
  drained: boolean;
  /** The last stage that has begun; -1 before the first. */
  stage: number;
  stageSince: Micros | null;
  /** The time since which the stage has its share of successes. */
  shareSince: Micros | null;
  /** The last stage that was approved; -1 for none. */
  approved: number;
  devices: number;
  entries: number;
  createdAt: Micros;
  startedAt: Micros | null;
  endedAt: Micros | null;
}

export type RolloutAction = 'start' | 'pause' | 'resume' | 'complete' | 'cancel' | 'change' | 'approve' | 'retry';

const ARROWS: Record<RolloutAction, Partial<Record<RolloutState, RolloutState>>> = {
  start: { scheduled: 'running' },
  pause: { scheduled: 'paused', running: 'paused' },
  resume: { paused: 'running' },
  complete: { running: 'completed' },
  cancel: { scheduled: 'cancelled', running: 'cancelled', paused: 'cancelled' },
  change: { scheduled: 'scheduled', paused: 'paused' },
  approve: { running: 'running', paused: 'paused' },
  retry: { running: 'running', paused: 'paused', completed: 'running' },
};

/** The state after an action; null when the state does not allow the action. */
export const nextState = (state: RolloutState, action: RolloutAction): RolloutState | null =>
  ARROWS[action][state] ?? null;

/** Whether a rollout in this state still has something to do. */
export const isAtWork = (state: RolloutState): boolean =>
  state === 'scheduled' || state === 'running' || state === 'paused';
