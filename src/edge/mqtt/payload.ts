import { isUtf8 } from 'node:buffer';
import { boundedFaults, DomainError, type Fault, MOST_FAULTS } from '@lapel/schemas/contracts/errors';
import { mendJson } from './mended-json.ts';

const utf8 = new TextDecoder();

// Matches every escape of JSON, to find escapes of NUL and of lone surrogates. A surrogate pair (one character), and a
// backslash with the character after it, are matched whole, so that no match begins in the middle of an escape.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?:0000|[dD][89a-fA-F][\da-fA-F]{2})|\\./g;
const ESCAPE_LENGTH = 6;
const POSITION = /at position (\d+)/;

/** A message of a device, decoded. */
export interface Decoded {
  message: unknown;
  /** The JSON text of the message, repaired where it was not JSON. */
  text: string;
  /** A fault for each place that was repaired; undefined for nearly all messages, which need no repair. */
  mended: Fault[] | undefined;
}

/** Replaces NUL and lone surrogates in JSON by U+FFFD, because databases and other JSON parsers do not accept them. */
const replaced = (json: string): string =>
  json.includes('\\u') ? json.replace(ESCAPES, (found) => (found.length === ESCAPE_LENGTH ? '\\ufffd' : found)) : json;

/** The text of a payload; bytes that are not UTF-8 become U+FFFD. */
export const textOf = (payload: string | Buffer): string =>
  typeof payload === 'string' ? payload : utf8.decode(payload);

const REPLACEMENT = '\ufffd';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** The place of the first byte that is not UTF-8, in a payload that has one; found in linear time. */
function firstNotUtf8(payload: Buffer): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(payload);
  let byte = 0;
  for (let from = 0, at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    byte += Buffer.byteLength(text.slice(from, at));
    const end = byte + REPLACEMENT_BYTES.length;
    if (!payload.subarray(byte, end).equals(REPLACEMENT_BYTES)) return byte;
    byte = end; // the device itself sent this U+FFFD
    from = at + 1;
  }
  return payload.length;
}

/** The fault of a payload that is not UTF-8. */
const utf8Fault = (payload: Buffer): Fault => ({
  loc: ['body'],
  msg: `Bytes that are not UTF-8 became U+FFFD, the first is byte ${firstNotUtf8(payload)}`,
  type: 'json_invalid',
});

/**
 * Parses the JSON of a message of a device. A text that is not quite JSON is repaired first (mendJson). Throws
 * REQUEST_INVALID, with the position of the fault, when it is not JSON even then.
 */
export function decodePayload(payload: string | Buffer): Decoded {
  const isText = typeof payload === 'string' || isUtf8(payload);
  const sent = textOf(payload);
  const text = replaced(sent);
  let cause: unknown;
  try {
    const message: unknown = JSON.parse(text);
    return { message, text, mended: isText ? undefined : [utf8Fault(payload)] };
  } catch (error) {
    cause = error;
  }
  const repaired = mendJson(sent);
  const json = replaced(repaired.text);
  try {
    const message: unknown = JSON.parse(json);
    return { message, text: json, mended: isText ? repaired.faults : [utf8Fault(payload), ...repaired.faults] };
  } catch {
    const position = POSITION.exec((cause as SyntaxError).message)?.[1] ?? sent.length;
    const details = [{ loc: ['body'], msg: `JSON decode error, position ${position}`, type: 'json_invalid' }];
    throw new DomainError('REQUEST_INVALID', { details, cause });
  }
}

/** The most characters of the faults that an errors message lists. */
const LONGEST_DETAILS = 16 * 1024;

/** Keeps as many of the faults as an errors message may list. */
export function toldFaults(faults: readonly Fault[]): Fault[] {
  let most = MOST_FAULTS;
  for (;;) {
    const told = boundedFaults(faults, most);
    if (most === 0 || JSON.stringify(told).length <= LONGEST_DETAILS) return told;
    most = Math.floor(most / 2);
  }
}
