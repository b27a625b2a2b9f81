import { boundedFaults, DomainError, type Fault, MOST_FAULTS } from '../../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

// Matches every escape of JSON, to find escapes of NUL and of lone surrogates. A surrogate pair (one character), and a
// backslash with the character after it, are matched whole, so that no match begins in the middle of an escape.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?:0000|[dD][89a-fA-F][\da-fA-F]{2})|\\./g;
const ESCAPE_LENGTH = 6;

/** Replaces NUL and lone surrogates in JSON by U+FFFD, because databases and other JSON parsers do not accept them. */
const replaced = (json: string): string =>
  json.includes('\\u') ? json.replace(ESCAPES, (found) => (found.length === ESCAPE_LENGTH ? '\\ufffd' : found)) : json;

/** Parses the JSON of a message of a device. Throws REQUEST_INVALID when it is not JSON, or not UTF-8. */
export function decodePayload(payload: string | Buffer): unknown {
  try {
    return JSON.parse(replaced(typeof payload === 'string' ? payload : utf8.decode(payload)));
  } catch (cause) {
    throw new DomainError('REQUEST_INVALID', {
      details: [{ loc: ['body'], msg: 'JSON decode error', type: 'json_invalid' }],
      cause,
    });
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
