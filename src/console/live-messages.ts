import { type Clock, toUtc } from '../clock.ts';
import type { SeenMessage } from '../watch.ts';
import type { FeedItem } from './feed-stream.ts';
import { shownPayload } from './redact-payload.ts';

/** Messages of all devices of a stream that are shown in a second. */
export const MESSAGES_PER_SECOND = 50;
const SECOND = 1_000_000;

export type LiveMessages = ReturnType<typeof createLiveMessages>;

/** The messages that wait for a stream's next flush: so many a second, the others are counted. */
export function createLiveMessages(clock: Clock) {
  let waiting: { deviceId: string; item: FeedItem }[] = [];
  let dropped = 0;
  let since = 0;
  let taken = 0;
  let number = 0;

  return {
    add({ deviceId, direction, topic, qos, payload }: SeenMessage): void {
      const now = clock.now();
      if (now - since >= SECOND) {
        since = now;
        taken = 0;
      }
      if (taken >= MESSAGES_PER_SECOND || waiting.length >= MESSAGES_PER_SECOND) {
        dropped += 1;
        return;
      }
      taken += 1;
      number += 1;
      const value = { deviceId, at: toUtc(now), direction, topic: topic.slice(0, 256), qos, ...shownPayload(payload) };
      waiting.push({ deviceId, item: { topic: 'device', key: String(number), value } });
    },

    /** What waits, and how many were left out since. */
    take() {
      const taken = { messages: waiting, dropped };
      waiting = [];
      dropped = 0;
      return taken;
    },
  };
}
