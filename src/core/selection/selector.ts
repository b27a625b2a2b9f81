import type { Micros } from '../../runtime/units.ts';

/** A condition on a version: all members that are present must hold. */
export interface VersionTerm {
  /** The version itself; null: none is known. */
  is?: string | null;
  /** Another version than this, or none. */
  not?: string;
  /** A SemVer version within this range. */
  range?: VersionRange;
}

/** A compiled SemVer range. A version that is not SemVer is in no range. */
export interface VersionRange {
  has(version: string): boolean;
}

/** A condition on one tag. */
export interface TagTerm {
  key: string;
  /** The tag has one of these values. Empty: the device has no tag of this key. */
  values: readonly string[];
}

/** The device is in this rollout of its application; with a state: it is in this state there. */
export interface MemberTerm {
  rolloutId: string;
  state: string | undefined;
}

/** Conditions on devices, of which all must hold. A member that is missing is not a condition. */
export interface Terms {
  tags?: readonly TagTerm[];
  /** The package that `version` is about. It must be installed, unless `version` has only `not`. */
  package?: string;
  version?: VersionTerm;
  firmwareVersion?: VersionTerm;
  /** The reported language in lower case. */
  lang?: string;
  /** The least level of the battery, in percent. */
  batteryAtLeast?: number;
  charging?: boolean;
  networkType?: string;
  /** The least free storage, in bytes. */
  storageFreeAtLeast?: number;
  member?: MemberTerm;
  connected?: boolean;
  /** The time since which the device has been heard of. */
  seenSince?: Micros;
  share?: Share;
}

/** A stable share of all devices: a device of 10 percent is also one of 20 percent of the same salt. */
export interface Share {
  percent: number;
  salt: string;
}

/** A selection of devices that are activated for an application: these devices, or all that match the terms. */
export type Selector = { devices: readonly string[] } | { terms: Terms };
