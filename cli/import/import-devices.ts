import { LapelError } from '@lapel/client/lapel-error';
import { newSecret } from '@lapel/schemas/base/new-secret';
import type { ImportLine } from '@lapel/schemas/imports/import-lines';
import type { Administration } from '../account/access.ts';
import { Failure, networkReason, toFailure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Screen, Terminal } from '../show/terminal.ts';
import type { ImportOutput, Row, Written } from './import-output.ts';
import { type LineAnswer, openImportRequest } from './import-request.ts';

export interface Counts {
  /** All lines that were read, except blank ones. */
  lines: number;
  registered: number;
  /** Lines that were not sent, because an earlier run has already registered their devices. */
  skipped: number;
  refused: number;
}

/** A line that failed, with the error of the service or of the file format. */
export interface Fault {
  line: number;
  deviceId: string | null;
  error: NonNullable<LineAnswer['error']>;
}

/** A line that was sent, or is about to be. */
interface Sent {
  line: number;
  deviceId: string | null;
  /** The number of the device's row in the output file; null for an invalid deviceId, which the service refuses. */
  row: number | null;
  content: string;
}

interface Parts {
  administration: Administration;
  developerId: string;
  lines: AsyncIterable<ImportLine>;
  output: ImportOutput;
  terminal: Terminal;
  screen: Screen;
  onProgress(counts: Counts): void;
  onFault(fault: Fault): void;
}

const DEVICE_ID = /^\d{15}$/;
/** Lines that are written to the disk together. */
const BATCH = 200;
// The most lines without an answer. The service answers 200 at a time, so with a smaller number it would wait for ever.
const WINDOW = 1000;
/** The most lines of one request. A longer request could exceed the time limits of proxies. */
const REQUEST = 20_000;
const ATTEMPTS = 6;
const FIRST_PAUSE_MILLISECONDS = 500;

/**
 * Imports the lines so that an interruption at any moment loses nothing: a device is written to the disk before it is
 * sent, and its result is written after the answer. When the connection breaks, a new one is opened, and lines without
 * an answer are sent again. Ends early without loss when it is interrupted. Throws a Failure.
 */
export async function importDevices(parts: Parts): Promise<Counts> {
  const { administration, developerId, output, terminal, screen, onProgress, onFault } = parts;
  const { interrupted, pause } = terminal;
  const counts: Counts = { lines: 0, registered: 0, skipped: 0, refused: 0 };
  const unanswered: Sent[] = [];
  const source = batches(parts, counts);
  // The next batch of lines, which is read before it is needed. It is kept between requests, so that a batch that a
  // request did not send is not lost.
  interface Ahead {
    value?: IteratorResult<Sent[], void>;
    error?: unknown;
  }
  let ahead: Ahead | undefined;
  // One promise at a time is awaited. A race of promises that live as long as the import would keep all lines in
  // memory.
  let wake = (): void => {};
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  interrupted.addEventListener('abort', () => wake(), { once: true });
  let isRead = false;

  function readAhead(): void {
    if (ahead) return;
    const mine: Ahead = {};
    ahead = mine;
    source.next().then(
      (value) => {
        mine.value = value;
        wake();
      },
      (error: unknown) => {
        mine.error = error;
        wake();
      },
    );
  }

  function settle({ error }: LineAnswer): void {
    const sent = unanswered.shift();
    if (!sent) throw new Error('the service answered more lines than were sent');
    if (sent.row !== null) output.settle(sent.row, !error);
    if (!error) counts.registered += 1;
    else {
      counts.refused += 1;
      onFault({ line: sent.line, deviceId: sent.deviceId, error });
    }
  }

  /**
   * Sends lines in one request until there are no more, or the request is full. Rejects when the request ended without
   * answers to all lines that it sent.
   */
  async function oneRequest(): Promise<void> {
    using request = openImportRequest(administration, developerId);
    let ended = false;
    const reading = (async () => {
      let taken = 0;
      for await (const answer of request.answers()) {
        settle(answer);
        taken += 1;
        if (unanswered.length === WINDOW - BATCH) wake();
        if (taken % BATCH === 0) await output.flush();
        onProgress(counts);
      }
      await output.flush();
    })().finally(() => {
      ended = true;
      wake();
    });
    reading.catch(() => undefined);

    await request.send(unanswered.map(({ content }) => content).join(''));
    let count = unanswered.length;
    while (!ended && !interrupted.aborted && !isRead && count < REQUEST) {
      readAhead();
      if (ahead?.error) throw ahead.error;
      const next = unanswered.length <= WINDOW - BATCH ? ahead?.value : undefined;
      if (!next) {
        await change();
        continue;
      }
      ahead = undefined;
      if (next.done) {
        isRead = true;
        continue;
      }
      unanswered.push(...next.value);
      count += next.value.length;
      await request.send(next.value.map(({ content }) => content).join(''));
    }
    request.end();
    await reading;
    if (unanswered.length > 0) throw new Error('the service ended the request before it had answered all lines');
  }

  let failures = 0;
  while (!isRead && !interrupted.aborted) {
    const before = counts.registered + counts.refused;
    try {
      await oneRequest();
    } catch (error) {
      if (error instanceof Failure) throw error;
      const what = 'import devices';
      const isRefusal = error instanceof LapelError && error.status < 500 && error.status !== 429;
      if (isRefusal) throw toFailure(error, { what, baseUrl: administration.baseUrl, option: 'admin-url' });
      if (interrupted.aborted) break;
      failures = counts.registered + counts.refused > before ? 1 : failures + 1;
      if (failures === ATTEMPTS) throw failureOf(error, administration.baseUrl);
      screen.line(oneLine(`the connection broke (${networkReason(error)}); trying again`));
      isRead = false;
      await pause(FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 1), interrupted).catch(() => undefined);
    }
  }
  return counts;
}

