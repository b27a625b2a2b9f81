import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { ReceiverName } from './delivery.ts';
import { createReceiver, dropQueue, isIdle, type Receiver } from './receiver.ts';

/** Idle receivers are kept in memory (with their window and their kind) up to this number. */
const KEPT = 10_000;

const keyOf = ({ setting, applicationId }: ReceiverName): string => `${setting} ${applicationId}`;

const isBusy = ({ held, reading }: Receiver): boolean => held.size > 0 || reading;

/**
 * The receivers in memory. `share` says which receivers belong to this node: every receiver belongs to one of the
 * nodes, which sends its webhooks.
 */
export function createReceivers(share: ReceiverShare) {
  const receivers = new Map<string, Receiver>();
  const mine = (receiver: Receiver): boolean => share.mine(receiver.partition);

  return {
    mine,

    of(name: ReceiverName): Receiver {
      const key = keyOf(name);
      const known = receivers.get(key);
      if (known) return known;
      const receiver = createReceiver(name, share.partitionOf(name));
      receivers.set(key, receiver);
      return receiver;
    },

    /** The receiver, if it is in memory. */
    known: (name: ReceiverName): Receiver | undefined => receivers.get(keyOf(name)),

    /** Whether the receiver belongs to another node. */
    isElsewhere: (name: ReceiverName): boolean => !share.mine(share.partitionOf(name)),

    all: () => receivers.values(),

    /**
     * Drops a receiver from memory if it belongs to another node and none of its deliveries is in memory here, or if
     * too many receivers are in memory and the database has all that is known of this one.
     */
    forget(receiver: Receiver): void {
      const useless = mine(receiver) ? receivers.size > KEPT && isIdle(receiver) : !isBusy(receiver);
      if (useless) receivers.delete(keyOf(receiver));
    },

    /** Drops the queues of receivers that now belong to other nodes. */
    dropLost(): void {
      for (const receiver of receivers.values()) if (!mine(receiver)) dropQueue(receiver);
    },

    /**
     * Whether receivers that now belong to other nodes still have attempts, outcomes that are not stored yet, or reads
     * in progress on this node.
     */
    isHandingOver: (): boolean => receivers.values().some((receiver) => !mine(receiver) && isBusy(receiver)),

    /** The receivers for which `isHandingOver` is true. */
    leaving: (): Receiver[] =>
      receivers
        .values()
        .filter((receiver) => !mine(receiver) && isBusy(receiver))
        .toArray(),
  };
}
