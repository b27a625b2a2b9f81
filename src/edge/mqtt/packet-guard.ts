import type { Duplex } from 'node:stream';
import type { Client, PublishPacket } from 'aedes';
import { limitLevels, type Packet, takeReading, writePacket } from './aedes-internals.ts';
import { claimedId, isConnectOf5, levelOf } from './claimed-id.ts';
import { createConnectionEnd } from './connection-end.ts';
import { refusalBytes } from './five/bytes.ts';
import { REASON } from './five/reasons.ts';
import { ANSWERED, type Connection, type Guarded, type GuardParts } from './guard-parts.ts';
import { createPacketAllowances } from './packet-allowance.ts';
import { connackBytes, cutFrom, type Puback, pubackBytes, readPacket } from './packet-bytes.ts';
import { createPacketReader, type Found } from './packet-reader.ts';
import { packetFault, TYPE, UNKNOWN_LEVEL } from './packet-rules.ts';
import { createQos2Order } from './qos2-order.ts';
import { createReadingShare } from './reading-share.ts';

/** The largest remaining length of a packet in bytes, before and after the login. */
const PACKET_LIMITS = { beforeLogin: 4 * 1024, afterLogin: 256 * 1024 };
/**
 * A longer PUBLISH, up to this remaining length, is read to its end without keeping it, and is then told to the device: an
 * ended connection would make a persistent client send it for ever.
 */
export const LONGEST_CUT = 4 * 1024 * 1024;

/** The most packets of one connection that are in work at a time; further ones wait in the socket. */
const WINDOW = 32;
/**
 * The most packets, and the most bytes, that are handed on in one call. A packet with more bytes is handed on alone.
 */
const MOST_AT_ONCE = { packets: 8, bytes: 8 * 1024 };
/** The most packets in one call while other connections wait for their turn. */
const MOST_SHARED = 4;
/** The first byte of a CONNECT packet. */
const CONNECT = TYPE.CONNECT << 4;
/** The CONNACK code for an unsupported protocol level [MQTT-3.1.2-2]. */
const UNACCEPTABLE_LEVEL = 1;

/** A packet that the guard carries out itself, or the bytes of one that Aedes carries out. */
type Accepted = PublishPacket | Puback | Buffer;

/**
 * Stands between the sockets and Aedes: reads the data, splits it into packets, and checks each packet as a whole. It
 * carries out PUBACKs and messages of QoS 0 and 1 itself, which are nearly all packets, and passes the others to Aedes.
 * - A packet that breaks the protocol ends its own connection only.
 * - The packets in work are bounded for each connection, in number (WINDOW) and rate: beyond a bound the socket is not
 *   read. So no device delays the packets of another, and none of its own packets is lost.
 * - All connections together share the event loop with the rest of the service (createReadingShare).
 * - Packets after a CONNECT wait until the login is finished: a client may send them at once [MQTT-3.1.4].
 * - A connection that is ended because of a packet still gets the answers to all earlier packets. Closing the socket at
 *   once would lose them.
 */
