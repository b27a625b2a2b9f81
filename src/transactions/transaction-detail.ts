import type { TransactionDetail } from '../contracts/types.ts';
import { deliveryRow } from '../webhooks/delivery-row.ts';
import type { Detailed } from './overview.ts';
import { redacted } from './redacted.ts';
import { transactionRow } from './transaction-row.ts';

/** A transaction with all that is known of it, but for what is secret. */
export const transactionDetail = ({ record, warning, parameters, webhook }: Detailed): TransactionDetail => ({
  ...transactionRow(record, warning),
  parameters: redacted(parameters) as TransactionDetail['parameters'],
  result: redacted(record.result) as TransactionDetail['result'],
  webhook: webhook ? deliveryRow(webhook) : null,
});
