import { createHistogram, percentile } from '../histogram.ts';
import type { Verdict } from '../report/record.ts';
import { duration } from '../show.ts';
import { ALL_KINDS, ANSWER_MILLISECONDS, KINDS, type Kind } from './kinds.ts';
import type { CustomerAnswer } from './sender.ts';
import type { KindRecord } from './trial-record.ts';

/** The most unexpected answers of each kind that the report lists singly. */
const MOST_TOLD = 5;
const EXPECTED = { accepted: `2xx within ${ANSWER_MILLISECONDS / 1000} s`, refused: '4xx' } as const;

/** Counts the answers of the customer's receiver. */
export interface Book {
  /**
   * Notes an answer of the receiver. `stoodStill`: for how many milliseconds the simulator itself stood still before
   * this answer.
   */
  record(kind: Kind, webhookId: string, answer: CustomerAnswer, stoodStill: number): void;
  kinds(): KindRecord[];
  /** A verdict for each kind that was sent. */
  verdicts(): Verdict[];
}

interface Page {
  readonly answers: Map<string, number>;
  readonly times: ReturnType<typeof createHistogram>;
  sent: number;
  /**
   * The number of unexpected answers; `unmeasurable` counts those of them that say nothing, because the simulator stood
   * still.
   */
  wrong: number;
  unmeasurable: number;
  readonly story: string[];
}

const isExpected = (kind: Kind, status: number | null): boolean =>
  status !== null && Math.floor(status / 100) === (KINDS[kind].answer === 'accepted' ? 2 : 4);

function shownAnswers({ answers }: Page): string {
  return [...answers].map(([status, count]) => `${count}: ${status === 'none' ? 'no answer' : status}`).join(', ');
}

function verdictOf(kind: Kind, page: Page): Verdict {
  return {
    text: `${kind}: ${EXPECTED[KINDS[kind].answer]}`,
    phase: null,
    holds: page.wrong === 0,
    measurable: page.wrong === 0 || page.wrong > page.unmeasurable,
    value: page.sent - page.wrong,
    shown: shownAnswers(page),
    story: page.story,
  };
}

function recordOf(kind: Kind, page: Page | undefined): KindRecord {
  const { answer: expected, about } = KINDS[kind];
  const times = page?.times.data();
  const share = (part: number): number | null => (times && times.count > 0 ? percentile(times, part) : null);
  const answers = Object.fromEntries(page?.answers ?? []);
  return { kind, about, expected, sent: page?.sent ?? 0, answers, median: share(0.5), p99: share(0.99) };
}

export function createBook(): Book {
  const pages = new Map<Kind, Page>();

  function pageOf(kind: Kind): Page {
    const page = pages.get(kind) ?? {
      answers: new Map<string, number>(),
      times: createHistogram(),
      sent: 0,
      wrong: 0,
      unmeasurable: 0,
      story: [],
    };
    pages.set(kind, page);
    return page;
  }

  return {
    record(kind, webhookId, { status, reason, from, to }, stoodStill) {
      const page = pageOf(kind);
      const name = status === null ? 'none' : String(status);
      page.sent += 1;
      page.answers.set(name, (page.answers.get(name) ?? 0) + 1);
      if (status !== null) page.times.record(to - from);
      if (isExpected(kind, status)) return;
      page.wrong += 1;
      // Only a missing answer may be due to a slow simulator. A wrong status never is.
      if (status === null && stoodStill > 0) page.unmeasurable += 1;
      const answer = status === null ? reason : `${status} after ${duration(to - from)}`;
      if (page.story.length < MOST_TOLD)
        page.story.push(`${webhookId} (${KINDS[kind].about}): ${answer}; expected ${EXPECTED[KINDS[kind].answer]}`);
    },
    kinds: () => ALL_KINDS.map((kind) => recordOf(kind, pages.get(kind))),
    verdicts: () =>
      ALL_KINDS.flatMap((kind) => {
        const page = pages.get(kind);
        return page ? [verdictOf(kind, page)] : [];
      }),
  };
}
