import type { Told, TransactionId } from '../closed-loop.ts';

/** The fate of the commands that were answered with 201 in a run of kills. */
export interface Tally {
  accepted: number;
  /** No webhook has told their result. */
  lost: number;
  /** Several webhooks with different ids have told their result, so that a receiver takes them for different events. */
  doubled: number;
  /** A webhook has told another result than the device's, or the result of a command that no device has got. */
  wrong: number;
  /** The device has got the command more than once, and recognized it by its id. */
  repeated: number;
}

export interface Books {
  /** A caller has got 201 for this command. */
  accepted(id: TransactionId): void;
  /** A device has got the command; returns the answer that it gives now, and gives again when the command comes again. */
  carriedOut(id: TransactionId): string;
  /** The receiver has got a webhook. */
  told(webhook: Told): void;
  isTold(id: TransactionId): boolean;
  /** Resolves with true as soon as the command has been told, or with false after this time. */
  untilTold(id: TransactionId, milliseconds: number): Promise<boolean>;
  /** The accepted commands that nothing has told yet. */
  open(): number;
  tally(): Tally;
}

/**
 * The books of callers, devices and receiver, which the kills do not touch. Every other command fails at its device, so that
 * a result that was made up shows.
 */
export function createBooks(): Books {
  const acceptedIds = new Set<TransactionId>();
  const saidOf = new Map<TransactionId, { status: string; times: number }>();
  const toldOf = new Map<TransactionId, Told[]>();
  const waiting = new Map<TransactionId, () => void>();

  const open = (): number => {
    let count = 0;
    for (const id of acceptedIds) if (!toldOf.has(id)) count += 1;
    return count;
  };

  return {
    accepted: (id) => void acceptedIds.add(id),
    carriedOut(id) {
      const said = saidOf.get(id) ?? { status: saidOf.size % 2 === 0 ? 'succeeded' : 'failed', times: 0 };
      said.times += 1;
      saidOf.set(id, said);
      return said.status;
    },
    told(webhook) {
      const id = webhook.transaction.transactionId;
      const all = toldOf.get(id) ?? [];
      all.push(webhook);
      toldOf.set(id, all);
      waiting.get(id)?.();
    },
    isTold: (id) => toldOf.has(id),
    async untilTold(id, milliseconds) {
      if (toldOf.has(id)) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), milliseconds);
      waiting.set(id, () => resolve(true));
      const isTold = await promise;
      clearTimeout(timer);
      waiting.delete(id);
      return isTold;
    },
    open,
    tally() {
      const all = [...acceptedIds];
      const webhooksOf = (id: TransactionId): Told[] => toldOf.get(id) ?? [];
      const count = (isSo: (id: TransactionId) => boolean): number => all.filter(isSo).length;
      return {
        accepted: all.length,
        lost: open(),
        doubled: count((id) => new Set(webhooksOf(id).map(({ webhookId }) => webhookId)).size > 1),
        wrong: count((id) => webhooksOf(id).some(({ transaction }) => transaction.status !== saidOf.get(id)?.status)),
        repeated: count((id) => (saidOf.get(id)?.times ?? 0) > 1),
      };
    },
  };
}
