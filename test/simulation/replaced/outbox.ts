import type { createOutbox as Real } from '../../../src/core/outbox/outbox.ts';
import { ofPresent } from '../present-witness.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/core/outbox/outbox.ts?real' as string)) as { createOutbox: typeof Real };

/** The real outbox, which tells what it writes and which PUBACKs it hears of, and gives devices the room of the world. */
export const createOutbox: typeof Real = (parts) => {
  const { commands, inFlight } = ofPresent();
  const { delivered, cancelDelivered, clock } = parts;
  const outbox = real.createOutbox({
    ...parts,
    ...(inFlight !== undefined && { window: inFlight }),
    delivered(deviceId, transactionId, answerWithin) {
      commands.acknowledged(transactionId, clock.now());
      delivered(deviceId, transactionId, answerWithin);
    },
    cancelDelivered(deviceId, transactionId) {
      commands.cancelAcknowledged(transactionId);
      cancelDelivered(deviceId, transactionId);
    },
  });
  return {
    ...outbox,
    open(link) {
      const room = commands.connected(link.deviceId);
      const close = outbox.open({
        ...link,
        publish(command, acknowledged, written, due) {
          const key = room.wrote(command);
          const free = (told: () => void) => (): void => {
            room.freed(key);
            told();
          };
          link.publish(command, free(acknowledged), free(written), due);
        },
      });
      return () => {
        room.closed();
        close();
      };
    },
    answered(deviceId, transactionId, isEnd) {
      commands.heard(deviceId, transactionId);
      outbox.answered(deviceId, transactionId, isEnd);
    },
  };
};
