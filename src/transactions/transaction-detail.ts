import type { TransactionDetail } from '../contracts/types.ts';
import { deliveryRow } from '../webhooks/delivery-row.ts';
import { withoutSecrets } from '../without-secrets.ts';
import type { Detailed } from './overview.ts';
import { transactionRow } from './transaction-row.ts';

/** A transaction with all that is known of it, but for what is secret. */
export const transactionDetail = ({ record, warning, parameters, webhook }: Detailed): TransactionDetail => ({
  ...transactionRow(record, warning),
  parameters: withoutSecrets(parameters) as TransactionDetail['parameters'],
  result: withoutSecrets(record.result) as TransactionDetail['result'],
  webhook: webhook ? deliveryRow(webhook) : null,
});
