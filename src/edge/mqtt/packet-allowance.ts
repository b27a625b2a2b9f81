import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MOST_FILTERS, TYPE } from './packet-rules.ts';

/** Packets that a connection may send per message that the device may send: acks and PUBACKs are packets, too. */
const PACKETS_PER_MESSAGE = 5;
const BURST_SECONDS = 2;
/**
 * A packet counts once more for each further 32 bytes of filters, or 1024 bytes of other content (as powers of two).
 * Filters are short, and each one must be processed.
 */
const BYTES_COUNTED = { filters: 5, others: 10 };
/** Milliseconds after which a connection that has used up its allowance is read again. */
const PAUSE_MILLISECONDS = 50;

interface Parts {
  clock: Clock;
  metrics: Pick<Metrics, 'mqttPaused'>;
  /** LAPEL_DEVICE_RATE_LIMIT: messages per second and device; 0 is no limit. */
  messageRate: number;
}

/** The allowances of packets, one for each connection. */
export function createPacketAllowances({ clock, metrics, messageRate }: Parts) {
  const packetRate = messageRate * PACKETS_PER_MESSAGE;
  const burst = packetRate * BURST_SECONDS;
  const isLimited = packetRate > 0;

  return {
    /** The cost of a packet; at most the allowance of one second, so that no keep-alive expires during the pause. */
    costOf(type: number, length: number): number {
      const ofFilters = type === TYPE.SUBSCRIBE || type === TYPE.UNSUBSCRIBE;
      const size = ofFilters ? Math.min(MOST_FILTERS, length >> BYTES_COUNTED.filters) : length >> BYTES_COUNTED.others;
      return Math.min(packetRate, 1 + size);
    },

    /** The allowance of one connection; `resume` is called when a pause has ended. */
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

        /** True when packets of this cost use up the allowance. */
        isUsedUpBy: (cost: number): boolean => isLimited && cost >= tokens,

        take(cost: number): void {
          tokens -= cost;
        },
      };
    },
  };
}
