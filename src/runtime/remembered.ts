import type { Clock } from './clock.ts';

interface Options {
  /** The time by which answers grow old; not needed when answers are kept for ever. */
  clock?: Pick<Clock, 'now'>;
  /** Microseconds for which an answer is kept; ten seconds by default. */
  keptMicros?: number;
  /** The most answers that are kept; when there are more, the oldest is dropped. */
  most?: number;
}

/**
 * Keeps the answers to expensive questions, such as counts of rows, for a time. While an answer is being looked up, all
 * callers with the same question wait for it. A failure is not kept.
 */
export function createRemembered({ clock = { now: () => 0 }, keptMicros = 10_000_000, most = 100 }: Options) {
  const answers = new Map<string, { at: number; answer: Promise<unknown> }>();

  return <Result>(question: string, ask: () => Promise<Result>): Promise<Result> => {
    const now = clock.now();
    const known = answers.get(question);
    if (known && now - known.at < keptMicros) return known.answer as Promise<Result>;
    const answer = ask();
    // Deleted before it is set again, so that the map stays in the order in which answers were asked for.
    answers.delete(question);
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
