import type { Place } from '../read/place.ts';

export type Kind =
  | 'developer'
  | 'application'
  | 'member'
  | 'enrolment batch'
  | 'person'
  | 'settings'
  | 'endpoint'
  | 'package'
  | 'version'
  | 'tags'
  | 'rollout';
export type Action = 'create' | 'change' | 'replace' | 'remove';

/** A field that a step changes. */
export interface Change {
  field: string;
  /** The value now; absent for an object that is made. */
  before?: unknown;
  /** The value of the files, with its references; absent for an object that is removed. */
  after?: unknown;
}

/** The object of a step, for people and for `--json`. */
export interface Described {
  kind: Kind;
  name: string;
  place: Place | null;
}

/** One change that an apply makes. */
export interface Step extends Described {
  action: Action;
  changes: readonly Change[];
  notes: readonly string[];
  /** A digest of the state that the step depends on: the step is refused when it is another one. */
  seen: string;
  /** The end of the path of the object, by which its changes are found in the audit log. */
  resource: string;
  /** Makes the change. Throws a Conflict when the state is not what the plan has seen. */
  carryOut(): Promise<void>;
}

/** A difference that an apply cannot make: nothing of the plan is carried out. */
export interface Refused extends Described {
  reason: string;
}

/** A field of a file that cannot be compared with the service. */
export interface NotCompared extends Described {
  field: string;
  reason: string;
}

/** Objects that no file names: they stay as they are. */
export interface NotTouched {
  kind: Kind;
  count: number;
  names: readonly string[];
}

export interface Plan {
  steps: readonly Step[];
  refused: readonly Refused[];
  notCompared: readonly NotCompared[];
  notTouched: readonly NotTouched[];
  /** The objects that are as the files say. */
  unchanged: number;
}

/** One result of a comparison. */
export type Finding =
  | { step: Step }
  | { refused: Refused }
  | { notCompared: NotCompared }
  | { notTouched: NotTouched }
  | { unchanged: 1 };

export const UNCHANGED: Finding = { unchanged: 1 };

/** The names of untouched objects that are shown. */
const MOST_NAMES = 10;

/** Names objects that no file declares. */
export const notTouched = (kind: Kind, names: readonly string[]): Finding[] =>
  names.length === 0 ? [] : [{ notTouched: { kind, count: names.length, names: names.slice(0, MOST_NAMES) } }];

export const refuse = (about: Described, reason: string): Finding[] => [{ refused: { ...about, reason } }];

/** Puts the findings together, in their order. */
export const planOf = (findings: readonly Finding[]): Plan => ({
  steps: findings.flatMap((one) => ('step' in one ? [one.step] : [])),
  refused: findings.flatMap((one) => ('refused' in one ? [one.refused] : [])),
  notCompared: findings.flatMap((one) => ('notCompared' in one ? [one.notCompared] : [])),
  notTouched: findings.flatMap((one) => ('notTouched' in one ? [one.notTouched] : [])),
  unchanged: findings.filter((one) => 'unchanged' in one).length,
});
