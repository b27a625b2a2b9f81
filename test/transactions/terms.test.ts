import t from 'tap';
import { expiryOf } from '../../src/core/transactions/terms.ts';
import type { TransactionStatus } from '../../src/core/transactions/transaction.ts';

const SECOND = 1_000_000;
const both = { expiresAt: 60 * SECOND, answerWithin: 90 };
const none = { expiresAt: null, answerWithin: null };
type Case = [status: TransactionStatus, terms: object, deliveredAt: number | null, at: number, code: string | null];

t.test('each state, and what its time ends it with', async (t) => {
  const cases: Case[] = [
    ['queued', both, null, 59, null],
    ['queued', both, null, 60, 'EXPIRED'],
    ['queued', { ...both, expiresAt: null }, null, 9999, null],
    ['queued', none, null, 9999, null],
    ['delivered', both, 50, 60, null],
    ['delivered', both, 50, 139, null],
    ['delivered', both, 50, 140, 'NO_ANSWER'],
    ['delivered', { ...both, answerWithin: null }, 50, 9999, null],
    ['processing', both, 50, 139, null],
    ['processing', both, 50, 140, 'NO_ANSWER'],
    ['succeeded', both, 50, 9999, null],
    ['failed', both, 50, 9999, null],
    ['cancelled', both, null, 9999, null],
  ];
  for (const [status, terms, deliveredAt, at, code] of cases) {
    const delivered = deliveredAt === null ? null : deliveredAt * SECOND;
    const end = expiryOf({ ...none, ...terms, status, deliveredAt: delivered }, at * SECOND);
    t.equal(end?.code ?? null, code, `${status} at ${at} with ${JSON.stringify(terms)}`);
    if (end) t.equal(end.status, 'failed');
  }
});
