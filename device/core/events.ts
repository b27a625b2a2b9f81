import { isPlausible, type StoredEvent } from '../disk/memory.ts';
import type { DiskRecord, EventMessage, Importance } from '../disk/records.ts';
import { isObject } from './messages.ts';
import type { Stage } from './stage.ts';

/** As schemas/mqtt/event.json has it. */
const TYPE =
  /^(bluetooth\.(connected|disconnected)|(call|custom)\.[A-Za-z0-9_.-]+|recording\.(saved|failed)|fileUpload\.(succeeded|failed))$/;
const LONGEST_TYPE = 64;
const MOST_DATA_BYTES = 32_768;
const MOST_LEVELS = 32;
/** Bytes of two ids at most. */
const TWO_IDS = 256;
const RANKS: readonly Importance[] = ['low', 'normal', 'high'];

/** One level more than the bound ends the count, so that a cycle has an end as well. */
function levelsOf(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (above > MOST_LEVELS) return 1;
  return 1 + Math.max(0, ...Object.values(value).map((one) => levelsOf(one, above + 1)));
}

/** An event that is not in the store yet. */
type Candidate = StoredEvent & { id: string };

/** Events in the order in which they occurred, until the PUBACK of each (rule `events`). */
export class Events {
  readonly #stage: Stage;
  readonly #newId: () => string;
  /** Sent on this connection, with or without a PUBACK. */
  readonly #sent = new Set<string>();
  readonly #onTheWay = new Set<string>();

  constructor(stage: Stage, newId: () => string) {
    this.#stage = stage;
    this.#newId = newId;
  }

  /**
   * Stores an event; it is on the disk on return. Undefined: the store is full of events that are more important. Throws if
   * the service would refuse it, or the disk fails.
   */
  add(type: string, data: object, importance: Importance): string | undefined {
    if (type.length > LONGEST_TYPE || !TYPE.test(type)) throw new Error(`${type.slice(0, 100)}: no type of an event.`);
    if (!isObject(data)) throw new Error('data: not an object.');
    if (levelsOf(data) > MOST_LEVELS) throw new Error(`data: nested more than ${MOST_LEVELS} levels deep.`);
    const dataBytes = Buffer.byteLength(JSON.stringify(data));
    if (dataBytes > MOST_DATA_BYTES) throw new Error(`data: ${dataBytes} bytes; 32,768 are allowed.`);
    if (!RANKS.includes(importance)) throw new Error('importance: not low, normal or high.');
    const { dropped } = this.#stage.memory;
    const isTold = this.#stage.isConnected && dropped.count > 0 && this.#hasRoomWithNotice(type, data);
    const notice = isTold ? this.#withNotice() : [];
    const event = this.#candidate(type, data, importance, this.#newId());
    if (!this.#store(event, notice)) return undefined;
    this.#send();
    return event.id;
  }

  connected(): void {
    if (this.#stage.memory.dropped.count > 0) this.#stage.tryToWrite(...this.#withNotice());
    this.#send();
  }

  disconnected(): void {
    this.#sent.clear();
    this.#onTheWay.clear();
  }

  #candidate(type: string, data: object, importance: Importance, eventId: string): Candidate {
    const occurredAt = new Date(this.#stage.clocks.now()).toISOString();
    const message: EventMessage = { eventId, type, occurredAt, data };
    return { id: eventId, importance, message, bytes: Buffer.byteLength(JSON.stringify(message)) };
  }

  #notice(eventId: string): Candidate {
    return this.#candidate('custom.eventsDropped', { ...this.#stage.memory.dropped }, 'high', eventId);
  }

  #withNotice(): DiskRecord[] {
    return [recordOf(this.#notice(this.#newId())), { k: 'dropped', count: 0, since: null }];
  }

  /** Neither has an id yet: an id is never used for nothing. */
  #hasRoomWithNotice(type: string, data: object): boolean {
    const { memory, bounds } = this.#stage;
    const added = this.#notice('').bytes + this.#candidate(type, data, 'normal', '').bytes;
    const bytes = memory.eventBytes + added + TWO_IDS;
    return memory.events.size + 2 <= bounds.mostEvents && bytes <= bounds.mostEventBytes;
  }

  /** False: the event itself had to go. */
  #store(event: Candidate, notice: readonly DiskRecord[]): boolean {
    const { memory, bounds, clocks } = this.#stage;
    const gone = new Set<string>();
    let bytes = memory.eventBytes + event.bytes;
    while (memory.events.size + 1 - gone.size > bounds.mostEvents || bytes > bounds.mostEventBytes) {
      const victim = this.#leastImportant(event, gone);
      gone.add(victim.id);
      bytes -= victim.bytes;
      if (victim === event) break;
    }
    const isStored = !gone.has(event.id);
    // An event that goes itself needs no other one to go.
    const others = isStored ? [...gone] : [];
    const records: DiskRecord[] = others.map((id) => ({ k: 'told', id }));
    if (gone.size > 0) {
      const { count, since } = memory.dropped;
      const now = clocks.now();
      const first = count > 0 ? since : isPlausible(now) ? new Date(now).toISOString() : null;
      records.push({ k: 'dropped', count: count + Math.max(others.length, 1), since: first });
    }
    if (isStored) records.push(recordOf(event));
    this.#stage.writeNow(...notice, ...records);
    return isStored;
  }

  /** The oldest of the lowest importance; the event that comes is the youngest. */
  #leastImportant(event: Candidate, gone: ReadonlySet<string>): Candidate {
    for (const rank of RANKS) {
      for (const [id, stored] of this.#stage.memory.events)
        if (stored.importance === rank && !gone.has(id) && !this.#onTheWay.has(id)) return { id, ...stored };
      if (event.importance === rank) return event;
    }
    return event;
  }

  #send(): void {
    if (!this.#stage.isConnected || this.#onTheWay.size >= this.#stage.bounds.mostOnTheWay) return;
    for (const [id, { message }] of this.#stage.memory.events) {
      if (this.#sent.has(id)) continue;
      this.#sent.add(id);
      this.#onTheWay.add(id);
      this.#stage.publish({ kind: 'events', message }, () => this.#told(id));
      if (this.#onTheWay.size >= this.#stage.bounds.mostOnTheWay) return;
    }
  }

  /** When the disk fails the event is sent again at the next login, with the same eventId. */
  #told(id: string): void {
    this.#onTheWay.delete(id);
    if (this.#stage.tryToWrite({ k: 'told', id })) this.#sent.delete(id);
    this.#send();
  }
}

const recordOf = ({ id, importance, message }: Candidate): DiskRecord => ({ k: 'event', id, importance, message });
