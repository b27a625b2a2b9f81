import type { Ids } from '../../runtime/ids.ts';

const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The caller's `X-Request-Id` when it is sane, else a new one: a number, behind what tells this listener's from those of
 * every other one, and of every other start. They tell requests apart, and are no secrets.
 */
export function createRequestIds(ids: Ids): (given: string | string[] | undefined) => string {
  const prefix = ids.bytes(9).toString('base64url');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && SANE.test(given)) return given;
    count += 1;
    return `${prefix}.${count.toString(36)}`;
  };
}
