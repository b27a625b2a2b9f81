import type { Duplex } from 'node:stream';
import type { Client, SubscribePacket } from 'aedes';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import { type Packet, takeReading } from './aedes-internals.ts';
import { createConnectionEnd } from './connection-end.ts';
import { createPacketAllowances } from './packet-allowance.ts';
import { createPacketReader, type Found } from './packet-reader.ts';
import { packetFault, TYPE, UNKNOWN_LEVEL } from './packet-rules.ts';
import { createReadingShare } from './reading-share.ts';

/** Largest remaining length of a packet, in bytes: before a client is logged in, and after. */
const PACKET_LIMITS = { beforeLogin: 4 * 1024, afterLogin: 256 * 1024 };

/** Packets of one connection that are in work at a time; the others wait in its socket. */
const WINDOW = 32;
/** Packets that are handed on in one go, and their bytes; a longer one goes alone. */
const RUN = { packets: 8, bytes: 8 * 1024 };
/** Packets of such a run while other connections wait for their turn. */
const SHARED_RUN = 4;
/** Levels of a topic; Aedes takes no more. */
const DEEPEST_TOPIC = 100;
/** The first byte of the first packet. */
const CONNECT = TYPE.CONNECT << 4;
/** CONNACK: the server does not speak this level [MQTT-3.1.2-2]. */
const UNACCEPTABLE_LEVEL = 1;

interface Parts {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: Metrics;
  /** LAPEL_DEVICE_RATE_LIMIT: messages per second and device; 0 is no limit. */
  messageRate: number;
  /** The developer of a device that is logged in, where that is known. */
  ownerOf(deviceId: string): string | undefined;
  /** A packet of a device that is logged in came, of whatever kind. */
  heard(deviceId: string): void;
  /** Whether a SUBSCRIBE or UNSUBSCRIBE of so many filters is within the rate of the device; else its connection ends. */
  mayAsk(client: Client, filters: number): boolean;
  /** A SUBSCRIBE is about to be carried out. */
  subscribes(packet: SubscribePacket): void;
  /** True while a publish to the client with this packet identifier waits for its PUBACK. */
  awaitsPuback(client: Client, messageId: number): boolean;
  /** The CONNECT has come to its end, well or not. */
  loginEnded(client: Client): void;
  /** The connection is about to end: nothing more is to be written to it but the answers to what is in work. */
  ending(client: Client): void;
}

/** What the listener knows of a connection. */
export interface Connection {
  /** Where it comes from. */
  address: string;
  /** The whole CONNECT has come. */
  spoke(): void;
  loggedIn(): void;
  /** Its CONNECT was refused. */
  refused(): void;
}

export interface Guarded {
  /** Answers a CONNACK with a code other than 0 and ends the connection. */
  refuse(code: number): void;
}

/**
 * Stands in front of Aedes: reads the socket, finds the packets in what came, judges each as a whole and hands it on. A
 * packet that breaks the protocol ends its connection, and nothing else. What is in work is bounded per connection, in
 * number (WINDOW) and in rate, by not reading on: so no device holds up another's packets, and none of its own is lost.
 * All of them together share the event loop with the rest of the service (createReadingShare).
 * Behind CONNECT nothing is handed on until the login is done: a client may send on at once [MQTT-3.1.4]. A connection
 * that ends for what it sent gets the answers to all that came before: they would be lost with a socket that is cut off.
 */
