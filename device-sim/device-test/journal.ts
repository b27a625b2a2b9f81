import { storyLine } from '../show.ts';
import type { Timers } from '../timers.ts';

/** The events that a story tells at most, and the longest text of one. */
const MOST_TOLD = 14;
const LONGEST = 300;
const KEPT = 1000;

type Actor = 'service' | 'device' | '!';

/** The messages of a test in both directions, with their times. */
export interface Journal {
  note(who: Actor, text: string): void;
  /** Marks the present place, at which a later story begins. */
  mark(): number;
  /** The last events since the mark, one in a line, with the seconds since the start of the test. */
  story(mark: number): string[];
}

/** A text of a stranger, cut after 300 characters. */
export const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST)}... (${text.length} characters)` : text;

export function createJournal(timers: Timers): Journal {
  const began = timers.now();
  const lines: string[] = [];
  let dropped = 0;
  return {
    note(who, text) {
      lines.push(storyLine(timers.now() - began, who, shortened(text)));
      if (lines.length <= KEPT) return;
      lines.shift();
      dropped += 1;
    },
    mark: () => dropped + lines.length,
    story: (mark) => lines.slice(Math.max(0, mark - dropped)).slice(-MOST_TOLD),
  };
}
