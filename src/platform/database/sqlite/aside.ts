import { Worker } from 'node:worker_threads';
import { MODULE_ENDING } from '../../../runtime/installation.ts';
import type { Vault } from '../../encryption/vault.ts';
import type { Sql, SqlValue } from '../sql.ts';
import type { Answer, Opened, Question } from './aside-worker.ts';

/** Milliseconds without a query after which the thread ends, because its memory is worth more than the time to start it. */
const IDLE_MS = 5_000;

interface Waiting {
  resolve(value: unknown): void;
  reject(cause: unknown): void;
}

/**
 * Reads on a thread and a connection of their own, so that the event loop goes on meanwhile: for queries over many rows
 * that no caller waits for. The thread starts with the first query.
 */
export function createAside(file: string, vault: Vault) {
  let worker: Worker | undefined;
  let isOpen: Promise<void> | undefined;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;
  const waiting = new Map<number, Waiting>();

  /** Ends the thread after it has opened: to terminate it while it loads SQLite would abort the whole process. */
  async function end(): Promise<void> {
    const ending = worker;
    worker = undefined;
    clearTimeout(idle);
    await isOpen;
    await ending?.terminate();
  }

  function start(): Worker {
    const started = new Worker(new URL(`./aside-worker${MODULE_ENDING}`, import.meta.url), {
      workerData: file,
      execArgv: [],
      env: {},
    });
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
      idle = setTimeout(() => void end(), IDLE_MS).unref();
    });
    started.on('error', fail);
    started.on('exit', () => fail(new Error('the reading thread ended')));
    return started;
  }

  function ask(kind: Question['kind'], text: string, values: SqlValue[]): Promise<unknown> {
    clearTimeout(idle);
    worker ??= start();
    worker.ref();
    lastId += 1;
    const question: Question = { id: lastId, kind, text, values };
    worker.postMessage(question);
    return new Promise((resolve, reject) => waiting.set(question.id, { resolve, reject }));
  }

  return {
    sql: {
      all: <Row>(text: string, ...values: SqlValue[]) => ask('all', text, values) as Promise<Row[]>,
      get: <Row>(text: string, ...values: SqlValue[]) => ask('get', text, values) as Promise<Row | undefined>,
      run: () => Promise.reject(new Error('this connection only reads')),
      vault,
    } satisfies Sql,
    async close(): Promise<void> {
      const ended = end();
      for (const { reject } of waiting.values()) reject(new Error('the database is closed'));
      waiting.clear();
      await ended;
    },
  };
}
