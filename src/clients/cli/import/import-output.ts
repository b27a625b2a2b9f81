import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';

/** A device and the credential that it gets: a row of the output. */
export interface Row {
  deviceId: string;
  credential: string;
}
/** What an unfinished output says first. While it does, its rows are what was sent, or was about to be. */
interface Head {
  unfinished: string;
  developerId: string;
}
/** Rows are counted from 1: all up to this one are answered. */
interface Answered {
  answered: number;
}
interface Fate {
  row: number;
  registered: boolean;
}
type Line = Row | Head | Answered | Fate;

/** A row that is in the file: to be sent. */
export interface Written extends Row {
  row: number;
}

const UNFINISHED = 'run lapel admin device import again with the same file: it goes on from here';
const text = (line: Line): string => `${JSON.stringify(line)}\n`;

/** What was found in an output of before. Only this grows with it: 100,000 devices take a few megabytes. */
interface Found {
  rows: number;
  answered: number;
  /** Devices that are registered; as numbers they take a quarter of the memory. */
  registered: Set<number>;
  /** Sent, and the answer never came, or was a refusal: to be sent again, with the same credential. */
  open: Map<number, Written>;
  refused: Set<number>;
  isFinished: boolean;
  /** Bytes of whole lines: what follows was cut off in the middle. */
  size: number;
}

const isRow = (line: Line): line is Row =>
  typeof (line as Row).deviceId === 'string' && typeof (line as Row).credential === 'string';

/** The lines, and where each ends; `whole`: with its line feed. Half a line at the end is left out. */
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
      throw new UsageError('--output', `${path} is no output of an import`);
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
        throw new UsageError('--output', `${path} is of an import for the developer ${line.developerId}`);
      }
    } else if ('answered' in line) {
      found.answered = line.answered;
      for (const row of waiting.keys()) if (row <= line.answered) settle(row, true);
    } else if ('row' in line) settle(line.row, line.registered);
    else if (isRow(line)) {
      found.rows += 1;
      if (found.isFinished) found.registered.add(Number(line.deviceId));
      else waiting.set(found.rows, { ...line, row: found.rows });
    } else throw new UsageError('--output', `${path} is no output of an import`);
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
 * The file that gets the credentials of an import, and that a run which broke off goes on from: each device is in it, on
 * the disk, before it is sent. When all is done it holds one line of `{ deviceId, credential }` for each device that is
 * registered. Only its owner may read it. Throws a UsageError, and a Failure when it cannot be written.
 */
export async function openImportOutput(path: string, developerId: string) {
  const head = text({ unfinished: UNFINISHED, developerId });
  const exists = await stat(path).then(
    (stats) => {
      if (!stats.isFile()) throw new UsageError('--output', `${path} is no file`);
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
  /** One after the other: after one that failed nothing is written, so that the file has no hole. */
  function append(content: string): Promise<void> {
    last = last.then(async () => {
      const bytes = Buffer.from(content);
      try {
        // A disk that gets full takes a part, and then nothing.
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
  // Answers come in the order of sending; rows of before are sent again in between.
  const early = new Set<number>();
  let marks = '';

  return {
    path,
    /** How many devices an earlier run registered. */
    registeredBefore: found.registered.size,
    /** What an earlier run knows of a device. */
    find(deviceId: string): 'registered' | Written | undefined {
      const device = Number(deviceId);
      return found.registered.has(device) ? 'registered' : found.open.get(device);
    },
    /** Puts new devices on the disk, so that they may be sent. */
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
    /** Takes down what became of a row. */
    settle(row: number, isRegistered: boolean): void {
      if (row <= found.rows || !isRegistered) marks += text({ row, registered: isRegistered });
      if (isRegistered) found.refused.delete(row);
      else found.refused.add(row);
      if (row <= answered) return;
      early.add(row);
      while (early.delete(answered + 1)) answered += 1;
    },
    /** Writes what was taken down. What is not written is sent again next time, which does no harm. */
    async flush(): Promise<void> {
      if (answered > noted) marks += text({ answered }); // after the refusals: the rest of them is registered
      if (marks === '') return;
      noted = answered;
      const content = marks;
      marks = '';
      await append(content);
    },
    /** Everything is answered: leaves the devices that are registered, and nothing else. */
    async finish(): Promise<void> {
      await file.close();
      await copy(path, '', (row) => !found.refused.has(row), '');
    },
    close: () => file.close(),
  };
}

/** Replaces a file by its rows, as far as they are wanted, between a beginning and an end. */
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
