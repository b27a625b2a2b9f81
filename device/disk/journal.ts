import { crc32 } from 'node:zlib';
import type { Disk } from './disk.ts';
import { type AnswerBounds, Memory } from './memory.ts';
import type { DiskRecord } from './records.ts';

const HEADER = Buffer.from('lapel-device 1\n');
/** The file is written anew when it is larger than this, and twice as large as what is alive in it. */
const REWRITE_ABOVE = 256 * 1024;
/** Records in a line of a file that is written anew: a line that is damaged loses no more. */
const RECORDS_OF_A_LINE = 50;
const NEW_LINE = 10;

const lineOf = (records: readonly DiskRecord[]): Buffer => lineOfJson(JSON.stringify(records));

const lineOfJson = (text: string): Buffer => {
  const json = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${crc32(json).toString(16).padStart(8, '0')} `), json, Buffer.of(NEW_LINE)]);
};

/** Undefined: the line is damaged. */
function recordsOf(line: Buffer): DiskRecord[] | undefined {
  const json = line.subarray(9);
  if (!/^[0-9a-f]{8} $/.test(line.toString('latin1', 0, 9))) return undefined;
  if (crc32(json) !== Number.parseInt(line.toString('latin1', 0, 8), 16)) return undefined;
  try {
    const records: unknown = JSON.parse(json.toString());
    return Array.isArray(records) ? (records as DiskRecord[]) : undefined;
  } catch {
    return undefined;
  }
}

export interface JournalOptions extends AnswerBounds {
  /** Bytes above which the file may be written anew; 256 KiB if left out. */
  rewriteAbove?: number;
}

/**
 * The memory of a device on its disk. Each write is one line: all of its records outlive a power cut, or none. A line that
 * is damaged is passed over, so that one bad sector costs one write.
 */
export class Journal {
  readonly memory: Memory;
  /** Lines that were passed over when the file was read. */
  readonly damaged: number;
  readonly #disk: Disk;
  readonly #rewriteAbove: number;
  #size: number;
  /** The size at which what is alive is measured again. */
  #rewriteAt: number;
  #isTorn = false;

  /** Reads the file, and cuts off a torn last line. Throws when the disk fails, or a newer version wrote the file. */
  constructor(disk: Disk, { rewriteAbove = REWRITE_ABOVE, ...bounds }: JournalOptions) {
    this.#disk = disk;
    this.#rewriteAbove = rewriteAbove;
    this.#rewriteAt = rewriteAbove;
    this.memory = new Memory(bounds);
    const bytes = Buffer.from(disk.read());
    if (bytes.length < HEADER.length && HEADER.subarray(0, bytes.length).equals(bytes)) {
      disk.replace(HEADER);
      this.damaged = 0;
      this.#size = HEADER.length;
      return;
    }
    if (!bytes.subarray(0, HEADER.length).equals(HEADER))
      throw new Error('the file is not one of this library, or a newer version of it wrote the file.');
    const { damaged, end } = this.#load(bytes);
    this.damaged = damaged;
    this.#size = end;
    if (end < bytes.length) disk.truncate(end);
  }

  /**
   * The records are on the disk when it returns, and the memory has them. Throws when the disk fails; then a power cut
   * leaves none of them, and neither has the memory.
   */
  write(...records: readonly DiskRecord[]): void {
    const json = JSON.stringify(records);
    const line = lineOfJson(json);
    if (this.#isTorn) {
      this.#disk.truncate(this.#size);
      this.#isTorn = false;
    }
    this.#isTorn = true; // until it is known that all bytes are there
    this.#disk.append(line);
    this.#disk.sync();
    this.#isTorn = false;
    this.#size += line.length;
    // As a reload finds them: the maker may change his objects afterwards.
    for (const record of JSON.parse(json) as DiskRecord[]) this.memory.apply(record);
    if (this.#size > this.#rewriteAt) this.#rewrite();
  }

  close(): void {
    this.#disk.close();
  }

  #load(bytes: Buffer): { damaged: number; end: number } {
    let damaged = 0;
    let start = HEADER.length;
    for (let end = bytes.indexOf(NEW_LINE, start); end >= 0; end = bytes.indexOf(NEW_LINE, start)) {
      const records = recordsOf(bytes.subarray(start, end));
      if (records) for (const record of records) this.memory.apply(record);
      else damaged += 1;
      start = end + 1;
    }
    return { damaged, end: start };
  }

  #rewrite(): void {
    const lines: Buffer[] = [HEADER];
    let part: DiskRecord[] = [];
    for (const record of this.memory.records()) {
      part.push(record);
      if (part.length < RECORDS_OF_A_LINE) continue;
      lines.push(lineOf(part));
      part = [];
    }
    if (part.length > 0) lines.push(lineOf(part));
    const fresh = Buffer.concat(lines);
    this.#rewriteAt = Math.max(this.#rewriteAbove, 2 * fresh.length);
    if (this.#size <= this.#rewriteAt) return;
    try {
      this.#disk.replace(fresh);
      this.#size = fresh.length;
    } catch {
      this.#rewriteAt = this.#size + this.#rewriteAbove; // the former file is whole, and goes on
    }
  }
}
