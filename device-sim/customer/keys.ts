import type { IncomingHttpHeaders } from 'node:http';
import type { Look } from '../promises/looks.ts';
import { genuineWebhook, type ReceivedWebhook, signedWith } from './genuine.ts';

/** Milliseconds. The documents promise that the former key signs for a day beside the new one. */
const OVERLAP = 24 * 3_600_000;
/** Milliseconds. The time of an attempt is one of the service, and is compared with this tolerance. */
const CLOCKS = 10_000;

/** The authenticationKey of the customer's application, which a run may replace. */
export interface Keys {
  readonly current: string;
  /** Uses a key that exists already. */
  use(key: string): void;
  /**
   * Lets `issue` make a new key, after those that were asked for before; resolves when it is known. `issue` says whether it
   * had to ask more than once: then nobody knows the key before.
   */
  replace(issue: () => Promise<{ key: string; isRepeated: boolean }>): Promise<void>;
  /** Verifies a webhook with the keys that its attempt must have. Throws an Error that says what is wrong. */
  verify(headers: IncomingHttpHeaders, body: Buffer): ReceivedWebhook;
}

/**
 * `nowOfDay`: milliseconds since 1970. `onUnsigned` is called for a genuine attempt that the former key should have signed as
 * well, and has not.
 */
export function createKeys({
  nowOfDay = Date.now,
  look = () => {},
  onUnsigned,
}: {
  nowOfDay?: () => number;
  look?: Look;
  onUnsigned: (body: Buffer) => void;
}): Keys {
  let current = '';
  let former: string | null = null;
  let changedAt = Number.NEGATIVE_INFINITY;
  let changing: Promise<unknown> = Promise.resolve();
  let underWay = 0;

  return {
    get current() {
      return current;
    },
    use(key) {
      current = key;
    },
    async replace(issue) {
      underWay += 1;
      const issuing = changing.then(issue);
      changing = issuing.catch(() => undefined);
      try {
        const { key, isRepeated } = await issuing;
        former = isRepeated ? null : current;
        current = key;
        changedAt = nowOfDay();
      } finally {
        underWay -= 1;
      }
    },
    verify(headers, body) {
      const at = Number(headers['webhook-timestamp']) * 1000;
      // An attempt of these moments may have been signed before the new key, or with one that is not known yet.
      const isUnsure = underWay > 0 || !(at > changedAt + CLOCKS);
      if (isUnsure && former !== null && !signedWith(headers, body, current))
        return genuineWebhook(headers, body, former);
      const received = genuineWebhook(headers, body, current);
      if (isUnsure || former === null) return received;
      look('webhook-new-key');
      if (at > changedAt + OVERLAP - CLOCKS) return received;
      look('webhook-former-key');
      if (!signedWith(headers, body, former)) onUnsigned(body);
      return received;
    },
  };
}
