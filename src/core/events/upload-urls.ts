import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { DomainError, faultText, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Ids } from '../../runtime/ids.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import { signingKeysOf } from '../applications/signing-keys-of.ts';
import type { CustomerRequest, CustomerRequests, Reply } from '../webhooks/http/customer-requests.ts';
import type { DeviceEvents } from './device-events.ts';
import { requireOwner } from './owner.ts';
import { createRequestSlots } from './request-slots.ts';
import { UPLOAD_FEATURES, type UploadRequest } from './upload-features.ts';

/** The most requests in progress: of all devices of an application, and in total. */
const UPLOAD_BOUNDS = { application: 64, service: 512 };
/** Milliseconds that a request waits at most for other requests of its developer to end. */
const LONGEST_WAIT_MS = 60_000;

type Code = 'NOT_ACTIVATED' | 'NOT_CONFIGURED' | 'UPLOAD_URL_FAILED' | 'BUSY' | 'INTERNAL';
type UploadAnswer = { data: object } | { error: { code: Code; message: string } };

/** A device's request for upload URLs. */
interface Asked {
  deviceId: string;
  /** The application for which the device was activated when it asked; null when it was not. */
  applicationId: string | null;
  type: UploadRequest;
  /** The data of the request; it obeys the schema of the request's type. */
  asked: object;
}

interface Parts {
  contracts: Contracts;
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  requests: CustomerRequests;
  findApplication: Applications['findIn'];
  raise: DeviceEvents['raise'];
  /** LAPEL_ALLOW_HTTP_WEBHOOKS, which also applies to the URLs in customers' answers. */
  allowHttp: boolean;
}

export type UploadUrls = ReturnType<typeof createUploadUrls>;

const LONGEST_MESSAGE = 1000;
const failure = (code: Code, message: string): { error: { code: Code; message: string } } => ({
  error: { code, message: message.slice(0, LONGEST_MESSAGE) },
});

/**
 * Upload URLs for devices. The service asks the customer's URL, with at most one repetition, checks the answer and passes it
 * on. After a failure the device gets the reason, and the customer an event. When a customer is slow, requests wait for
 * their turn, each for at most a minute.
 */
