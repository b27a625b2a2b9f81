/** An answer of a receiver that arrived as a whole. */
export interface WholeAnswer {
  statusCode: number;
  /** The Retry-After header, or null. */
  retryAfter: string | null;
  /** The bytes of the body, which may be a part of those that arrived. */
  body: Buffer;
  /** Seconds of the hint `Keep-Alive: timeout`; null without one. */
  keepAliveSeconds: number | null;
  /** Whether the receiver closes the connection after this answer. */
  closes: boolean;
}

/** The longest answer that is read here, in bytes. undici accepts as many bytes of headers alone. */
const LONGEST = 16 * 1024;
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e]*)?$/;
// A value without white space around it, because parsers do not agree about white space.
const HEADER = /^([\w!#$%&'*+.^`|~-]+): ?([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
const LENGTH = /^\d{1,5}$/;
const TIMEOUT = /timeout=(\d+)/;
/** The headers that say how an answer is to be read. With another one of them the answer is not read here. */
const FRAMING = new Set(['content-length', 'connection', 'keep-alive', 'retry-after', 'transfer-encoding', 'upgrade']);
const CHUNK_SIZE = /^[\da-f]{1,4}$/i;
const NO_CONTENT = 204;

interface Head extends Omit<WholeAnswer, 'body'> {
  /** The length of the body in bytes; undefined when it is sent in chunks. */
  length: number | undefined;
}

/** Reads the head of an answer without its last line end; undefined when it is not in the plainest form. */
function readHead(head: string): Head | undefined {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) return undefined;
  const framing: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? [];
    if (name === undefined) return undefined;
    const lower = name.toLowerCase();
    if (!FRAMING.has(lower)) continue;
    if (lower in framing) return undefined;
    framing[lower] = value;
  }
  const statusCode = Number(status);
  const connection = framing['connection']?.toLowerCase();
  const coding = framing['transfer-encoding'];
  const length = framing['content-length'] ?? (statusCode === NO_CONTENT ? '0' : undefined);
  const isFramed = length === undefined ? coding === 'chunked' : coding === undefined && LENGTH.test(length);
  const isPlain =
    isFramed &&
    (statusCode !== NO_CONTENT || length === '0') &&
    (connection === undefined || connection === 'keep-alive' || connection === 'close') &&
    framing['upgrade'] === undefined;
  if (!isPlain) return undefined;
  const seconds = TIMEOUT.exec(framing['keep-alive'] ?? '')?.[1];
  return {
    statusCode,
    retryAfter: framing['retry-after'] ?? null,
    keepAliveSeconds: seconds === undefined ? null : Number(seconds),
    closes: connection === 'close',
    length: length === undefined ? undefined : Number(length),
  };
}

/** Returns the body that is sent in chunks; undefined when it is not whole, or not in the plainest form. */
function joinChunks(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at, 'latin1');
    const size = bytes.toString('latin1', at, lineEnd);
    if (lineEnd === -1 || !CHUNK_SIZE.test(size)) return undefined;
    const start = lineEnd + 2;
    const end = start + Number.parseInt(size, 16);
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') return undefined;
    at = end + 2;
    if (end === start) return at === bytes.length ? Buffer.concat(parts) : undefined;
    parts.push(bytes.subarray(start, end));
  }
}

/**
 * Returns a function that reads an answer of HTTP/1.1 if the given bytes are exactly one whole answer in the plainest form:
 * with a Content-Length, in chunks, or 204. It returns undefined for everything else: a part of an answer, several answers,
 * 1xx, trailers, white space in unusual places, a header of the framing that comes twice. A complete parser must read those.
 */
export function createAnswerReader(): (bytes: Buffer) => WholeAnswer | undefined {
  // A receiver answers with the same head until its Date changes.
  let lastText = '';
  let last: Head | undefined;
  return (bytes) => {
    if (bytes.length > LONGEST) return undefined;
    const headLength = bytes.indexOf(HEAD_END, 0, 'latin1');
    if (headLength === -1) return undefined;
    const text = bytes.toString('latin1', 0, headLength);
    if (text !== lastText) {
      last = readHead(text);
      lastText = text;
    }
    if (!last) return undefined;
    const rest = bytes.subarray(headLength + HEAD_END.length);
    const body = last.length === undefined ? joinChunks(rest) : rest;
    if (!body || body.length !== (last.length ?? body.length)) return undefined;
    return { ...last, body };
  };
}
