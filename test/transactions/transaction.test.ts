import { readFileSync } from 'node:fs';
import t from 'tap';
import { OPERATIONS } from '../../src/core/transactions/operations.ts';
import {
  isFinished,
  nextStatus,
  TRANSACTION_STATUSES,
  type TransactionEvent,
  type TransactionStatus,
} from '../../src/core/transactions/transaction.ts';

const EVENTS: TransactionEvent[] = ['delivered', 'processing', 'succeeded', 'failed', 'cancelled'];

// The state diagram of the contract: queued --> delivered --> processing --> succeeded | failed, and cancelled from all three.
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

t.test('exactly succeeded, failed and cancelled are final', async (t) => {
  t.same(TRANSACTION_STATUSES.filter(isFinished), ['succeeded', 'failed', 'cancelled']);
});

t.test('the parameters of each operation have the schema that its row names', async (t) => {
  interface Branch {
    if?: { properties: { operation: { const?: string; enum?: string[] } } };
    then?: { properties: { parameters: { $ref: string } } };
    else?: Branch;
  }
  const file = new URL('../../schemas/mqtt/command.json', import.meta.url);
  const schemas: Record<string, string> = {};
  for (let branch = JSON.parse(readFileSync(file, 'utf8')) as Branch; branch?.if; branch = branch.else as Branch) {
    const { const: one, enum: several = [] } = branch.if.properties.operation;
    const schema = branch.then?.properties.parameters.$ref.replace(/^\.\/(.*)\.json$/, 'mqtt/$1') ?? '';
    for (const operation of one === undefined ? several : [one]) schemas[operation] = schema;
  }
  const { cancel, ...ofOperations } = schemas;
  t.equal(cancel, 'mqtt/cancel-parameters');
  t.same(ofOperations, Object.fromEntries(Object.entries(OPERATIONS).map(([name, { schema }]) => [name, schema])));
});
