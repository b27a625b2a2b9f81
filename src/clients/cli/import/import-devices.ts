import type { ImportLine } from '../../../platform/imports/import-lines.ts';
import { randomIds } from '../../../runtime/ids.ts';
import { LapelError } from '../../client/lapel-error.ts';
import type { Administration } from '../account/access.ts';
import { Failure, networkReason, toFailure } from '../show/failure.ts';
import type { Screen, Terminal } from '../show/terminal.ts';
import type { ImportOutput, Row, Written } from './import-output.ts';
import { type LineAnswer, openImportRequest } from './import-request.ts';

export interface Counts {
  /** All that were read, blank ones not. */
  lines: number;
  registered: number;
  /** Of devices that an earlier run registered. */
  skipped: number;
  refused: number;
}

/** A line that failed: in the words of the service, or of the file's grammar. */
export interface Fault {
  line: number;
  deviceId: string | null;
  error: NonNullable<LineAnswer['error']>;
}

/** A line that is to be sent, or was. */
interface Sent {
  line: number;
  deviceId: string | null;
  /** In the output; null for what is no device identifier: the service says so. */
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
/** Lines that go to the disk together. */
const BATCH = 200;
// Lines without an answer at most. The service answers 200 at a time: with fewer than that it would wait for ever.
const WINDOW = 1000;
/** Lines of one request: short enough for proxies that limit its time. */
const REQUEST = 20_000;
const ATTEMPTS = 6;
const FIRST_PAUSE_MILLISECONDS = 500;

/**
 * Sends what was read, in an order that survives everything: a device is on the disk before it is sent, and what became of
 * it is noted after. A connection that breaks is opened anew, and what has no answer is sent again. Ends early, in good
 * order, when it is interrupted. Throws a Failure.
 */
export async function importDevices(parts: Parts): Promise<Counts> {
  const { administration, developerId, output, terminal, screen, onProgress, onFault } = parts;
  const { interrupted, pause } = terminal;
  const counts: Counts = { lines: 0, registered: 0, skipped: 0, refused: 0 };
  const unanswered: Sent[] = [];
  const source = batches(parts, counts);
  // The next lines, read ahead: what was not taken when a request ended must not get lost.
  interface Ahead {
    value?: IteratorResult<Sent[], void>;
    error?: unknown;
  }
  let ahead: Ahead | undefined;
  // Whoever waits does so for this: a race of promises that live as long as the import would keep all lines in memory.
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

  /** Whether it came to an end: with answers to all that it sent. */
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
    if (unanswered.length > 0) throw new Error('the service ended before it had answered everything');
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
      screen.line(`the connection broke (${networkReason(error)}); trying again`);
      isRead = false;
      await pause(FIRST_PAUSE_MILLISECONDS * 2 ** (failures - 1), interrupted).catch(() => undefined);
    }
  }
  return counts;
}

/** Reads lines, gives each device a credential, puts them on the disk, and hands out what is to be sent. */
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
      // A credential of the file's own is taken as it is, also when it changed since.
      const own = typeof credential === 'string' ? credential : undefined;
      const isKnown = known && (own === undefined || own === known.credential);
      batch.push({ line, value, row: isKnown ? known : { deviceId, credential: own ?? randomIds.secret() } });
    }
    if (batch.length >= BATCH) yield await written();
  }
  if (batch.length > 0) yield await written();
}

function failureOf(error: unknown, baseUrl: string): unknown {
  const asNetwork = error instanceof LapelError ? error : new TypeError('fetch failed', { cause: error });
  return toFailure(asNetwork, { what: 'import devices', baseUrl, option: 'admin-url' });
}
