import { statSync } from 'node:fs';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createExpiryWatch, type ExpiryMetrics } from './expiry-watch.ts';
import { pathsOf, readTlsFiles, type TlsFiles, type TlsPaths, type TlsSettings } from './tls-files.ts';

/** The TLS files that one or more listeners share. */
export interface TlsSet {
  /** The names of the listeners in metrics and log lines. */
  listeners: readonly string[];
  settings: TlsSettings;
  paths: TlsPaths;
}

interface Parts {
  clock: Clock;
  log: Log;
  metrics: ExpiryMetrics;
  sets: readonly TlsSet[];
}

/** The files of one listener, now and after each change. */
export interface Secured {
  files(): TlsFiles;
  /** Calls `use` with the new files after each change. */
  onChange(use: (files: TlsFiles) => void): void;
}

/** How often the files are looked at. */
const LOOK_MS = 10_000;

export type Certificates = ReturnType<typeof createCertificates>;

/** The state of the files of a set: it differs after each change, also when a symbolic link leads to other files. */
function stateOf({ paths }: TlsSet): string {
  const states = pathsOf(paths).map(([kind, path]) => {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    return found ? `${kind} ${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}` : `${kind} missing`;
  });
  return states.join(', ');
}

/**
 * Keeps the certificates of all listeners: reads their files, reads them again after a SIGHUP and when they change, and
 * tells when they expire. Files that cannot be used, such as a new certificate whose key is not written yet, change
 * nothing: the former ones stay in use. Throws SETTING_INVALID when the files of the start cannot be used.
 */
export function createCertificates({ clock, log, metrics, sets }: Parts) {
  const expiry = createExpiryWatch({ clock, log, metrics });
  const kept = sets.map((set) => {
    const state = stateOf(set); // before the files are read, so that a change in between is noticed
    return { set, state, files: readTlsFiles(set.paths, set.settings), uses: [] as Use[] };
  });
  let stopped: (() => void) | undefined;

  const read = ({ set }: Kept): TlsFiles => readTlsFiles(set.paths, set.settings);

  function tell(): void {
    expiry.tell(kept.flatMap(({ set: { listeners }, files }) => listeners.map((listener) => ({ listener, files }))));
  }

  function use(one: Kept, files: TlsFiles): void {
    one.files = files;
    for (const next of one.uses) next(files);
  }

  function look(): void {
    for (const one of kept) {
      const state = stateOf(one.set);
      if (state === one.state) continue;
      one.state = state;
      const { listeners } = one.set;
      try {
        use(one, read(one));
        log.info({ listeners }, 'the TLS files have changed and were read again');
      } catch (err) {
        log.warn({ err, listeners }, 'the changed TLS files cannot be used (yet); the former ones stay in use');
      }
    }
    tell();
    stopped = clock.after(LOOK_MS, look);
  }

  return {
    /** The TLS files of a listener; undefined when it has none. */
    of(listener: string): Secured | undefined {
      const one = kept.find(({ set }) => set.listeners.includes(listener));
      return one && { files: () => one.files, onChange: (use) => void one.uses.push(use) };
    },

    start(): void {
      if (kept.length === 0) return;
      tell();
      stopped = clock.after(LOOK_MS, look);
    },

    /**
     * Reads all files again. New connections use them. Throws SETTING_INVALID for a faulty file; then nothing changes.
     * Returns false when there are no files.
     */
    reload(): boolean {
      const found = kept.map((one) => ({ one, state: stateOf(one.set), files: read(one) }));
      for (const { one, state, files } of found) {
        one.state = state;
        use(one, files);
      }
      tell();
      return kept.length > 0;
    },

    /** The certificates that are in use, and when they expire. */
    list: expiry.list,

    /** Sets the metrics of the certificates. */
    measure: expiry.measure,

    async [Symbol.asyncDispose](): Promise<void> {
      stopped?.();
    },
  };
}

type Use = (files: TlsFiles) => void;
interface Kept {
  set: TlsSet;
  state: string;
  files: TlsFiles;
  uses: Use[];
}
