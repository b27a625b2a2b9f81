import { listEntriesOf } from '../core/audit/audit-repository.ts';
import { type ActionOfDevice, listActionsOf } from '../core/device-actions/action-repository.ts';
import { FACTS } from '../core/sessions/connection-log.ts';
import { type ConnectionFact, listCutConnections, listFacts } from '../core/sessions/connection-log-repository.ts';
import type { DeliverySummary } from '../core/webhooks/log/delivery-record.ts';
import type { Database } from '../platform/database/sql.ts';
import { idsFrom } from '../runtime/ids.ts';
import type { Micros } from '../runtime/units.ts';
import type { AuditNames, NamedEntry } from './audit.ts';
import { listEventsOfDevice } from './delivery-repository.ts';
import type { Listed, Overview } from './transactions.ts';

/** The part of a story that is read: entries of [since, until), and those behind a cursor. Times in microseconds. */
export interface StoryQuery {
  since?: Micros;
  until?: Micros;
  after?: string;
  limit: number;
}

export type StoryEntry =
  | { at: Micros; kind: 'connected' | 'ended' | 'refused'; fact: ConnectionFact }
  | { at: Micros; kind: 'command'; command: Listed }
  | { at: Micros; kind: 'event'; event: DeliverySummary }
  | { at: Micros; kind: 'change'; change: NamedEntry }
  | { at: Micros; kind: 'action'; action: ActionOfDevice };

/** An entry with the place of its row in its source. */
interface Placed {
  entry: StoryEntry;
  place: string;
}

/** The next rows of a source, the newest first. */
interface Part {
  rows: Placed[];
  /** Where the source goes on when all its rows are in the page; undefined at its end. */
  next?: { place: string; at: Micros } | undefined;
}

interface Range {
  deviceId: string;
  since: Micros;
  until: Micros;
  /** The place of the last row before; undefined at the beginning. */
  place: string | undefined;
  limit: number;
}

/** The most connections of a device that ended with their process. They are read at once, because they are few. */
const MOST_CUT = 500;
const MILLISECOND_MICROS = 1000;
const EVER = 7_258_118_400_000_000; // the year 2200
/** Separates the places of the sources in a cursor; no place has it. */
const SEPARATOR = '~';

const isWithin = (at: Micros, { since, until }: Range): boolean => at >= since && at < until;

interface Parts {
  database: Pick<Database, 'aside'>;
  overview: Pick<Overview, 'list'>;
  auditNames: AuditNames;
}

export type Stories = ReturnType<typeof createStories>;

/**
 * The story of a device: its connections and why each ended, refused logins, commands, events, changes by people, and device actions,
 * newest first. Each source is an index, read backwards from the place where the page before ended. So a page costs the
 * same, however long the history is.
 */
