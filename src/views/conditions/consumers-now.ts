import { listPlaces } from '../../core/stream/consumer-repository.ts';
import { type ConsumerState, type Judged, judge } from '../../core/stream/consumer-state.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createRemembered } from '../../runtime/remembered.ts';
import type { Micros } from '../../runtime/units.ts';
import { consumerSentence } from '../consumer-sentences.ts';
import { number } from './words.ts';

/** Consumers that one query looks at. */
const AT_ONCE = 1_000;
/** Microseconds for which an answer serves: a minute has two looks at most, however many people ask. */
const KEPT = 30_000_000;

type Trouble = Exclude<ConsumerState, 'current'>;
/** How grave each state is. Of an abandoned consumer nobody can be told for ever. */
export const CONSUMER_LEVELS: readonly (readonly [Trouble, 'critical' | 'warning' | 'info'])[] = [
  ['lost', 'critical'],
  ['ending', 'critical'],
  ['behind', 'warning'],
  ['abandoned', 'info'],
];

type Found = Judged & { applicationId: string; name: string };

/** The consumers in a state: their number, and that with the oldest event; null without one. */
export type ConsumersNow = Readonly<Record<Trouble, { count: number; worst: Found | null }>>;

export const allCurrent = (): ConsumersNow => {
  const none = { count: 0, worst: null };
  return { behind: none, ending: none, lost: none, abandoned: none };
};

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  metrics: Pick<Metrics, 'eventConsumers'>;
  /** How long events are kept; it may be for ever. */
  keptMicros: Micros;
  /** Whether this node looks; the others know of no consumer. */
  leads(): boolean;
}

/**
 * Finds the consumers of all applications that do not keep up, by seeks in an index and on a thread of its own, so their
 * number costs no caller anything.
 */
export function createConsumersNow({ database: { aside }, clock, metrics, keptMicros, leads }: Parts) {
  const remembered = createRemembered({ clock, keptMicros: KEPT });

  async function look(): Promise<ConsumersNow> {
    const found: Record<Trouble, { count: number; worst: Found | null }> = { ...allCurrent() };
    let last = { applicationId: '', name: '' };
    for (let more = true; more; ) {
      const places = await listPlaces(aside, last, AT_ONCE);
      for (const { applicationId, name, ...place } of places) {
        const judged = { ...judge(place, clock.now(), keptMicros), applicationId, name };
        if (judged.state === 'current') continue;
        const { count, worst } = found[judged.state];
        const isWorse = worst === null || judged.ageMicros > worst.ageMicros;
        found[judged.state] = { count: count + 1, worst: isWorse ? judged : worst };
      }
      last = places.at(-1) ?? last;
      more = places.length === AT_ONCE;
    }
    return found;
  }

  return async (): Promise<ConsumersNow> => {
    const now = leads() ? await remembered('consumers', look) : allCurrent();
    for (const [state] of CONSUMER_LEVELS) metrics.eventConsumers.set({ state }, now[state].count);
    return now;
  };
}

const MANY: Readonly<Record<Trouble, string>> = {
  behind: 'consumers of events are behind',
  ending: 'consumers of events will lose some',
  lost: 'consumers of events have lost some',
  abandoned: 'consumers of events are abandoned',
};

/** The sentence about the consumers in a state; false without one. */
export function consumersText(state: Trouble, now: ConsumersNow): string | false {
  const { count, worst } = now[state];
  const sentence = worst && consumerSentence(worst, worst);
  if (!sentence) return false;
  return count === 1 ? sentence : `${number(count)} ${MANY[state]}. ${sentence}`;
}
