import { nameOf } from './request-name.ts';
import type { RequestKey } from './request-repository.ts';

/** A connection of a device that has subscribed to its responses. */
export interface ResponseLink {
  deviceId: string;
  /**
   * Writes one response; `acknowledged` runs at most once, at its PUBACK. Returns false when the connection cannot take it.
   */
  respond(payload: string, acknowledged: () => void): boolean;
}

type Answered = RequestKey & { answer: string | null };

interface Connection {
  readonly link: ResponseLink;
  /** The number of responses that were written to this connection and have no PUBACK yet. */
  written: number;
  /**
   * The names (`nameOf`) of requests whose answer was written to this connection and whose PUBACK is not stored yet. These
   * answers must not be written to it again.
   */
  readonly taken: Set<string>;
  /** Whether the database may hold answers that were not written on this connection. */
  backlog: boolean;
  reading: boolean;
  open: boolean;
}

interface Parts {
  /** Reads up to `limit` stored answers whose PUBACK is not stored, in the order in which their requests arrived. */
  read(deviceId: string, limit: number): Promise<Answered[]>;
  /** Stores that the device has acknowledged the answer of a request. */
  done(key: RequestKey): Promise<void>;
  /** Called when answers could not be read from the database, or a PUBACK not be stored; both are tried again. */
  failed(error: unknown): void;
  /** Calls a function later, to try again. */
  later(again: () => void): void;
}

/** The most responses without PUBACK on a connection; further ones wait in the database. */
export const RESPONSE_WINDOW = 16;

/**
 * Sends responses to connected devices, with at most RESPONSE_WINDOW of them without PUBACK. All others stay in the database,
 * the only queue, so that they take no memory. If none wait, an answer is written at once, without being read again. A
 * connection that ends keeps no state; the next one begins with the stored answers.
 */
export function createResponseSender({ read, done, failed, later }: Parts) {
  const connections = new Map<string, Connection>();

  function write(connection: Connection, key: RequestKey, text: string): void {
    const name = nameOf(key);
    connection.taken.add(name);
    connection.written += 1;
    // A response that the connection cannot take still counts: the connection is about to end, or its subscription has
    // ended.
    connection.link.respond(text, () => {
      connection.written -= 1;
      markDone(connection, key);
      void pump(connection);
    });
  }

  /** Stores the PUBACK of an answer; without it, the next connection gets the answer once more. */
  function markDone(connection: Connection, key: RequestKey): void {
    done(key).then(
      () => connection.taken.delete(nameOf(key)),
      (error: unknown) => {
        failed(error);
        later(() => connection.open && markDone(connection, key));
      },
    );
  }

  async function pump(connection: Connection): Promise<void> {
    if (connection.reading) return;
    connection.reading = true;
    try {
      while (connection.open && connection.backlog && connection.written < RESPONSE_WINDOW) {
        connection.backlog = false; // an answer that is stored during the read sets `backlog` again
        const limit = connection.taken.size + RESPONSE_WINDOW;
        // Answers whose PUBACK comes during the read must not be sent again: the read may still show them as
        // unacknowledged.
        const before = new Set(connection.taken);
        const found = await read(connection.link.deviceId, limit);
        const wanted = found.filter((one) => !before.has(nameOf(one)) && !connection.taken.has(nameOf(one)));
        const room = connection.open ? RESPONSE_WINDOW - connection.written : 0;
        if (wanted.length > room || found.length === limit) connection.backlog = true;
        for (const one of wanted.slice(0, room)) write(connection, one, one.answer ?? '');
      }
    } catch (error) {
      connection.backlog = true;
      failed(error);
      later(() => void pump(connection));
    } finally {
      connection.reading = false;
    }
  }

  return {
    /** The request whose answer is stored for a connection that could take it, and that nobody reads. */
    async overlooked(deviceId: string): Promise<string | undefined> {
      const connection = connections.get(deviceId);
      if (!connection || connection.backlog || connection.reading || connection.written >= RESPONSE_WINDOW)
        return undefined;
      const names = (await read(deviceId, connection.taken.size + 1)).map(nameOf);
      return names.find((name) => !connection.taken.has(name));
    },

    /** Reads the stored answers of a device. */
    wake(deviceId: string): void {
      const connection = connections.get(deviceId);
      if (!connection) return;
      connection.backlog = true;
      void pump(connection);
    },

    /** The devices that are connected and subscribed to their responses. */
    deviceIds: (): Iterable<string> => connections.keys(),

    /** Begins to send responses on a connection, first all stored ones. The returned function ends this. */
    open(link: ResponseLink): () => void {
      const former = connections.get(link.deviceId);
      if (former) former.open = false;
      const connection: Connection = {
        link,
        written: 0,
        taken: new Set(),
        backlog: true,
        reading: false,
        open: true,
      };
      connections.set(link.deviceId, connection);
      void pump(connection);
      return () => {
        connection.open = false;
        if (connections.get(link.deviceId) === connection) connections.delete(link.deviceId);
      };
    },

    /**
     * Sends the answer of a request, at most once on each connection. Without `text`, the answer is read from the
     * database.
     */
    answered(key: RequestKey, text?: string): void {
      const connection = connections.get(key.deviceId);
      if (!connection || connection.taken.has(nameOf(key))) return;
      const isNext = !connection.backlog && !connection.reading && connection.written < RESPONSE_WINDOW;
      if (text !== undefined && isNext) {
        write(connection, key, text);
        return;
      }
      connection.backlog = true;
      void pump(connection);
    },
  };
}
