import type { Micros } from '../../runtime/units.ts';
import type { Application } from './application-repository.ts';

/** Microseconds for which a replaced key also signs, beside the new one (contract, section 3). */
const OVERLAP_MICROS = 24 * 3600 * 1_000_000;

/** The keys that sign an application's notifications, the current one first; empty when none was issued. */
export function signingKeysOf(
  application: Pick<Application, 'authenticationKey' | 'formerAuthenticationKey' | 'keyReplacedAt'>,
  now: Micros,
): string[] {
  const { authenticationKey: key, formerAuthenticationKey: former, keyReplacedAt: replacedAt } = application;
  return key === null ? [] : keysThatSign({ key, former, replacedAt }, now);
}

/** A key and the one that it has replaced, which signs beside it for a day. */
export function keysThatSign(
  { key, former, replacedAt }: { key: string; former: string | null; replacedAt: Micros | null },
  now: Micros,
): string[] {
  return former !== null && replacedAt !== null && now < replacedAt + OVERLAP_MICROS ? [key, former] : [key];
}
