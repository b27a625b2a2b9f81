import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { fenced } from '../../platform/cluster/fenced.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook } from '../../runtime/slow-look.ts';
import { findDevice } from '../devices/device-repository.ts';
import type { RequestHandlers, ResponseBody } from './request-handlers.ts';
import { nameOf } from './request-name.ts';
import type { RequestKey, StoredRequest } from './request-repository.ts';
import * as repository from './request-repository.ts';
import { storeRequest } from './request-storing.ts';
import { createResponseSender, type ResponseLink } from './response-sender.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  handlers: RequestHandlers;
}

/** The content of a device's request. */
interface Asked {
  requestId: string;
  type: string;
  data: object;
}

export type DeviceRequests = ReturnType<typeof createDeviceRequests>;

/** The requests of one device that are being carried out. */
interface Working {
  /** The names (`nameOf`) of the requests, each until its answer is stored. */
  readonly running: Set<string>;
  /** Whether further requests of the device may wait in the database to be carried out. */
  backlog: boolean;
  reading: boolean;
}

/** The requests of a device that are carried out at a time; further ones wait. */
const AT_ONCE = 4;
/** Milliseconds after which a failed read or write is tried again. */
const RETRY_MS = 1_000;

const BUSY = {
  error: { code: 'BUSY', message: 'too many requests of the device have no answer yet; ask again later.' },
};

/**
 * Requests of devices. A request is stored before its PUBACK, carried out in the order of arrival, a few at a time, and kept
 * until the PUBACK of its answer. So a request that was acknowledged is answered, also after a crash or on the next
 * connection. A request that is repeated (QoS 1 without its PUBACK, QoS 2 after a crash) is the same request: while it is
 * being carried out the repetition is ignored, and later it gets the stored answer.
 */
