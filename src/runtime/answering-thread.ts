import { Worker } from 'node:worker_threads';
import { threadOptions } from './thread-options.ts';

/** Posted by the thread once, before its first answer: from then on it may be terminated. */
export type Opened = 'open';
export type Answer = { id: number } & ({ result: unknown } | { error: string; code: string | undefined });

interface Options {
  module: URL;
  workerData: unknown;
  /** Milliseconds without a question after which the thread ends: its memory is worth more than the time to start it. */
  idleMs: number;
  /** The name of the thread in errors: `reading thread`. */
  name: string;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(cause: unknown): void;
}

/**
 * A thread that answers questions, so that the event loop goes on meanwhile. It starts with the first question, and keeps
 * the process alive while one is open. `ask` rejects when the thread fails; the next question then starts another one.
 */
export function createAnsweringThread<Question extends object>({ module, workerData, idleMs, name }: Options) {
  let worker: Worker | undefined;
  let isOpen: Promise<void> | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  const waiting = new Map<number, Waiting>();

  /** Ends the thread after it has opened: to terminate it while it loads a native module would abort the whole process. */
  async function end(): Promise<void> {
    const ending = worker;
    worker = undefined;
    clearTimeout(idle);
    await isOpen;
    await ending?.terminate();
  }

  function start(): Worker {
    const started = new Worker(module, { workerData, ...threadOptions() });
    const fail = (cause: Error): void => {
      opened.resolve();
      if (worker !== started) return;
      worker = undefined;
      for (const { reject } of waiting.values()) reject(cause);
      waiting.clear();
    };
    const opened = Promise.withResolvers<void>();
    isOpen = opened.promise;
    started.on('message', (said: Answer | Opened) => {
      if (said === 'open') return opened.resolve();
      const { id, ...answer } = said;
      const one = waiting.get(id);
      waiting.delete(id);
      if ('error' in answer) one?.reject(Object.assign(new Error(answer.error), { code: answer.code }));
      else one?.resolve(answer.result);
      // A thread that is being ended must keep the process alive until it has ended, so its last answer must not unref it.
      if (waiting.size > 0 || worker !== started) return;
      started.unref();
      idle = setTimeout(() => void end(), idleMs).unref();
    });
    started.on('error', fail);
    started.on('exit', () => fail(new Error(`the ${name} ended`)));
    return started;
  }

  return {
    /** Asks the thread. The caller knows the type of the answer, as it depends on the question. */
    ask(question: Question): Promise<unknown> {
      clearTimeout(idle);
      worker ??= start();
      worker.ref();
      lastId += 1;
      const id = lastId;
      worker.postMessage({ ...question, id });
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    /** Ends the thread. Open questions are rejected with `cause`. */
    async close(cause: Error): Promise<void> {
      const ended = end();
      for (const { reject } of waiting.values()) reject(cause);
      waiting.clear();
      await ended;
    },
  };
}
