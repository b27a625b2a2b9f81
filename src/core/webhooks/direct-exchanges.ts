import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Clock } from '../../runtime/clock.ts';
import { closedByOtherSide } from './guarded-connect.ts';
import { createAnswerReader, type WholeAnswer } from './whole-answer.ts';

/** Milliseconds that an idle connection is kept, the same as undici's. */
const KEPT_MS = 4_000;
/** A connection is given up so long before the time that the receiver has named, at most after the longest time. */
const MARGIN_MS = 2_000;
const LONGEST_KEPT_MS = 600_000;
const SWEEP_MS = 1_000;
/**
 * The number of URLs, of some KiB each, and of origins that are remembered; above it the oldest is forgotten. A URL is just
 * parsed again. The connections of an origin are not used again, and are closed when their time is over.
 */
const MOST_URLS = 1_000;
const MOST_ORIGINS = 10_000;
/** After an answer that cannot be read here, so many messages to the same origin go through undici. */
const DETOUR = 1_000;
/** A header that has other characters is left to undici, which refuses it. */
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;

interface Origin {
  /** Where the connections lead. */
  target: buildConnector.Options;
  readAnswer: ReturnType<typeof createAnswerReader>;
  idle: Connection[];
  /** The number of messages that go through undici yet. */
  detour: number;
}

/** Where messages to a URL go. */
export interface Target {
  origin: Origin;
  /** The request's first lines, with the Host header. */
  head: string;
}

/** What happens to one message; exactly one of the first three is called, and nothing after `cut`. */
interface Exchange {
  answered(answer: WholeAnswer): void;
  /** `wasKept`: the connection had carried answers before, and ended without a byte of another one. */
  failed(cause: Error, wasKept: boolean): void;
  /** The answer has begun with `arrived`, which this client cannot read. The caller reads on, and closes the socket. */
  begun(socket: Socket, arrived: Buffer): void;
}

interface Sent {
  headers: Record<string, string>;
  body: string;
  again?: boolean;
}

interface Connection {
  socket: Socket;
  current: Exchange | undefined;
  answers: number;
  /** Until when the idle connection may be used, in microseconds. */
  until: number;
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value, most: number): void {
  if (known.size >= most && !known.has(key)) known.delete(known.keys().next().value as string);
  known.set(key, value);
}

interface Options {
  clock: Clock;
  connect: buildConnector.connector;
}

function parse(url: string): { origin: string; target: buildConnector.Options; head: string } {
  const { protocol, hostname, port, host, pathname, search, origin } = new URL(url);
  // A literal IPv6 address stands in brackets in a URL only.
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  return { origin, target: { protocol, hostname: bare, host, port }, head };
}

/**
 * Sends messages over HTTP/1.1, each with one write, one at a time per connection, and keeps connections. It reads only
 * plain answers (`createAnswerReader`), and takes half of the processor time that undici needs. An answer of another form
 * is handed on with its connection, and the next messages to that origin take the other way.
 */
export function createDirectExchanges({ clock, connect }: Options) {
  const origins = new Map<string, Origin>();
  const targets = new Map<string, Target>();
  const connections = new Set<Connection>();
  let stopSweep: (() => void) | undefined;
  let isClosed = false;

  /** Closes the connections that were idle for too long. */
  function sweep(): void {
    stopSweep = undefined;
    const now = clock.now();
    let isLeft = false;
    for (const { current, until, socket } of connections) {
      if (current) continue;
      if (until <= now) socket.destroy();
      else isLeft = true;
    }
    if (isLeft) stopSweep = clock.after(SWEEP_MS, sweep);
  }

  function keep(origin: Origin, connection: Connection, { closes, keepAliveSeconds }: WholeAnswer): void {
    const keptMs = keepAliveSeconds === null ? KEPT_MS : Math.min(keepAliveSeconds * 1000 - MARGIN_MS, LONGEST_KEPT_MS);
    if (closes || keptMs <= 0 || isClosed) {
      connection.socket.destroy();
      return;
    }
    connection.until = clock.now() + keptMs * 1000;
    origin.idle.push(connection);
    stopSweep ??= clock.after(SWEEP_MS, sweep);
  }

  function use(origin: Origin, socket: Socket): Connection {
    const connection: Connection = { socket, current: undefined, answers: 0, until: 0 };
    connections.add(connection);
    /** Ends the exchange, or takes the idle connection away. */
    const ended = (cause: Error): void => {
      const { current } = connection;
      connection.current = undefined;
      socket.destroy();
      if (current) current.failed(cause, connection.answers > 0);
      else origin.idle = origin.idle.filter((each) => each !== connection);
    };
    const closed = (): void => ended(closedByOtherSide());
    const arrived = (chunk: Buffer): void => {
      const { current } = connection;
      const answer = current && origin.readAnswer(chunk);
      connection.current = undefined;
      if (answer) {
        connection.answers += 1;
        keep(origin, connection, answer);
        current.answered(answer);
      } else if (current) {
        origin.detour = DETOUR;
        connections.delete(connection);
        socket.off('data', arrived).off('end', closed).off('error', ended).off('close', closed);
        current.begun(socket, chunk);
      } else ended(new Error('bytes that nobody has asked for'));
    };
    socket.on('data', arrived).on('end', closed).on('error', ended).on('close', closed);
    socket.on('close', () => connections.delete(connection));
    return connection;
  }

  function idleOf(origin: Origin): Connection | undefined {
    const now = clock.now();
    for (;;) {
      const connection = origin.idle.pop();
      if (!connection) return undefined;
      if (connection.until > now && !connection.socket.destroyed) return connection;
      connection.socket.destroy();
    }
  }

  return {
    /** Returns where a message goes; undefined when it must go another way. Throws when the URL is none. */
    targetOf(url: string): Target | undefined {
      let target = targets.get(url);
      if (!target) {
        const parsed = parse(url);
        const origin = origins.get(parsed.origin) ?? {
          target: parsed.target,
          readAnswer: createAnswerReader(),
          idle: [],
          detour: 0,
        };
        target = { origin, head: parsed.head };
        remember(origins, parsed.origin, origin, MOST_ORIGINS);
        remember(targets, url, target, MOST_URLS);
      }
      if (target.origin.detour === 0) return target;
      target.origin.detour -= 1;
      return undefined;
    },

    /**
     * Sends a message; returns a function that ends the exchange without an answer. `again`: a kept connection has ended
     * when the message was sent on it. The receiver may have closed others as well, so it goes on a new one.
     */
    send({ origin, head }: Target, { headers, body, again = false }: Sent, exchange: Exchange): () => void {
      let text = head;
      for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
      text += `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
      let connection = again ? undefined : idleOf(origin);
      let isCut = false;
      const begin = (on: Connection): void => {
        on.current = exchange;
        on.socket.write(text);
      };
      if (connection) begin(connection);
      else {
        connect(origin.target, (cause, socket) => {
          if (!socket) {
            if (!isCut) exchange.failed(cause as Error, false);
          } else if (isCut || isClosed) socket.destroy();
          else {
            connection = use(origin, socket);
            begin(connection);
          }
        });
      }
      return () => {
        isCut = true;
        if (connection?.current !== exchange) return;
        connection.current = undefined;
        connection.socket.destroy();
      };
    },

    /** Closes all connections. */
    close(): void {
      isClosed = true;
      stopSweep?.();
      for (const { socket } of connections) socket.destroy();
    },
  };
}

/** Whether all values may stand in headers as they are. */
export function arePlain(headers: Record<string, string>): boolean {
  for (const name in headers) if (!PLAIN_VALUE.test(headers[name] as string)) return false;
  return true;
}
