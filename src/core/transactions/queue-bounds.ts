import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Operation } from './operations.ts';
import { countDue, countUnfinished, LARGE_PARAMETERS, sumLargeParameters } from './transaction-repository.ts';

/** The most unfinished transactions of a device; one more is answered TOO_MANY_TRANSACTIONS. */
const UNFINISHED = 1000;
/** Deactivations (op 6) may exceed UNFINISHED by this many, because a device that does not answer must be removable. */
const BEYOND_FOR_DEACTIVATION = 16;
/** The most bytes of one command's parameters (contract, section 1). */
const PARAMETERS = 64 * 1024;
/**
 * Bounds on parameters of more than LARGE_PARAMETERS (4096) characters, which wait with their commands: the most
 * characters for one device, and for all devices of one application.
 */
const PER_DEVICE = 4 * 1024 ** 2;
const PER_APPLICATION = 256 * 1024 ** 2;

/** Transactions that end in the commit of a new one: their number, and the characters of their large parameters. */
export interface Freed {
  number: number;
  largeCharacters: number;
}

interface Wanted {
  applicationId: string;
  deviceId: string;
  operation: Operation;
  /** The command's parameters as the JSON text that is stored. */
  text: string;
  /** The transactions of the device whose place the command takes. */
  freed: Freed;
}

/** The most devices whose number is kept in memory; above it the oldest entry is dropped. */
const KEPT = 100_000;

/**
 * The bounds of the commands that wait for devices; every new transaction is checked here. To keep a long queue from
 * slowing down new commands, a number is kept in memory for each device: at least the number of its unfinished
 * transactions. It rises with every new transaction, and only when it reaches the limit are the transactions counted in
 * the database. If other nodes use the database too (`shared`), they also add to the queues, so the transactions
 * are counted each time.
 */
export function createQueueBounds(metrics: Metrics, shared: boolean) {
  /** By deviceId: a number that is at least the number of the device's unfinished transactions. */
  const atMost = new Map<string, number>();
  const refuse = (bound: string): void => metrics.transactionsRefused.inc({ bound });

  async function requireNumber(unit: UnitOfWork, deviceId: string, limit: number, freed: number): Promise<void> {
    const most = limit + freed;
    let number = shared ? most : (atMost.get(deviceId) ?? most);
    if (number >= most) number = await countDue(unit, deviceId, most);
    if (number >= most) number = await countUnfinished(unit, deviceId);
    if (number >= most) {
      refuse('unfinished');
      throw new DomainError('TOO_MANY_TRANSACTIONS', { values: { limit } });
    }
    if (shared) return;
    if (atMost.size >= KEPT && !atMost.has(deviceId)) atMost.delete(atMost.keys().next().value as string);
    atMost.set(deviceId, number + 1);
  }

  /**
   * Checks that there is room for one more command, because commands that wait for absent devices must not fill the disk. Most
   * commands are small and bounded by their number; only large ones are added up, in a unit that has locked their
   * application. Throws REQUEST_INVALID, TOO_MANY_TRANSACTIONS, TOO_MUCH_QUEUED.
   */
  return async function requireRoom(unit: UnitOfWork, wanted: Wanted): Promise<void> {
    const { applicationId, deviceId, operation, text, freed } = wanted;
    if (text.length * 3 > PARAMETERS && Buffer.byteLength(text) > PARAMETERS) {
      refuse('parameters');
      const msg = `Body should make a command of at most ${PARAMETERS / 1024} KiB`;
      throw DomainError.invalid({ loc: ['body'], msg, type: 'less_than_equal' });
    }
    const limit = operation === 'deactivate' ? UNFINISHED + BEYOND_FOR_DEACTIVATION : UNFINISHED;
    await requireNumber(unit, deviceId, limit, freed.number);
    const characters = unit.vault.lengthOf(text);
    if (characters <= LARGE_PARAMETERS) return;
    for (const [bound, queued, most] of [
      ['device_bytes', await sumLargeParameters(unit, applicationId, deviceId), PER_DEVICE],
      ['application_bytes', await sumLargeParameters(unit, applicationId), PER_APPLICATION],
    ] as const) {
      if (queued - freed.largeCharacters + characters <= most) continue;
      refuse(bound);
      throw new DomainError('TOO_MUCH_QUEUED', { values: { limit: most / 1024 ** 2 } });
    }
  };
}
