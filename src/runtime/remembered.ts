import type { Clock } from './clock.ts';

/** Microseconds. */
const KEPT = 10_000_000;
/** Answers that are kept at once; the one that was asked for first goes. */
const MOST = 100;

/**
 * Answers to questions that many rows are looked at for: whoever asks the same within ten seconds gets the same answer, and
 * who asks while it is looked for waits for it. One that fails is not kept.
 */
export function createRemembered({ clock }: { clock: Clock }) {
  const answers = new Map<string, { at: number; answer: Promise<unknown> }>();

  return <Result>(question: string, ask: () => Promise<Result>): Promise<Result> => {
    const now = clock.now();
    const known = answers.get(question);
    if (known && now - known.at < KEPT) return known.answer as Promise<Result>;
    const answer = ask();
    answers.delete(question); // its place is the last one again: they are in the order of their times
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
