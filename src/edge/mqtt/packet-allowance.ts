import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { MOST_FILTERS, TYPE } from './packet-rules.ts';

/** A connection may cause so many times the packets that a device may send messages: acks and PUBACKs are packets too. */
const PACKETS_PER_MESSAGE = 5;
const BURST_SECONDS = 2;
/** A packet counts once more for each so many bytes, as powers of two: filters are short, and each is looked at. */
const BYTES_COUNTED = { filters: 5, others: 10 };
/** A connection that has used its allowance up is read again after this time. */
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
    /** The share of the allowance that a packet uses; at most that of a second, so that no keep-alive ends meanwhile. */
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

        /** How many packets may be read now, at most `most`. Begins a pause when it is none. */
        packets(most: number): number {
          if (!isLimited) return most;
          if (tokens < most) refill();
          if (tokens < 1) pause();
          return Math.min(most, Math.floor(tokens));
        },

        /** Whether packets of that cost use the allowance up. */
        isUsedUpBy: (cost: number): boolean => isLimited && cost >= tokens,

        take(cost: number): void {
          tokens -= cost;
        },
      };
    },
  };
}
