import { checkMessage } from '../contract/checked-messages.ts';
import type { RawDevice } from '../raw-device.ts';

/** The faults that the errors topic reports for a message, as `loc type`, after its PUBACK. */
export async function toldOf(link: RawDevice, kind: string, message: unknown) {
  link.publish(kind, message);
  const packet = await link.next('publish');
  const { topic, reason, details, ...identity } = checkMessage(packet.topic, packet.payload) as {
    topic: string;
    reason: string;
    details: { type: string; loc: string[]; msg: string }[];
  };
  link.puback(packet);
  await link.next('puback');
  return { topic, reason, faults: details.map(({ loc, type }) => `${loc.join('.')} ${type}`), identity, details };
}
