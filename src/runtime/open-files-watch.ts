import { open, readFile, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLimit } from './log-limit.ts';
import type { OpenFileShares } from './open-files.ts';

const FULL = new Set(['EMFILE', 'ENFILE']);
const LOOK_MILLISECONDS = 5_000;
/** Below this limit connections of devices and to receivers are few, which is told at the start. */
const LOW = 4_096;
/** With fewer open files than this share of the limit nothing is told. */
const NEAR = 0.9;

/** The open files of this process and their limit, as Linux tells them; undefined elsewhere, and before Linux 6.2. */
async function countOpenFiles(): Promise<{ count: number; limit: number } | undefined> {
  try {
    const [{ size }, limits] = await Promise.all([stat('/proc/self/fd'), readFile('/proc/self/limits', 'latin1')]);
    const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return size > 0 && limit > 0 ? { count: size, limit } : undefined;
  } catch {
    return undefined; // at the limit neither can be read, and `look` tells of it
  }
}

/**
 * Checks every few seconds whether the process can open a file, and how many it has open. At its limit of open files, the
 * kernel closes new connections of all listeners before the service sees them, so this check is the only way to notice it.
 */
export function watchOpenFiles({
  clock,
  log,
  logLimit,
  metrics,
  limit,
  shares,
}: {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: { filesExhausted: { inc(): void } };
  /** The limit of open files at the start, and the bounds that follow from it. */
  limit: number;
  shares: OpenFileShares;
}): AsyncDisposable & { doubt(): string | undefined } {
  let cancel: () => void;
  let near: string | undefined;
  let stopped = false;
  if (limit < LOW) {
    const { mqtt: devices, kept } = shares;
    log.warn(
      { limit, devices, keptToReceivers: kept.service },
      'the limit of open files is low, so the bounds are too',
    );
  }
  const arm = (): void => {
    cancel = clock.after(LOOK_MILLISECONDS, () => {
      void look().then(() => (stopped ? undefined : arm()));
    });
  };
  async function look(): Promise<void> {
    const found = await countOpenFiles();
    if (found)
      near = found.count > found.limit * NEAR ? `${found.count} of ${found.limit} open files are in use` : undefined;
    try {
      await using _ = await open(devNull);
    } catch (err) {
      if (!FULL.has((err as NodeJS.ErrnoException).code ?? '')) return;
      metrics.filesExhausted.inc();
      const leftOut = logLimit('files');
      if (leftOut !== undefined)
        log.error({ err, leftOut }, 'the limit of open files is reached: new connections are closed');
    }
  }
  arm();
  return {
    /** What is told in `/readyz` near the limit; undefined otherwise. */
    doubt: () => near,
    async [Symbol.asyncDispose]() {
      stopped = true;
      cancel();
    },
  };
}
