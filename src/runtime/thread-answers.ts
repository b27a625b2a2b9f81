import type { MessagePort } from 'node:worker_threads';
import type { Answer, Opened } from './answering-thread.ts';

/** In a thread of `answering-thread.ts`: says that it is open, and answers each question. */
export function answerOn<Question extends object>(
  port: MessagePort | null,
  answer: (question: Question) => Promise<unknown>,
): void {
  if (!port) throw new Error('this module is a worker');
  const post = (said: Answer | Opened): void => port.postMessage(said);
  post('open');
  port.on('message', ({ id, ...question }: Question & { id: number }) => {
    answer(question as unknown as Question).then(
      (result) => post({ id, result }),
      (cause: Error & { code?: string }) => post({ id, error: cause.message, code: cause.code }),
    );
  });
}
