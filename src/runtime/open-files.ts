import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLimit } from './log-limit.ts';

/**
 * The most connections of each kind of listener. All of them together, with the files that the service itself opens,
 * stay below the limit of open files of the process.
 */
interface OpenFileShares {
  /** The most connections of each of three listeners: the API, administration, and the embedded object store. */
  http: number;
  admin: number;
  objects: number;
  /** The most connections of devices, over all MQTT listeners. */
  mqtt: number;
}

// The most open files that are reserved for the service itself: 1152 for simultaneous webhook attempts, 512 for
// simultaneous requests for upload URLs, 256 for idle connections to receivers, and the rest for files.
const OWN_FILES = 2176;

/**
 * Divides the limit of open files between the listeners, so that the connections of one cannot use up those of another.
 */
export function shareOpenFiles(limit: number): OpenFileShares {
  const part = (divisor: number, most: number): number => Math.max(4, Math.min(most, Math.floor(limit / divisor)));
  const http = part(8, 1024);
  const admin = part(8, 1024);
  const objects = part(8, 1024);
  const own = Math.min(OWN_FILES, Math.floor((limit * 3) / 8));
  return { http, admin, objects, mqtt: Math.max(1, limit - own - http - admin - objects) };
}

const FULL = new Set(['EMFILE', 'ENFILE']);
const LOOK_MILLISECONDS = 5_000;

/**
 * Checks every few seconds whether the process can open a file. At its limit of open files, the kernel closes new
 * connections of all listeners before the service sees them, so this check is the only way to notice it.
 */
export function watchOpenFiles({
  clock,
  log,
  logLimit,
  metrics,
}: {
  clock: Clock;
  log: Log;
  logLimit: LogLimit;
  metrics: { filesExhausted: { inc(): void } };
}): AsyncDisposable {
  let cancel: () => void;
  let stopped = false;
  const arm = (): void => {
    cancel = clock.after(LOOK_MILLISECONDS, () => {
      void look().then(() => (stopped ? undefined : arm()));
    });
  };
  async function look(): Promise<void> {
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
    async [Symbol.asyncDispose]() {
      stopped = true;
      cancel();
    },
  };
}
