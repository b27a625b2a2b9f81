import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';

// Refused logins per second, from one address and with one identifier, that are answered without delay; twice as many
// at once after a pause.
const REFUSALS_PER_SECOND = 10;
/** Milliseconds by which the answers to further refused logins are delayed. */
const DELAY_MILLISECONDS = 2_000;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
}

/**
 * Slows down clients that guess credentials. The credential is always checked first, so a device with the right one is
 * let in at once, whatever others have tried from its address or with its identifier. Only the answer to a wrong login
 * is delayed, after many from the same address or with the same identifier. Meanwhile the connection counts as not
 * logged in, and is closed when its address has too many of these.
 */
export function createLoginThrottle({ clock, log, logLimit, metrics }: Parts) {
  const buckets = createTokenBuckets({ clock, perSecond: REFUSALS_PER_SECOND });

  return {
    /** Records a refused login; resolves when the refusal may be sent. */
    async refused(address: string, deviceId: string | undefined, reason: string): Promise<void> {
      const leftOut = logLimit(`login ${address}`);
      if (leftOut !== undefined) log.info({ address, deviceId, reason, leftOut }, 'login refused');
      const ofAddress = buckets.take(`address ${address}`)?.allowed !== false;
      const ofDevice = deviceId === undefined || buckets.take(`device ${deviceId}`)?.allowed !== false;
      if (ofAddress && ofDevice) return;
      metrics.mqttLoginsHeld.inc();
      await new Promise<void>((resolve) => clock.after(DELAY_MILLISECONDS, resolve));
    },
  };
}
