import type { Ids } from '../ids.ts';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` when it is sane, else a new one. */
export function requestId(given: string | string[] | undefined, ids: Ids): string {
  return typeof given === 'string' && SANE.test(given) ? given : ids.uuid();
}
