import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createLogLimit } from '../../runtime/log-limit.ts';
import type { DeliveryStatus } from './delivery.ts';
import type { Receiver } from './receiver.ts';

/** What came of an attempt, in words; without the URL: receivers put secrets into them. */
interface Attempted {
  deliveryId: string;
  status: DeliveryStatus;
  attempts: number;
  /** Null when it was delivered. */
  error: string | null;
}

const WORDS: Partial<Record<DeliveryStatus, string>> = {
  gone: 'webhook refused for good',
  exhausted: 'webhook given up',
};

/**
 * The log of receivers, for who has to know at night: when one begins to fail and when it answers again, and what is given
 * up; a line a minute for each receiver, however much fails. Each failed attempt is told at `debug`.
 */
export function createReceiverLog({ clock, log }: { clock: Clock; log: Log }) {
  const mayTell = createLogLimit({ clock });
  const mayGiveUp = createLogLimit({ clock });

  /** To be called before the receiver's state is changed by the outcome. */
  return (receiver: Receiver, { deliveryId, status, attempts, error }: Attempted): void => {
    const { applicationId, setting } = receiver;
    const key = `${setting} ${applicationId}`;
    if (error === null) {
      if (receiver.toldFailing !== null) {
        const seconds = Math.round((clock.now() - receiver.toldFailing) / 1_000_000);
        log.info({ applicationId, setting, seconds }, 'webhook receiver answers again');
        receiver.toldFailing = null;
      }
      return;
    }
    const line = { deliveryId, applicationId, setting, attempts, error };
    log.debug(line, 'webhook failed');
    if (!receiver.failing && receiver.toldFailing === null && mayTell(key) !== undefined) {
      log.info({ applicationId, setting, error }, 'webhook receiver began to fail');
      receiver.toldFailing = clock.now();
    }
    const words = WORDS[status];
    const leftOut = words === undefined ? undefined : mayGiveUp(key);
    if (leftOut !== undefined) log.warn({ ...line, leftOut }, words);
  };
}
