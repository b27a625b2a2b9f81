import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Operation } from './operations.ts';
import { countDue, countUnfinished, LARGE_PARAMETERS, sumLargeParameters } from './transaction-repository.ts';

/** Unfinished transactions per device at most; one more is answered TOO_MANY_TRANSACTIONS. */
const UNFINISHED = 1000;
/** Op 6 may go beyond that: a stuck device must be able to go. */
const BEYOND_FOR_DEACTIVATION = 16;
/** Bytes of one command's parameters (contract, section 1). */
const PARAMETERS = 64 * 1024;
/** Characters of large parameters that wait for one device, and for all devices of one application. */
const PER_DEVICE = 4 * 1024 ** 2;
const PER_APPLICATION = 256 * 1024 ** 2;

interface Wanted {
  applicationId: string;
  deviceId: string;
  operation: Operation;
  /** The parameters as they are stored. */
  text: string;
}

/** Devices whose number is kept; the one that was counted first goes. */
const KEPT = 100_000;

/**
 * The bounds of what waits for devices. For each device a number is kept that its unfinished transactions do not exceed:
 * it rises with every new one, and is counted anew only when it comes to the bound. So a long queue costs a new command
 * nothing. All new transactions come through here. Where units are `concurrent`, others add to the queues too: it is counted each time.
 */
export function createQueueBounds(metrics: Metrics, concurrent: boolean) {
  /** deviceId -> how many of its transactions are unfinished at most. */
  const atMost = new Map<string, number>();
  const refuse = (bound: string): void => metrics.transactionsRefused.inc({ bound });

  async function requireNumber(unit: UnitOfWork, deviceId: string, limit: number): Promise<void> {
    let number = concurrent ? limit : (atMost.get(deviceId) ?? limit);
    if (number >= limit) number = await countDue(unit, deviceId, limit);
    if (number >= limit) number = await countUnfinished(unit, deviceId);
    if (number >= limit) {
      refuse('unfinished');
      throw new DomainError('TOO_MANY_TRANSACTIONS', { values: { limit } });
    }
    if (concurrent) return;
    if (atMost.size >= KEPT && !atMost.has(deviceId)) atMost.delete(atMost.keys().next().value as string);
    atMost.set(deviceId, number + 1);
  }

  /**
   * Whether there is room for one more command: what waits for devices that are away must fill no disk. Most commands are
   * small, and bounded by their number; only large ones are added up, in a unit that has locked their application. Throws REQUEST_INVALID, TOO_MANY_TRANSACTIONS,
   * TOO_MUCH_QUEUED.
   */
  return async function requireRoom(unit: UnitOfWork, wanted: Wanted): Promise<void> {
    const { applicationId, deviceId, operation, text } = wanted;
    if (text.length * 3 > PARAMETERS && Buffer.byteLength(text) > PARAMETERS) {
      refuse('parameters');
      const msg = `Body should make a command of at most ${PARAMETERS / 1024} KiB`;
      throw DomainError.invalid({ loc: ['body'], msg, type: 'less_than_equal' });
    }
    await requireNumber(unit, deviceId, operation === 'deactivate' ? UNFINISHED + BEYOND_FOR_DEACTIVATION : UNFINISHED);
    if (text.length <= LARGE_PARAMETERS) return;
    for (const [bound, queued, limit] of [
      ['device_bytes', await sumLargeParameters(unit, applicationId, deviceId), PER_DEVICE],
      ['application_bytes', await sumLargeParameters(unit, applicationId), PER_APPLICATION],
    ] as const) {
      if (queued + text.length <= limit) continue;
      refuse(bound);
      throw new DomainError('TOO_MUCH_QUEUED', { values: { limit: limit / 1024 ** 2 } });
    }
  };
}
