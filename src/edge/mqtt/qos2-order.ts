import type { Client } from 'aedes';
import type { createPacketReader } from './packet-reader.ts';
import { TYPE } from './packet-rules.ts';

const DUP = 8;

/**
 * Keeps the packets of QoS 2 of one connection apart where Aedes, which carries out several at a time, would mix them up:
 * - A PUBREL releases a message that must be stored by then. So it waits until all earlier packets are answered; only
 *   several PUBRELs go together.
 * - A PUBLISH may reuse the identifier that an earlier PUBREL releases. So it waits for the PUBCOMP, or it would be taken
 *   for a repetition.
 * - A repetition is answered sooner than a new message, which is stored first. So both wait for each other, because
 *   PUBRECs come in the order of the messages [MQTT-4.6.0-3].
 */
export function createQos2Order(
  reader: Pick<ReturnType<typeof createPacketReader>, 'bytes' | 'first' | 'start'>,
  client: Client,
  isTaken: (client: Client, messageId: number) => boolean,
) {
  /** The kind of QoS 2 packet that is in work; two kinds are never in work together. */
  let kind: 'releases' | 'news' | 'repetitions' | undefined;
  /** The identifiers of the new messages in work; a message with one of them is a repetition. */
  const ids = new Set<number>();
  let id = 0;

  function kindOf(type: number): typeof kind {
    if (type === TYPE.PUBREL) return 'releases';
    if (type !== TYPE.PUBLISH || ((reader.first >> 1) & 3) !== 2) return undefined;
    const { bytes, start } = reader;
    id = bytes.readUInt16BE(start + 2 + bytes.readUInt16BE(start));
    return (reader.first & DUP) !== 0 || ids.has(id) || isTaken(client, id) ? 'repetitions' : 'news';
  }

  return {
    /** Whether the packet that the reader has found must wait; `busy`: earlier packets are in work. */
    waits(type: number, busy: boolean): boolean {
      const found = busy ? kindOf(type) : undefined;
      return found !== undefined && found !== kind && (kind !== undefined || found === 'releases');
    },

    /** Called when the packet that the reader has found is handed on. */
    handsOn(type: number): void {
      const found = kindOf(type);
      if (found === undefined) return;
      kind = found;
      if (found === 'news') ids.add(id);
    },

    /** Called when no packet is in work any more. */
    allDone(): void {
      kind = undefined;
      ids.clear();
    },
  };
}
