import { pipeline, type Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

/** What stands in one line of an import: a record, or what is wrong with the line. */
export type ImportLine = { line: number; value: unknown } | { line: number; fault: string };

/** Bytes of a line at most; a device with all its hardware properties has about 2,000. */
const LONGEST_LINE = 64 * 1024;
const LINE_FEED = 0x0a;
const PROPERTIES = 'hardwareProperties';

/** Which reader a `Content-Type` wants; undefined for any other. */
export function readerOf(contentType: string | undefined): ((body: Readable) => AsyncIterable<ImportLine>) | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-ndjson') return readNdjson;
  if (type === 'text/csv') return readCsv;
  return undefined;
}

/** The lines of a body, as bytes, whatever is in them. One that is too long is cut there, which no JSON survives. */
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
      yield { line, fault: 'the line is no JSON in UTF-8' };
    }
  }
}

/**
 * CSV (RFC 4180) with the names of the fields in the first line: `deviceId`, `credential`, and for hardware properties
 * `hardwareProperties.model.name` and so on; `hardwareProperties` alone, and `.camera`, hold JSON. An empty cell is a
 * field that is left out.
 */
async function* readCsv(body: Readable): AsyncIterable<ImportLine> {
  const parser = parse({
    bom: true,
    columns: true,
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: false,
    max_record_size: LONGEST_LINE,
    trim: true,
  });
  // An unfinished last line of a request that broke off is not taken for a whole one: its error gets here first.
  const records = pipeline(body, parser, () => undefined);
  let line = 1;
  try {
    for await (const { record, info } of records as AsyncIterable<{
      record: Record<string, string>;
      info: { lines: number };
    }>) {
      line = info.lines;
      yield toLine(line, record);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The grammar of what follows is lost.
    yield {
      line: typeof error['lines'] === 'number' ? error['lines'] : line + 1,
      fault: `no CSV from here on: ${error.message}`,
    };
  }
}

function toLine(line: number, record: Record<string, string>): ImportLine {
  // Without a prototype: names come from the file.
  const value = Object.create(null) as Record<string, unknown>;
  for (const [name, cell] of Object.entries(record)) {
    if (cell === '') continue;
    const isJson = name === PROPERTIES || name === `${PROPERTIES}.camera`;
    try {
      set(value, name.split('.'), isJson ? (JSON.parse(cell) as unknown) : cell);
    } catch {
      return { line, fault: `${name} is no JSON` };
    }
  }
  return { line, value };
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
