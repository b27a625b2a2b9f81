import { crc32 } from 'node:zlib';
import type { Look } from '../promises/looks.ts';
import type { createContentBook } from './content-book.ts';
import type { Counts } from './counts.ts';
import type { DeviceBooks } from './device-books.ts';
import type { createElsewhere } from './elsewhere.ts';
import { type Entry, newEntry, type Outcome } from './entry.ts';
import type { Examples } from './examples.ts';
import type { Stage } from './figures.ts';
import type { OwedCancels } from './owed-cancels.ts';
import type { createRolloutBook } from './rollout-book.ts';
import type { Counted } from './scopes.ts';
import { isStopped } from './stops.ts';
import type { createTransactionBooks } from './transaction-books.ts';
import type { createTroubleBook } from './trouble-book.ts';

/** A finished transaction, as its webhook shows it. */
export type ResultOfWebhook = Omit<Outcome, 'error'> & {
  readonly transactionId: number;
  readonly deviceId: string;
  readonly error: { readonly code: string } | null;
  readonly rolloutId?: string | null;
  readonly createdAt: string;
  readonly completedAt: string | null;
};

/** A hash of a webhook-id, by which webhooks are told apart; never 0. */
export const markOf = (webhookId: string): number => crc32(webhookId) || 1;

interface Parts {
  readonly books: ReturnType<typeof createTransactionBooks>;
  readonly devices: DeviceBooks;
  readonly examples: Examples;
  readonly elsewhere: ReturnType<typeof createElsewhere>;
  readonly contents: ReturnType<typeof createContentBook>;
  readonly cancels: Pick<OwedCancels, 'ended'>;
  readonly rollouts: () => Pick<ReturnType<typeof createRolloutBook>, 'claims' | 'compare' | 'supersede'>;
  readonly of: (phase: string, about?: Counted) => Counts;
  /** The present phase of the run. */
  readonly phase: () => string;
  readonly trouble: ReturnType<typeof createTroubleBook>['trouble'];
  readonly double: (entry: Entry, text: string, at: number) => void;
  readonly took: (stage: Stage, entry: Entry, milliseconds: number) => void;
  /** Milliseconds of a span in which the simulator itself stood still. */
  readonly stoodStill: (from: number, to: number) => number;
  readonly lateAfter: number;
  readonly look: Look;
}

/** Enters the results of transactions, as webhooks bring them, into the books. */
export function createResultBook({
  books,
  devices,
  examples,
  elsewhere,
  contents,
  cancels,
  rollouts,
  of,
  phase: current,
  trouble,
  double,
  took,
  stoodStill,
  lateAfter,
  look,
}: Parts) {
  const { finished, find, meet, close } = books;

  /** Finishes an entry that has both its result and its 201. */
  function conclude(entry: Entry): void {
    const { transactionId, deviceId, phase, result, acknowledgedAt, requestedAt } = entry;
    if (phase === null || !result) return;
    const counts = of(phase, entry);
    close(entry);
    books.finish(entry);
    look('result-lost');
    cancels.ended(entry, result.at);
    if (isStopped(result)) devices.book(deviceId).stoppedAt = result.at;
    const superseding = devices.known(deviceId)?.superseding ?? false;
    contents.result(entry, result.at, superseding || rollouts().supersede(entry.rolloutId ?? result.rolloutId));
    rollouts().compare(entry, entry.rolloutId, result.rolloutId, result.at);
    if (result.status === 'succeeded' || result.status === 'failed' || result.status === 'cancelled')
      counts.add(result.status);
    if (result.status === 'failed' || result.status === 'cancelled') examples.ended(result.status, entry);
    if (result.status === 'failed' && result.code !== null) counts.addTo('failures', result.code);
    took('settled', entry, result.at - requestedAt);
    if (acknowledgedAt !== null) look('result-late');
    const wait = acknowledgedAt === null ? 0 : result.at - acknowledgedAt - stoodStill(acknowledgedAt, result.at);
    if (wait <= lateAfter && !entry.lost) return;
    if (entry.lost) counts.add('lost', -1);
    entry.lost = false;
    counts.add('late');
    const text = `the result of transaction ${transactionId} came ${(wait / 1000).toFixed(1)} s after the answer was acknowledged`;
    trouble('late', phase, text, result.at, entry);
  }

  return {
    conclude,

    receive(
      {
        transactionId,
        deviceId,
        operation,
        status,
        result,
        error,
        rolloutId = null,
        createdAt,
        completedAt,
      }: ResultOfWebhook,
      { webhookId, body }: { webhookId: string; body: Uint8Array },
      at: number,
    ): void {
      const mark = markOf(webhookId);
      const before = finished.of(transactionId);
      const content = crc32(body);
      look('result-once');
      if (before !== undefined) {
        const entry = find(transactionId) ?? newEntry(transactionId, deviceId, at);
        // Each attempt has its own timestamp, but the same content.
        const same = before === mark && (entry.result === null || entry.result.body === content);
        if (same) of(entry.phase ?? current(), entry).add('resent');
        else if (before === mark) double(entry, `one webhook-id of transaction ${transactionId} has two bodies`, at);
        else double(entry, `transaction ${transactionId} has a second result: ${status}, webhook ${webhookId}`, at);
        return;
      }
      const entry = meet(transactionId, deviceId, at);
      if (!entry) return;
      if (entry.former === mark && !entry.reopened) {
        of(current(), entry).add('resent');
        return;
      }
      finished.set(transactionId, mark);
      if (entry.phase !== null && entry.deviceId !== deviceId) elsewhere.resultOf(entry, deviceId, at);
      entry.result = { status, code: error?.code ?? null, webhookId, body: content, at, rolloutId };
      entry.outcome = { operation, status, result, error };
      // The customer has not seen the beginning of a rollout's transaction, so its terms count from the time in the webhook.
      if (rolloutId !== null && completedAt) entry.requestedAt = at - (Date.parse(completedAt) - Date.parse(createdAt));
      if (!rollouts().claims(entry, at)) conclude(entry);
    },
  };
}