export function createDeviceRequests({ database, clock, log, metrics, handlers }: Parts) {
  const inWork = new Map<string, Working>();
  const work = createWork(); // counts reads; the database waits for writes itself when it closes
  let stopped = false;
  let latest = 0;

  /**
   * Returns the current time, raised where needed, so that two requests never have the same time: the times keep their
   * order.
   */
  function nextMoment(): number {
    latest = Math.max(clock.now(), latest + 1);
    return latest;
  }

  const responses = createResponseSender({
    read: (deviceId, limit) => repository.findAnswered(database.read, deviceId, limit),
    done: (key) => write(key, (unit) => repository.setDone(unit, key, clock.now())),
    failed: logFailure,
    later: (again) => void clock.after(RETRY_MS, again),
  });

  /** The request of a connected device that waits in the database, although it could be carried out. */
  async function overlooked(deviceId: string): Promise<string | undefined> {
    const ofDevice = inWork.get(deviceId);
    if (ofDevice?.backlog || ofDevice?.reading || (ofDevice?.running.size ?? 0) >= AT_ONCE) return undefined;
    const names = (await repository.findUnanswered(database.read, deviceId, AT_ONCE)).map(nameOf);
    return names.find((name) => inWork.get(deviceId)?.running.has(name) !== true);
  }

  const slowLooks = [
    createSlowLook({
      clock,
      log,
      what: 'requests',
      keys: responses.deviceIds,
      overlooked,
      move: readAgain,
      count: () => metrics.overlooked.inc({ what: 'requests' }),
    }),
    createSlowLook({
      clock,
      log,
      what: 'responses',
      keys: responses.deviceIds,
      overlooked: responses.overlooked,
      move: responses.wake,
      count: () => metrics.overlooked.inc({ what: 'responses' }),
    }),
  ];

  /** Logs a failure of what is tried again. */
  function logFailure(err: unknown): void {
    if (!isDatabaseAway(err)) log.warn({ err }, 'requests of a device could not be read or marked; trying again later');
  }

  const write = <Result>(
    { deviceId }: RequestKey,
    unitOfWork: (unit: UnitOfWork) => Promise<Result>,
  ): Promise<Result> => database.transact(unitOfWork, { device: deviceId, pace: 'crowd' });

  /** Stores the answer of a request and sends it. While the database does not answer, storing is tried again. */
  async function finish(request: StoredRequest, body: ResponseBody): Promise<void> {
    const text = JSON.stringify({ requestId: request.requestId, ...body });
    for (;;) {
      try {
        const isFirst = await write(request, (unit) => repository.putAnswer(unit, request, text));
        metrics.deviceRequests.inc({ outcome: 'error' in body ? 'error' : 'answered' });
        responses.answered(request, isFirst ? text : undefined);
        return;
      } catch (err) {
        if (stopped) return;
        if (!isDatabaseAway(err)) log.error({ err, deviceId: request.deviceId }, 'an answer could not be stored');
        await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
      }
    }
  }

  function workingOf(deviceId: string): Working {
    const known = inWork.get(deviceId);
    if (known) return known;
    const made: Working = { running: new Set(), backlog: false, reading: false };
    inWork.set(deviceId, made);
    return made;
  }

  function run(request: StoredRequest, ofDevice: Working): void {
    const name = nameOf(request);
    ofDevice.running.add(name);
    metrics.deviceRequestsRunning.inc();
    carryOut(request, () => {
      ofDevice.running.delete(name);
      metrics.deviceRequestsRunning.dec();
      void continueBacklog(request.deviceId, ofDevice);
    });
  }

  /** Carries out a stored request without an answer: at once, or after earlier ones of its device. */
  function begin(request: StoredRequest): void {
    const ofDevice = workingOf(request.deviceId);
    if (stopped || ofDevice.running.has(nameOf(request))) return;
    if (!ofDevice.backlog && !ofDevice.reading && ofDevice.running.size < AT_ONCE) {
      run(request, ofDevice);
      return;
    }
    ofDevice.backlog = true;
    void continueBacklog(request.deviceId, ofDevice);
  }

  /** Carries out waiting requests from the database, in their order. */
  async function continueBacklog(deviceId: string, ofDevice: Working): Promise<void> {
    if (ofDevice.reading) return;
    ofDevice.reading = true;
    work.begun();
    try {
      while (!stopped && ofDevice.backlog && ofDevice.running.size < AT_ONCE) {
        ofDevice.backlog = false; // a request that is stored during the read sets `backlog` again
        // Requests that are answered during the read must not run again, because the read may be older than their answers.
        const before = new Set(ofDevice.running);
        const found = await repository.findUnanswered(database.read, deviceId, 2 * AT_ONCE);
        const wanted = found.filter((one) => !before.has(nameOf(one)) && !ofDevice.running.has(nameOf(one)));
        const room = AT_ONCE - ofDevice.running.size;
        if (wanted.length > room) ofDevice.backlog = true;
        for (const one of wanted.slice(0, room)) run(one, ofDevice);
      }
    } catch (err) {
      ofDevice.backlog = true;
      logFailure(err);
      clock.after(RETRY_MS, () => void continueBacklog(deviceId, ofDevice));
    } finally {
      ofDevice.reading = false;
      work.ended();
    }
    if (ofDevice.running.size === 0 && !ofDevice.backlog && inWork.get(deviceId) === ofDevice) inWork.delete(deviceId);
  }

  /** Reads the stored requests of a device. */
  function readAgain(deviceId: string): void {
    const ofDevice = workingOf(deviceId);
    ofDevice.backlog = true;
    void continueBacklog(deviceId, ofDevice);
  }

  function carryOut(request: StoredRequest, ended: () => void): void {
    const { deviceId, applicationId, type, data } = request;
    const asked = { deviceId, applicationId, asked: JSON.parse(data) as object };
    handlers.carryOut(type, asked, (body) => {
      if (!body) return ended(); // the service stops; after the next start the request is carried out again
      void finish(request, body).finally(ended);
    });
  }

  return {
    /**
     * Stores a device's request; resolves when the request may be acknowledged. If the device has too many stored
     * requests, it returns the response that asks the device to try again later. Rejects when the write failed, and
     * with Superseded when the device has a newer connection.
     */
    async accept(deviceId: string, asked: Asked, fence: Fence | undefined): Promise<object | undefined> {
      const { requestId, type, data } = asked;
      const read = handlers.read(type, data);
      const request: StoredRequest = {
        deviceId,
        requestId,
        receivedAt: nextMoment(),
        applicationId: null,
        type,
        data: JSON.stringify('asked' in read ? read.asked : {}),
        answer: 'asked' in read ? null : JSON.stringify({ requestId, ...read }),
        doneAt: null,
      };
      const outcome = await write(request, async (unit) => {
        const device = await fenced(unit, fence, findDevice(unit, deviceId));
        if (!device) throw new DomainError('DEVICE_NOT_ACTIVATED');
        const { activation, applicationId } = device;
        // A unit of work can run twice, so it must not change `request`.
        const own = { ...request, applicationId: activation === 'activated' ? applicationId : null };
        return { outcome: await storeRequest(unit, own), own };
      });
      if (outcome.outcome === 'begin') begin(outcome.own);
      if (outcome.outcome === 'send') responses.answered(outcome.own);
      if (outcome.outcome !== 'busy') return undefined;
      metrics.deviceRequests.inc({ outcome: 'busy' });
      return { requestId, ...BUSY };
    },

    /**
     * Call this when a device has connected and subscribed to its responses: its stored requests and answers continue.
     * Call the returned function when the connection or the subscription ends.
     */
    open(link: ResponseLink): () => void {
      readAgain(link.deviceId);
      return responses.open(link);
    },

    /** Deletes the requests of a device, in the unit of work that removes the device. */
    remove: repository.deleteRequests,

    idle: work.idle,

    /** They find requests and answers that are due and moved by nobody. */
    slowLooks,

    /** Begins no further request; stored ones continue after the next start. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      for (const look of slowLooks) look.stop();
      await work.idle();
    },
  };
}
