import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MOST_FILTERS, TYPE } from './packet-rules.ts';

/** Packets that a connection may send for each message that its device may send: acks and PUBACKs are packets, too. */
const PACKETS_PER_MESSAGE = 5;
const BURST_SECONDS = 2;
/**
 * A packet counts as one, and as one more for each further 32 bytes (of a SUBSCRIBE or UNSUBSCRIBE) or 1024 bytes (of
 * others). Topic filters are short, and each must be processed. The numbers are powers of two: 5 stands for 32.
 */
const BYTES_COUNTED = { filters: 5, others: 10 };
/** Milliseconds for which a connection is not read after it has sent as many packets as it may. */
const PAUSE_MILLISECONDS = 50;

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'mqttPaused'>;
  /** LAPEL_DEVICE_RATE_LIMIT: messages per second and device; 0 is no limit. */
  messageRate: number;
}

/**
 * Limits how many packets per second are read from each connection. The connection is not closed: packets above the
 * limit wait in its socket.
 */
export function createPacketAllowances({ clock, metrics, messageRate }: Parts) {
  const packetRate = messageRate * PACKETS_PER_MESSAGE;
  const burst = packetRate * BURST_SECONDS;
  const isLimited = packetRate > 0;

  return {
    /**
     * The number of packets that a packet counts as. It is at most the number for one second, so that the pause after
     * the packet ends before the keep-alive interval does.
     */
    costOf(type: number, length: number): number {
      const ofFilters = type === TYPE.SUBSCRIBE || type === TYPE.UNSUBSCRIBE;
      const size = ofFilters ? Math.min(MOST_FILTERS, length >> BYTES_COUNTED.filters) : length >> BYTES_COUNTED.others;
      return Math.min(packetRate, 1 + size);
    },

    /**
     * Begins to count the packets of one connection; `resume` is called when a pause has ended and it may be read
     * again.
     */
    open(resume: () => void) {
      let tokens = burst;
      let refilledAt = clock.now();
      let paused = false;

      function refill(): void {
        const now = clock.now();
        tokens = Math.min(burst, tokens + (Math.max(0, now - refilledAt) / 1_000_000) * packetRate);
        refilledAt = now;
      }

      function pause(): void {
        if (paused) return;
        paused = true;
        metrics.mqttPaused.inc();
        clock.after(PAUSE_MILLISECONDS, () => {
          paused = false;
          resume();
        });
      }

      return {
        isPaused: (): boolean => paused,

        /** The number of packets that may be read now, at most `most`. Begins a pause when it is 0. */
        packets(most: number): number {
          if (!isLimited) return most;
          if (tokens < most) refill();
          if (tokens < 1) pause();
          return Math.min(most, Math.floor(tokens));
        },

        /** True when packets that count as `cost` use up what is left for the connection. */
        isUsedUpBy: (cost: number): boolean => isLimited && cost >= tokens,

        take(cost: number): void {
          tokens -= cost;
        },
      };
    },
  };
}
