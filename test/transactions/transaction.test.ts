import t from 'tap';
import {
  isFinished,
  nextStatus,
  TRANSACTION_STATUSES,
  type TransactionEvent,
  type TransactionStatus,
} from '../../src/core/transactions/transaction.ts';

const EVENTS: TransactionEvent[] = ['delivered', 'processing', 'succeeded', 'failed', 'cancelled'];

// The picture of the contract: queued --> delivered --> processing --> succeeded | failed, and cancelled from all three.
const ALLOWED: Record<TransactionStatus, TransactionEvent[]> = {
  queued: ['delivered', 'processing', 'succeeded', 'failed', 'cancelled'],
  delivered: ['processing', 'succeeded', 'failed', 'cancelled'],
  processing: ['processing', 'succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

for (const status of TRANSACTION_STATUSES) {
  for (const event of EVENTS) {
    if (ALLOWED[status].includes(event)) {
      t.test(`${status}: ${event} moves it to ${event}`, async (t) => {
        t.equal(nextStatus(status, event), event);
      });
    } else {
      t.test(`${status}: ${event} changes nothing`, async (t) => {
        t.equal(nextStatus(status, event), null);
      });
    }
  }
}

t.test('exactly succeeded, failed and cancelled are the end', async (t) => {
  t.same(TRANSACTION_STATUSES.filter(isFinished), ['succeeded', 'failed', 'cancelled']);
});
