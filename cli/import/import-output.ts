import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';

/** A device and its new credential: a row of the output. */
export interface Row {
  deviceId: string;
  credential: string;
}
/**
 * The first line of an unfinished output. The rows behind it were sent, or were about to be sent when the import was
 * interrupted.
 */
interface Head {
  unfinished: string;
  developerId: string;
}
/** A line which says that the service has answered all rows up to this number, counted from 1. */
interface Answered {
  answered: number;
}
interface Fate {
  row: number;
  registered: boolean;
}
type Line = Row | Head | Answered | Fate;

/** A row that is in the file, and may be sent. */
export interface Written extends Row {
  row: number;
}

const UNFINISHED = 'run lapel admin device import again with the same file to continue';
const text = (line: Line): string => `${JSON.stringify(line)}\n`;

/**
 * The content of the output of an earlier run. It is the only thing in memory that grows with the output: 100,000
 * devices take a few megabytes.
 */
interface Found {
  rows: number;
  answered: number;
  /** The registered devices. Stored as numbers they take a quarter of the memory. */
  registered: Set<number>;
  /**
   * Devices that were sent but not registered, because the answer was lost or was a refusal. They are sent again with
   * the same credential.
   */
  open: Map<number, Written>;
  refused: Set<number>;
  isFinished: boolean;
  /** The bytes of the file's complete lines; behind them is at most a line whose writing was interrupted. */
  size: number;
}

const isRow = (line: Line): line is Row =>
  typeof (line as Row).deviceId === 'string' && typeof (line as Row).credential === 'string';

/**
 * Reads the lines with the position of their ends; `whole` is false for a last line without line feed. An incomplete
 * JSON text at the end is left out.
 */
async function* linesOf(path: string): AsyncGenerator<{ line: Line; end: number; whole: boolean }> {
  await using file = await open(path);
  let end = 0;
  const { size } = await file.stat();
  for await (const content of createInterface({ input: file.createReadStream({ autoClose: false }) })) {
    end += Buffer.byteLength(content) + 1;
    const whole = end <= size;
    let line: unknown = null;
    try {
      line = JSON.parse(content);
    } catch {
      if (!whole) return;
    }
    if (typeof line !== 'object' || line === null)
      throw new UsageError('--output', `${path} is not the output of an import`);
    yield { line: line as Line, end, whole };
  }
}

async function look(path: string, developerId: string): Promise<Found> {
  const found: Found = {
    rows: 0,
    answered: 0,
    registered: new Set(),
    open: new Map(),
    refused: new Set(),
    isFinished: true,
    size: 0,
  };
  const waiting = new Map<number, Written>();
  const refused = new Map<number, Written>();
  const settle = (row: number, isRegistered: boolean): void => {
    const written = waiting.get(row) ?? refused.get(row);
    if (!written) return;
    waiting.delete(row);
    refused.delete(row);
    if (isRegistered) found.registered.add(Number(written.deviceId));
    else refused.set(row, written);
  };
  for await (const { line, end, whole } of linesOf(path)) {
    if (!whole && !found.isFinished) break;
    if ('unfinished' in line) {
      found.isFinished = false;
      if (line.developerId !== developerId) {
        throw new UsageError('--output', `${path} belongs to an import for the developer ${line.developerId}`);
      }
    } else if ('answered' in line) {
      found.answered = line.answered;
      for (const row of waiting.keys()) if (row <= line.answered) settle(row, true);
    } else if ('row' in line) settle(line.row, line.registered);
    else if (isRow(line)) {
      found.rows += 1;
      if (found.isFinished) found.registered.add(Number(line.deviceId));
      else waiting.set(found.rows, { ...line, row: found.rows });
    } else throw new UsageError('--output', `${path} is not the output of an import`);
    found.size = end;
  }
  for (const written of [...waiting.values(), ...refused.values()]) {
    const device = Number(written.deviceId);
    if (!found.open.has(device)) found.open.set(device, written);
  }
  found.refused = new Set(refused.keys());
  if (found.isFinished) found.answered = found.rows;
  return found;
}

export type ImportOutput = Awaited<ReturnType<typeof openImportOutput>>;

/**
 * Opens the file for the credentials of an import, from which an interrupted import continues. Each device is in the
 * file, on the disk, before it is sent. A finished file has one line of `{ deviceId, credential }` for each registered
 * device. Only its owner may read it. Throws a UsageError, and a Failure when it cannot be written.
 */
