import type { Passage } from '../files/download.ts';
import type { DownloadedFile, Fetcher } from '../files/fetcher.ts';
import type { Answer, Command, Failure } from '../mqtt/messages.ts';
import type { Timers } from '../timers.ts';
import type { Behaviour } from './behaviour.ts';
import type { DeviceModel, Execution, Reaction } from './device-model.ts';
import { createRunningDownloads } from './running-downloads.ts';

/** Carries out what comes in, on the time that passes. */
interface Executor {
  /** Commands not finished, and cancelled downloads that have not cleared away what they had. */
  outstanding(): number;
  receive(command: Command): void;
  /** Ends everything without an answer, and resolves when nothing is left of it. */
  stop(): Promise<void>;
}

export function createExecutor({
  model,
  behaviour,
  fetcher,
  timers,
  onReaction,
  onProgress,
  onPassage,
  onAnswer,
  onSettled,
}: {
  model: DeviceModel;
  behaviour: Behaviour;
  fetcher: Fetcher;
  timers: Timers;
  /** What is about to be done about a command. */
  onReaction: (command: Command, reaction: Reaction['kind']) => void;
  onProgress: (transactionId: number, percent: number) => void;
  onPassage: (passage: Passage) => void;
  /** `repeated`: it is of an earlier execution. */
  onAnswer: (answer: Answer, repeated: boolean) => void;
  /** Something has ended, whether or not with an answer. */
  onSettled: () => void;
}): Executor {
  /** Of executions that take their time; by transactionId, what stops them. */
  const stops = new Map<number, () => void>();
  const running = createRunningDownloads({
    fetcher,
    timers,
    onProgress,
    onPassage,
    onFinished: conclude,
    onCleared: onSettled,
  });

  function conclude(transactionId: number, file?: DownloadedFile | Failure): void {
    onAnswer(model.finish(transactionId, file), false);
    work();
  }

  function carryOut({ command: { transactionId }, latency }: Execution): Answer | undefined {
    if (behaviour.reportProcessing) onProgress(transactionId, 0);
    if (latency === 0) return model.finish(transactionId);
    const cancel = timers.after(latency, () => {
      stops.delete(transactionId);
      conclude(transactionId);
    });
    stops.set(transactionId, cancel);
    return undefined;
  }

  function work(): void {
    for (let execution = model.begin(); execution; execution = model.begin()) {
      if (execution.download) running.begin(execution);
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
    running.cancel(transactionId);
  }

  return {
    outstanding: () => model.unfinished() + running.clearing(),

    receive(command) {
      const reaction = model.receive(command);
      onReaction(command, reaction.kind);
      if (reaction.kind === 'repeat') onAnswer(reaction.answer, true);
      if (reaction.kind === 'underway') running.renew(command);
      if (reaction.kind === 'cancel' && reaction.stopped === 'current') stop(command.transactionId);
      if (reaction.kind === 'accepted' || reaction.kind === 'cancel') work();
    },

    async stop() {
      for (const cancel of stops.values()) cancel();
      stops.clear();
      running.cancel();
      await running.cleared();
    },
  };
}
