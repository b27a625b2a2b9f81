import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { createLogLimit } from '../../../runtime/log-limit.ts';
import { traceField } from '../../../runtime/tracing.ts';
import type { DeliveryStatus } from '../delivery.ts';
import type { Receiver } from '../receiver.ts';

/** The result of an attempt, for the log; without the URL, because receivers put secrets into URLs. */
interface Attempted {
  deliveryId: string;
  status: DeliveryStatus;
  attempts: number;
  /** Null when the delivery was delivered. */
  error: string | null;
  /** The span whose work caused the event; null when it is not traced. */
  traceparent: string | null;
}

const MESSAGES: Partial<Record<DeliveryStatus, string>> = {
  gone: 'webhook refused for good',
  exhausted: 'webhook given up',
};

/**
 * The log of receivers, for those who have to react: it tells when one begins to fail, when it answers again, and which
 * deliveries are given up, at most a line a minute for each receiver. Each failed attempt is logged at `debug`.
 */
export function createReceiverLog({ clock, log }: { clock: Clock; log: Log }) {
  const mayTell = createLogLimit({ clock });
  const mayGiveUp = createLogLimit({ clock });

  /** Called before the attempt's outcome changes the receiver's state. */
  return (receiver: Receiver, { deliveryId, status, attempts, error, traceparent }: Attempted): void => {
    const { applicationId, setting } = receiver;
    const key = `${setting} ${applicationId}`;
    if (error === null) {
      if (receiver.loggedFailingAt !== null) {
        const seconds = Math.round((clock.now() - receiver.loggedFailingAt) / 1_000_000);
        log.info({ applicationId, setting, seconds }, 'webhook receiver answers again');
        receiver.loggedFailingAt = null;
      }
      return;
    }
    const line = { deliveryId, ...traceField(traceparent), applicationId, setting, attempts, error };
    log.debug(line, 'webhook failed');
    if (!receiver.failing && receiver.loggedFailingAt === null && mayTell(key) !== undefined) {
      log.info({ applicationId, setting, error }, 'webhook receiver began to fail');
      receiver.loggedFailingAt = clock.now();
    }
    const message = MESSAGES[status];
    const leftOut = message === undefined ? undefined : mayGiveUp(key);
    if (leftOut !== undefined) log.warn({ ...line, leftOut }, message);
  };
}
