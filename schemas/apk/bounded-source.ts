import { callbackify } from 'node:util';
import { RandomAccessReader } from 'yauzl';
import { ApkError } from './apk-error.ts';

/** A file that is not on this machine: the caller reads it, part by part. */
export interface ApkSource {
  /** Size of the file, in bytes. */
  size: number;
  /** Reads bytes `start` to `end`, both included, as in HTTP. */
  read(start: number, end: number): Promise<Uint8Array>;
}

interface ReadLimits {
  reads: number;
  bytes: number;
}

// The least number of bytes that one read asks for. More than the wanted part is read, because the reader of the
// archive asks for its neighbours next.
const BLOCK = 64 * 1024;

interface Part {
  start: number;
  bytes: Buffer;
}

/** Reads a file in few, large parts, and keeps them in memory. Throws an ApkError when a bound of `limits` is exceeded. */
export function createBoundedSource(source: ApkSource, limits: ReadLimits) {
  const parts: Part[] = [];
  let reads = 0;
  let bytes = 0;
  /** The error that `source.read` threw: a fault of the transport, not of the file. */
  let failure: { error: unknown } | undefined;

  function held(start: number, length: number): Buffer | undefined {
    const part = parts.find((each) => each.start <= start && start + length <= each.start + each.bytes.length);
    return part?.bytes.subarray(start - part.start, start - part.start + length);
  }

  async function fetchPart(start: number, length: number): Promise<void> {
    reads += 1;
    bytes += length;
    if (reads > limits.reads || bytes > limits.bytes)
      throw new ApkError('too_large', 'too much of the file would have to be read');
    const answer = await source.read(start, start + length - 1).catch((error: unknown) => {
      failure = { error };
      throw error;
    });
    if (answer.length !== length) throw new ApkError('not_an_archive', 'the file is shorter than its stated size');
    parts.unshift({ start, bytes: Buffer.from(answer.buffer, answer.byteOffset, length) });
  }

  return {
    /** Returns exactly these bytes. Throws an ApkError when they lie outside of the file. */
    async part(start: number, length: number): Promise<Buffer> {
      if (!Number.isSafeInteger(start) || start < 0 || length < 0 || start + length > source.size) {
        throw new ApkError('archive_damaged', 'the archive points outside of the file');
      }
      const found = held(start, length);
      if (found) return found;
      await fetchPart(start, Math.min(Math.max(length, BLOCK), source.size - start));
      return held(start, length) ?? Buffer.alloc(0);
    },
    held,
    failure: () => failure,
    /** The number of reads and of bytes until now, for tests and log lines. */
    spent: () => ({ reads, bytes }),
  };
}

export type BoundedSource = ReturnType<typeof createBoundedSource>;

/** The adapter through which yauzl reads the source. */
export class SourceReader extends RandomAccessReader {
  readonly #source: BoundedSource;

  constructor(source: BoundedSource) {
    super();
    this.#source = source;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const found = this.#source.held(position, length);
    if (found) {
      found.copy(buffer, offset);
      callback(null);
      return;
    }
    const fill = async (): Promise<void> => {
      (await this.#source.part(position, length)).copy(buffer, offset);
    };
    callbackify(fill)(callback);
  }
}
