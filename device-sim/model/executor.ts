import type { Passage } from '../files/download.ts';
import type { DownloadedFile, Fetcher } from '../files/fetcher.ts';
import type { Answer, Command, Failure } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Behaviour } from './behaviour.ts';
import type { DeviceModel, Execution, Reaction } from './device-model.ts';
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

  function conclude(transactionId: number, file?: DownloadedFile | Failure): void {
    onAnswer(model.finish(transactionId, file), false);
    work();
  }

  /** Undefined: the device tries the list of the command, and answers later. */
  function finish(transactionId: number): Answer | undefined {
    if (!model.tries(transactionId)) return model.finish(transactionId);
    onTrial();
    return undefined;
  }

  function carryOut({ command: { transactionId }, plan: { latency } }: Execution): Answer | undefined {
    if (behaviour.reportProcessing) onProgress(transactionId, 0);
    if (latency === 0) return finish(transactionId);
    const cancel = timers.after(latency, () => {
      stops.delete(transactionId);
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
      for (const cancel of stops.values()) cancel();
      stops.clear();
      running?.cancel();
      await running?.cleared();
    },
  };
}
