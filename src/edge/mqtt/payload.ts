import { boundedFaults, DomainError, type Fault, MOST_FAULTS } from '../../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

// An escaped pair of surrogates, which is one character; an escape of NUL or of half a pair; any other escape. A pair is
// taken whole and a backslash with what it escapes, so that nothing is read from the middle of an escape.
const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u(?:0000|[dD][89a-fA-F][\da-fA-F]{2})|\\./g;
const ESCAPE_LENGTH = 6;

/** JSON without NUL and without lone surrogates, which no database and no other JSON keeps: U+FFFD is in their place. */
const replaced = (json: string): string =>
  json.includes('\\u') ? json.replace(ESCAPES, (found) => (found.length === ESCAPE_LENGTH ? '\\ufffd' : found)) : json;

/** The JSON of a message of a device. Throws REQUEST_INVALID for what is none, or no UTF-8. */
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

/** Characters of the details on the errors topic at most. */
const LONGEST_DETAILS = 16 * 1024;

/** The faults that a device is told: as many as fit. */
export function toldFaults(faults: readonly Fault[]): Fault[] {
  let most = MOST_FAULTS;
  for (;;) {
    const told = boundedFaults(faults, most);
    if (most === 0 || JSON.stringify(told).length <= LONGEST_DETAILS) return told;
    most = Math.floor(most / 2);
  }
}
