import type { Terms } from '@lapel/device-sim/customer/action';
import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import type { Ledger } from '@lapel/device-sim/customer/ledger';

export const DEVICE = '352900130000016';

/** Plays the events of transactions, a millisecond apart. */
function play(ledger: Ledger) {
  let at = 0;
  const tick = (): number => {
    at += 1;
    return at;
  };
  return {
    accept: (transactionId: number, phase = 'day', deviceId = DEVICE): void =>
      ledger.accepted({
        transactionId,
        deviceId,
        operation: 'setWifi',
        phase,
        number: transactionId,
        requestedAt: at,
        at: tick(),
      }),
    deliver: (transactionId: number, attempt = 1, { issuedAt = 'then', deviceId = DEVICE } = {}): void =>
      ledger.delivered(deviceId, { transactionId, operation: 'setWifi', parameters: {}, issuedAt, attempt }, tick()),
    answer(transactionId: number): void {
      ledger.answered(DEVICE, { transactionId, status: 'succeeded' }, tick());
      ledger.acknowledged(DEVICE, { transactionId, status: 'succeeded' }, tick());
    },
    result(
      transactionId: number,
      {
        webhookId = `w${transactionId}`,
        status = 'succeeded',
        code = 'INTERNAL',
        more = '',
        deviceId = DEVICE,
        rolloutId = undefined as string | undefined,
      } = {},
    ): void {
      const error = status === 'failed' || code !== 'INTERNAL' ? { code, message: 'no' } : null;
      const times = { createdAt: '2026-11-20T09:30:00.000000Z', completedAt: '2026-11-20T09:31:00.000000Z' };
      const transaction = {
        transactionId,
        deviceId,
        operation: 'setWifi',
        status,
        error,
        ...times,
        ...(rolloutId !== undefined && { rolloutId }),
      };
      const timestamp = times.completedAt;
      const event = { type: `transaction.${status}`, timestamp, data: { deviceId, transaction } } as never;
      const body = Buffer.from(`${transactionId} ${status} ${more}`);
      ledger.received({ webhookId, event, body, sentAt: Date.parse(timestamp) }, tick());
    },
    /** Plays a transaction with these terms, which the service ends after so many milliseconds. */
    end({ terms, after, status, code }: { terms: Terms; after: number; status: string; code: string }): void {
      const asked = { operation: 'setWifi', parameters: {}, terms };
      const about = { transactionId: 1, deviceId: DEVICE, operation: 'setWifi', phase: 'day', number: 1, asked };
      ledger.accepted({ ...about, requestedAt: at, at });
      at += after;
      const error = { code, message: 'ended' };
      const [createdAt, completedAt] = ['2026-11-20T09:30:00.000000Z', '2026-11-20T09:31:00.000000Z'];
      const named = { transactionId: 1, deviceId: DEVICE, operation: 'setWifi', createdAt, completedAt };
      const transaction = { ...named, status, result: null, error };
      const data = { deviceId: DEVICE, transaction };
      const event = { type: `transaction.${status}`, timestamp: completedAt, data } as never;
      ledger.received({ webhookId: 'w1', event, body: Buffer.from(code), sentAt: Date.parse(completedAt) }, at);
    },
    event(eventId: string, webhookId: string): void {
      const timestamp = '2026-11-20T09:30:00.000000Z';
      const event = { type: 'custom.sos', timestamp, data: { deviceId: DEVICE, eventId } } as never;
      ledger.received({ webhookId, event, body: Buffer.from(eventId), sentAt: Date.parse(timestamp) }, tick());
    },
    tell: (eventId: string): void =>
      ledger.told(DEVICE, { eventId, type: 'custom.sos', occurredAt: '', data: {} }, tick()),
    pass(milliseconds: number): void {
      at += milliseconds;
    },
    now: () => at,
  };
}

/** A ledger, and functions that play events in it. */
export function startLedger(options: { lateAfter?: number } = {}) {
  const ledger = createLedger({ began: 0, ...options });
  return { ledger, ...play(ledger) };
}
