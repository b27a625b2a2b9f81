import type { WebhookEvent } from '@lapel/client/verify-webhook';
import { createLooks } from '../promises/looks.ts';
import { aboutIn } from './about-webhook.ts';
import { createBreaches } from './breaches.ts';
import { createContentBook } from './content-book.ts';
import { remembersAnswer } from './contents.ts';
import { createDeliveries } from './deliveries.ts';
import { createDeviceBooks } from './device-books.ts';
import { createElsewhere } from './elsewhere.ts';
import { type Entry, newEntry } from './entry.ts';
import { createEventBook } from './event-book.ts';
import { createExamples } from './examples.ts';
import type { Stage } from './figures.ts';
import type { Ledger, Refused } from './ledger.ts';
import { createLedgerViews } from './ledger-views.ts';
import { createLostTime } from './lost-time.ts';
import { createOwedCancels } from './owed-cancels.ts';
import { createResultBook, markOf } from './result-book.ts';
import { createRolloutBook } from './rollout-book.ts';
import { createScopedCounts } from './scopes.ts';
import { OVERTAKING_MILLISECONDS } from './stops.ts';
import { createTransactionBooks } from './transaction-books.ts';
import { createTroubleBook } from './trouble-book.ts';
import { wrongTime } from './webhook-times.ts';

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
  nowOfDay = Date.now,
}: {
  began: number;
  lateAfter?: number;
  stoodStill?: ((from: number, to: number) => number) | undefined;
  /** The group of a device in the scenario. */
  groupOf?: ((deviceId: string) => string | undefined) | undefined;
  /** The node that a device is connected to; undefined if there is only one. */
  nodeOf?: ((deviceId: string) => string | undefined) | undefined;
  /** Milliseconds since 1970. */
  nowOfDay?: () => number;
}): Ledger {
  const { look, counts: looks } = createLooks();
  const cancels = createOwedCancels(look);
  const events = createEventBook();
  const examples = createExamples(groupOf);
  const devices = createDeviceBooks();
  const { book, note } = devices;
  const books = createTransactionBooks(devices);
  const { open, early, acceptedIds, find, meet, another, close } = books;
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

  const contents = createContentBook({ of, phase: () => current, find, trouble, look });

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

  const results = createResultBook({
    books,
    devices,
    examples,
    elsewhere,
    contents,
    cancels,
    rollouts: () => rollouts,
    of,
    phase: () => current,
    trouble,
    double,
    took,
    stoodStill,
    lateAfter,
    look,
  });
  const { conclude } = results;

  /** Enters a transaction whose request is known now. Its command, answer and result may have arrived before. */
  function take(entry: Entry, deviceId: string, at: number, isReused = false): void {
    const { transactionId, phase, requestedAt } = entry;
    early.delete(transactionId);
    look('ids-once');
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

  const rollouts = createRolloutBook({ books, scoped, take, wrong: contents.wrong, trouble, look });

  /** Compares the time of a webhook with that of its event. */
  function judgeTime(event: WebhookEvent, sentAt: number, at: number): void {
    const { data } = event;
    const transactionId = 'transaction' in data ? data.transaction.transactionId : undefined;
    const entry = transactionId === undefined ? undefined : find(transactionId);
    const arrivedAt = nowOfDay();
    const isAsked = entry?.phase !== undefined && entry.phase !== null && entry.rolloutId === null;
    const found = wrongTime(event, {
      sentAt,
      arrivedAt,
      requestedAt: isAsked ? arrivedAt - (at - entry.requestedAt) : undefined,
      occurredAt: 'eventId' in data ? events.occurredAt(data.eventId) : undefined,
    });
    look('webhook-timestamp');
    const about = transactionId === undefined ? `about ${event.type}` : `of transaction ${transactionId}`;
    contents.wrong(
      { text: `the webhook ${about}`, deviceId: data.deviceId, ...(transactionId !== undefined && { transactionId }) },
      found,
      at,
    );
  }

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
      look('calls-answered');
      of(phase, about).add('requests');
      of(phase, about).add('carriedOut');
    },

    accepted({ transactionId, deviceId, operation, phase, number, requestedAt, asked = null, at }) {
      look('calls-answered');
      const again = acceptedIds.of(transactionId) !== undefined;
      const make = again ? another : newEntry;
      const entry = early.get(transactionId) ?? make(transactionId, deviceId, at);
      Object.assign(entry, { operation, phase, number, requestedAt, asked });
      take(entry, deviceId, at, again);
    },

    refused(refusal) {
      const { phase, status } = refusal;
      look('calls-answered');
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
      cancels,
      look,
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
      look('login-given');
      if (device.stoppedAt > 0 && at - device.stoppedAt > OVERTAKING_MILLISECONDS) look('command-stopped');
      note(deviceId, 'is connected', at);
    },
    note,

    received({ webhookId, event, body, sentAt }, at) {
      const { type, data } = event;
      look('webhook-signed');
      judgeTime(event, sentAt, at);
      if ('transaction' in data) {
        contents.envelope({ type, data }, data.transaction, at);
        results.receive(data.transaction, { webhookId, body }, at);
        return;
      }
      if (!('eventId' in data)) return;
      const { eventId, deviceId } = data;
      look('event-once');
      if (events.isKnown(eventId)) look('event-content');
      if (events.isTold(eventId)) look('event-lost');
      contents.wrong({ text: `event ${eventId} (${type})`, deviceId }, events.differences(eventId, { type, data }), at);
      const came = events.received(eventId, markOf(webhookId), at);
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
      look('webhook-signed');
      of(current).add('forged');
      const { transactionId, deviceId = '' } = aboutIn(body);
      const entry = transactionId === undefined ? undefined : find(transactionId);
      const known = entry || devices.known(deviceId) ? deviceId : '';
      trouble('forged', current, `a webhook is not genuine: ${reason}`, at, entry, known);
    },

    look,
    looks,
    ...createBreaches({ of, find, trouble, phase: () => current }),
    excuseCancels: cancels.excuse,
    moved: cancels.moved,
    owedCancels: cancels.owed,
    missCancel({ transactionId, deviceId }, at) {
      cancels.forget(transactionId);
      const entry = find(transactionId);
      if (!entry?.result) return;
      const text = `the device has command ${transactionId}, unanswered, and never got its cancel, although the command ${entry.result.status === 'cancelled' ? 'was cancelled' : 'has expired'}`;
      violation(entry, text, at);
      note(deviceId, `has not got the cancel of command ${transactionId}`, at);
    },

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
    ...createLostTime({ books, devices, events, cancels, of, sample: contents.sample }),
    ...createLedgerViews({ began, books, devices, examples, scoped, storyOf }),
    troubles,
  };
}
