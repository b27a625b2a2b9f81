import type { Clock } from './clock.ts';

/** Microseconds for which an answer is kept. */
const KEPT = 10_000_000;
/** The most answers that are kept; the oldest one is dropped first. */
const MOST = 100;

/**
 * Keeps the answers to expensive questions. The same question gets the same answer for ten seconds, and while the
 * answer is being computed further callers wait for it. An answer that fails is not kept.
 */
export function createRemembered({ clock }: { clock: Clock }) {
  const answers = new Map<string, { at: number; answer: Promise<unknown> }>();

  return <Result>(question: string, ask: () => Promise<Result>): Promise<Result> => {
    const now = clock.now();
    const known = answers.get(question);
    if (known && now - known.at < KEPT) return known.answer as Promise<Result>;
    const answer = ask();
    answers.delete(question); // deleted before it is set again, so that the map stays in the order of times
    answers.set(question, { at: now, answer });
    for (const [oldest, { at }] of answers) {
      if (now - at < KEPT && answers.size <= MOST) break;
      answers.delete(oldest);
    }
    answer.catch(() => {
      if (answers.get(question)?.answer === answer) answers.delete(question);
    });
    return answer;
  };
}

export type Remembered = ReturnType<typeof createRemembered>;