export function createUploadUrls(parts: Parts) {
  const { contracts, database, clock, ids, log, metrics, requests, findApplication, raise, allowHttp } = parts;
  const slots = createRequestSlots({ clock, bounds: UPLOAD_BOUNDS, longestWaitMs: LONGEST_WAIT_MS });
  const pauses = new Set<() => void>();
  // Counts the requests in progress, except those that pause before their second attempt or wait for a slot.
  const work = createWork();
  let stopped = false;

  /** Resolves after the given time, or at once when the service stops. */
  function pause(milliseconds: number): Promise<void> {
    work.ended();
    return new Promise((resolve) => {
      const resume = (): void => {
        cancel();
        pauses.delete(resume);
        work.begun();
        resolve();
      };
      const cancel = clock.after(milliseconds, resume);
      pauses.add(resume);
    });
  }

  async function attempt(request: CustomerRequest): Promise<Reply | undefined> {
    const startedAt = clock.now();
    const reply = stopped ? undefined : await requests.attempt(request);
    if (reply) metrics.uploadUrlSeconds.observe((clock.now() - startedAt) / 1_000_000);
    return reply;
  }

  /** Asks the customer, twice at most; returns undefined when the service stops. */
  async function call(request: CustomerRequest): Promise<Reply | undefined> {
    const first = await attempt(request);
    if (!first || 'value' in first || first.retryAfterMs === null) return first;
    await pause(first.retryAfterMs);
    return attempt(request);
  }

  async function askCustomer(
    { applicationId, developerId, settings, ...application }: Application,
    deviceId: string,
    type: UploadRequest,
    asked: object,
  ): Promise<UploadAnswer | undefined> {
    const feature = UPLOAD_FEATURES[type];
    const { urlSetting, eventSetting } = feature;
    const url = settings[urlSetting];
    if (url === null) return failure('NOT_CONFIGURED', `${urlSetting} is not set.`);
    if (settings[eventSetting] === null) return failure('NOT_CONFIGURED', `${eventSetting} is not set.`);
    const now = clock.now();
    const keys = signingKeysOf(application, now);
    if (keys.length === 0) return failure('NOT_CONFIGURED', 'authenticationKey is not issued.');
    const data = { ...asked, applicationId, deviceId };
    const body = JSON.stringify({ type: feature.type, timestamp: toUtc(now), data });
    const reply = await call({ id: ids.next('req', now), url, owner: developerId, keys, body });
    if (!reply) return undefined;
    const answer = 'value' in reply ? read(type, reply.value, asked) : reply;
    if (!('failure' in answer)) return answer;
    const failed = failure('UPLOAD_URL_FAILED', `${urlSetting}: ${answer.failure}.`);
    log.info({ applicationId, setting: urlSetting, reason: answer.failure }, 'a device got no upload URL');
    const event = { deviceId, eventId: ids.next('evt', clock.now()), occurredAt: clock.now() };
    await raise(applicationId, { ...event, ...feature.failed(asked, failed.error) });
    return failed;
  }

  function read(type: UploadRequest, value: unknown, asked: object): { data: object } | { failure: string } {
    try {
      return { data: UPLOAD_FEATURES[type].answer(contracts, value, asked, allowHttp) };
    } catch (thrown) {
      if (!(thrown instanceof DomainError)) throw thrown;
      return { failure: `the answer cannot be used: ${faultText(thrown.details)}` };
    }
  }

  /**
   * Waits until the bounds allow the request; returns false when that takes too long. A request that waits does not
   * count as work in progress, so `idle` can resolve.
   */
  async function enter(holder: { developerId: string; applicationId: string }): Promise<boolean> {
    const entered = slots.enter(holder);
    if (entered === true) return true;
    work.ended();
    try {
      return await entered;
    } finally {
      work.begun();
    }
  }

  async function answerFor(request: Asked): Promise<UploadAnswer | undefined> {
    const { deviceId, type, asked } = request;
    // Earlier messages of the device may not be committed yet, and may change its activation. Units of work of one
    // device run one after another, so this unit sees their changes.
    const application = await database.transact((unit) => requireOwner(unit, deviceId, findApplication), {
      device: deviceId,
    });
    const { applicationId, developerId } = application;
    // The request of one application must not reach the application for which the device was activated later.
    if (applicationId !== request.applicationId) throw new DomainError('DEVICE_NOT_ACTIVATED');
    const holder = { developerId, applicationId };
    if (!(await enter(holder))) {
      if (stopped) return undefined;
      metrics.uploadUrlRefused.inc({ bound: 'application' });
      return failure('BUSY', 'too many requests of the application are under way; ask again later.');
    }
    try {
      return await askCustomer(application, deviceId, type, asked);
    } finally {
      slots.leave(holder);
    }
  }

  async function carryOut(request: Asked): Promise<UploadAnswer | undefined> {
    const { deviceId } = request;
    try {
      return await answerFor(request);
    } catch (thrown) {
      if (thrown instanceof DomainError && thrown.code === 'DEVICE_NOT_ACTIVATED') {
        return failure('NOT_ACTIVATED', thrown.message);
      }
      if (!isDatabaseAway(thrown))
        log[levelOf(thrown)]({ err: thrown, deviceId }, 'a request for an upload URL could not be carried out');
      return failure('INTERNAL', 'the request could not be carried out; ask again later.');
    }
  }

  return {
    /**
     * Carries out a request whose data obeys its schema; `respond` gets the answer, or undefined when the service stops
     * before.
     */
    ask(request: Asked, respond: (answer: UploadAnswer | undefined) => void): void {
      work.begun();
      void carryOut(request).then((answer) => {
        const outcome = answer && ('error' in answer ? answer.error.code.toLowerCase() : 'answered');
        if (outcome) metrics.uploadUrlRequests.inc({ type: request.type, outcome });
        respond(answer);
        work.ended();
      });
    },

    /**
     * Resolves when no attempt is running. A request that pauses before its second attempt waits for the clock, and does not
     * count.
     */
    idle: work.idle,

    /** Ends the requests in progress; after the next start they are carried out again. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      slots.end();
      for (const resume of pauses) resume();
      requests.abortAll();
      await work.idle();
      await requests[Symbol.asyncDispose]();
    },
  };
}
