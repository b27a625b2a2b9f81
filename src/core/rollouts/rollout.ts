import type { HEALTH_MEASURES, MEMBER_STATES } from '@lapel/schemas/base/rollouts';
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
  'collectDiagnostics',
] as const;
export type RolloutOperation = (typeof ROLLOUT_OPERATIONS)[number];

/** `preparing`: its devices are being stored, and nobody knows of it yet. */
export type RolloutState = 'preparing' | 'scheduled' | 'running' | 'paused' | 'completed' | 'cancelled';

/** `unfinished`: its transaction has no result yet; `confirming`: it has succeeded, and was not seen since. */
export type MemberState = (typeof MEMBER_STATES)[number];

/** The person, application or part of the service that changed a rollout. */
export type Actor = 'application' | 'administration' | 'service';

/** A person who did something, with the name as it was then. */
export interface Doer {
  id: string;
  name: string;
}

/** The caller, or the part of the service, that changes a rollout. */
export interface Who {
  actor: Actor;
  person?: Doer | undefined;
}

/** The reason why the service paused a rollout by itself, or a person did. */
export type PauseReason =
  | 'REQUESTED'
  /** The share of failures reached the limit of the abort rule. */
  | 'ABORT_RULE'
  /** All devices of a stage have ended, and too few have succeeded for the next one. */
  | 'STAGE_FAILED'
  /** The devices that have the release are less well than a health rule allows. */
  | 'HEALTH_RULE'
  /** A stage has its share and its soak, and a health rule knows too little of its devices. */
  | 'HEALTH_UNKNOWN'
  /** The database was restored from a backup, so the later part of the rollout is unknown. */
  | 'DATABASE_RESTORED'
  /** The version cannot be installed any more, or the application cannot send commands: the code of the error. */
  | (string & {});

export interface Stage {
  /** The number of its devices when the rollout was made. */
  devices: number;
  /**
   * The conditions for the next stage to begin. Only the last stage has none, and stages of rollouts that were made by
   * earlier releases, whose devices must all have ended.
   */
  continueWhen?: { succeededPercent: number; soakFor?: number; minimumResults?: number };
  /** Whether the next stage begins only when somebody has approved this one. */
  approval?: boolean;
  /** `other`: a person who has neither started the rollout nor changed it last. */
  approvalBy?: 'other';
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

/** The conditions under which a success is final. */
export interface ConfirmRule {
  /** Seconds within which the device has to be heard of after its result. */
  seenAgainWithin: number;
  /** Whether it has to report the version then. */
  versionKept?: boolean;
}

/** The subject of a health rule. */
export type Measure = (typeof HEALTH_MEASURES)[number];

/** A rule about the health of devices that have a release. It has `atMost` or `timesControl`. */
export interface HealthRule {
  measure: Measure;
  /** Of `events`: their types. */
  types?: readonly string[];
  /** The limit of devices that have the release: percent of them for `silent`, else the mean of a device and hour. */
  atMost?: number;
  /** The limit as a multiple of what devices show that wait for the release. */
  timesControl?: number;
  /** The devices that must be known before the rule counts. */
  minimumDevices: number;
  /** Seconds: of `silent`, without a sign of life; of what is counted, those that are looked back at. */
  within?: number;
}
/** The commands of a minute; it doubles after each `doubleAfter` devices that have succeeded. */
export type Rate = number | { from: number; to: number; doubleAfter: number };

/** How a rollout is carried out. */
export interface Plan {
  developerId: string;
  stages: readonly Stage[];
  ratePerMinute?: Rate;
  /** The most devices that may be carrying out a command; without it, there is no bound. */
  maxUnfinished?: number;
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
  confirm?: ConfirmRule;
  health?: readonly HealthRule[];
  /** The devices are brought back when a health rule stops the rollout. */
  revert?: 'automatic';
  /** Whether the service itself has made the rollout. */
  byService?: true;
  /** Health rules judge the devices that got the release since then: somebody has accepted how the earlier ones are. */
  healthSince?: Micros;
  /** The last stage that somebody let pass although a health rule knew too little. */
  healthLetPass?: number;
  terms: Terms;
  /** The person who started the rollout, and the one who changed it last, if it was a person. */
  startedBy?: Doer;
  changedBy?: Doer;
  continuous?: boolean;
  preferConnected?: boolean;
  /** The rollout whose devices this one brings back, and the rollout that brings back those of this one. */
  reverts?: string;
  /** Whether it also brings back devices that answered that the command had failed. */
  revertsFailed?: boolean;
  revertedBy?: string;
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

/** Whether a health rule has stopped a rollout whose devices then go back by themselves. */
export const revertsItself = ({ state, reason, plan }: Rollout): boolean =>
  state === 'paused' && reason === 'HEALTH_RULE' && plan.revert === 'automatic' && plan.revertedBy === undefined;
