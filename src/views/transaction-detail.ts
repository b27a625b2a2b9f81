import type { TransactionDetail } from '../platform/contracts/types.ts';
import { withoutSecrets } from '../runtime/without-secrets.ts';
import { deliveryRow } from './delivery-row.ts';
import { transactionRow } from './transaction-row.ts';
import type { Detailed } from './transactions.ts';

/** Makes the body that shows a transaction with all its data, except secrets. */
export const transactionDetail = ({ record, warning, parameters, webhook }: Detailed): TransactionDetail => ({
  ...transactionRow(record, warning),
  parameters: withoutSecrets(parameters) as TransactionDetail['parameters'],
  result: withoutSecrets(record.result) as TransactionDetail['result'],
  webhook: webhook ? deliveryRow(webhook) : null,
});
