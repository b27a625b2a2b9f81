import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

/** One line of an import: its record, or the fault that makes the line unreadable. */
export type ImportLine = { line: number; value: unknown } | { line: number; fault: string };

/** The longest line, in bytes; a device with all its hardware properties has about 2,000. */
const LONGEST_LINE = 64 * 1024;
const LINE_FEED = 0x0a;
const PROPERTIES = 'hardwareProperties';
/** The most parts of the name of a column; those of devices have three. */
const MOST_PARTS = 8;

/** The reader for a `Content-Type`; undefined when the type is not supported. */
export function readerOf(contentType: string | undefined): ((body: Readable) => AsyncIterable<ImportLine>) | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-ndjson') return readNdjson;
  if (type === 'text/csv') return readCsv;
  return undefined;
}

/**
 * Yields the lines of a body as bytes. A line that is too long is cut one byte above the limit, so that the caller sees it.
 */
async function* linesOf(body: Readable): AsyncIterable<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (part: Buffer): void => {
    if (size <= LONGEST_LINE) parts.push(part.subarray(0, LONGEST_LINE + 1 - size));
    size += part.length;
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, end));
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (size > 0) yield Buffer.concat(parts);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function* readNdjson(body: Readable): AsyncIterable<ImportLine> {
  let line = 0;
  for await (const bytes of linesOf(body)) {
    line += 1;
    if (bytes.length > LONGEST_LINE) {
      yield { line, fault: `the line is longer than ${LONGEST_LINE} bytes` };
      continue;
    }
    let text: string;
    try {
      text = utf8.decode(bytes).trim();
      if (text === '') continue;
      yield { line, value: JSON.parse(text) as unknown };
    } catch {
      yield { line, fault: 'the line is not JSON in UTF-8' };
    }
  }
}

/**
 * CSV (RFC 4180) with the names of the fields in the first line: `deviceId`, `credential`, and for hardware properties
 * `hardwareProperties.model.name` and so on; `hardwareProperties` alone, and `.camera`, hold JSON. An empty cell is a
 * field that is left out.
 */
async function* readCsv(body: Readable): AsyncIterable<ImportLine> {
  let read: ImportLine[] = [];
  const parser = parse({
    bom: true,
    columns: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE,
    trim: true,
    relax_column_count: true, // a record with another number of cells is reported as an error, and the parser reads on
    // Records are taken in this callback and not from the parser's stream: after an error, the records in the stream's
    // buffer would be lost.
    on_record(record: Record<string, string>, { lines: line, error }: { lines: number; error: CsvError | undefined }) {
      read.push(error ? { line, fault: error.message } : toLine(line, record));
      return null;
    },
  });
  parser.on('error', () => undefined); // errors also reach the callbacks of write and end, which handle them
  const taken = (): ImportLine[] => {
    const lines = read;
    read = [];
    return lines;
  };
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      await fed((done) => parser.write(chunk, done));
      yield* taken();
    }
    // Only a body that has arrived completely comes here, so its last line is whole. A request that breaks off throws
    // in the loop above.
    await fed((done) => parser.end(done));
    yield* taken();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield* taken();
    // After a syntax error the reader no longer knows where a record begins, so it stops.
    const line = error['lines'];
    yield { line: typeof line === 'number' ? line : 1, fault: `no CSV from here on: ${error.message}` };
  }
}

const fed = (feed: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => feed((error) => (error ? reject(error) : resolve())));

function toLine(line: number, record: Record<string, string>): ImportLine {
  // The object has no prototype, because the names of its members come from the file.
  const value = Object.create(null) as Record<string, unknown>;
  for (const [name, cell] of Object.entries(record)) {
    if (cell === '') continue;
    const isJson = name === PROPERTIES || name === `${PROPERTIES}.camera`;
    try {
      set(value, partsOf(name), isJson ? (JSON.parse(cell) as unknown) : cell);
    } catch {
      return { line, fault: `${name} is not JSON` };
    }
  }
  return { line, value };
}

/**
 * The names of the members that the name of a column leads to. A name with too many parts belongs to no device: it stays one
 * unknown name, because a line of dots would otherwise make thousands of nested objects.
 */
function partsOf(name: string): string[] {
  const parts = name.split('.', MOST_PARTS + 1);
  return parts.length > MOST_PARTS ? [name] : parts;
}

function set(target: Record<string, unknown>, [name = '', ...rest]: string[], content: unknown): void {
  if (rest.length === 0) {
    target[name] = content;
    return;
  }
  const known = target[name];
  const isObject = typeof known === 'object' && known !== null && Object.getPrototypeOf(known) === null;
  const inner = (isObject ? known : Object.create(null)) as Record<string, unknown>;
  target[name] = inner;
  set(inner, rest, content);
}
