import type { Passage } from '../files/download.ts';
import type { Fetcher } from '../files/fetcher.ts';
import type { Answer, Command } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Behaviour } from './behaviour.ts';
import type { Calls } from './calls.ts';
import type { DeviceModel, Execution, Reaction, Transferred } from './device-model.ts';
import type { DiagnosticFile } from './diagnostics.ts';
import { createRunningDownloads, type RunningDownloads } from './running-downloads.ts';

/** Carries out the commands of a device, and takes the time that each needs. */
export interface Executor {
  /** The number of unfinished commands, and of cancelled downloads that have not removed their files yet. */
  outstanding(): number;
  receive(command: Command): Reaction['kind'];
  /** Begins waiting commands, if possible. Called when the random decisions about one of them were made. */
  work(): void;
  /** Stops all commands without an answer; resolves when none is in progress any more. */
  stop(): Promise<void>;
}

export function createExecutor({
  model,
  behaviour,
  makeFetcher,
  sendDiagnostics,
  timers,
  onReaction,
  onBegin,
  onProgress,
  onPassage,
  onAnswer,
  onTrial,
  onSettled,
}: {
  model: DeviceModel;
  behaviour: Behaviour;
  /** Called at the first download. */
  makeFetcher: () => Fetcher;
  sendDiagnostics: Calls['sendDiagnostics'];
  timers: Timers;
  /** Called with the reaction to a command, before it is carried out. */
  onReaction: (command: Command, reaction: Reaction['kind']) => void;
  /**
   * Called before a command is carried out. False: the device has switched off instead and has stopped this executor.
   */
  onBegin: (execution: Execution) => boolean;
  onProgress: (transactionId: number, percent: number) => void;
  onPassage: (passage: Passage) => void;
  /** Called with each answer; `repeated`: it answers a repetition of a command that was carried out before. */
  onAnswer: (answer: Answer, repeated: boolean) => void;
  /** Called when the device tries a list of networks: its answer does not come from here. */
  onTrial: () => void;
  /** Called when a command or download has ended, with or without an answer. */
  onSettled: () => void;
}): Executor {
  /** Stops executions in progress, by transactionId. */
  const stops = new Map<number, () => void>();
  let running: RunningDownloads | undefined;
  /** The uploads of diagnostics in progress. */
  const uploads = new Set<Promise<unknown>>();
  let isRunning = true;

  function downloads(): RunningDownloads {
    running ??= createRunningDownloads({
      fetcher: makeFetcher(),
      timers,
      onProgress,
      onPassage,
      onFinished: conclude,
      onCleared: onSettled,
    });
    return running;
  }

  function conclude(transactionId: number, transferred?: Transferred): void {
    onAnswer(model.finish(transactionId, transferred), false);
    work();
  }

  /** Uploads the files of a command, and answers then. A stop ends the upload without an answer. */
  function upload(transactionId: number, files: readonly DiagnosticFile[]): void {
    const controller = new AbortController();
    const { signal } = controller;
    stops.set(transactionId, () => controller.abort(new Error('the command is stopped')));
    const mine = sendDiagnostics(files, signal)
      .then((sent) => {
        if (signal.aborted) return;
        stops.delete(transactionId);
        conclude(transactionId, 'code' in sent ? sent : { files: sent });
      })
      .catch((error: unknown) => {
        if (signal.aborted || !isRunning) return;
        stops.delete(transactionId);
        conclude(transactionId, { code: 'INTERNAL', message: (error as Error).message });
      })
      .finally(() => uploads.delete(mine));
    uploads.add(mine);
  }

  /** Undefined: the device tries the list of the command, and answers later. */
  function finish(transactionId: number): Answer | undefined {
    if (!model.tries(transactionId)) return model.finish(transactionId);
    onTrial();
    return undefined;
  }

  function carryOut({ command: { transactionId }, plan: { latency }, collected }: Execution): Answer | undefined {
    if (behaviour.reportProcessing) onProgress(transactionId, 0);
    if (latency === 0 && !collected) return finish(transactionId);
    const cancel = timers.after(latency, () => {
      stops.delete(transactionId);
      if (collected) return upload(transactionId, collected);
      const answer = finish(transactionId);
      if (answer) onAnswer(answer, false);
      work();
    });
    stops.set(transactionId, cancel);
    return undefined;
  }

  function work(): void {
    for (let execution = model.begin(); execution; execution = model.begin()) {
      if (!onBegin(execution)) return;
      if (execution.download) downloads().begin(execution);
      else {
        const answer = carryOut(execution);
        if (answer) onAnswer(answer, false);
      }
    }
    onSettled();
  }

  function stop(transactionId: number): void {
    stops.get(transactionId)?.();
    stops.delete(transactionId);
    running?.cancel(transactionId);
  }

  return {
    outstanding: () => model.unfinished() + (running?.clearing() ?? 0),

    receive(command) {
      const reaction = model.receive(command);
      onReaction(command, reaction.kind);
      if (reaction.kind === 'repeat') onAnswer(reaction.answer, true);
      if (reaction.kind === 'underway') running?.renew(command);
      if (reaction.kind === 'cancel' && reaction.stopped === 'current') stop(command.transactionId);
      if (reaction.kind === 'accepted' && reaction.supersedes) stop(command.transactionId);
      if (reaction.kind === 'accepted' || reaction.kind === 'cancel') work();
      return reaction.kind;
    },
    work,

    async stop() {
      isRunning = false;
      for (const cancel of stops.values()) cancel();
      stops.clear();
      running?.cancel();
      await running?.cleared();
      await Promise.all(uploads);
    },
  };
}
