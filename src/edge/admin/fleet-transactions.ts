import type { TransactionQuery, TransactionsCancel } from '@lapel/schemas/contracts/types';
import { transactionDetail } from '../../views/transaction-detail.ts';
import { readOverviewQuery } from '../../views/transaction-query.ts';
import { transactionRow } from '../../views/transaction-row.ts';
import type { Listed } from '../../views/transactions.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { Administrator } from './authorize.ts';
import type { AdminServices } from './services.ts';
import { shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'overview' | 'clock' | 'cancellation'>;

/** Makes the body of a list of transactions, which is turned into text while it is sent. */
export const transactionRows = (rows: readonly Listed[]): JsonSlices =>
  new JsonSlices({ transactions: lazily(rows, ({ record, warning }) => transactionRow(record, warning)) });

export async function listFleetTransactions(
  { overview, clock }: Services,
  input: Input<unknown, unknown, TransactionQuery>,
): Promise<Answer> {
  const query = readOverviewQuery(input.query, { now: clock.now(), ...periodOf(input.query) });
  const { rows, next } = await overview.list(query);
  const headers = next === undefined ? {} : nextPageAfter(input, query, { after: next });
  return { status: 200, headers, body: transactionRows(rows) };
}

type AtTransaction = Input<{ transactionId: number }, unknown, unknown, Administrator>;

export async function readFleetTransaction(
  { overview }: Services,
  { params, caller, changed }: AtTransaction,
): Promise<Answer> {
  const detail = transactionDetail(await overview.find(params.transactionId));
  await changed({}, [{ kind: 'device', id: detail.deviceId }]);
  return { status: 200, body: shownTo(caller).transaction(detail) };
}

export async function cancelFleetTransaction({ cancellation }: Services, { params }: AtTransaction): Promise<Answer> {
  await cancellation.one(params.transactionId);
  return { status: 204 };
}

export async function cancelFleetTransactions(
  { cancellation }: Services,
  { body }: Input<unknown, TransactionsCancel>,
): Promise<Answer> {
  return { status: 200, body: { results: await cancellation.each(body.transactionIds) } };
}