export function createStories({ database: { aside }, overview, auditNames }: Parts) {
  async function facts({ deviceId, since, until, place, limit }: Range): Promise<Part> {
    const bound = idsFrom(FACTS, until + MILLISECOND_MICROS);
    const found = await listFacts(aside, deviceId, {
      since,
      until,
      from: idsFrom(FACTS, since),
      before: place ?? bound,
      limit,
    });
    return { rows: found.map((fact) => ({ entry: { at: fact.at, kind: fact.kind, fact }, place: fact.factId })) };
  }

  async function cuts(range: Range): Promise<Part> {
    const found = await listCutConnections(aside, range.deviceId, MOST_CUT);
    const rows = found.map(({ endedAt, endReason, ...fact }): Placed => {
      const end = { ...fact, kind: 'ended', at: endedAt, lastAt: endedAt, since: fact.at, reason: endReason } as const;
      // The place has a fixed number of digits, so that places sort as times do.
      const place = `${String(endedAt).padStart(16, '0')}.${fact.factId}`;
      return { entry: { at: endedAt, kind: 'ended', fact: { ...end, address: null, transport: null } }, place };
    });
    const left = rows.filter(({ entry, place }) => isWithin(entry.at, range) && place < (range.place ?? '~'));
    return { rows: left.sort((a, b) => (a.place < b.place ? 1 : -1)).slice(0, range.limit) };
  }

  async function commands({ deviceId, since, until, place, limit }: Range): Promise<Part> {
    const query = { deviceId, unfinished: false, warning: false, createdSince: since, createdBefore: until, limit };
    const { rows, next } = await overview.list({ ...query, ...(place !== undefined && { after: Number(place) }) });
    const placed = rows.map((command): Placed => {
      const { transactionId, createdAt } = command.record;
      return { entry: { at: createdAt, kind: 'command', command }, place: String(transactionId) };
    });
    if (next === undefined || rows.length >= limit) return { rows: placed };
    // The bound of examined rows was reached: older entries of other sources must wait for the next page.
    const reached = await overview.list({ deviceId, unfinished: false, warning: false, after: next + 1, limit: 1 });
    const at = reached.rows[0]?.record.createdAt;
    return { rows: placed, next: at === undefined || at < since ? undefined : { place: String(next), at } };
  }

  async function events({ deviceId, since, until, place, limit }: Range): Promise<Part> {
    const before = place ?? idsFrom('msg', until + MILLISECOND_MICROS);
    const found = await listEventsOfDevice(aside, deviceId, {
      since,
      until,
      from: idsFrom('msg', since),
      before,
      limit,
    });
    return {
      rows: found.map((event) => ({ entry: { at: event.createdAt, kind: 'event', event }, place: event.deliveryId })),
    };
  }

  async function changes({ deviceId, since, until, place, limit }: Range): Promise<Part> {
    const object = { kind: 'device', id: deviceId } as const;
    const range = { since, until, ...(place !== undefined && { after: Number(place) }), limit };
    const found = await auditNames(await listEntriesOf(aside, object, range));
    return {
      rows: found.map((change) => ({
        entry: { at: change.at, kind: 'change', change },
        place: String(change.auditId),
      })),
    };
  }

  async function actions({ deviceId, since, until, place, limit }: Range): Promise<Part> {
    const found = await listActionsOf(aside, deviceId, { since, until, before: place ?? '~', limit });
    return {
      rows: found.map((action) => ({
        entry: { at: action.updatedAt, kind: 'action', action },
        place: action.actionId,
      })),
    };
  }

  const SOURCES = [facts, cuts, commands, events, changes, actions];

  return {
    /**
     * Reads a page. It can be shorter than its limit, even empty, although further pages follow. `next` is the cursor of
     * the next page.
     */
    async read(deviceId: string, query: StoryQuery): Promise<{ entries: StoryEntry[]; next: string | undefined }> {
      const { since = 0, until = EVER, after, limit } = query;
      const places = after?.split(SEPARATOR) ?? [];
      const range = { deviceId, since, until, limit: limit + 1 };
      const parts = await Promise.all(
        SOURCES.map((read, source) => read({ ...range, place: places[source] || undefined })),
      );
      const { entries, taken, isLast } = merge(parts, limit);
      const reached = parts.map(({ rows, next }, source) => {
        const count = taken[source] ?? 0;
        if (next && count === rows.length) return next.place;
        return rows[count - 1]?.place ?? places[source] ?? '';
      });
      return { entries, next: isLast ? undefined : reached.join(SEPARATOR) };
    },
  };
}

/** Takes the newest entries of all sources, in the order of each source. `taken` is the number of rows of each. */
function merge(parts: readonly Part[], limit: number): { entries: StoryEntry[]; taken: number[]; isLast: boolean } {
  const floor = Math.max(...parts.map(({ next }) => next?.at ?? 0));
  const taken = parts.map(() => 0);
  const entries: StoryEntry[] = [];
  for (;;) {
    let newest: { entry: StoryEntry; source: number } | undefined;
    for (const [source, { rows }] of parts.entries()) {
      const entry = rows[taken[source] ?? 0]?.entry;
      if (entry && (!newest || entry.at > newest.entry.at)) newest = { entry, source };
    }
    if (!newest) return { entries, taken, isLast: parts.every(({ next }) => !next) };
    if (entries.length === limit || newest.entry.at < floor) return { entries, taken, isLast: false };
    entries.push(newest.entry);
    taken[newest.source] = (taken[newest.source] ?? 0) + 1;
  }
}
