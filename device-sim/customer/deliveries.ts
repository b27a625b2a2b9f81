import type { Look } from '../promises/looks.ts';
import type { createContentBook } from './content-book.ts';
import type { DeviceBooks } from './device-books.ts';
import type { createElsewhere } from './elsewhere.ts';
import type { Entry } from './entry.ts';
import type { Ledger } from './ledger.ts';
import type { OwedCancels } from './owed-cancels.ts';
import type { createScopedCounts } from './scopes.ts';
import { commandAfterStop, needlessCancel } from './stops.ts';
import type { createTransactionBooks } from './transaction-books.ts';
import type { createTroubleBook } from './trouble-book.ts';

interface Parts {
  readonly books: Pick<ReturnType<typeof createTransactionBooks>, 'find' | 'meet' | 'another' | 'expect'>;
  readonly devices: Pick<DeviceBooks, 'book'>;
  readonly scoped: Pick<ReturnType<typeof createScopedCounts>, 'of'>;
  readonly elsewhere: ReturnType<typeof createElsewhere>;
  readonly contents: Pick<ReturnType<typeof createContentBook>, 'command'>;
  readonly cancels: Pick<OwedCancels, 'arrived'>;
  readonly look: Look;
  readonly violation: (entry: Entry, text: string, at: number) => void;
  readonly double: (entry: Entry, text: string, at: number) => void;
  /** Called when a command has reached its device for the first time. */
  readonly countDelivery: (entry: Entry) => void;
  readonly trouble: ReturnType<typeof createTroubleBook>['trouble'];
  /** The present phase of the run. */
  readonly phase: () => string;
}

/** Makes the function that enters the commands that devices receive into the books. */
export function createDeliveries({
  books,
  devices,
  scoped,
  elsewhere,
  contents,
  cancels,
  look,
  violation,
  double,
  countDelivery,
  trouble,
  phase: current,
}: Parts): Ledger['delivered'] {
  const { find, meet, another } = books;
  return (deviceId, { transactionId, operation, parameters, issuedAt, attempt }, at) => {
    // A cancel is no delivery: it has the transactionId of the command that it cancels.
    if (operation === 'cancel') {
      const cancelled = find(transactionId);
      look('cancel-needless');
      if (cancelled?.deviceId === deviceId && (cancelled.issuedAt ?? issuedAt) === issuedAt)
        cancels.arrived(cancelled, at);
      const needless = cancelled?.deviceId === deviceId && needlessCancel(cancelled, { issuedAt });
      if (cancelled && needless) violation(cancelled, needless, at);
      return;
    }
    let entry = meet(transactionId, deviceId, at);
    if (!entry) return;
    look('command-device');
    if (entry.deviceId !== deviceId) {
      elsewhere.commandOf(entry, deviceId, at);
      return;
    }
    if (entry.issuedAt !== null && entry.issuedAt !== issuedAt) {
      entry = another(transactionId, deviceId, at);
      books.expect(entry);
    }
    entry.issuedAt = issuedAt;
    entry.got = { operation, parameters };
    contents.command(entry, at);
    const device = devices.book(deviceId);
    const stray = commandAfterStop(entry, device.connectedAt);
    if (stray) violation(entry, stray, at);
    if (entry.deliveredAt === null) {
      entry.deliveredAt = at;
      entry.operation ||= operation;
      countDelivery(entry);
      if (device.highest > 0) look('command-order');
      if (transactionId < device.highest) {
        const phase = entry.phase ?? current();
        scoped.of(phase, entry).add('unordered');
        trouble('unordered', phase, `command ${transactionId} came after command ${device.highest}`, at, entry);
      }
      device.highest = Math.max(device.highest, transactionId);
    } else if (
      // The device may get a command again although its answer was acknowledged, because MQTT delivers at least once
      // and the repetition may have been on its way. On a later connection the command must not come again.
      entry.acknowledgedAt !== null &&
      device.connections > entry.acknowledgedOn &&
      attempt > entry.attempt
    ) {
      double(entry, `command ${transactionId} came again, attempt ${attempt}, after its answer was acknowledged`, at);
    }
    if (attempt > 1) look('command-answered');
    entry.attempt = Math.max(entry.attempt, attempt);
  };
}
