import { firmwareWarning, needsFirmware } from '../../core/transactions/firmware-warning.ts';
import { transactionBody } from '../../core/transactions/transaction-body.ts';
import type { TransactionRecord } from '../../core/transactions/transaction-repository.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice, AtTransaction } from './services.ts';

// Nothing that warns of old firmware is among them, so nobody has to know the device's.
const ANY = { firmware: null, managementClient: null };

/** Makes the body of a record of one device, with the warning that depends on what it last reported. */
async function bodyMaker(
  { statuses, formatTime }: Pick<ApiServices, 'statuses' | 'formatTime'>,
  deviceId: string,
  records: TransactionRecord[],
): Promise<(record: TransactionRecord) => object> {
  const versions = records.some(needsFirmware) ? await statuses.versions(deviceId) : ANY;
  return (record) => ({ ...transactionBody(record, formatTime), warning: firmwareWarning(record, versions) });
}

/** Transaction lookup. */
export async function readTransaction(services: ApiServices, { params }: AtTransaction): Promise<Answer> {
  const record = await services.transactions.find(params.applicationId, params.deviceId, params.transactionId);
  const bodyOf = await bodyMaker(services, params.deviceId, [record]);
  return { status: 200, body: bodyOf(record) };
}

/** Transaction list, newest first. The device is to be the caller's, as in op 4. */
export async function listTransactions(
  services: ApiServices,
  input: AtDevice<never, 'rest/transaction-list-query'>,
): Promise<Answer> {
  const { params, query, caller } = input;
  await services.devices.activationStatus(caller, params.deviceId);
  const page = await services.transactions.list(params.applicationId, params.deviceId, query);
  const bodyOf = await bodyMaker(services, params.deviceId, page.rows);
  const transactions = lazily(page.rows, bodyOf);
  const body = new JsonSlices({ transactions, total: page.total });
  return { status: 200, headers: page.next ? nextPageAfter(input, query, page.next) : {}, body };
}

/** Transaction cancel. */
export async function cancelTransaction({ transactions }: ApiServices, { params }: AtTransaction): Promise<Answer> {
  await transactions.cancel(params.applicationId, params.deviceId, params.transactionId);
  return { status: 204 };
}
