import type { RequestKey } from './request-repository.ts';

/** One connected device that subscribes its responses. */
export interface ResponseLink {
  deviceId: string;
  /** Writes one response; `acknowledged` runs at most once, at its PUBACK. False: the connection cannot take it. */
  respond(payload: string, acknowledged: () => void): boolean;
}

type Answered = RequestKey & { answer: string | null };

interface Lane {
  readonly link: ResponseLink;
  /** Responses without PUBACK. */
  written: number;
  /** These, and those whose PUBACK came and is not stored yet, by `nameOf`: they are not written again here. */
  readonly taken: Set<string>;
  /** True while the database may hold answers that were not written here. */
  backlog: boolean;
  reading: boolean;
  open: boolean;
}

interface Parts {
  /** The stored answers that a device does not have, in order; of those the first ones. */
  read(deviceId: string, limit: number): Promise<Answered[]>;
  /** The device has the answer of a stored request; resolves when that is stored. */
  done(key: RequestKey): Promise<void>;
  /** Something could not be read: it comes again at the next connection. */
  failed(error: unknown): void;
}

/** Responses without PUBACK of one connection; the others wait in the database. */
export const RESPONSE_WINDOW = 16;

const nameOf = ({ requestId, receivedAt }: RequestKey): string => `${receivedAt} ${requestId}`;

/**
 * Responses on their way to connected devices: of each connection a few without PUBACK. All others are in the database, which
 * is the only queue, so those that wait take no memory. While nothing waits an answer is written at once, without being read
 * again. A connection that ends leaves nothing behind: the next one begins with what is stored.
 */
export function createResponseLanes({ read, done, failed }: Parts) {
  const lanes = new Map<string, Lane>();

  function write(lane: Lane, key: RequestKey, text: string): void {
    const name = nameOf(key);
    lane.taken.add(name);
    lane.written += 1;
    // One that the connection cannot take keeps its place: it is about to end, or subscribes no responses any more.
    lane.link.respond(text, () => {
      lane.written -= 1;
      done(key).then(() => lane.taken.delete(name), failed);
      void pump(lane);
    });
  }

  async function pump(lane: Lane): Promise<void> {
    if (lane.reading) return;
    lane.reading = true;
    try {
      while (lane.open && lane.backlog && lane.written < RESPONSE_WINDOW) {
        lane.backlog = false; // an answer that comes while they are read raises it again
        const limit = lane.taken.size + RESPONSE_WINDOW;
        // Also those that are done while this reads: what is read may be older than that.
        const before = new Set(lane.taken);
        const found = await read(lane.link.deviceId, limit);
        const wanted = found.filter((one) => !before.has(nameOf(one)) && !lane.taken.has(nameOf(one)));
        const room = lane.open ? RESPONSE_WINDOW - lane.written : 0;
        if (wanted.length > room || found.length === limit) lane.backlog = true;
        for (const one of wanted.slice(0, room)) write(lane, one, one.answer ?? '');
      }
    } catch (error) {
      lane.backlog = true;
      failed(error);
    } finally {
      lane.reading = false;
    }
  }

  return {
    /** A connection, which begins with all answers that are stored; the returned function ends it. */
    open(link: ResponseLink): () => void {
      const former = lanes.get(link.deviceId);
      if (former) former.open = false;
      const lane: Lane = { link, written: 0, taken: new Set(), backlog: true, reading: false, open: true };
      lanes.set(link.deviceId, lane);
      void pump(lane);
      return () => {
        lane.open = false;
        if (lanes.get(link.deviceId) === lane) lanes.delete(link.deviceId);
      };
    },

    /** A stored request has its answer; without `text` it is read. It is written once on a connection. */
    answered(key: RequestKey, text?: string): void {
      const lane = lanes.get(key.deviceId);
      if (!lane || lane.taken.has(nameOf(key))) return;
      if (text !== undefined && !lane.backlog && !lane.reading && lane.written < RESPONSE_WINDOW) {
        write(lane, key, text);
        return;
      }
      lane.backlog = true;
      void pump(lane);
    },
  };
}
