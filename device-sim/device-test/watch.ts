import type { IConnectPacket } from 'mqtt-packet';
import { isRecord } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { CommandMaker } from './command-maker.ts';
import type { Contract, MessageKind } from './contract.ts';
import { isFive, keepsSession } from './five.ts';
import type { Received } from './received.ts';
import type { RuleName } from './rules.ts';

/** Checks that apply at every moment of a test, whichever case is played. */
export interface Alarms {
  /** Reports a broken rule; the case goes on. */
  raise(rule: RuleName, expected: string, came: string): void;
  connected(packet: IConnectPacket): void;
  /** Called with each packet of a device that has logged in. */
  packet(): void;
  received(message: Received, payload: Buffer, qos: number): void;
}

/** The service ends a connection that was silent for one and a half keep-alive intervals [MQTT-3.1.2-24]. */
const SILENCE = 1.5;
const LARGEST_MESSAGE = 256 * 1024;
/** The ids of events and requests that are remembered. */
const MOST_IDS = 10_000;
const KINDS: readonly string[] = ['acks', 'status', 'events', 'requests'] satisfies MessageKind[];

const isKind = (kind: string): kind is MessageKind => KINDS.includes(kind);

export function createAlarms({
  contract,
  commands,
  timers,
  strayRule,
  raise,
}: {
  contract: Contract;
  commands: CommandMaker;
  timers: Timers;
  /** The rule that an acknowledgement of an unknown transactionId breaks. */
  strayRule: () => RuleName;
  raise: Alarms['raise'];
}): Alarms {
  /** The contents of events and requests by their ids. */
  const contents = new Map<string, string>();
  let intervalSeconds = 0;
  let last = 0;

  /** An id belongs to one content for ever, because a repetition is recognised by it. */
  function checkId(rule: 'events' | 'requests', id: unknown, body: unknown): void {
    if (typeof id !== 'string') return;
    const key = `${rule} ${id}`;
    const content = JSON.stringify(body);
    const before = contents.get(key);
    if (before !== undefined && before !== content)
      raise(rule, `the id ${id} for one content only`, `another content with the same id: ${content}`);
    if (contents.size < MOST_IDS) contents.set(key, content);
  }

  function checkBody(kind: MessageKind, body: unknown): void {
    for (const fault of contract.faultsOf(kind, body))
      raise('messages', `a message on ${kind} as its schema says`, fault);
    if (!isRecord(body)) return;
    if (kind === 'events') checkId('events', body['eventId'], body);
    if (kind === 'requests') checkId('requests', body['requestId'], body);
    const { transactionId } = body;
    if (kind === 'acks' && typeof transactionId === 'number' && !commands.knows(transactionId))
      raise(strayRule(), 'acknowledgements of commands that were sent', `one of transaction ${transactionId}`);
  }

  return {
    raise,
    connected(packet) {
      const { clean, keepalive = 0 } = packet;
      intervalSeconds = keepalive;
      last = timers.now();
      if (clean !== false) raise('login', '`clean` is false', '`clean` is true');
      if (isFive(packet) && !keepsSession(packet))
        raise('login', 'a Session Expiry Interval above 0', 'none: the session ends with the connection');
      if (keepalive === 0) raise('keep-alive', 'a keep-alive interval above 0', '0: no keep-alive');
    },
    packet() {
      const silent = timers.now() - last;
      last = timers.now();
      if (intervalSeconds === 0 || silent <= intervalSeconds * 1000 * SILENCE) return;
      raise(
        'keep-alive',
        `a packet within ${intervalSeconds} s, its own keep-alive interval`,
        `none for ${Math.round(silent / 1000)} s`,
      );
    },
    received({ kind, body }, payload, qos) {
      if (!isKind(kind)) return raise('topics', `publishes on its own ${KINDS.join(', ')}`, `one on ${kind}`);
      if (qos !== 1) raise('topics', 'publishes with QoS 1', `one on ${kind} with QoS ${qos}`);
      if (payload.length > LARGEST_MESSAGE)
        raise('messages', 'messages of at most 256 KiB', `one on ${kind} of ${payload.length} bytes`);
      if (body === undefined) return raise('messages', `JSON on ${kind}`, 'a text that is not JSON');
      checkBody(kind, body);
    },
  };
}
