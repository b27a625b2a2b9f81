import { NEED_FIRMWARE, type Operation } from './operations.ts';
import { isFinished, type TransactionStatus } from './transaction.ts';

const OLDEST = { firmware: '9.001.0', managementClient: '2.3.1' };

/** The last reported versions of a device; null when not reported. */
export interface DeviceVersions {
  firmware: string | null;
  managementClient: string | null;
}

export interface Warning {
  code: 'FIRMWARE_TOO_OLD';
  message: string;
}

/** Whether `firmwareWarning` may return a warning for the transaction. */
export const needsFirmware = ({ operation, status }: { operation: Operation; status: TransactionStatus }): boolean =>
  NEED_FIRMWARE.includes(operation) && !isFinished(status);

/**
 * The reason why a device will not answer an unfinished transaction, or null. Such a transaction stays unfinished until
 * somebody cancels it. A device that has not reported its versions gets no warning.
 */
export function firmwareWarning(
  transaction: { operation: Operation; status: TransactionStatus },
  { firmware, managementClient }: DeviceVersions,
): Warning | null {
  if (!needsFirmware(transaction)) return null;
  const old = [
    ...(isOlder(firmware, OLDEST.firmware) ? [`firmware ${firmware}`] : []),
    ...(isOlder(managementClient, OLDEST.managementClient) ? [`management client ${managementClient}`] : []),
  ];
  if (old.length === 0) return null;
  return {
    code: 'FIRMWARE_TOO_OLD',
    message: `the device reported ${old.join(' and ')}; it answers this operation from firmware ${OLDEST.firmware} and management client ${OLDEST.managementClient} on. cancel the transaction, or update the firmware.`,
  };
}

/** Compares the numbers in both texts: `9.001.0`, `9.1.0` and `9.1` are equal. A text without a number is not a version. */
function isOlder(reported: string | null, oldest: string): boolean {
  const numbers = runs(reported ?? '');
  if (numbers.length === 0) return false;
  const wanted = runs(oldest);
  for (const [index, number] of wanted.entries()) {
    const found = numbers[index] ?? 0n;
    if (found !== number) return found < number;
  }
  return false;
}

const runs = (text: string): bigint[] => (text.match(/\d+/g) ?? []).map(BigInt);