/** Reads lines, gives each device a credential, writes the devices to the disk, and yields the lines to send. */
async function* batches({ lines, output, onFault, onProgress }: Parts, counts: Counts): AsyncGenerator<Sent[]> {
  let batch: { line: number; value: unknown; row: Row | Written | null }[] = [];

  async function written(): Promise<Sent[]> {
    const fresh = batch.flatMap(({ row }) => (row && !('row' in row) ? [row] : []));
    const rows = (await output.write(fresh)).values();
    const sent = batch.map(({ line, value, row }): Sent => {
      const known = row === null ? null : 'row' in row ? row : rows.next().value!;
      const { deviceId = null } = (value ?? {}) as { deviceId?: string };
      const content = known ? { ...(value as object), credential: known.credential } : value;
      return { line, deviceId, row: known?.row ?? null, content: `${JSON.stringify(content)}\n` };
    });
    batch = [];
    return sent;
  }

  for await (const read of lines) {
    counts.lines += 1;
    if ('fault' in read) {
      counts.refused += 1;
      const details = [{ loc: ['body'], msg: read.fault, type: 'json_invalid' }];
      onFault({ line: read.line, deviceId: null, error: { reason: 'invalid request.', details } });
      continue;
    }
    const { line, value } = read;
    const { deviceId, credential } = (value ?? {}) as { deviceId?: unknown; credential?: unknown };
    if (typeof deviceId !== 'string' || !DEVICE_ID.test(deviceId)) batch.push({ line, value, row: null });
    else {
      const known = output.find(deviceId);
      if (known === 'registered') {
        counts.skipped += 1;
        onProgress(counts);
        continue;
      }
      // A credential in the input is used as it is, also when it has changed since the last run.
      const own = typeof credential === 'string' ? credential : undefined;
      const isKnown = known && (own === undefined || own === known.credential);
      batch.push({ line, value, row: isKnown ? known : { deviceId, credential: own ?? newSecret() } });
    }
    if (batch.length >= BATCH) yield await written();
  }
  if (batch.length > 0) yield await written();
}

function failureOf(error: unknown, baseUrl: string): unknown {
  const asNetwork = error instanceof LapelError ? error : new TypeError('fetch failed', { cause: error });
  return toFailure(asNetwork, { what: 'import devices', baseUrl, option: 'admin-url' });
}
