import type { Random } from '../random.ts';
import type { Content } from './outgoing.ts';

/** The application and the device that a webhook speaks of. */
export interface Owner {
  readonly applicationId: string;
  readonly deviceId: string;
}

/** The owner of events that the service did not begin. */
export const NOBODY: Owner = { applicationId: 'simulated', deviceId: '490154203237518' };

/** Makes events of the documented types. */
export interface Samples {
  /** A webhook-id that no other run uses. */
  webhookId(): string;
  eventId(): string;
  /** Makes an event of a random, common type. `at` is its time: Unix time in milliseconds. */
  any(owner: Owner, at: number): Content;
  transaction(owner: Owner, at: number): Content;
  bluetooth(owner: Owner, at: number, isConnected: boolean): Content;
  /** A number of the stream that no other event of this run has. */
  sequence(): number;
}

/** A time as the service writes it: UTC with microseconds. */
export const timeOf = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');

/**
 * `random` decides the contents. The ids contain `startedAt` (milliseconds of the Unix time), because a receiver that
 * knows the ids of an earlier run would drop the webhooks as repetitions.
 */
export function createSamples(random: Random, startedAt: number): Samples {
  let made = 0;
  const next = (): number => {
    made += 1;
    return made;
  };
  const eventId = (): string => `sim-${startedAt.toString(36)}-${next()}`;

  function transaction({ applicationId, deviceId }: Owner, at: number, error: object | null = null): Content {
    const status = error ? 'failed' : 'succeeded';
    const [created, ended] = [timeOf(at - Math.floor(random() * 10_000)), timeOf(at)];
    const record = {
      transactionId: startedAt * 1000 + next(),
      deviceId,
      operation: 'setWifi',
      status,
      attempts: 1,
      createdAt: created,
      updatedAt: ended,
      deliveredAt: created,
      completedAt: ended,
      progress: null,
      result: null,
      error,
    };
    return {
      type: `transaction.${status}`,
      timestamp: ended,
      data: { applicationId, deviceId, transaction: record },
    };
  }

  const bluetooth = (owner: Owner, at: number, isConnected: boolean): Content => ({
    type: isConnected ? 'bluetooth.connected' : 'bluetooth.disconnected',
    timestamp: timeOf(at),
    data: { macAddress: '02:00:5e:00:53:01', name: 'Headset Ü 🎧', eventId: eventId(), ...owner },
  });

  const common: readonly ((owner: Owner, at: number) => Content)[] = [
    (owner, at) => transaction(owner, at),
    (owner, at) => transaction(owner, at, { code: 'INTERNAL', message: 'the device could not do it' }),
    (owner, at) => bluetooth(owner, at, random() < 0.5),
    (owner, at) => ({ type: 'custom.sos', timestamp: timeOf(at), data: { level: 1, eventId: eventId(), ...owner } }),
    (owner, at) => ({
      type: 'call.started',
      timestamp: timeOf(at),
      data: { callId: eventId(), eventId: eventId(), ...owner },
    }),
  ];

  return {
    webhookId: () => `msg_sim${startedAt.toString(36)}${String(next()).padStart(6, '0')}`,
    eventId,
    transaction: (owner, at) => transaction(owner, at),
    bluetooth,
    sequence: () => startedAt * 1000 + next(),
    any(owner, at) {
      const make = common[Math.floor(random() * common.length)] ?? transaction;
      return make(owner, at);
    },
  };
}
