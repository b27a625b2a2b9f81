import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import { signingKeysOf } from '../applications/signing-keys-of.ts';
import { type Clock, toUtc } from '../clock.ts';
import type { Fence } from '../cluster/ownership.ts';
import { Superseded } from '../cluster/superseded.ts';
import type { Contracts } from '../contracts/contracts.ts';
import type { Database } from '../database/sql.ts';
import { DomainError, faultText, isDatabaseAway } from '../errors.ts';
import { createWork } from '../idle.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { CustomerRequest, CustomerRequests, Reply } from '../webhooks/customer-requests.ts';
import type { DeviceEvents } from './device-events.ts';
import { createInFlight } from './in-flight.ts';
import { requireOwner } from './owner.ts';
import { UPLOAD_FEATURES, type UploadRequest } from './upload-features.ts';

/** Requests under way: of one device, of all devices of an application, and in all. */
const UPLOAD_BOUNDS = { device: 4, application: 64, service: 512 };

type Code = 'NOT_ACTIVATED' | 'NOT_CONFIGURED' | 'UPLOAD_URL_FAILED' | 'BUSY' | 'INTERNAL';
type UploadAnswer = { data: object } | { error: { code: Code; message: string } };

/** What a device asks for. */
interface Asked {
  deviceId: string;
  type: UploadRequest;
  /** Obeys its schema. */
  asked: object;
  fence: Fence | undefined;
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
  /** LAPEL_ALLOW_HTTP_WEBHOOKS: also for the URLs that customers answer. */
  allowHttp: boolean;
}

export type UploadUrls = ReturnType<typeof createUploadUrls>;

const LONGEST_MESSAGE = 1000;
const failure = (code: Code, message: string): { error: { code: Code; message: string } } => ({
  error: { code, message: message.slice(0, LONGEST_MESSAGE) },
});

/**
 * Upload URLs that devices ask for. The service asks the customer's URL, in one attempt and at most one more, checks what
 * it answers and passes it on; when that fails the device is told why, and the customer by an event. The device's message
 * is acknowledged meanwhile, and its further messages go on.
 */
export function createUploadUrls(parts: Parts) {
  const { contracts, database, clock, ids, log, metrics, requests, findApplication, raise, allowHttp } = parts;
  const inFlight = createInFlight(UPLOAD_BOUNDS);
  const pauses = new Set<() => void>();
  const work = createWork(); // without those that pause
  let stopped = false;

  /** Resolves after the time, or when the service stops. */
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

  /** Undefined when the service stops. */
  async function call(request: CustomerRequest): Promise<Reply | undefined> {
    const first = await attempt(request);
    if (!first || 'value' in first || first.retryAfterMs === null) return first;
    await pause(first.retryAfterMs);
    return attempt(request);
  }

  async function askCustomer(
    { applicationId, settings, ...application }: Application,
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
    const reply = await call({ id: ids.next('req', now), url, keys, body });
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
      return { failure: `the answer is of no use: ${faultText(thrown.details)}` };
    }
  }

  async function answerFor({ deviceId, type, asked, fence }: Asked): Promise<UploadAnswer | undefined> {
    // A unit of work, so that it sees what messages before this one did.
    const application = await database.transact(async (unit) => {
      if (fence) await fence(unit);
      return requireOwner(unit, deviceId, findApplication);
    }, deviceId);
    const { applicationId } = application;
    const bound = inFlight.enterApplication(applicationId);
    if (bound) return busy(bound);
    try {
      return await askCustomer(application, deviceId, type, asked);
    } finally {
      inFlight.leaveApplication(applicationId);
    }
  }

  function busy(bound: 'device' | 'application' | 'service'): UploadAnswer {
    metrics.uploadUrlRefused.inc({ bound });
    return failure('BUSY', `too many requests of the ${bound} are under way; ask again later.`);
  }

  async function carryOut(request: Asked): Promise<UploadAnswer | undefined> {
    const { deviceId } = request;
    const bound = inFlight.enter(deviceId);
    if (bound) return busy(bound);
    try {
      return await answerFor(request);
    } catch (thrown) {
      if (thrown instanceof DomainError && thrown.code === 'DEVICE_NOT_ACTIVATED') {
        return failure('NOT_ACTIVATED', thrown.message);
      }
      if (thrown instanceof Superseded) return undefined;
      if (!isDatabaseAway(thrown))
        log.error({ err: thrown, deviceId }, 'a request for an upload URL could not be carried out');
      return failure('INTERNAL', 'the request could not be carried out; ask again later.');
    } finally {
      inFlight.leave(deviceId);
    }
  }

  return {
    /**
     * Begins with data that obeys its schema, and calls `respond` when the answer is there; never when the service stops
     * before, or the connection is not the device's any more. Throws REQUEST_INVALID.
     */
    ask(request: Asked, respond: (answer: UploadAnswer) => void): void {
      const { type, asked } = request;
      UPLOAD_FEATURES[type].check?.(asked);
      work.begun();
      void carryOut(request).then((answer) => {
        if (answer) {
          metrics.uploadUrlRequests.inc({
            type,
            outcome: 'error' in answer ? answer.error.code.toLowerCase() : 'answered',
          });
          respond(answer);
        }
        work.ended();
      });
    },

    /** True while a device waits for an answer. */
    isAsking: inFlight.has,

    /** Resolves when no attempt is under way; one that pauses before its second waits for the clock. */
    idle: work.idle,

    /** Ends what is under way: its devices get no answer, and ask again when they are back. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      for (const resume of pauses) resume();
      requests.abortAll();
      await work.idle();
      await requests[Symbol.asyncDispose]();
    },
  };
}
