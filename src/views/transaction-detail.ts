import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import type { TransactionDetail } from '@lapel/schemas/contracts/types';
import { lateBody } from '../core/transactions/terms-body.ts';
import { toUtc } from '../runtime/clock.ts';
import { readTraceparent } from '../runtime/tracing.ts';
import { deliveryRow } from './delivery-row.ts';
import { transactionRow } from './transaction-row.ts';
import type { Detailed } from './transactions.ts';

function lateWithoutSecrets(record: Detailed['record']): Pick<TransactionDetail, 'late'> {
  const { late } = lateBody(record, toUtc);
  return late === undefined ? {} : { late: withoutSecrets(late) as NonNullable<TransactionDetail['late']> };
}

function traceOf({ traceparent }: Detailed['record']): Pick<TransactionDetail, 'traceId'> {
  const trace = traceparent === null ? undefined : readTraceparent(traceparent);
  return trace === undefined ? {} : { traceId: trace.traceId };
}

/** Makes the body that shows a transaction with all its data, except secrets. */
export const transactionDetail = ({ record, warning, parameters, webhook }: Detailed): TransactionDetail => ({
  ...transactionRow(record, warning),
  parameters: withoutSecrets(parameters) as TransactionDetail['parameters'],
  result: withoutSecrets(record.result) as TransactionDetail['result'],
  ...lateWithoutSecrets(record),
  ...traceOf(record),
  webhook: webhook ? deliveryRow(webhook) : null,
});