export function createPacketGuard(parts: Parts) {
  const {
    clock,
    log,
    logLimit,
    metrics,
    messageRate,
    ownerOf,
    heard,
    mayAsk,
    subscribes,
    awaitsPuback,
    loginEnded,
    ending,
  } = parts;
  const share = createReadingShare();
  const allowances = createPacketAllowances({ clock, metrics, messageRate });

  /** Before a packet is carried out; why its connection has to end, if it has. */
  function packet(client: Client, parsed: Packet): string | undefined {
    if (parsed.cmd === 'subscribe' || parsed.cmd === 'unsubscribe') {
      const filters = parsed.cmd === 'subscribe' ? parsed.subscriptions : parsed.unsubscriptions;
      if (parsed.cmd === 'subscribe') subscribes(parsed);
      return mayAsk(client, filters.length) ? undefined : 'more packets per second than a device may send';
    }
    // Aedes would end the connection for a topic that is too deep; it is just one more that is not the device's.
    if (parsed.cmd === 'publish' && parsed.topic.length > DEEPEST_TOPIC) {
      parsed.topic = parsed.topic.split('/', DEEPEST_TOPIC).join('/');
    }
    return undefined;
  }

  return function guard(client: Client, conn: Duplex, connection: Connection): Guarded {
    const { address } = connection;
    const reader = createPacketReader();
    let phase: 'waiting' | 'connecting' | 'open' | 'ending' = 'waiting';
    let loginRuns = true;
    let inWork = 0;
    let reading = false;
    const allowance = allowances.open(read);
    const finish = createConnectionEnd({ clock, client, conn, discard: read, cut: fail });
    let turn: 'none' | 'waits' | 'given' = 'none';

    const aedes = takeReading(client, {
      readable: read,
      packet(parsed) {
        const reason = packet(client, parsed);
        if (reason !== undefined) end(reason); // it is the last that is answered
      },
      connected() {
        if (phase !== 'connecting') return;
        phase = 'open';
        connection.loggedIn();
        read();
      },
      done(error) {
        inWork -= 1;
        if (error && !client.closed) end(error.message);
        if (loginRuns) {
          loginRuns = false;
          loginEnded(client);
        }
        if (phase === 'ending' && inWork === 0) finish();
        else if (inWork <= WINDOW / 2) read();
      },
    });

    /** How many more packets may be handed on now. */
    function room(): number {
      if (phase === 'waiting') return 1;
      if (phase !== 'open') return 0;
      return Math.min(WINDOW - inWork, allowance.packets(WINDOW));
    }

    const mayRead = (): boolean => phase === 'waiting' || phase === 'open';

    /** Whether a packet may be handed on in this turn of the event loop; else the next turn asks again. */
    function mayHandOn(): boolean {
      if (phase !== 'open' || turn === 'given' || share.free()) return true;
      turn = 'waits';
      share.wait(resume, { developerId: ownerOf(client.id) ?? '', deviceId: client.id }, reader.length);
      return false;
    }

    const waitsForTurn = (): boolean => turn === 'waits' && phase === 'open';

    function resume(): void {
      turn = 'given';
      read();
      if (turn === 'given') turn = 'none';
    }

    /** Hands on what may be, and reads on while nothing waits that has come. */
    function read(): void {
      if (reading || waitsForTurn()) return;
      reading = true;
      try {
        while (!client.closed && mayRead()) {
          const handed = handOn();
          if (handed === 'a run') continue;
          if (handed === 'waits') {
            if (inWork > 0 || allowance.isPaused() || waitsForTurn() || phase !== 'open') break;
            continue; // all was done at once
          }
          if (!mayRead()) break;
          const chunk = conn.read() as Buffer | null;
          if (chunk === null) break;
          reader.push(chunk);
        }
        // What comes on a connection that ends is thrown away, so that the other side's end is seen.
        while (phase === 'ending' && !client.closed && conn.read() !== null);
      } finally {
        reading = false;
      }
    }

    /** Hands on whole packets as one run: there may be more; one has come that must wait, or must not; or all is handed on. */
    function handOn(): 'a run' | 'waits' | 'all' {
      const most = room();
      let longest = RUN.packets;
      const limit = phase === 'open' ? PACKET_LIMITS.afterLogin : PACKET_LIMITS.beforeLogin;
      let count = 0;
      let releases = 0;
      let cost = 0;
      let bytes = 0;
      let waits = false;
      let isFull = false;
      let fault: string | undefined;
      for (;;) {
        const found = reader.look(limit);
        if (found === 'none') break;
        waits = count >= most || (count > 0 && allowance.isUsedUpBy(cost));
        if (waits) break;
        if (phase === 'waiting' && reader.first !== CONNECT) {
          fault = '[MQTT-3.1.0-1] not a CONNECT';
          break;
        }
        if (found === 'part') break;
        fault = found === 'whole' ? faultOf() : unreadable(found, limit);
        if (fault !== undefined) break;
        // DISCONNECT ends the connection at once: all that came before it is answered first. PUBREL releases what must
        // have been stored: it goes together with others of its kind only.
        const type = reader.first >> 4;
        waits =
          (type === TYPE.DISCONNECT && inWork + count > 0) ||
          (type === TYPE.PUBREL && (inWork > 0 || count > releases));
        bytes += reader.length;
        waits ||= count === 0 && !mayHandOn();
        if (waits) break;
        if (turn === 'given') longest = SHARED_RUN;
        isFull = count > 0 && (count >= longest || bytes > RUN.bytes);
        if (isFull) break;
        if (type === TYPE.PUBREL) releases += 1;
        cost += allowances.costOf(type, reader.length);
        reader.see();
        count += 1;
      }
      if (count > 0) hand(reader.take(), count, cost);
      if (fault !== undefined) violated(fault);
      if (waits || fault !== undefined) return 'waits';
      return isFull ? 'a run' : 'all';
    }

    function unreadable(found: Found, limit: number): string {
      if (found === 'bad length') return '[MQTT-2.2.3] remaining length of more than four bytes';
      metrics.mqttRefused.inc({ reason: 'packet_size' });
      return `packet of ${reader.length} bytes is larger than ${limit}`;
    }

    /** What is wrong with the packet that the reader has found. */
    function faultOf(): string | undefined {
      const { bytes, first, start } = reader;
      const type = first >> 4;
      const fault = packetFault(bytes, first, start, reader.end);
      if (fault !== undefined) return fault;
      if (phase === 'open' && type === TYPE.CONNECT) return '[MQTT-3.1.0-2] a second CONNECT';
      const ofQos2 = type === TYPE.PUBREC || type === TYPE.PUBCOMP; // nothing of that QoS is ever sent to a device
      if (ofQos2 && awaitsPuback(client, bytes.readUInt16BE(start))) return '[MQTT-4.3.2-1] no answer to QoS 1';
      return undefined;
    }

    function hand(run: Buffer, count: number, cost: number): void {
      inWork += count;
      allowance.take(cost);
      if (phase === 'waiting') {
        phase = 'connecting';
        connection.spoke();
      } else heard(client.id);
      turn = 'none';
      share.begins(phase === 'open' ? ownerOf(client.id) : undefined);
      aedes.feed(run);
    }

    function violated(clause: string): void {
      const open = phase === 'open';
      const where = { address, ...(open && { deviceId: client.id }), clause };
      metrics.mqttMalformed.inc({ when: open ? 'after_login' : 'before_login' });
      log.debug(where, 'a packet breaks the protocol');
      const leftOut = logLimit(`packet ${open ? client.id : address}`, open ? ownerOf(client.id) : undefined);
      if (leftOut !== undefined) log.info({ ...where, leftOut }, 'connection ended: a packet breaks the protocol');
      if (clause === UNKNOWN_LEVEL) refuse(UNACCEPTABLE_LEVEL);
      else if (open) end(clause);
      else fail(clause);
    }

    /** Takes nothing more, and ends the connection when what is in work is answered. */
    function end(reason: string): void {
      if (phase === 'ending') return;
      phase = 'ending';
      reader.clear();
      log.debug({ deviceId: client.id, reason }, 'connection is ended');
      ending(client);
      if (inWork === 0) finish();
    }

    function fail(reason: string): void {
      phase = 'ending';
      reader.clear();
      aedes.fail(new Error(reason));
    }

    function refuse(code: number): void {
      if (client.closed || phase === 'ending') return;
      phase = 'ending';
      reader.clear();
      connection.refused();
      conn.write(Buffer.from([0x20, 2, 0, code])); // [MQTT-3.2.2-4]
      finish();
    }

    return { refuse };
  };
}
