import type { Clock } from './clock.ts';

interface Options {
  /** Needed where answers are not kept for ever. */
  clock?: Pick<Clock, 'now'>;
  /** Microseconds for which an answer is kept; ten seconds by default. */
  keptMicros?: number;
  /** The most answers that are kept; the oldest one is dropped first. */
  most?: number;
}

/**
 * Keeps the answers to expensive questions. The same question gets the same answer for a time, and while the answer is
 * being computed further callers wait for it. An answer that fails is not kept.
 */
export function createRemembered({ clock = { now: () => 0 }, keptMicros = 10_000_000, most = 100 }: Options) {
  const answers = new Map<string, { at: number; answer: Promise<unknown> }>();

  return <Result>(question: string, ask: () => Promise<Result>): Promise<Result> => {
    const now = clock.now();
    const known = answers.get(question);
    if (known && now - known.at < keptMicros) return known.answer as Promise<Result>;
    const answer = ask();
    answers.delete(question); // deleted before it is set again, so that the map stays in the order of times
    answers.set(question, { at: now, answer });
    for (const [oldest, { at }] of answers) {
      if (now - at < keptMicros && answers.size <= most) break;
      answers.delete(oldest);
    }
    answer.catch(() => {
      if (answers.get(question)?.answer === answer) answers.delete(question);
    });
    return answer;
  };
}

export type Remembered = ReturnType<typeof createRemembered>;
