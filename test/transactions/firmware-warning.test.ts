import t from 'tap';
import { firmwareWarning } from '../../src/core/transactions/firmware-warning.ts';
import { OPERATIONS } from '../../src/core/transactions/operations.ts';
import { TRANSACTION_STATUSES } from '../../src/core/transactions/transaction.ts';

const NEW = { firmware: '9.001.0', managementClient: '2.3.1' };
const asked = { operation: 'listConnectivity', status: 'delivered' } as const;
const isOld = (firmware: string | null, managementClient: string | null): boolean =>
  firmwareWarning(asked, { firmware, managementClient }) !== null;

t.test('versions are compared by their numbers', async (t) => {
  for (const old of ['9.000.9', '9.0', '9', '8.999.999', '08.9', 'v8.001.0', '9.0.99-rc.1', '0']) {
    t.ok(isOld(old, null), old);
  }
  for (const enough of ['9.001.0', '9.1.0', '9.1', '9.01', '9.001.0.1', '9.010.0', '10', 'fw-9.002', '9.1.0-beta']) {
    t.notOk(isOld(enough, null), enough);
  }
  t.notOk(isOld('9.00000000000000000000000000000000000000000000000001', null));
});

t.test('either of the two may be too old, and the message says which', async (t) => {
  t.ok(isOld('9.001.0', '2.3.0'));
  t.ok(isOld('9.000.0', '2.3.1'));
  t.ok(isOld(null, '2.2.9'));
  t.notOk(isOld('9.001.0', '2.10'));
  const { code, message } = firmwareWarning(asked, { firmware: '8.5', managementClient: '2.3' }) ?? {};
  t.equal(code, 'FIRMWARE_TOO_OLD');
  t.match(message, /^the device reported firmware 8\.5 and management client 2\.3; .* firmware 9\.001\.0 .* 2\.3\.1/);
});

t.test('an unknown or invalid version causes no warning', async (t) => {
  for (const unknown of [null, '', 'unknown', '-']) t.notOk(isOld(unknown, unknown), String(unknown));
});

t.test('the warning is for unfinished Bluetooth operations only', async (t) => {
  const old = { firmware: '1', managementClient: '1' };
  const warned = (Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]).filter((operation) =>
    firmwareWarning({ operation, status: 'queued' }, old),
  );
  t.same(warned, ['getConnectivityState', 'setConnectivityState', 'listConnectivity', 'pairBluetooth']);
  const statuses = TRANSACTION_STATUSES.filter((status) => firmwareWarning({ ...asked, status }, old));
  t.same(statuses, ['queued', 'delivered', 'processing']);
  t.equal(firmwareWarning(asked, NEW), null);
});
