import type { Ids } from '../../runtime/ids.ts';

const VALID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Returns the caller's `X-Request-Id` when it is valid, else a new id: a prefix that is random for each listener and
 * start, and a counter. Request ids tell requests apart; they are not secret.
 */
export function createRequestIds(ids: Ids): (given: string | string[] | undefined) => string {
  const prefix = ids.bytes(9).toString('base64url');
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && VALID.test(given)) return given;
    count += 1;
    return `${prefix}.${count.toString(36)}`;
  };
}