export function createPacketGuard(parts: GuardParts) {
  const {
    clock,
    log,
    logLimit,
    metrics,
    messageRate,
    ownerOf,
    heard,
    isWithinRate,
    subscribes,
    awaitsPuback,
    isTaken,
    unknownVersion,
    acknowledged,
    loginEnded,
    ending,
    disconnects,
  } = parts;
  const share = createReadingShare();
  const allowances = createPacketAllowances({ clock, metrics, messageRate });

  /** Called before Aedes carries out a packet. Returns the reason why the connection must end, or undefined. */
  function packet(client: Client, parsed: Packet): string | undefined {
    if (parsed.cmd === 'subscribe' || parsed.cmd === 'unsubscribe') {
      const filters = parsed.cmd === 'subscribe' ? parsed.subscriptions : parsed.unsubscriptions;
      if (parsed.cmd === 'subscribe') subscribes(parsed);
      return isWithinRate(client, filters.length) ? undefined : 'more packets per second than a device may send';
    }
    if (parsed.cmd === 'disconnect') disconnects(client);
    if (parsed.cmd === 'publish') limitLevels(parsed);
    return undefined;
  }

  /** Carries out a PUBACK, or a message of QoS 0 or 1. Aedes would do the same in several times as long. */
  function carryOut(
    client: Client,
    packet: PublishPacket | Puback,
    published: GuardParts['published'],
    done: (error?: Error | null) => void,
  ): void {
    if (packet.cmd === 'puback') {
      acknowledged(client, packet.messageId);
      done();
      return;
    }
    limitLevels(packet);
    const { qos, messageId = 0 } = packet;
    published(client, packet, (error) => {
      if (error || qos === 0) done(error);
      else writePacket(client, pubackBytes(messageId), done);
    });
  }

  return function guard(client: Client, conn: Duplex, connection: Connection): Guarded {
    const { address } = connection;
    const reader = createPacketReader();
    let phase: 'waiting' | 'connecting' | 'open' | 'left' | 'ending' = 'waiting';
    let loginRuns = true;
    let inWork = 0;
    let reading = false;
    const allowance = allowances.open(read);
    const exactly = createQos2Order(reader, client, isTaken);
    const finish = createConnectionEnd({ clock, client, conn, discard: read, cut: fail });
    let turn: 'none' | 'waits' | 'given' = 'none';
    let { published } = parts;
    let check = packetFault;

    const aedes = takeReading(client, {
      readable: read,
      packet(parsed) {
        const reason = packet(client, parsed);
        if (reason !== undefined) end(reason); // when this packet, and the others of its run, have their answers
      },
      connected() {
        if (phase !== 'connecting') return;
        phase = 'open';
        connection.loggedIn(client.id);
        read();
      },
      silent,
      done,
    });

    function silent(): void {
      // A packet that has arrived and waits for its turn is a sign of life: after a stop of the process all devices have one.
      if (phase === 'open' && reader.look(PACKET_LIMITS.afterLogin, LONGEST_CUT) === 'whole') {
        aedes.keepAlive();
        return;
      }
      parts.silent(client);
      fail('keep alive timeout');
    }

    /** Called when a packet is finished. */
    function done(error?: Error | null): void {
      inWork -= 1;
      if (inWork === 0) exactly.allDone();
      if (error && error !== ANSWERED && !client.closed) end(error.message);
      if (loginRuns) {
        loginRuns = false;
        loginEnded(client);
      }
      // Aedes reports a SUBSCRIBE with a repeated filter before its SUBACK is written, so the end comes behind it.
      if (phase === 'ending' && inWork === 0) queueMicrotask(finish);
      else if (inWork <= WINDOW / 2) read();
    }

    /** The number of packets that may be handed on now. */
    function room(): number {
      if (phase === 'waiting') return 1;
      if (phase !== 'open') return 0;
      return Math.min(WINDOW - inWork, allowance.packets(WINDOW));
    }

    const mayRead = (): boolean => phase === 'waiting' || phase === 'open';

    /**
     * Whether a packet may be handed on in this turn of the event loop. If not, the connection is queued, and
     * `resume` reads on in a later turn.
     */
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

    /** Hands packets on as far as permitted, and reads from the socket when no complete packet is left. */
    function read(): void {
      if (reading || waitsForTurn()) return;
      reading = true;
      try {
        while (!client.closed && mayRead()) {
          const handed = handOn();
          if (handed === 'a run') continue;
          if (handed === 'waits') {
            if (inWork > 0 || allowance.isPaused() || waitsForTurn() || phase !== 'open') break;
            continue; // all packets were finished during the call, so there may be room for more
          }
          if (!mayRead()) break;
          const chunk = conn.read() as Buffer | null;
          if (chunk === null) break;
          reader.push(chunk);
        }
        // The data of an ending connection is read and thrown away; otherwise the close by the client would not be
        // noticed.
        while (phase === 'ending' && !client.closed && conn.read() !== null);
      } finally {
        reading = false;
      }
    }

    /**
     * Hands several complete packets on in one call. Returns `a run` when the call was full and more packets may
     * follow, `waits` when the next packet must wait or is faulty, and `all` when no complete packet is left.
     */
    function handOn(): 'a run' | 'waits' | 'all' {
      const most = room();
      let longest = MOST_AT_ONCE.packets;
      const limit = phase === 'open' ? PACKET_LIMITS.afterLogin : PACKET_LIMITS.beforeLogin;
      const mostBytes = phase === 'open' ? LONGEST_CUT : limit;
      const run: Accepted[] = [];
      let leaves = false;
      let cost = 0;
      let bytes = 0;
      let waits = false;
      let isFull = false;
      let fault: string | undefined;
      for (;;) {
        const found = reader.look(limit, mostBytes);
        if (found === 'none') break;
        const count = run.length;
        waits = count >= most || (count > 0 && allowance.isUsedUpBy(cost));
        if (waits) break;
        if (phase === 'waiting' && reader.first !== CONNECT) {
          fault = '[MQTT-3.1.0-1] not a CONNECT';
          break;
        }
        if (found === 'part') {
          if (reader.isCut) aedes.keepAlive(); // a slow network takes longer for it than the keep-alive
          break;
        }
        fault = found === 'whole' ? faultOf() : unreadable(found, mostBytes);
        if (fault === UNKNOWN_LEVEL && isFive()) {
          fault = undefined;
          continue;
        }
        if (fault !== undefined) break;
        const type = reader.first >> 4;
        waits = exactly.waits(type, inWork + count > 0) || (type === TYPE.DISCONNECT && inWork + count > 0);
        bytes += reader.length;
        waits ||= count === 0 && !mayHandOn();
        if (waits) break;
        if (turn === 'given') longest = MOST_SHARED;
        isFull = count > 0 && (count >= longest || bytes > MOST_AT_ONCE.bytes);
        if (isFull) break;
        exactly.handsOn(type);
        cost += allowances.costOf(type, reader.length);
        run.push(accept());
        // Nothing behind a DISCONNECT is carried out: the client must send nothing more [MQTT-3.14.4-2].
        if (type === TYPE.DISCONNECT) {
          leaves = true;
          break;
        }
      }
      if (leaves) {
        phase = 'left';
        reader.clear();
      }
      if (run.length > 0) hand(run, cost);
      if (fault === UNKNOWN_LEVEL) refuseLevel();
      else if (fault !== undefined) violated(fault);
      if (waits || fault !== undefined) return 'waits';
      return isFull ? 'a run' : 'all';
    }

    /** Removes the packet that the reader has found. Until the login has ended, Aedes carries out every packet. */
    function accept(): Accepted {
      const packet = loginRuns ? undefined : readPacket(reader.bytes, reader.first, reader.start, reader.end);
      if (packet === undefined) return reader.take();
      if (reader.isCut && packet.cmd === 'publish') cutFrom(packet, reader.length);
      reader.pass();
      return packet;
    }

    function unreadable(found: Found, limit: number): string {
      if (found === 'bad length') return '[MQTT-2.2.3] remaining length of more than four bytes';
      metrics.mqttRefused.inc({ reason: 'packet_size' });
      return `packet of ${reader.length} bytes is larger than ${limit}`;
    }

    /** The reason why the packet that the reader has found breaks the protocol; undefined when it does not. */
    function faultOf(): string | undefined {
      const { bytes, first, start } = reader;
      const type = first >> 4;
      const fault = check(bytes, first, start, reader.end);
      if (fault !== undefined) return fault;
      if (phase === 'open' && type === TYPE.CONNECT) return '[MQTT-3.1.0-2] a second CONNECT';
      const ofQos2 = type === TYPE.PUBREC || type === TYPE.PUBCOMP; // the service sends no QoS 2 messages to devices
      if (ofQos2 && awaitsPuback(client, bytes.readUInt16BE(start))) return '[MQTT-4.3.2-1] no answer to QoS 1';
      return undefined;
    }

    /** Begins to carry out packets in their order; those for Aedes are passed to it. */
    function hand(run: readonly Accepted[], cost: number): void {
      inWork += run.length;
      allowance.take(cost);
      if (phase === 'waiting') {
        phase = 'connecting';
        connection.connectReceived();
      } else {
        heard(client.id);
        aedes.keepAlive();
      }
      turn = 'none';
      share.begins(phase === 'connecting' ? undefined : ownerOf(client.id));
      for (const packet of run) {
        if (client.closed) return; // Aedes would not carry out the others either
        if (Buffer.isBuffer(packet)) aedes.feed(packet);
        else carryOut(client, packet, published, done);
      }
    }

    function violated(clause: string): void {
      broken(clause);
      if (phase === 'open') end(clause);
      else fail(clause);
    }

    function broken(clause: string): void {
      const open = phase === 'open';
      const where = { address, ...(open && { deviceId: client.id }), clause };
      metrics.mqttMalformed.inc({ when: open ? 'after_login' : 'before_login' });
      log.debug(where, 'a packet breaks the protocol');
      const leftOut = logLimit(`packet ${open ? client.id : address}`, open ? ownerOf(client.id) : undefined);
      if (leftOut !== undefined) log.info({ ...where, leftOut }, 'connection ended: a packet breaks the protocol');
    }

    /**
     * Lets the front for MQTT 5 have the connection, if the CONNECT that the reader has found is of that version. The reader
     * then has the CONNECT of MQTT 3.1.1; or the connection ends, because the CONNECT was refused.
     */
    function isFive(): boolean {
      if (parts.five === undefined || !isConnectOf5(reader)) return false;
      const { bytes, start, end: bodyEnd, rest } = reader;
      const opened = parts.five.open(client, conn, { bytes, start, end: bodyEnd, rest: rest() });
      reader.clear();
      if ('connack' in opened) {
        broken(opened.clause);
        refuseWith(opened.connack);
        return true;
      }
      ({ check, published } = opened);
      reader.push(opened.connect);
      return true;
    }

    /** Refuses the CONNECT that the reader has found, because its version of MQTT is not spoken here. */
    function refuseLevel(): void {
      const level = levelOf(reader);
      const deviceId = claimedId(reader);
      metrics.mqttRefused.inc({ reason: 'protocol_version' });
      const leftOut = logLimit(`version ${address}`);
      if (leftOut !== undefined)
        log.info({ address, level, deviceId, leftOut }, 'login refused: its version of MQTT is not supported');
      if (deviceId !== undefined) unknownVersion(client, deviceId);
      refuseWith(
        isConnectOf5(reader) ? refusalBytes({ code: REASON.version, text: '' }) : connackBytes(UNACCEPTABLE_LEVEL),
      );
    }

    /** Accepts no further packets, and ends the connection when the packets in work are answered. */
    function end(reason: string): void {
      if (phase === 'ending') return;
      phase = 'ending';
      reader.clear();
      log.debug({ deviceId: client.id, reason }, 'a connection is being ended');
      ending(client, reason);
      if (inWork === 0) finish();
    }

    function fail(reason: string): void {
      phase = 'ending';
      reader.clear();
      aedes.fail(new Error(reason));
    }

    const refuse = (code: number): void => refuseWith(connackBytes(code));

    function refuseWith(connack: Buffer): void {
      if (client.closed || phase === 'ending') return;
      phase = 'ending';
      reader.clear();
      connection.refused();
      conn.write(connack);
      finish();
    }

    return { refuse };
  };
}
