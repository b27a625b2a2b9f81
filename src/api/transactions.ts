import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import { firmwareWarning, needsFirmware } from '../transactions/firmware-warning.ts';
import { transactionBody } from '../transactions/transaction-body.ts';
import type { TransactionRecord } from '../transactions/transaction-repository.ts';
import type { ApiServices, AtDevice, AtTransaction } from './services.ts';

// Nothing that warns of old firmware is among them, so nobody has to know the device's.
const ANY = { firmware: null, managementClient: null };

/** Records of one device, with the warning that depends on what it last reported. */
async function bodiesOf(
  { statuses, formatTime }: Pick<ApiServices, 'statuses' | 'formatTime'>,
  deviceId: string,
  records: TransactionRecord[],
): Promise<object[]> {
  const versions = records.some(needsFirmware) ? await statuses.versions(deviceId) : ANY;
  return records.map((record) => ({
    ...transactionBody(record, formatTime),
    warning: firmwareWarning(record, versions),
  }));
}

/** Transaction lookup. */
export async function readTransaction(services: ApiServices, { params }: AtTransaction): Promise<Answer> {
  const record = await services.transactions.find(params.applicationId, params.deviceId, params.transactionId);
  const [body = {}] = await bodiesOf(services, params.deviceId, [record]);
  return { status: 200, body };
}

/** Transaction list, newest first. */
export async function listTransactions(
  services: ApiServices,
  input: AtDevice<never, 'rest/transaction-list-query'>,
): Promise<Answer> {
  const { params, query } = input;
  const page = await services.transactions.list(params.applicationId, params.deviceId, query);
  return {
    status: 200,
    headers: nextPage(input, query, page.total),
    body: { transactions: await bodiesOf(services, params.deviceId, page.transactions), total: page.total },
  };
}

/** Transaction cancel. */
export async function cancelTransaction({ transactions }: ApiServices, { params }: AtTransaction): Promise<Answer> {
  await transactions.cancel(params.applicationId, params.deviceId, params.transactionId);
  return { status: 204 };
}
