import { firmwareWarning, needsFirmware } from '../../core/transactions/firmware-warning.ts';
import { transactionBody } from '../../core/transactions/transaction-body.ts';
import type { TransactionRecord } from '../../core/transactions/transaction-repository.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice, AtTransaction } from './services.ts';

type Services = Pick<ApiServices, 'transactions' | 'devices' | 'statuses' | 'formatTime'>;

// Used in place of the versions of the device when the warning of no record depends on them, which saves a read.
const ANY = { firmware: null, managementClient: null };

/**
 * Makes the function that turns a transaction of one device into a body. The body has a warning when the versions that
 * the device last reported are too old for the command.
 */
async function bodyMaker(
  { statuses, formatTime }: Services,
  deviceId: string,
  records: TransactionRecord[],
): Promise<(record: TransactionRecord) => object> {
  const versions = records.some(needsFirmware) ? await statuses.versions(deviceId) : ANY;
  return (record) => ({ ...transactionBody(record, formatTime), warning: firmwareWarning(record, versions) });
}

/** Reads a transaction. */
export async function readTransaction(services: Services, { params }: AtTransaction): Promise<Answer> {
  const record = await services.transactions.find(params.applicationId, params.deviceId, params.transactionId);
  const bodyOf = await bodyMaker(services, params.deviceId, [record]);
  return { status: 200, body: bodyOf(record) };
}

/** Lists the transactions of a device, newest first. The device must be activated for the caller's application. */
export async function listTransactions(
  services: Services,
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

/** Cancels a transaction. */
export async function cancelTransaction({ transactions }: Services, { params }: AtTransaction): Promise<Answer> {
  await transactions.cancel(params.applicationId, params.deviceId, params.transactionId);
  return { status: 204 };
}
