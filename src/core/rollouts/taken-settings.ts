import { forgetSetting, saveSetting } from '../devices/setting-repository.ts';
import type { OnLate } from '../transactions/early-ends.ts';
import type { OnFinished } from '../transactions/ends.ts';
import { isSetting } from '../transactions/operations.ts';

const NOTHING = {};
/** The words with which the subject of a command begins if it takes the place of a command with this subject. */
export function placeInSubject(operation: string, subject: string | null): string {
  if (operation === 'installSoftware') return `${subject?.split('@', 1)[0]}@`;
  return operation === 'setConnectivityState' ? `${subject?.split(' ', 1)[0]} ` : '';
}

/** The kind of settings: commands of one kind take each other's place. */
export const kindOf = (operation: string, subject: string | null): string =>
  `${operation} ${placeInSubject(operation, subject)}`.trim();

/** Keeps the settings that a device took, in the commit of its success, since a transaction loses them then. */
export const keepTaken: OnFinished = (unit, { deviceId, operation, subject, transactionId, rolloutId, settings }) => {
  if (settings !== undefined) {
    // The time in which they were tried is no part of what the device has now.
    const { revertAfter: _, ...parameters } = settings as { revertAfter?: number };
    saveSetting(unit, { deviceId, kind: kindOf(operation, subject), transactionId, rolloutId, parameters });
  }
  return NOTHING;
};

/** A device has taken settings after the end of their transaction, when their values were gone. */
export const forgetTaken: OnLate = async (unit, { deviceId, operation, subject, transactionId, rolloutId }, late) => {
  if (late.status === 'succeeded' && isSetting(operation))
    await forgetSetting(unit, { deviceId, kind: kindOf(operation, subject), transactionId, rolloutId });
};
