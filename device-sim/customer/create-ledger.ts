import { crc32 } from 'node:zlib';
import { aboutIn } from './about-webhook.ts';
import { createContentBook } from './content-book.ts';
import { remembersAnswer } from './contents.ts';
import { createDeliveries } from './deliveries.ts';
import { createDeviceBooks } from './device-books.ts';
import { createElsewhere } from './elsewhere.ts';
import { type Entry, newEntry, type Outcome } from './entry.ts';
import { createEventBook } from './event-book.ts';
import { createExamples } from './examples.ts';
import type { Stage } from './figures.ts';
import type { Ledger, Refused } from './ledger.ts';
import { createLedgerViews } from './ledger-views.ts';
import { createRolloutBook } from './rollout-book.ts';
import { createScopedCounts } from './scopes.ts';
import { createTransactionBooks } from './transaction-books.ts';
import { createTroubleBook } from './trouble-book.ts';

/**
 * `began`: the start of the run. `lateAfter`: a result is late when it comes more than this many milliseconds after the
 * device's answer was acknowledged; time in which the simulator itself stood still does not count.
 */
export function createLedger({
  began,
  lateAfter = 60_000,
  stoodStill = () => 0,
  groupOf = () => undefined,
  nodeOf,
}: {
  began: number;
  lateAfter?: number;
  stoodStill?: ((from: number, to: number) => number) | undefined;
  /** The group of a device in the scenario. */
  groupOf?: ((deviceId: string) => string | undefined) | undefined;
  /** The node that a device is connected to; undefined if there is only one. */
  nodeOf?: ((deviceId: string) => string | undefined) | undefined;
}): Ledger {
  const events = createEventBook();
  const examples = createExamples(groupOf);
  const devices = createDeviceBooks();
  const { book, note } = devices;
  const books = createTransactionBooks(devices);
  const { open, early, finished, acceptedIds, find, meet, another, close } = books;
  const { trouble, troubles, storyOf } = createTroubleBook({ began, devices });
  const scoped = createScopedCounts(groupOf, nodeOf);
  const { of } = scoped;
  let current = '';

  function double(entry: Entry, text: string, at: number): void {
    if (entry.doubled) return;
    entry.doubled = true;
    of(entry.phase ?? current, entry).add('doubled');
    trouble('doubled', entry.phase ?? current, text, at, entry);
  }

  function lose(entry: Entry, why: string, at: number): void {
    if (entry.lost || entry.phase === null) return;
    entry.lost = true;
    of(entry.phase, entry).add('lost');
    trouble('lost', entry.phase, `transaction ${entry.transactionId} has no result: ${why}`, at, entry);
  }

  function violation(entry: Entry, text: string, at: number): void {
    of(entry.phase ?? current, entry).add('violations');
    trouble('violation', entry.phase ?? current, text, at, entry);
  }

  const elsewhere = createElsewhere((entry, text, at) => {
    of(entry.phase ?? current, entry).add('wrong');
    violation(entry, text, at);
  });

  const contents = createContentBook({ of, phase: () => current, find, trouble });

  /** The service has given one id to two requests. Their results cannot be told apart, so the first counts as lost. */
  function reuse(entry: Entry, at: number): void {
    const { transactionId } = entry;
    const first = open.get(transactionId);
    if (first) {
      close(first);
      lose(first, `the service gave its id to another request, for device ${entry.deviceId}`, at);
    }
    of(entry.phase ?? current, entry).add('reused');
    violation(entry, `the service gave the transactionId ${transactionId} to two requests`, at);
  }

  function took(stage: Stage, entry: Entry, milliseconds: number): void {
    // A transaction of a rollout has no request of its own from which its time could count.
    if (entry.phase === null || entry.rolloutId !== null) return;
    of(entry.phase, entry).took(stage, milliseconds);
    examples.took(stage, entry, milliseconds);
  }

  function countDelivery(entry: Entry): void {
    const { phase, deliveredAt, requestedAt } = entry;
    if (phase === null || deliveredAt === null) return;
    of(phase, entry).add('delivered');
    took('delivered', entry, deliveredAt - requestedAt);
  }

  function countAcknowledgement(entry: Entry): void {
    const { phase, acknowledgedAt, requestedAt } = entry;
    if (phase !== null && acknowledgedAt !== null) took('answered', entry, acknowledgedAt - requestedAt);
  }

  /** Finishes an entry that has both its result and its 201. */
  function conclude(entry: Entry): void {
    const { transactionId, phase, result, acknowledgedAt, requestedAt } = entry;
    if (phase === null || !result) return;
    const counts = of(phase, entry);
    close(entry);
    books.finish(entry);
    const superseding = devices.known(entry.deviceId)?.superseding ?? false;
    contents.result(entry, result.at, superseding || rollouts.supersede());
    rollouts.compare(entry, entry.rolloutId, result.rolloutId, result.at);
    if (result.status === 'succeeded' || result.status === 'failed' || result.status === 'cancelled')
      counts.add(result.status);
    if (result.status === 'failed') examples.failed(entry);
    if (result.status === 'failed' && result.code !== null) counts.addTo('failures', result.code);
    took('settled', entry, result.at - requestedAt);
    const wait = acknowledgedAt === null ? 0 : result.at - acknowledgedAt - stoodStill(acknowledgedAt, result.at);
    if (wait <= lateAfter && !entry.lost) return;
    if (entry.lost) counts.add('lost', -1);
    entry.lost = false;
    counts.add('late');
    const text = `the result of transaction ${transactionId} came ${(wait / 1000).toFixed(1)} s after the answer was acknowledged`;
    trouble('late', phase, text, result.at, entry);
  }

  function receiveResult(
    {
      transactionId,
      deviceId,
      operation,
      status,
      result,
      error,
      rolloutId = null,
      createdAt,
      completedAt,
    }: ResultOfWebhook,
    { webhookId, body }: { webhookId: string; body: Uint8Array },
    at: number,
  ): void {
    const mark = markOf(webhookId);
    const before = finished.of(transactionId);
    const content = crc32(body);
    if (before !== undefined) {
      const entry = find(transactionId) ?? newEntry(transactionId, deviceId, at);
      // Each attempt has its own timestamp, but the same content.
      const same = before === mark && (entry.result === null || entry.result.body === content);
      if (same) of(entry.phase ?? current, entry).add('resent');
      else if (before === mark) double(entry, `one webhook-id of transaction ${transactionId} has two bodies`, at);
      else double(entry, `transaction ${transactionId} has a second result: ${status}, webhook ${webhookId}`, at);
      return;
    }
    const entry = meet(transactionId, deviceId, at);
    if (!entry) return;
    if (entry.former === mark) {
      of(current, entry).add('resent');
      return;
    }
    finished.set(transactionId, mark);
    if (entry.phase !== null && entry.deviceId !== deviceId) elsewhere.resultOf(entry, deviceId, at);
    entry.result = { status, code: error?.code ?? null, webhookId, body: content, at, rolloutId };
    entry.outcome = { operation, status, result, error };
    // The customer has not seen the beginning of a rollout's transaction, so its terms count from the time in the webhook.
    if (rolloutId !== null && completedAt) entry.requestedAt = at - (Date.parse(completedAt) - Date.parse(createdAt));
    if (!rollouts.claims(entry, at)) conclude(entry);
  }

  /** Enters a transaction whose request is known now. Its command, answer and result may have arrived before. */
  function take(entry: Entry, deviceId: string, at: number, isReused = false): void {
    const { transactionId, phase, requestedAt } = entry;
    early.delete(transactionId);
    acceptedIds.set(transactionId, 1);
    entry.acceptedAt = at;
    elsewhere.asked(entry, deviceId, at);
    if (isReused) reuse(entry, at);
    const counts = of(phase ?? current, entry);
    counts.add('requests');
    counts.add('accepted');
    took('accepted', entry, at - requestedAt);
    open.set(transactionId, entry);
    book(deviceId).open.push(transactionId);
    contents.command(entry, at);
    countDelivery(entry);
    countAcknowledgement(entry);
    conclude(entry);
  }

  const rollouts = createRolloutBook({ books, scoped, take, wrong: contents.wrong, trouble });

  function countError({ deviceId, operation, phase, status, reason, at }: Refused): void {
    of(phase, { deviceId, operation }).add('errors');
    const text = `${operation}: ${status === 0 ? 'no answer,' : status} ${reason}`;
    trouble('error', phase, text, at, undefined, deviceId);
  }

  return {
    enter(phase) {
      current = phase;
      scoped.begin(phase);
    },
    carriedOut(phase, about) {
      of(phase, about).add('requests');
      of(phase, about).add('carriedOut');
    },

    accepted({ transactionId, deviceId, operation, phase, number, requestedAt, asked = null, at }) {
      const again = acceptedIds.of(transactionId) !== undefined;
      const make = again ? another : newEntry;
      const entry = early.get(transactionId) ?? make(transactionId, deviceId, at);
      Object.assign(entry, { operation, phase, number, requestedAt, asked });
      take(entry, deviceId, at, again);
    },

    refused(refusal) {
      const { phase, status } = refusal;
      const counts = of(phase, refusal);
      counts.add('requests');
      if (status >= 400 && status < 500) {
        counts.addTo('refused', status);
        return;
      }
      countError(refusal);
    },
    failed: countError,
    postponed: (phase, about) => of(phase, about).add('postponed'),
    cancelled(transactionId, at) {
      const entry = find(transactionId);
      if (!entry) return;
      entry.cancelledAt = at;
      contents.cancel(entry, at);
    },

    supersedes(deviceId) {
      book(deviceId).superseding = true;
    },

    delivered: createDeliveries({
      books,
      devices,
      scoped,
      elsewhere,
      contents,
      violation,
      double,
      countDelivery,
      trouble,
      phase: () => current,
    }),

    answered(deviceId, answer, at) {
      const { transactionId, status } = answer;
      const entry = meet(transactionId, deviceId, at);
      if (!entry) return;
      if (entry.deviceId !== deviceId) return elsewhere.answerOf(entry, deviceId, status, at);
      entry.answeredAt ??= at;
      remembersAnswer(entry, answer);
      entry.answer ??= status;
    },

    acknowledged(deviceId, { transactionId }, at) {
      const entry = meet(transactionId, deviceId, at);
      if (!entry || entry.acknowledgedAt !== null || entry.deviceId !== deviceId) return;
      entry.acknowledgedAt = at;
      entry.acknowledgedOn = book(deviceId).connections;
      countAcknowledgement(entry);
    },

    happened: events.happened,
    told(deviceId, { eventId, type }, at) {
      of(current, { deviceId }).add('eventsTold');
      events.told({ eventId, deviceId, type, phase: current, at });
    },

    complained(deviceId, { topic, reason, eventId }, at) {
      if (eventId !== undefined) events.excused(eventId);
      note(deviceId, `gets a report on errors about its message on ${topic.split('/').at(-1)}: ${reason}`, at);
    },

    connected(deviceId, at) {
      const device = book(deviceId);
      device.connections += 1;
      device.connectedAt = at;
      note(deviceId, 'is connected', at);
    },
    note,

    received({ webhookId, event: { type, data }, body }, at) {
      if ('transaction' in data) {
        contents.envelope({ type, data }, data.transaction, at);
        receiveResult(data.transaction, { webhookId, body }, at);
        return;
      }
      if (!('eventId' in data)) return;
      const { eventId, deviceId } = data;
      contents.wrong({ text: `event ${eventId} (${type})`, deviceId }, events.differences(eventId, { type, data }), at);
      const came = events.received(eventId, markOf(webhookId));
      const counts = of(current, { deviceId });
      if (came === 'first') counts.add('eventsReceived');
      else if (came === 'repeated') counts.add('resent');
      else {
        counts.add('doubled');
        counts.add('eventsDoubled');
        trouble('doubled', current, `event ${eventId} (${type}) arrived with two webhook-ids`, at, undefined, deviceId);
      }
    },

    forged(reason, body, at) {
      of(current).add('forged');
      const { transactionId, deviceId = '' } = aboutIn(body);
      const entry = transactionId === undefined ? undefined : find(transactionId);
      const known = entry || devices.known(deviceId) ? deviceId : '';
      trouble('forged', current, `a webhook is not genuine: ${reason}`, at, entry, known);
    },

    sample: contents.sample,
    wrong: contents.wrong,

    untimely({ kind, text }, body, at) {
      const { transactionId, deviceId } = aboutIn(body);
      const entry = transactionId === undefined ? undefined : find(transactionId);
      of(current, entry ?? (deviceId === undefined ? undefined : { deviceId })).add(kind);
      const about = transactionId === undefined ? '' : `, about transaction ${transactionId}`;
      trouble(kind, entry?.phase ?? current, `${text}${about}`, at, entry, deviceId);
    },

    overrun(deviceId, commands, at) {
      of(current, { deviceId }).add('window');
      const { highest = 0 } = devices.known(deviceId) ?? {};
      const text = `gets ${commands} commands without a PUBACK or an answer, the last one for transaction ${highest}`;
      trouble('window', current, text, at, find(highest), deviceId);
    },

    lose(transactionId, why, at) {
      const entry = open.get(transactionId);
      if (entry) lose(entry, why, at);
    },

    loseEvent({ eventId, deviceId, type, phase }, at) {
      events.forget(eventId);
      of(phase, { deviceId }).add('lost');
      of(phase, { deviceId }).add('eventsLost');
      trouble(
        'lost',
        phase,
        `event ${eventId} (${type}) was acknowledged, and no webhook arrived`,
        at,
        undefined,
        deviceId,
      );
    },

    actionOf(transactionId) {
      const { number, phase } = find(transactionId) ?? {};
      return number === undefined || phase === undefined || phase === null ? undefined : { number, phase };
    },
    isAccepted: (transactionId) => typeof find(transactionId)?.phase === 'string',
    outcomeOf: (transactionId) => find(transactionId)?.result?.status,
    overtaking(transactionId) {
      const highest = devices.known(find(transactionId)?.deviceId ?? '')?.highest ?? 0;
      return highest > transactionId ? highest : undefined;
    },
    unfinishedOf: (deviceId) => devices.known(deviceId)?.open ?? [],
    get unfinished() {
      return open.size;
    },
    owed: () => [...open.values()],
    owedEvents: events.owed,
    get waitingEvents() {
      return events.waiting;
    },
    phases: scoped.phases,

    ...rollouts,
    ...createLedgerViews({ began, books, devices, examples, scoped, storyOf }),
    troubles,
  };
}

/** A finished transaction, as its webhook shows it. */
type ResultOfWebhook = Omit<Outcome, 'error'> & {
  readonly transactionId: number;
  readonly deviceId: string;
  readonly error: { readonly code: string } | null;
  readonly rolloutId?: string | null;
  readonly createdAt: string;
  readonly completedAt: string | null;
};

/** A hash of a webhook-id, by which webhooks are told apart; never 0. */
const markOf = (webhookId: string): number => crc32(webhookId) || 1;
