import type { Micros } from '../../runtime/units.ts';
import type { Terms, VersionTerm } from './selector.ts';
import { isInShare } from './share.ts';

/** The data by which a device is judged, after the database has checked all other terms. */
export interface Candidate {
  deviceId: string;
  /** The time at which the device was last heard of; 0 for a device that was never seen. */
  seenAt: Micros;
  firmware: string | null;
  /** The installed version of the package of the terms. */
  version: string | null;
}

/** Whether some of the terms cannot be checked by the database, so that candidates must be judged one by one. */
export const needsJudging = ({ version, firmwareVersion, share, seenSince, connected }: Terms): boolean =>
  [version?.range, firmwareVersion?.range, share, seenSince, connected].some((term) => term !== undefined);

const isWithin = (version: string | null, { range }: VersionTerm = {}): boolean =>
  range === undefined || (version !== null && range.has(version));

/** Whether a candidate matches the terms that the database has not checked, apart from `connected`. */
export const isMatch = (candidate: Candidate, { version, firmwareVersion, share, seenSince }: Terms): boolean =>
  (seenSince === undefined || candidate.seenAt >= seenSince) &&
  (share === undefined || isInShare(candidate.deviceId, share)) &&
  isWithin(candidate.version, version) &&
  isWithin(candidate.firmware, firmwareVersion);
