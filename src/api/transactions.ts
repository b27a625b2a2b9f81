import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import { transactionBody } from '../transactions/transaction-body.ts';
import type { ApiServices, AtDevice, AtTransaction } from './services.ts';

/** Transaction lookup. */
export async function readTransaction(
  { transactions, formatTime }: ApiServices,
  { params }: AtTransaction,
): Promise<Answer> {
  const record = await transactions.find(params.applicationId, params.deviceId, params.transactionId);
  return { status: 200, body: transactionBody(record, formatTime) };
}

/** Transaction list, newest first. */
export async function listTransactions(
  { transactions, formatTime }: ApiServices,
  input: AtDevice<never, 'rest/transaction-list-query'>,
): Promise<Answer> {
  const { params, query } = input;
  const page = await transactions.list(params.applicationId, params.deviceId, query);
  return {
    status: 200,
    headers: nextPage(input, query, page.total),
    body: { transactions: page.transactions.map((record) => transactionBody(record, formatTime)), total: page.total },
  };
}

/** Transaction cancel. */
export async function cancelTransaction({ transactions }: ApiServices, { params }: AtTransaction): Promise<Answer> {
  await transactions.cancel(params.applicationId, params.deviceId, params.transactionId);
  return { status: 204 };
}
