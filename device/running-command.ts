import type { KeyObject } from 'node:crypto';
import type { Timers } from './connection/timers.ts';
import { DeviceFailure } from './core/device-failure.ts';
import type { Command } from './core/effects.ts';
import { download, readWanted } from './download/download.ts';
import type { Position } from './download/part-file.ts';
import { checkSignature } from './download/signature.ts';

/** The progress of a command on the disk: that of its download is kept beside that of the maker. */
interface Progress {
  own?: unknown;
  download?: Position;
}

export interface CommandParts {
  store(progress: Progress): void;
  request(type: string, data: object): Promise<Record<string, unknown>>;
  online(): Promise<void>;
  trustedKeys: readonly KeyObject[];
  timers: Timers;
  signal: AbortSignal;
}

/** A command for the maker, from its begin to its end. */
export class RunningCommand {
  readonly operation: string;
  /** As the schema of the operation in schemas/mqtt has them; a newer service may send further members. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has parameters of its own, which the maker knows
  readonly parameters: Readonly<Record<string, any>>;
  readonly transactionId: number;
  readonly issuedAt: string;
  /** A restart came in the middle of this command: the device may have carried it out in part. */
  readonly interrupted: boolean;
  /** It is aborted when the device stops. Then the command comes again after the start, with `interrupted`. */
  readonly signal: AbortSignal;
  readonly #parts: CommandParts;
  #progress: Progress;

  constructor({ operation, parameters, transactionId, issuedAt, interrupted, progress }: Command, parts: CommandParts) {
    this.operation = operation;
    this.parameters = parameters;
    this.transactionId = transactionId;
    this.issuedAt = issuedAt;
    this.interrupted = interrupted;
    this.signal = parts.signal;
    this.#parts = parts;
    this.#progress = (progress ?? {}) as Progress;
  }

  /** The value that `setProgress` stored last, also before a restart; undefined if there is none. */
  get progress(): unknown {
    return this.#progress.own;
  }

  /** A small JSON value, on the disk on return. Throws when the disk fails. */
  setProgress(value: unknown): void {
    this.#store({ ...this.#progress, own: value });
  }

  /**
   * Downloads the file of `installSoftware` or `updateFirmware` to a path (rules `downloads` and `signatures`). The file is
   * whole and the one of the command when this resolves; an attempt before a restart goes on where it ended, and a URL that
   * has expired is replaced by another. Software must have the signature of a trusted key if the device has one.
   *
   * Throws a `DeviceFailure` with the code `SIGNATURE_REJECTED`, `DOWNLOAD_FAILED`, `STORAGE_FULL` or `INVALID_PARAMETERS`,
   * which the maker lets pass.
   */
  async download(path: string): Promise<void> {
    const { trustedKeys, request, online, timers, signal } = this.#parts;
    const wanted = readWanted(this.parameters);
    if (this.operation === 'installSoftware' && trustedKeys.length > 0) checkSignature(trustedKeys, this.parameters);
    await download(path, wanted, {
      position: this.#progress.download ?? { bytes: 0 },
      store: (position) => this.#store({ ...this.#progress, download: position }),
      freshUrl: async () => {
        const { transactionId } = this;
        const { url } = await request('softwareDownloadUrl', { transactionId }).catch((error: unknown) => {
          signal.throwIfAborted();
          throw new DeviceFailure('DOWNLOAD_FAILED', `no fresh URL: ${String(error)}`, { cause: error });
        });
        return String(url);
      },
      online,
      timers,
      signal,
    });
  }

  #store(progress: Progress): void {
    this.#parts.store(progress);
    this.#progress = progress;
  }
}
