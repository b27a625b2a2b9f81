import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { type Ending, type Span, type Tracing, traceField } from '../../runtime/tracing.ts';
import { type AttemptSlot, QUICK_MICROS } from './attempt-slots.ts';
import { type Delivery, isEndpoint, numberedBody, type Outcome, type ReceiverName } from './delivery.ts';
import type { Failure } from './failures.ts';
import type { createSender } from './http/sender.ts';
import { packSent, type SentHeaders, sameHeaders } from './http/sent-headers.ts';
import { createReceiverLog } from './log/receiver-log.ts';
import { createStoredAnswers } from './log/stored-answers.ts';
import { failed, inWindow, type Receiver, succeeded } from './receiver.ts';
import { type Answer, judge } from './retry-schedule.ts';
import { createSigner } from './signature.ts';

interface Endpoint {
  url: string | null;
  /** The developer of the application. */
  owner: string;
  /** The keys that sign; empty when the application has not asked for a key yet. */
  keys: readonly string[];
  /** Whether the application is being removed, so that nothing is sent to it. */
  leaves?: boolean;
}

/** The result of an attempt. */
interface Made {
  url: string | null;
  /** Undefined when the attempt was not made, or was ended because the service stops; the delivery stays pending. */
  answer?: Answer;
  /** The headers that differ from attempt to attempt, as they were sent. */
  sent?: SentHeaders;
}

/** The bodies of test events begin with this: `type` is the first member of each body. */
const TEST = '{"type":"test",';

/** The outcome of an attempt, as it is stored. */
export interface Concluded extends Outcome {
  receiver: Receiver;
  failure: Failure | undefined;
}

export interface AttemptParts {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  /** Returns the URL of the receiver and the keys that sign; called at every attempt. */
  endpointOf(applicationId: string, setting: ReceiverName['setting']): Promise<Endpoint>;
  sender: Pick<ReturnType<typeof createSender>, 'post'>;
  /** Whether attempts may still begin; false when the service stops. Deliveries that are not sent then stay pending. */
  maySend(): boolean;
  /** The number of the receiver's attempts without an answer for more than a second. */
  lateOf(receiver: Receiver): number;
}

/** The end of an attempt's span. Only an answer 2xx is a success. */
function endOf(answer: Answer | undefined): Ending {
  if (answer === undefined) return { error: 'the service stopped before the answer came' };
  const { statusCode, error } = answer;
  const attributes = statusCode === null ? {} : { 'http.response.status_code': statusCode };
  const isGood = error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
  return { attributes, ...(!isGood && { error: error ?? `answered ${statusCode}` }) };
}

const unanswered = (error: string): Answer => ({ statusCode: null, retryAfter: null, error });

