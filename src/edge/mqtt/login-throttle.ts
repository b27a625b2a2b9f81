import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';

// Of one address, and of one identifier: so many refusals per second, twice that at once, are told at once.
const REFUSALS_PER_SECOND = 10;
/** Above it an answer takes this long. */
const HELD_MILLISECONDS = 2_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
}

/**
 * What wrong logins cost. The credential is always looked at first, so a device with the right one is let in at once,
 * whatever others have tried from its address or under its identifier: nobody can be locked out. Only the answer to a
 * wrong one is held back, when there were many from its address or under its identifier; meanwhile its connection counts
 * as one that has not logged in, and is closed when its address has too many of those.
 */
export function createLoginThrottle({ clock, log, logLimit, metrics }: Parts) {
  const buckets = createTokenBuckets({ clock, perSecond: REFUSALS_PER_SECOND });

  return {
    /** A login was refused; resolves when that may be said. */
    async refused(address: string, deviceId: string | undefined, reason: string): Promise<void> {
      const leftOut = logLimit(`login ${address}`);
      if (leftOut !== undefined) log.info({ address, deviceId, reason, leftOut }, 'login refused');
      const ofAddress = buckets.take(`address ${address}`)?.allowed !== false;
      const ofDevice = deviceId === undefined || buckets.take(`device ${deviceId}`)?.allowed !== false;
      if (ofAddress && ofDevice) return;
      metrics.mqttLoginsHeld.inc();
      await new Promise<void>((resolve) => clock.after(HELD_MILLISECONDS, resolve));
    },
  };
}
