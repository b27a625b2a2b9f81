import { crc32 } from 'node:zlib';
import { remember } from '../bounded-map.ts';
import { addFigures, type Counts, createCounts } from './counts.ts';
import { type Entry, newEntry } from './entry.ts';
import { createEventBook } from './event-book.ts';
import { createExamples } from './examples.ts';
import { createFinishedIds } from './finished-ids.ts';
import type { Ledger, Refused, Trouble } from './ledger.ts';
import { type Note, tell } from './story.ts';

/** Finished transactions that are remembered with all their times. */
const DONE_KEPT = 20_000;
/** Commands and results of transactions whose 201 has not been seen (yet). */
const EARLY_KEPT = 10_000;
const NOTES_KEPT = 6;
/** Troubles with their stories: of one kind, in one phase. */
const TROUBLES_KEPT = 50;
/** Finished transactions in the story of a device. */
const STORY_DEPTH = 3;
/** A note belongs to the story of a transaction from so long before its request on. Milliseconds. */
const BEFORE = 10_000;

interface DeviceBook {
  /** Transactions without a result. */
  open: number[];
  /** The highest transactionId that came. */
  highest: number;
  /** How many connections it has had. */
  connections: number;
  notes: Note[];
}

/** `began`: when the run began. `lateAfter`: milliseconds from the acknowledgement of an answer to its result. */
export function createLedger({ began, lateAfter = 60_000 }: { began: number; lateAfter?: number }): Ledger {
  const open = new Map<number, Entry>();
  const early = new Map<number, Entry>();
  const done = new Map<number, Entry>();
  const finished = createFinishedIds();
  const events = createEventBook();
  const examples = createExamples();
  const books = new Map<string, DeviceBook>();
  const phases = new Map<string, Counts>();
  const troubles: Trouble[] = [];
  const kept = new Map<string, number>();
  let current = '';
  let strangers = 0;

  function of(phase: string): Counts {
    const known = phases.get(phase);
    if (known) return known;
    const made = createCounts();
    phases.set(phase, made);
    return made;
  }

  function book(deviceId: string): DeviceBook {
    const known = books.get(deviceId);
    if (known) return known;
    const made: DeviceBook = { open: [], highest: 0, connections: 0, notes: [] };
    books.set(deviceId, made);
    return made;
  }

  const find = (transactionId: number): Entry | undefined =>
    open.get(transactionId) ?? done.get(transactionId) ?? early.get(transactionId);

  /** The entry of a command or result, which may be here before the answer to its request. */
  function meet(transactionId: number, deviceId: string, at: number): Entry | undefined {
    const known = find(transactionId);
    if (known || finished.of(transactionId) !== undefined) return known;
    const entry = newEntry(transactionId, deviceId, at);
    if (early.size >= EARLY_KEPT && early.values().next().value?.result) strangers += 1;
    remember(early, transactionId, entry, EARLY_KEPT);
    return entry;
  }

  function storyOf(entry: Entry, more: readonly Note[] = []): string[] {
    const { notes } = book(entry.deviceId);
    return tell(
      began,
      [entry],
      notes.filter(({ at }) => at >= entry.requestedAt - BEFORE),
      more,
    );
  }

  function trouble(kind: Trouble['kind'], phase: string, text: string, at: number, entry?: Entry, deviceId = ''): void {
    const about = `${kind} ${entry ? 'transaction' : 'event'} ${phase}`;
    const known = kept.get(about) ?? 0;
    if (known >= TROUBLES_KEPT) return;
    kept.set(about, known + 1);
    const story = entry
      ? storyOf(entry, [{ at, text }])
      : tell(began, [], books.get(deviceId)?.notes ?? [], [{ at, text }]);
    troubles.push({
      kind,
      deviceId: entry?.deviceId ?? deviceId,
      transactionId: entry?.transactionId ?? null,
      phase,
      text,
      story,
    });
  }

  function note(deviceId: string, text: string, at: number): void {
    const { notes } = book(deviceId);
    notes.push({ at, text });
    if (notes.length > NOTES_KEPT) notes.shift();
  }

  function double(entry: Entry, text: string, at: number): void {
    if (entry.doubled) return;
    entry.doubled = true;
    of(entry.phase ?? current).add('doubled');
    trouble('doubled', entry.phase ?? current, text, at, entry);
  }

  function countDelivery(entry: Entry): void {
    const { phase, deliveredAt, requestedAt } = entry;
    if (phase === null || deliveredAt === null) return;
    examples.delivered(entry);
    of(phase).add('delivered');
    of(phase).took('delivered', deliveredAt - requestedAt);
  }

  function countAcknowledgement({ phase, acknowledgedAt, requestedAt }: Entry): void {
    if (phase !== null && acknowledgedAt !== null) of(phase).took('answered', acknowledgedAt - requestedAt);
  }

  /** Its result is there, and so is its 201. */
  function conclude(entry: Entry): void {
    const { transactionId, phase, result, acknowledgedAt, requestedAt } = entry;
    if (phase === null || !result) return;
    const counts = of(phase);
    open.delete(transactionId);
    remember(done, transactionId, entry, DONE_KEPT);
    const device = book(entry.deviceId);
    device.open = device.open.filter((one) => one !== transactionId);
    if (result.status === 'succeeded' || result.status === 'failed' || result.status === 'cancelled')
      counts.add(result.status);
    if (result.status === 'failed') examples.failed(entry);
    if (result.code !== null) counts.addTo('failures', result.code);
    counts.took('settled', result.at - requestedAt);
    const wait = acknowledgedAt === null ? 0 : result.at - acknowledgedAt;
    if (wait <= lateAfter && !entry.lost) return;
    if (entry.lost) counts.add('lost', -1);
    entry.lost = false;
    counts.add('late');
    const text = `the result of ${transactionId} came ${(wait / 1000).toFixed(1)} s after its answer was acknowledged`;
    trouble('late', phase, text, result.at, entry);
  }

  function receiveResult(
    {
      transactionId,
      deviceId,
      status,
      error,
    }: { transactionId: number; deviceId: string; status: string; error: { code: string } | null },
    { webhookId, body }: { webhookId: string; body: Uint8Array },
    at: number,
  ): void {
    const mark = markOf(webhookId);
    const before = finished.of(transactionId);
    const content = crc32(body);
    if (before !== undefined) {
      const entry = find(transactionId) ?? newEntry(transactionId, deviceId, at);
      // An attempt is made anew, with a timestamp of its own, but what it says is the same.
      const same = before === mark && (entry.result === null || entry.result.body === content);
      if (same) of(entry.phase ?? current).add('repeated');
      else if (before === mark) double(entry, `${transactionId} has two contents under one webhook-id`, at);
      else double(entry, `${transactionId} has a second result: ${status}, webhook ${webhookId}`, at);
      return;
    }
    const entry = meet(transactionId, deviceId, at);
    if (!entry) return;
    finished.set(transactionId, mark);
    entry.result = { status, code: error?.code ?? null, webhookId, body: content, at };
    conclude(entry);
  }

  function countError({ deviceId, operation, phase, status, reason, at }: Refused): void {
    of(phase).add('errors');
    const text = `${operation} of ${deviceId}: ${status || 'no answer'} ${reason}`;
    trouble('error', phase, text, at, undefined, deviceId);
  }

  return {
    enter(phase) {
      current = phase;
      of(phase);
    },
    carriedOut: (phase) => of(phase).add('requests'),

    accepted({ transactionId, deviceId, operation, phase, number, requestedAt, at }) {
      const entry = early.get(transactionId) ?? newEntry(transactionId, deviceId, at);
      early.delete(transactionId);
      Object.assign(entry, { operation, phase, number, requestedAt, acceptedAt: at });
      of(phase).add('requests');
      of(phase).add('accepted');
      of(phase).took('accepted', at - requestedAt);
      open.set(transactionId, entry);
      book(deviceId).open.push(transactionId);
      countDelivery(entry);
      countAcknowledgement(entry);
      conclude(entry);
    },

    refused(refusal) {
      const { phase, status } = refusal;
      const counts = of(phase);
      counts.add('requests');
      if (status >= 400 && status < 500) {
        counts.addTo('refused', status);
        return;
      }
      countError(refusal);
    },
    failed: countError,
    postponed: (phase) => of(phase).add('postponed'),

    delivered(deviceId, { transactionId, operation, attempt }, at) {
      // A cancel carries the transactionId of what it cancels.
      if (operation === 'cancel') return;
      const entry = meet(transactionId, deviceId, at);
      if (!entry) return;
      const device = book(deviceId);
      if (entry.deliveredAt === null) {
        entry.deliveredAt = at;
        entry.operation ||= operation;
        countDelivery(entry);
        if (transactionId < device.highest) {
          const phase = entry.phase ?? current;
          of(phase).add('unordered');
          trouble('unordered', phase, `command ${transactionId} came after ${device.highest}`, at, entry);
        }
        device.highest = Math.max(device.highest, transactionId);
      } else if (
        // What is on its way when the answer comes may still be delivered: at least once. A later connection begins without it.
        entry.acknowledgedAt !== null &&
        device.connections > entry.acknowledgedOn &&
        attempt > entry.attempt
      ) {
        double(entry, `command ${transactionId} came again, attempt ${attempt}, after its answer was acknowledged`, at);
      }
      entry.attempt = Math.max(entry.attempt, attempt);
    },

    answered(deviceId, { transactionId, status }, at) {
      const entry = meet(transactionId, deviceId, at);
      if (!entry) return;
      entry.answeredAt ??= at;
      entry.answer ??= status;
    },

    acknowledged(deviceId, { transactionId }, at) {
      const entry = meet(transactionId, deviceId, at);
      if (!entry || entry.acknowledgedAt !== null) return;
      entry.acknowledgedAt = at;
      entry.acknowledgedOn = book(deviceId).connections;
      countAcknowledgement(entry);
    },

    told(deviceId, { eventId, type }, at) {
      of(current).add('eventsTold');
      events.told({ eventId, deviceId, type, phase: current, at });
    },

    complained(deviceId, { topic, reason, eventId }, at) {
      if (eventId !== undefined) events.excused(eventId);
      note(deviceId, `hears a complaint about ${topic.split('/').at(-1)}: ${reason}`, at);
    },

    connected(deviceId, at) {
      book(deviceId).connections += 1;
      note(deviceId, 'is connected', at);
    },
    note,

    received({ webhookId, event: { type, data }, body }, at) {
      if ('transaction' in data) {
        receiveResult(data.transaction, { webhookId, body }, at);
        return;
      }
      if (!('eventId' in data)) return;
      const { eventId, deviceId } = data;
      const came = events.received(eventId, markOf(webhookId));
      if (came === 'first') of(current).add('eventsReceived');
      else if (came === 'repeated') of(current).add('repeated');
      else {
        of(current).add('doubled');
        of(current).add('eventsDoubled');
        trouble('doubled', current, `event ${eventId} (${type}) came under two webhook-ids`, at, undefined, deviceId);
      }
    },

    forged(reason, at) {
      of(current).add('forged');
      trouble('forged', current, `a webhook is not genuine: ${reason}`, at);
    },

    lose(transactionId, why, at) {
      const entry = open.get(transactionId);
      if (!entry || entry.lost || entry.phase === null) return;
      entry.lost = true;
      of(entry.phase).add('lost');
      trouble('lost', entry.phase, `transaction ${transactionId} has no result: ${why}`, at, entry);
    },

    loseEvent({ eventId, deviceId, type, phase }, at) {
      events.forget(eventId);
      of(phase).add('lost');
      of(phase).add('eventsLost');
      trouble('lost', phase, `event ${eventId} (${type}) was acknowledged and never came`, at, undefined, deviceId);
    },

    actionOf(transactionId) {
      const { number, phase } = find(transactionId) ?? {};
      return number === undefined || phase === undefined || phase === null ? undefined : { number, phase };
    },
    isAccepted: (transactionId) => typeof find(transactionId)?.phase === 'string',
    outcomeOf: (transactionId) => find(transactionId)?.result?.status,
    overtaking(transactionId) {
      const highest = books.get(find(transactionId)?.deviceId ?? '')?.highest ?? 0;
      return highest > transactionId ? highest : undefined;
    },
    unfinishedOf: (deviceId) => books.get(deviceId)?.open ?? [],
    get unfinished() {
      return open.size;
    },
    owed: () => [...open.values()],
    owedEvents: events.owed,
    get waitingEvents() {
      return events.waiting;
    },
    phases: () => [...phases.keys()],

    figures(phase) {
      if (phase !== undefined) {
        const figures = of(phase).figures();
        for (const entry of open.values()) if (entry.phase === phase && !entry.lost) figures.unfinished += 1;
        return figures;
      }
      const figures = addFigures([...phases.values()].map((counts) => counts.figures()));
      for (const entry of open.values()) if (!entry.lost) figures.unfinished += 1;
      figures.unasked = strangers;
      for (const entry of early.values()) if (entry.result) figures.unasked += 1;
      return figures;
    },

    story(wanted) {
      const entry = 'transactionId' in wanted ? find(wanted.transactionId) : undefined;
      if (entry) return storyOf(entry);
      if ('transactionId' in wanted) return [];
      const { deviceId } = wanted;
      const last = [...done.values()].filter((one) => one.deviceId === deviceId).slice(-STORY_DEPTH);
      const device = books.get(deviceId);
      const unfinished = (device?.open ?? []).flatMap((transactionId) => open.get(transactionId) ?? []);
      return tell(began, [...last, ...unfinished], device?.notes ?? []);
    },
    example(kind, phase) {
      const entry =
        kind === 'unfinished'
          ? [...open.values()].find((one) => phase === undefined || one.phase === phase)
          : examples.find(kind, phase);
      return entry ? storyOf(entry) : [];
    },
    troubles: () => troubles,
  };
}

/** What tells one webhook-id from another; never 0. */
const markOf = (webhookId: string): number => crc32(webhookId) || 1;
