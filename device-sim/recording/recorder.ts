import { closeSync, openSync, writeSync } from 'node:fs';
import { withoutSecrets } from '@lapel/schemas/base/without-secrets';
import type { Timers } from '../timers.ts';
import { UsageError } from '../usage-error.ts';
import type { Direction, Ending, TrafficHead, TrafficLine } from './traffic.ts';

/** The greatest size of a record. */
export const MOST_BYTES = 256 * 1024 ** 2;
/** Bytes that are collected before they are written. */
const CHUNK_BYTES = 64 * 1024;

/** Writes the traffic of devices into a file, without secrets. */
export interface Recorder {
  connected(device: string): void;
  disconnected(device: string, how: Ending): void;
  message(device: string, kind: Direction, topic: string, payload: string | Uint8Array): void;
  /** Writes the rest. Returns a sentence about the record: its size, or why it ends early. */
  close(): string;
}

function contentOf(payload: string | Uint8Array): { payload?: unknown } {
  try {
    const text = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
    return { payload: withoutSecrets(JSON.parse(text) as unknown) };
  } catch {
    // A message that is no JSON may have a secret at any place, so nothing of it is kept.
    return {};
  }
}

/**
 * Begins a record. Throws a UsageError if the file cannot be written. When it has `mostBytes`, or cannot be written any
 * more, the record ends and the run goes on.
 */
export function createRecorder({
  file,
  run,
  timers,
  mostBytes = MOST_BYTES,
  option = '--record',
}: {
  file: string;
  run: string;
  timers: Timers;
  mostBytes?: number;
  /** The option or command that names the file, for errors. */
  option?: string;
}): Recorder {
  const began = timers.now();
  let descriptor: number;
  try {
    // Only the owner may read it, because names and positions of people may be in events.
    descriptor = openSync(file, 'w', 0o600);
  } catch (error) {
    throw new UsageError(option, `cannot write ${file}: ${(error as Error).message}`);
  }
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let bytes = 0;
  let messages = 0;
  let over: string | undefined;

  function flush(): void {
    const chunk = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    try {
      for (let written = 0; written < chunk.length; ) written += writeSync(descriptor, chunk, written);
    } catch (error) {
      over = `it cannot be written any more: ${(error as Error).message}`;
    }
  }

  function put(line: TrafficHead | TrafficLine): void {
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    waiting.push(text);
    waitingBytes += text.length;
    bytes += text.length;
    if (waitingBytes >= CHUNK_BYTES) flush();
  }

  const now = (): number => Number((timers.now() - began).toFixed(3));

  function add(line: TrafficLine): void {
    if (over !== undefined) return;
    if (bytes >= mostBytes) {
      over = `it has reached its greatest size, ${mostBytes} bytes`;
      put({ at: now(), kind: 'full' });
      return;
    }
    if (line.kind === 'sent' || line.kind === 'received') messages += 1;
    put(line);
  }

  put({ record: 'device traffic', version: 1, run, startedAt: new Date().toISOString() });
  return {
    connected: (device) => add({ at: now(), device, kind: 'connected' }),
    disconnected: (device, how) => add({ at: now(), device, kind: 'disconnected', how }),
    message(device, kind, topic, payload) {
      if (over === undefined) add({ at: now(), device, kind, topic, ...contentOf(payload) });
    },
    close() {
      flush();
      closeSync(descriptor);
      const end = over === undefined ? '' : `. The record ends early: ${over}`;
      return `${messages} messages of devices are in ${file}${end}`;
    },
  };
}
