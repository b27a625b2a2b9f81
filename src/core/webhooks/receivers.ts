import type { ReceiverShare } from '../../platform/cluster/partitions.ts';
import type { ReceiverName } from './delivery.ts';
import { createReceiver, dropQueue, isIdle, type Receiver } from './receiver.ts';

/** Receivers with nothing to do are remembered (their window, and that they answer at once) up to this number. */
const KEPT = 10_000;

const keyOf = ({ setting, applicationId }: ReceiverName): string => `${setting} ${applicationId}`;

const isBusy = ({ held, reading }: Receiver): boolean => held.size > 0 || reading;

/** The receivers that this process knows, and which of them are its own. */
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

    /** True when another node has it. */
    isElsewhere: (name: ReceiverName): boolean => !share.mine(share.partitionOf(name)),

    all: () => receivers.values(),

    /** What the database knows as well, or what another node has, need not be remembered. */
    forget(receiver: Receiver): void {
      const useless = mine(receiver) ? receivers.size > KEPT && isIdle(receiver) : !isBusy(receiver);
      if (useless) receivers.delete(keyOf(receiver));
    },

    /** What is queued for receivers of other nodes is left to those. */
    letGo(): void {
      for (const receiver of receivers.values()) if (!mine(receiver)) dropQueue(receiver);
    },

    /** Whether something is under way for receivers that are not this node's any more. */
    letsGo: (): boolean => receivers.values().some((receiver) => !mine(receiver) && isBusy(receiver)),
  };
}
