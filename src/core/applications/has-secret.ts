import type { Micros } from '../../runtime/units.ts';
import type { Application } from './application-repository.ts';

/** Whether a mark is that of a secret of the application that is valid at a time. */
export function hasSecret(
  { secretMark, formerSecretMark, formerSecretEndsAt }: Application,
  mark: string,
  now: Micros,
): boolean {
  if (mark === secretMark) return true;
  return mark === formerSecretMark && (formerSecretEndsAt === null || now < formerSecretEndsAt);
}