export async function openImportOutput(path: string, developerId: string) {
  const head = text({ unfinished: UNFINISHED, developerId });
  const exists = await stat(path).then(
    (stats) => {
      if (!stats.isFile()) throw new UsageError('--output', `${path} is not a file`);
      return stats.size > 0;
    },
    () => false,
  );
  let file: FileHandle;
  let found: Found = {
    rows: 0,
    answered: 0,
    registered: new Set(),
    open: new Map(),
    refused: new Set(),
    isFinished: false,
    size: 0,
  };
  try {
    if (exists) found = await look(path, developerId);
    if (found.size > 0 && found.isFinished) await copy(path, head, () => true, text({ answered: found.rows }));
    file = await open(path, exists ? 'r+' : 'w', 0o600);
    await file.chmod(0o600);
    if (found.size === 0) await file.truncate(0);
    else if (!found.isFinished) await file.truncate(found.size);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError('--output', (error as Error).message);
  }
  let position = (await file.stat()).size;
  let last = Promise.resolve();
  /** Writes one text after the other. After a failure nothing more is written, so that the file has no gap. */
  function append(content: string): Promise<void> {
    last = last.then(async () => {
      const bytes = Buffer.from(content);
      try {
        // A disk that becomes full may take a part of the bytes.
        for (let done = 0; done < bytes.length; ) {
          done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
        }
      } catch (error) {
        throw new Failure(`cannot write ${path}: ${(error as Error).message}`, { cause: error });
      }
      position += bytes.length;
    });
    last.catch(() => undefined);
    return last;
  }
  if (position === 0) await append(head);

  let { rows, answered } = found;
  let noted = answered;
  // Rows with an answer that lie behind the first row without one. They come about because rows of earlier runs are
  // sent again between new ones.
  const early = new Set<number>();
  let marks = '';

  return {
    path,
    /** The number of devices that an earlier run registered. */
    registeredBefore: found.registered.size,
    /** The state of a device from an earlier run. */
    find(deviceId: string): 'registered' | Written | undefined {
      const device = Number(deviceId);
      return found.registered.has(device) ? 'registered' : found.open.get(device);
    },
    /** Writes new devices to the disk, so that they may be sent. */
    async write(devices: readonly Row[]): Promise<Written[]> {
      if (devices.length === 0) return [];
      const written = devices.map((device) => {
        rows += 1;
        return { ...device, row: rows };
      });
      await append(devices.map(({ deviceId, credential }) => text({ deviceId, credential })).join(''));
      await file.datasync();
      return written;
    },
    /** Stores the result of a row in memory; `flush` writes it. */
    settle(row: number, isRegistered: boolean): void {
      if (row <= found.rows || !isRegistered) marks += text({ row, registered: isRegistered });
      if (isRegistered) found.refused.delete(row);
      else found.refused.add(row);
      if (row <= answered) return;
      early.add(row);
      while (early.delete(answered + 1)) answered += 1;
    },
    /**
     * Writes the results that `settle` has stored. Rows without a written result are sent again by the next run, which
     * does no harm.
     */
    async flush(): Promise<void> {
      if (answered > noted) marks += text({ answered }); // after the refusals: all other rows up to here are registered
      if (marks === '') return;
      noted = answered;
      const content = marks;
      marks = '';
      await append(content);
    },
    /** Finishes the file when all rows are answered: it then has the registered devices only. */
    async finish(): Promise<void> {
      await file.close();
      await copy(path, '', (row) => !found.refused.has(row), '');
    },
    close: () => file.close(),
  };
}

/**
 * Rewrites an output file. The new file has the line `head`, the rows whose numbers are `wanted`, and the line `tail`.
 */
async function copy(path: string, head: string, wanted: (row: number) => boolean, tail: string): Promise<void> {
  const unfinished = `${path}.new`;
  await using target = await open(unfinished, 'w', 0o600);
  let row = 0;
  let batch = head;
  try {
    for await (const { line } of linesOf(path)) {
      if (!isRow(line)) continue;
      row += 1;
      if (wanted(row)) batch += text({ deviceId: line.deviceId, credential: line.credential });
      if (batch.length > 65_536) {
        await target.appendFile(batch);
        batch = '';
      }
    }
    await target.appendFile(batch + tail);
    await target.sync();
    await rename(unfinished, path);
  } catch (error) {
    throw new Failure(`cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
