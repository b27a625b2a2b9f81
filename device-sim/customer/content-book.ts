import type { CheckName } from '../promises/checks.ts';
import type { Look } from '../promises/looks.ts';
import { codeOf, REVERTED, wrongCancel, wrongIn, wrongResult } from './contents.ts';
import type { Counts } from './counts.ts';
import { differences } from './differences.ts';
import type { Entry, Outcome } from './entry.ts';
import type { Ledger, Sampled } from './ledger.ts';
import { createSample } from './sample.ts';
import type { Counted } from './scopes.ts';
import { isExpiry } from './stops.ts';
import type { createTroubleBook } from './trouble-book.ts';

/** The number of results that are compared with their transaction records at the end of a run. */
const SAMPLED = 64;

/** The check of an end that has a reason of its own; undefined if it is an answer of the device like others. */
function checkOf({ cancelledAt }: Entry, { status, error }: Outcome): CheckName | undefined {
  const code = codeOf(error);
  if (isExpiry(status, code)) return 'result-expired';
  if (code === REVERTED) return 'result-reverted';
  if (status === 'cancelled' && code === 'SUPERSEDED') return 'result-superseded';
  return cancelledAt === null ? undefined : 'result-cancelled';
}

/**
 * Compares commands with their requests, results with the answers of devices, and webhooks with their events. Each
 * difference counts in the figure `wrong`.
 */
export function createContentBook({
  of,
  phase: current,
  find,
  trouble,
  look,
}: {
  of: (phase: string, about?: Counted) => Counts;
  /** The present phase of the run. Differences that belong to no action count in it. */
  phase: () => string;
  find: (transactionId: number) => Entry | undefined;
  trouble: ReturnType<typeof createTroubleBook>['trouble'];
  look: Look;
}) {
  const sample = createSample<Sampled>(SAMPLED);

  const wrong: Ledger['wrong'] = ({ text, deviceId, transactionId, phase = current() }, found, at) => {
    const entry = transactionId === undefined ? undefined : find(transactionId);
    for (const { field, wanted, found: value } of found) {
      of(phase, entry ?? { deviceId }).add('wrong');
      trouble('wrong', phase, `${text} has the wrong ${field}: ${value} instead of ${wanted}`, at, entry, deviceId);
    }
  };
  const webhookOf = (transactionId: number): string => `the webhook of transaction ${transactionId}`;

  return {
    wrong,
    sample: sample.all,

    /**
     * Compares a command with its request. Does nothing until the device has the command and the customer has the 201.
     */
    command(entry: Entry, at: number): void {
      const { transactionId, deviceId, got, asked, phase } = entry;
      if (!got || phase === null) return;
      entry.got = null;
      if (asked) look('command-content');
      wrong({ text: `command ${transactionId}`, deviceId, transactionId, phase }, wrongIn(got, asked), at);
    },

    /**
     * Compares the result of a finished transaction with the answer of the device. `superseding`: the customer has asked
     * for a command of the device that may supersede others.
     */
    result(entry: Entry, at: number, superseding: boolean): void {
      const { transactionId, deviceId, outcome, phase } = entry;
      if (!outcome || phase === null) return;
      look('result-content');
      const of = checkOf(entry, outcome);
      if (of) look(of);
      wrong(
        { text: webhookOf(transactionId), deviceId, transactionId, phase },
        wrongResult(entry, outcome, superseding),
        at,
      );
      sample.add({ transactionId, deviceId, at, ...outcome });
      Object.assign(entry, { outcome: null, given: [] });
    },

    /** Compares the result of a transaction with the 204 to its cancel, if the result came first. */
    cancel(entry: Entry, at: number): void {
      const { transactionId, deviceId, result, phase } = entry;
      if (!result || phase === null) return;
      look('result-cancelled');
      wrong({ text: webhookOf(transactionId), deviceId, transactionId, phase }, wrongCancel(entry, result.status), at);
    },

    /** Compares the envelope of a webhook with the transaction in it. */
    envelope(
      { type, data }: { type: string; data: { deviceId: string } },
      { transactionId, deviceId, status }: { transactionId: number; deviceId: string; status: string },
      at: number,
    ): void {
      look('result-envelope');
      const found = [
        ...differences('type', `transaction.${status}`, type),
        ...differences('data.deviceId', deviceId, data.deviceId),
      ];
      wrong({ text: webhookOf(transactionId), deviceId, transactionId }, found, at);
    },
  };
}
