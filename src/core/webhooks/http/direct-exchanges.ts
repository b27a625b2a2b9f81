import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Clock } from '../../../runtime/clock.ts';
import { type Answered, AnswerReader, type Remembered } from './answer-reader.ts';
import { ClosedByReceiver, type Exchange, type Exchanges, type Sent } from './exchange.ts';
import type { Keepable, KeptConnections } from './kept-connections.ts';

/** Milliseconds that an idle connection is kept without a hint of the receiver. */
const KEPT_MS = 4_000;
/** A connection is given up so long before the time that the receiver has named, at most after the longest time. */
const MARGIN_MS = 2_000;
const LONGEST_KEPT_MS = 30_000;
const SWEEP_MS = 1_000;
/**
 * The number of URLs, of some KiB each, and of origins that are remembered; above it the oldest is forgotten. A URL is just
 * parsed again. The connections of an origin are not used again, and are closed when their time is over.
 */
const MOST_URLS = 1_000;
const MOST_ORIGINS = 10_000;
/** Other characters could end a header early. */
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;

interface Origin {
  /** Where the connections lead. */
  target: buildConnector.Options;
  remembered: Remembered;
  idle: Connection[];
}

interface Target {
  origin: Origin;
  /** The request's first lines, with the Host header. */
  head: string;
}

interface Connection extends Keepable {
  socket: Socket;
  current: { exchange: Exchange; reader: AnswerReader | undefined } | undefined;
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
  kept: KeptConnections;
}

/** Takes a URL apart for a request. Throws when it is none. */
export function parse(url: string) {
  const { protocol, hostname, port, host, pathname, search, origin } = new URL(url);
  // A literal IPv6 address stands in brackets in a URL only.
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const target: buildConnector.Options = { protocol, hostname: bare, host, port };
  return { origin, target, host, path: pathname + search };
}

/**
 * Sends messages over HTTP/1.1, each with one write, one at a time per connection, and keeps connections. It takes half of
 * the processor time that a general client needs.
 */
export function createDirectExchanges({ clock, connect, kept }: Options): Exchanges {
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

  function keep(origin: Origin, connection: Connection, { closes, keepAliveSeconds }: Answered): void {
    const keptMs = keepAliveSeconds === null ? KEPT_MS : Math.min(keepAliveSeconds * 1000 - MARGIN_MS, LONGEST_KEPT_MS);
    if (closes || keptMs <= 0 || isClosed) {
      connection.socket.destroy();
      return;
    }
    connection.until = clock.now() + keptMs * 1000;
    origin.idle.push(connection);
    kept.keep(connection);
    stopSweep ??= clock.after(SWEEP_MS, sweep);
  }

  function use(origin: Origin, socket: Socket, owner: string): Connection {
    const connection: Connection = { socket, owner, current: undefined, answers: 0, until: 0 };
    connections.add(connection);
    /** Ends the exchange, or takes the idle connection away. */
    const ended = (cause: Error): void => {
      const { current } = connection;
      connection.current = undefined;
      socket.destroy();
      if (!current) {
        kept.release(connection);
        origin.idle = origin.idle.filter((each) => each !== connection);
      } else if (current.reader) current.exchange.failed(cause, { part: current.reader.answer() });
      else current.exchange.failed(cause, { wasKept: connection.answers > 0 });
    };
    const finish = (exchange: Exchange, reader: AnswerReader): void => {
      const answer = reader.answer() as Answered;
      connection.current = undefined;
      connection.answers += 1;
      keep(origin, connection, answer);
      exchange.answered(answer);
    };
    const closed = (): void => {
      const { current } = connection;
      if (current?.reader?.end()) finish(current.exchange, current.reader);
      else ended(new ClosedByReceiver());
    };
    const arrived = (chunk: Buffer): void => {
      const { current } = connection;
      if (!current) {
        ended(new Error('bytes that nobody has asked for'));
        return;
      }
      current.reader ??= new AnswerReader(origin.remembered);
      try {
        if (current.reader.push(chunk)) finish(current.exchange, current.reader);
      } catch (cause) {
        ended(cause as Error);
      }
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
      kept.release(connection);
      if (connection.until > now && !connection.socket.destroyed) return connection;
      connection.socket.destroy();
    }
  }

  function targetOf(url: string): Target {
    const known = targets.get(url);
    if (known) return known;
    const parsed = parse(url);
    const origin = origins.get(parsed.origin) ?? {
      target: parsed.target,
      remembered: { text: '', head: undefined },
      idle: [],
    };
    const target = {
      origin,
      head: `POST ${parsed.path} HTTP/1.1\r\nhost: ${parsed.host}\r\nconnection: keep-alive\r\n`,
    };
    remember(origins, parsed.origin, origin, MOST_ORIGINS);
    remember(targets, url, target, MOST_URLS);
    return target;
  }

  function textOf(head: string, { headers, body }: Sent): string {
    let text = head;
    for (const name in headers) {
      const value = headers[name] as string;
      if (!PLAIN_VALUE.test(value)) throw new Error(`invalid ${name} header`);
      text += `${name}: ${value}\r\n`;
    }
    return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  return {
    send(url, sent, exchange) {
      const { origin, head } = targetOf(url);
      const text = textOf(head, sent);
      // A receiver that has closed one kept connection may have closed others as well.
      let connection = sent.again === true ? undefined : idleOf(origin);
      let isCut = false;
      const begin = (on: Connection): void => {
        on.owner = sent.owner;
        on.current = { exchange, reader: undefined };
        on.socket.write(text);
      };
      if (connection) begin(connection);
      else {
        connect(origin.target, (cause, socket) => {
          if (!socket) {
            if (!isCut) exchange.failed(cause as Error, {});
          } else if (isCut || isClosed) socket.destroy();
          else {
            connection = use(origin, socket, sent.owner);
            begin(connection);
          }
        });
      }
      return () => {
        isCut = true;
        const current = connection?.current;
        if (!connection || current?.exchange !== exchange) return undefined;
        connection.current = undefined;
        connection.socket.destroy();
        return current.reader?.answer();
      };
    },

    close(): void {
      isClosed = true;
      stopSweep?.();
      for (const { socket } of connections) socket.destroy();
    },
  };
}
