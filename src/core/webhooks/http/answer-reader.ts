import { type AnswerHead, BadAnswer, readHead } from './answer-head.ts';

/** An answer as far as it has come. */
export interface Answered extends Omit<AnswerHead, 'body'> {
  /** At most LONGEST_BODY bytes. */
  body: Buffer;
  /** Whether the body is longer than LONGEST_BODY; the rest was not read. */
  isTooLong: boolean;
}

/** The most bytes of a body that are read. The connection of a longer answer is closed. */
export const LONGEST_BODY = 64 * 1024;
/** The most bytes of a head, or of a line between chunks. */
export const LONGEST_HEAD = 16 * 1024;
/** The most bytes of everything: interim answers, heads, sizes and extensions of chunks, trailers, bodies. */
export const LONGEST_IN_ALL = 256 * 1024;

const LF = 10;
const CR = 13;
const HEAD_END = '\r\n\r\n';
const BEGINNING = 'HTTP/1.';
const OK = 200;
const CHUNK_SIZE = /^([\da-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;
const TRAILER = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;
const NOTHING = Buffer.alloc(0);

/** `lastHead`: a receiver answers with the same head until its Date changes, so the last one is remembered. */
export interface Remembered {
  text: string;
  head: AnswerHead | undefined;
}

type State = 'head' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'until the end' | 'done';

/**
 * Reads one answer of HTTP/1.0 or 1.1 as its bytes arrive (RFC 9112). Interim answers are skipped, asked for or not (RFC
 * 9110 15.2). The number of bytes is bounded in each part and in all, so no answer is read for long.
 */
export class AnswerReader {
  readonly #remembered: Remembered;
  readonly #parts: Buffer[] = [];
  #state: State = 'head';
  #head: AnswerHead | undefined;
  /** Bytes that are not understood yet, and how many of them were searched for line ends. */
  #rest: Buffer = NOTHING;
  #searched = 0;
  #left = 0;
  #received = 0;
  #bodyLength = 0;
  #isTooLong = false;
  #hasMore = false;

  constructor(remembered: Remembered) {
    this.#remembered = remembered;
  }

  /** Reads further bytes; returns whether the answer is complete, or too long to be read on. Throws BadAnswer. */
  push(chunk: Buffer): boolean {
    this.#received += chunk.length;
    if (this.#received > LONGEST_IN_ALL) throw new BadAnswer(`has more than ${LONGEST_IN_ALL / 1024} KiB in all`);
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#step());
    if (this.#state !== 'done') return false;
    this.#hasMore = this.#rest.length > 0;
    return true;
  }

  /** The receiver has closed the connection; returns whether the answer is complete. */
  end(): boolean {
    if (this.#state === 'until the end') this.#state = 'done';
    return this.#state === 'done';
  }

  /** The answer as far as it has come; undefined before the end of its head. */
  answer(): Answered | undefined {
    if (!this.#head) return undefined;
    const { body: _, ...head } = this.#head;
    const [first = NOTHING] = this.#parts;
    const body = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    const closes = head.closes || this.#isTooLong || this.#hasMore || this.#state !== 'done';
    return { ...head, closes, body: body.subarray(0, LONGEST_BODY), isTooLong: this.#isTooLong };
  }

  /** Makes one step; returns false when it needs more bytes. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'length':
      case 'chunk':
      case 'until the end':
        return this.#readBody();
      case 'size':
        return this.#readSize();
      case 'chunk end':
        if (this.#rest.length < 2) return false;
        if (this.#rest[0] !== CR || this.#rest[1] !== LF) throw new BadAnswer('has a chunk of another length');
        this.#take(2);
        this.#state = 'size';
        return true;
      case 'trailer':
        return this.#readTrailer();
      case 'done':
        return false;
    }
  }

  #take(bytes: number): Buffer {
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    this.#searched = 0;
    return taken;
  }

  #readHead(): boolean {
    // Empty lines before an answer are skipped (RFC 9112 2.2).
    while (this.#rest[0] === CR && this.#rest[1] === LF) this.#take(2);
    const end = this.#rest.indexOf(HEAD_END, Math.max(0, this.#searched - HEAD_END.length), 'latin1');
    if ((end === -1 ? this.#rest.length : end) > LONGEST_HEAD)
      throw new BadAnswer(`has a head of more than ${LONGEST_HEAD / 1024} KiB`);
    if (end === -1) {
      this.#checkUnfinishedHead();
      return false;
    }
    const text = this.#take(end + HEAD_END.length).toString('latin1', 0, end);
    const last = this.#remembered;
    const head = text === last.text && last.head ? last.head : readHead(text);
    if (head.statusCode < OK) return true; // RFC 9110 15.2: the final answer follows
    last.text = text;
    last.head = head;
    this.#head = head;
    if (typeof head.body === 'number') {
      this.#left = head.body;
      this.#state = head.body === 0 ? 'done' : 'length';
    } else this.#state = head.body === 'chunked' ? 'size' : 'until the end';
    return true;
  }

  /** What can be no head is refused at once: the sender should not wait for its end. */
  #checkUnfinishedHead(): void {
    const beginning = this.#rest.toString('latin1', 0, BEGINNING.length);
    const mayBegin = beginning === '\r' || BEGINNING.startsWith(beginning);
    if (!mayBegin) throw new BadAnswer('does not begin with a status line of HTTP/1.1');
    for (let at = this.#rest.indexOf(LF, this.#searched); at !== -1; at = this.#rest.indexOf(LF, at + 1))
      if (this.#rest[at - 1] !== CR) throw new BadAnswer('has a line that ends without CR');
    this.#searched = this.#rest.length;
  }

  #readBody(): boolean {
    if (this.#rest.length === 0) return false;
    const part = this.#take(this.#state === 'until the end' ? this.#rest.length : this.#left);
    this.#left -= part.length;
    this.#bodyLength += part.length;
    this.#parts.push(part);
    if (this.#bodyLength > LONGEST_BODY) {
      this.#isTooLong = true;
      this.#state = 'done';
    } else if (this.#left === 0 && this.#state === 'length') this.#state = 'done';
    else if (this.#left === 0 && this.#state === 'chunk') this.#state = 'chunk end';
    return true;
  }

  /** Returns the next line without its end; undefined when it is not complete. */
  #line(): string | undefined {
    const end = this.#rest.indexOf(LF, this.#searched);
    if ((end === -1 ? this.#rest.length : end) > LONGEST_HEAD)
      throw new BadAnswer(`has a line of more than ${LONGEST_HEAD / 1024} KiB`);
    if (end === -1) {
      this.#searched = this.#rest.length;
      return undefined;
    }
    if (this.#rest[end - 1] !== CR) throw new BadAnswer('has a line that ends without CR');
    return this.#take(end + 1).toString('latin1', 0, end - 1);
  }

  #readSize(): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new BadAnswer('has a chunk without a size');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'chunk';
    return true;
  }

  #readTrailer(): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    if (line === '') this.#state = 'done';
    else if (!TRAILER.test(line)) throw new BadAnswer('has a trailer that cannot be read');
    return true;
  }
}
