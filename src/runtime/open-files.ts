import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { LogLimit } from './log-limit.ts';

/** Connections at most of each kind of listener, together below the limit of open files with what the service opens itself. */
interface OpenFileShares {
  /** Of the API, administration, and the embedded object store. */
  http: number;
  admin: number;
  objects: number;
  /** Of devices, over all listeners. */
  mqtt: number;
}

// What the service opens itself: 1152 attempts of webhooks and 512 requests for upload URLs at a time, and files.
const OWN_FILES = 1920;

/** Shares a limit of open files out, so that none of the listeners can use up what the others need. */
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
 * Looks every few seconds whether the process may open a file. At the limit the kernel's new connections are closed before
 * anything of the service hears of them, on every listener: only this tells.
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
        log.error({ err, leftOut }, 'no more files can be opened: connections are closed unheard');
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
