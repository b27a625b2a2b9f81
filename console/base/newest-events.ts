import type { EventList, StreamEvent } from './rows.ts';

/** Reads events behind a number, or the end of the stream; null: events there were removed, because they were old. */
type ReadPage = (query: { after?: number; from?: 'latest'; limit: number }) => Promise<EventList | null>;

interface Newest {
  /** The newest first. */
  rows: StreamEvent[];
  /** The number before which older events may be; null: there are none. */
  next: number | null;
}

/** Events of one request, and requests for one part of the stream: a filter can leave out all events of an answer. */
const LIMIT = 200;
const MOST_PAGES = 2;
/** The numbers of events in the first part that is looked at, and how many times longer each further part is. */
const FIRST_SPAN = 256;
const GROWTH = 8;
/** The most parts that are looked at, and the milliseconds after which the events that were found are shown. */
const MOST_PARTS = 64;
const PATIENCE_MS = 4_000;

interface Part {
  rows: StreamEvent[];
  /** The number up to which the stream was looked at. */
  upTo: number;
  /** The number after which it begins: 0 when the events there were removed. */
  after: number;
}

async function readPart(read: ReadPage, from: number, end: number): Promise<Part> {
  const rows: StreamEvent[] = [];
  let [after, upTo] = [from, from];
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await read({ after: upTo, limit: LIMIT });
    if (page === null) {
      if (upTo === 0) throw new Error('The events were removed while they were read.');
      [after, upTo] = [0, 0];
      rows.length = 0;
      continue;
    }
    rows.push(...page.events.filter(({ sequence }) => sequence <= end));
    upTo = page.more ? Math.min(page.next, end) : end;
    if (upTo === end || rows.length >= LIMIT) break;
  }
  return { rows, upTo, after };
}

/**
 * Reads the newest events, or the newest before a number. The stream is only read forward, and its numbers have gaps, some of
 * them long. So longer and longer parts before the end are read, until one has enough events; one that has too many is
 * halved.
 */
export async function readNewest(
  read: ReadPage,
  { before, wanted }: { before?: number | undefined; wanted: number },
): Promise<Newest> {
  const end = (before ?? ((await read({ from: 'latest', limit: 1 }))?.next ?? 0) + 1) - 1;
  const began = performance.now();
  /** All events behind `after`, up to the end. */
  let known: { rows: StreamEvent[]; after: number } = { rows: [], after: end };
  /** A number after which there are too many events. */
  let tooMany: number | undefined;
  let span = FIRST_SPAN;
  for (let parts = 0; known.after > 0 && known.rows.length < wanted; parts += 1) {
    if (parts === MOST_PARTS || performance.now() - began > PATIENCE_MS) break;
    const from = tooMany === undefined ? Math.max(0, end - span) : Math.floor((tooMany + known.after) / 2);
    if (from === known.after || from === tooMany) break;
    const { rows, upTo, after } = await readPart(read, from, end);
    if (upTo >= known.after)
      known = { rows: [...rows, ...known.rows.filter(({ sequence }) => sequence > upTo)], after };
    else tooMany = after;
    span *= GROWTH;
  }
  const rows = known.rows.slice(-wanted).toReversed();
  const isAll = known.after === 0 && known.rows.length <= wanted;
  return { rows, next: isAll ? null : known.rows.length >= wanted ? (rows.at(-1)?.sequence ?? null) : known.after + 1 };
}
