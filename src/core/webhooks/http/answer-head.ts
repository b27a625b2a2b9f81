/** The head of an answer, and where its body ends. */
export interface AnswerHead {
  statusCode: number;
  /** The Retry-After header; null without one, or with several. */
  retryAfter: string | null;
  /** Seconds of the hint `Keep-Alive: timeout`; null without one. */
  keepAliveSeconds: number | null;
  /** Whether the receiver closes the connection after this answer. */
  closes: boolean;
  /** The length of the body in bytes, or how its end is found (RFC 9112 6.3). */
  body: number | 'chunked' | 'until the end';
}

/** The answer breaks the rules of HTTP/1.1 or a bound. The message completes "the answer ...". */
export class BadAnswer extends Error {
  constructor(fault: string) {
    super(`the answer ${fault}`);
    this.name = 'BadAnswer';
  }
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const HEADER = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/;
const LENGTH = /^\d{1,15}$/;
const TIMEOUT = /timeout=(\d{1,9})/;
/** The only headers whose values are used. */
const USED = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'retry-after']);
const SWITCHING = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

const tokens = (values: readonly string[] = []): string[] =>
  values.flatMap((value) => value.split(',')).map((token) => token.trim().toLowerCase());

function readHeaders(lines: readonly string[]): Map<string, string[]> {
  const used = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? [];
    if (name === undefined) throw new BadAnswer('has a header that cannot be read');
    const lower = name.toLowerCase();
    if (!USED.has(lower)) continue;
    const values = used.get(lower) ?? [];
    values.push(value.trim());
    used.set(lower, values);
  }
  return used;
}

/** The end of the body. A head that two readers could read in two ways is refused, as by Node's own parser. */
function bodyOf(statusCode: number, headers: ReadonlyMap<string, string[]>): AnswerHead['body'] {
  const lengths = headers.get('content-length');
  const codings = headers.get('transfer-encoding');
  if (lengths && (lengths.length > 1 || !LENGTH.test(lengths[0] ?? ''))) throw new BadAnswer('has no clear length');
  if (lengths && codings) throw new BadAnswer('has a length and is sent in chunks');
  if (statusCode < 200 || statusCode === NO_CONTENT || statusCode === NOT_MODIFIED) return 0;
  if (codings) return tokens(codings).at(-1) === 'chunked' ? 'chunked' : 'until the end';
  return lengths ? Number(lengths[0]) : 'until the end';
}

/**
 * Reads the head of an answer, without its last line end. Throws BadAnswer, also for a folded header,
 * which is obsolete (RFC 9112 5.2).
 */
export function readHead(text: string): AnswerHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) throw new BadAnswer('does not begin with a status line of HTTP/1.1');
  const headers = readHeaders(lines);
  const statusCode = Number(status);
  if (statusCode === SWITCHING) throw new BadAnswer('changes the protocol (101), which nobody has asked for');
  const body = bodyOf(statusCode, headers);
  const connection = tokens(headers.get('connection'));
  const staysOpen = minor === '1' ? !connection.includes('close') : connection.includes('keep-alive');
  const retryAfter = headers.get('retry-after') ?? [];
  const seconds = TIMEOUT.exec(headers.get('keep-alive')?.[0] ?? '')?.[1];
  return {
    statusCode,
    retryAfter: retryAfter.length === 1 ? (retryAfter[0] as string) : null,
    keepAliveSeconds: seconds === undefined ? null : Number(seconds),
    closes: !staysOpen || body === 'until the end',
    body,
  };
}