/** Makes attempts: asks for the endpoint, signs, posts, and judges the answer. */
export function createAttempts(parts: AttemptParts) {
  const { clock, ids, log, metrics, tracing, endpointOf, sender, maySend, lateOf } = parts;
  const signedHeaders = createSigner();
  const keepAnswer = createStoredAnswers({ clock, metrics });
  const tellOf = createReceiverLog({ clock, log });

  /** Begins the span of an attempt. Receivers put secrets into URLs, so it has the host only. */
  function begin({ applicationId, setting }: Receiver, delivery: Delivery, url: string): Span | undefined {
    const attributes = {
      'http.request.method': 'POST',
      'server.address': new URL(url).hostname,
      'lapel.application_id': applicationId,
      'lapel.delivery_id': delivery.deliveryId,
      'lapel.attempt': delivery.attempts + 1,
    };
    return tracing.below(delivery.traceparent, `POST ${setting}`, { kind: 'client', attributes });
  }

  async function post(
    slot: AttemptSlot<Receiver>,
    delivery: Delivery,
    { url, owner, keys }: Endpoint,
  ): Promise<Omit<Made, 'url'>> {
    const { deliveryId, traceparent } = delivery;
    const body = numberedBody(delivery.body, delivery);
    if (url === null) return { answer: unanswered(`${slot.receiver.setting} is not set`) };
    if (keys.length === 0) return { answer: unanswered('authenticationKey is not issued') };
    const span = traceparent === null ? undefined : begin(slot.receiver, delivery, url);
    // A trace that began before this start, with tracing, is still handed on to the receiver.
    const trace = span?.traceparent ?? traceparent;
    const { 'webhook-id': _, ...signed } = signedHeaders(deliveryId, clock.wall(), body, keys);
    const sent = { ...signed, ...(trace !== null && { traceparent: trace }) };
    const headers = { ...sameHeaders(delivery), ...sent };
    const cuttable = (cut: (why: string) => void): void => {
      slot.cut = cut;
    };
    const answer = await sender.post({ url, owner, headers, body, cuttable, keepsBeginning: body.startsWith(TEST) });
    span?.end(endOf(answer));
    return answer ? { answer, sent } : {};
  }

  return {
    /**
     * Posts a delivery; returns the URL, the receiver's answer, and the headers that were sent. Returns null when the
     * database, which stores the URL, does not answer, and `leaving` when the application is being removed.
     */
    async make(slot: AttemptSlot<Receiver>, delivery: Delivery): Promise<Made | null | 'leaving'> {
      const { applicationId, setting } = slot.receiver;
      let url: string | null = null;
      try {
        const endpoint = await endpointOf(applicationId, setting);
        if (endpoint.leaves) return 'leaving';
        url = endpoint.url;
        return { url, ...(maySend() && (await post(slot, delivery, endpoint))) };
      } catch (cause) {
        if (isDatabaseAway(cause)) return null;
        const { deliveryId, traceparent } = delivery;
        log.error({ err: cause, deliveryId, ...traceField(traceparent) }, 'a webhook could not be prepared');
        return { url, answer: unanswered('the notification could not be prepared') };
      }
    },

    /** Turns an answer into the outcome that is stored, and updates the receiver's window, the log and the metrics. */
    conclude(slot: AttemptSlot<Receiver>, delivery: Delivery, { url, sent }: Made, answer: Answer): Concluded {
      const { receiver, startedAt } = slot;
      const at = clock.now();
      const { deliveryId, round, traceparent } = delivery;
      const random = (): number => ids.bytes(4).readUInt32LE() / 2 ** 32;
      const made = delivery.attempts + 1;
      const verdict = judge(answer, made, { now: at, wall: clock.wall() }, random);
      const { applicationId, setting } = receiver;
      const { sequence } = delivery;
      const { statusCode } = answer;
      const ok = verdict.status === 'delivered';
      const error = ok ? null : (answer.error ?? `answered ${statusCode}`);
      tellOf(receiver, { deliveryId, status: verdict.status, attempts: made, error, traceparent });
      const quick = at - startedAt < QUICK_MICROS;
      if (ok) succeeded(receiver, quick, inWindow(receiver, lateOf(receiver)));
      else failed(receiver, quick, at);
      // What is sent again on request was made long ago; that says nothing of the service.
      if (ok && round === 0 && !isEndpoint(setting))
        metrics.stepSeconds.observe({ step: 'delivered' }, (at - delivery.createdAt) / 1_000_000);
      const kept = keepAnswer(receiver, answer.beginning);
      const failure = error === null ? undefined : { error, duration: at - startedAt, answer: kept };
      metrics.deliverySeconds.observe((at - startedAt) / 1_000_000);
      metrics.deliveryAttempts.inc({ outcome: verdict.status === 'pending' ? 'retry' : verdict.status });
      const outcome = {
        applicationId,
        setting,
        deliveryId,
        sequence,
        round,
        ...verdict,
        attempts: made,
        url,
        statusCode,
        error,
      };
      const request = { sent: sent === undefined ? null : packSent(sent), answer: ok ? kept : null };
      return { ...outcome, ...request, receiver, at, failure };
    },
  };
}
