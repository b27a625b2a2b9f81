import { isDeviceId } from '../../core/devices/device-id.ts';

/** The level of MQTT 5, whose CONNECT has properties before the client id. */
const LEVEL_5 = 5;
/** The length of the name `MQTT`. An older version has another name, and no such level. */
const NAME_LENGTH = 4;
/** The level, the flags and the keep-alive of a CONNECT: the bytes between the protocol name and what follows. */
const FIXED = 4;

/** Where the properties of a CONNECT of MQTT 5 end: their length has up to four bytes, with seven bits each. */
function propertiesEnd(bytes: Buffer, at: number): number {
  let length = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at] ?? 0;
    at += 1;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return at + length;
}

interface Found {
  bytes: Buffer;
  start: number;
  end: number;
}

/** The protocol level of a CONNECT. */
export const levelOf = ({ bytes, start }: Found): number => bytes[start + 2 + bytes.readUInt16BE(start)] ?? 0;

/** Whether a CONNECT is one of MQTT 5. */
export const isConnectOf5 = (found: Found): boolean =>
  found.bytes.readUInt16BE(found.start) === NAME_LENGTH && levelOf(found) === LEVEL_5;

/**
 * The deviceId that a CONNECT of another version of MQTT claims as its client id, so that people can find the device;
 * undefined when it has none there.
 */
export function claimedId({ bytes, start, end }: Found): string | undefined {
  const nameEnd = start + 2 + bytes.readUInt16BE(start);
  const level = bytes[nameEnd];
  const at = level === LEVEL_5 ? propertiesEnd(bytes, nameEnd + FIXED) : nameEnd + FIXED;
  if (at + 2 > end) return undefined;
  const id = bytes.toString('latin1', at + 2, Math.min(end, at + 2 + bytes.readUInt16BE(at)));
  return isDeviceId(id) ? id : undefined;
}
