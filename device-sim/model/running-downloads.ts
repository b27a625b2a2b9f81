import type { Passage } from '../files/download.ts';
import type { DownloadedFile, Fetcher } from '../files/fetcher.ts';
import { createSourceHolder, readSource, type SourceHolder } from '../files/source.ts';
import type { Command, Failure } from '../mqtt/messages.ts';
import { pause, type Timers } from '../timers.ts';
import type { Execution } from './device-model.ts';

/** Progress is reported whenever it has grown by this many percent. */
const STEP = 10;

/** The downloads of a device: one in progress, and cancelled ones that are still removing their files. */
export interface RunningDownloads {
  begin(execution: Execution): void;
  /** A command in progress has arrived again, with a newer URL for its download. */
  renew(command: Command): void;
  /** Stops the download in progress; with a transactionId only if it is the download of that transaction. */
  cancel(transactionId?: number): void;
  /** The number of cancelled downloads that are still removing their files. */
  clearing(): number;
  /** Resolves when the cancelled downloads have removed their files. */
  cleared(): Promise<void>;
}

/** Reports each whole step of a percentage once, even if the download starts again. */
function createSteps(onStep: (percent: number) => void): (bytes: number, size: number) => void {
  let last = 0;
  return (bytes, size) => {
    const percent = Math.floor((bytes * 100) / size);
    if (percent < last + STEP) return;
    last = percent - (percent % STEP);
    onStep(percent);
  };
}

export function createRunningDownloads({
  fetcher,
  timers,
  onProgress,
  onPassage,
  onFinished,
  onCleared,
}: {
  fetcher: Fetcher;
  timers: Timers;
  onProgress: (transactionId: number, percent: number) => void;
  onPassage: (passage: Passage) => void;
  onFinished: (transactionId: number, file: DownloadedFile | Failure) => void;
  onCleared: () => void;
}): RunningDownloads {
  let current: { transactionId: number; source: SourceHolder; controller: AbortController } | undefined;
  const clearing = new Set<Promise<void>>();
  let run: Promise<void> = Promise.resolve();

  async function carryOut(
    { command: { transactionId, parameters }, plan: { latency, download: mishap }, download }: Execution,
    source: SourceHolder,
    signal: AbortSignal,
  ): Promise<DownloadedFile | Failure | undefined> {
    try {
      onProgress(transactionId, 0);
      const steps = createSteps((percent) => onProgress(transactionId, percent));
      const name = { package: String(parameters['package']), version: String(parameters['version']) };
      const kind = download ?? 'any';
      const order = { transactionId, kind, source, signal, onProgress: steps, mishap: mishap?.kind, name };
      const { file, passage } = await fetcher.fetch(order);
      onPassage(passage);
      // The time that the installation itself takes.
      if (latency > 0) await pause(timers, latency, signal);
      return signal.aborted ? undefined : file;
    } catch (error) {
      if (signal.aborted) return undefined;
      return { code: 'INTERNAL', message: (error as Error).message };
    }
  }

  return {
    begin(execution) {
      const { transactionId, parameters } = execution.command;
      const first = readSource(parameters);
      if (typeof first === 'string') throw new Error(`a download was begun though ${first}`);
      const source = createSourceHolder(first);
      const controller = new AbortController();
      current = { transactionId, source, controller };
      run = carryOut(execution, source, controller.signal).then((file) => {
        if (!file) return;
        current = undefined;
        onFinished(transactionId, file);
      });
    },

    renew({ transactionId, parameters }) {
      if (current?.transactionId !== transactionId) return;
      const source = readSource(parameters);
      if (typeof source !== 'string') current.source.replace(source);
    },

    cancel(transactionId) {
      if (!current || (transactionId !== undefined && current.transactionId !== transactionId)) return;
      current.controller.abort();
      current = undefined;
      const mine = run.finally(() => {
        clearing.delete(mine);
        onCleared();
      });
      clearing.add(mine);
    },

    clearing: () => clearing.size,
    async cleared() {
      await Promise.all(clearing);
    },
  };
}
