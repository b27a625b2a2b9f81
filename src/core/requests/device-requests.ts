import { DomainError, isDatabaseAway } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import { findDevice } from '../devices/device-repository.ts';
import type { RequestHandlers, ResponseBody } from './request-handlers.ts';
import type { RequestKey, StoredRequest } from './request-repository.ts';
import * as repository from './request-repository.ts';
import { createResponseLanes, type ResponseLink } from './response-lanes.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  handlers: RequestHandlers;
}

/** What a device asks, as its message says. */
interface Asked {
  requestId: string;
  type: string;
  data: object;
}

export type DeviceRequests = ReturnType<typeof createDeviceRequests>;

/** What is carried out for one device. */
interface Working {
  /** By `nameOf`; until their answers are stored. */
  readonly running: Set<string>;
  /** True while the database may hold further ones. */
  backlog: boolean;
  reading: boolean;
}

/** Requests of a device that are carried out at a time; the others wait for their turn. */
const AT_ONCE = 4;
/** Requests of a device that are stored and whose answers it does not have yet, and the characters of them. */
export const STORED = { requests: 256, characters: 256 * 1024 };
/** Microseconds: a request that comes again so soon after the PUBACK of its answer is the same one, and gets the same answer. */
const SAME_WITHIN = 60_000_000;
/** Milliseconds after which a failed write is tried again. */
const RETRY = 1_000;

const nameOf = ({ requestId, receivedAt }: RequestKey): string => `${receivedAt} ${requestId}`;

const BUSY = {
  error: { code: 'BUSY', message: 'too many requests of the device have no answer yet; ask again later.' },
};

/**
 * Requests of devices. What a device asks is stored before its PUBACK, is carried out in the order in which it came, a few
 * at a time, and is kept until the PUBACK of its answer: so what was acknowledged is answered, also after a crash and on the
 * next connection. A request that comes again (QoS 1 without its PUBACK, QoS 2 after a crash) is the same request: while it is
 * carried out nothing more happens, and afterwards it gets the answer that there is.
 */
export function createDeviceRequests({ database, clock, log, metrics, handlers }: Parts) {
  const inWork = new Map<string, Working>();
  const work = createWork();
  let stopped = false;
  let latest = 0;

  /** The time, and behind all that it was before: the order of a device's requests. */
  function nextMoment(): number {
    latest = Math.max(clock.now(), latest + 1);
    return latest;
  }

  const lanes = createResponseLanes({
    read: (deviceId, limit) => repository.findAnswered(database.read, deviceId, limit),
    done: (key) => write(key, (unit) => repository.setDone(unit, key, clock.now())),
    failed: later,
  });

  /** What is stored comes again with the device's next connection. */
  function later(err: unknown): void {
    if (!isDatabaseAway(err)) log.warn({ err }, 'requests of a device could not be read or marked; they go on later');
  }

  async function write<Result>(
    { deviceId }: RequestKey,
    unitOfWork: (unit: UnitOfWork) => Promise<Result>,
  ): Promise<Result> {
    work.begun();
    try {
      return await database.transactInCrowd(unitOfWork, deviceId);
    } finally {
      work.ended();
    }
  }

  /** Stores the answer, however long the database is away, and sends the one that is stored. */
  async function finish(request: StoredRequest, body: ResponseBody): Promise<void> {
    const text = JSON.stringify({ requestId: request.requestId, ...body });
    for (;;) {
      try {
        const isFirst = await write(request, (unit) => repository.putAnswer(unit, request, text));
        metrics.deviceRequests.inc({ outcome: 'error' in body ? 'error' : 'answered' });
        lanes.answered(request, isFirst ? text : undefined);
        return;
      } catch (err) {
        if (stopped) return;
        if (!isDatabaseAway(err)) log.error({ err, deviceId: request.deviceId }, 'an answer could not be stored');
        await new Promise<void>((resolve) => clock.after(RETRY, resolve));
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
      void goOn(request.deviceId, ofDevice);
    });
  }

  /** A stored request has no answer: it is carried out at once, or in its turn. */
  function begin(request: StoredRequest): void {
    const ofDevice = workingOf(request.deviceId);
    if (stopped || ofDevice.running.has(nameOf(request))) return;
    if (!ofDevice.backlog && !ofDevice.reading && ofDevice.running.size < AT_ONCE) {
      run(request, ofDevice);
      return;
    }
    ofDevice.backlog = true;
    void goOn(request.deviceId, ofDevice);
  }

  /** Carries out what waits in the database; in its order. */
  async function goOn(deviceId: string, ofDevice: Working): Promise<void> {
    if (ofDevice.reading) return;
    ofDevice.reading = true;
    work.begun();
    try {
      while (!stopped && ofDevice.backlog && ofDevice.running.size < AT_ONCE) {
        ofDevice.backlog = false; // a request that comes while they are read raises it again
        // Also those that are answered while this reads: what is read may be older than that.
        const before = new Set(ofDevice.running);
        const found = await repository.findUnanswered(database.read, deviceId, 2 * AT_ONCE);
        const wanted = found.filter((one) => !before.has(nameOf(one)) && !ofDevice.running.has(nameOf(one)));
        const room = AT_ONCE - ofDevice.running.size;
        if (wanted.length > room) ofDevice.backlog = true;
        for (const one of wanted.slice(0, room)) run(one, ofDevice);
      }
    } catch (err) {
      later(err);
    } finally {
      ofDevice.reading = false;
      work.ended();
    }
    if (ofDevice.running.size === 0 && !ofDevice.backlog && inWork.get(deviceId) === ofDevice) inWork.delete(deviceId);
  }

  function carryOut(request: StoredRequest, ended: () => void): void {
    const { deviceId, applicationId, type, data } = request;
    const asked = { deviceId, applicationId, asked: JSON.parse(data) as object };
    handlers.carryOut(type, asked, (body) => {
      if (!body) return ended(); // the service stops: the next one carries it out
      void finish(request, body).finally(ended);
    });
  }

  /** Inside of the unit that stores a request: what is to be done with it after the commit. */
  async function take(unit: UnitOfWork, request: StoredRequest): Promise<'begin' | 'send' | 'nothing' | 'busy'> {
    const { deviceId, requestId } = request;
    const now = request.receivedAt;
    const known = await repository.findRequest(unit, deviceId, requestId);
    const isSame =
      known?.type === request.type && known.data === request.data && known.applicationId === request.applicationId;
    if (known && isSame && known.doneAt === null) {
      request.receivedAt = known.receivedAt;
      return known.answer === null ? 'begin' : 'send';
    }
    const answer = known?.answer ?? null;
    if (
      known &&
      isSame &&
      answer !== null &&
      !('error' in JSON.parse(answer)) &&
      (known.doneAt ?? 0) > now - SAME_WITHIN
    ) {
      await repository.setDone(unit, known, null);
      request.receivedAt = known.receivedAt;
      return 'send';
    }
    await repository.forgetDone(unit, deviceId, now - SAME_WITHIN);
    const { count, characters } = await repository.measureUnfinished(unit, deviceId);
    if (count >= STORED.requests || characters + request.data.length > STORED.characters) return 'busy';
    if (known) request.receivedAt = Math.max(now, known.receivedAt + 1);
    await repository.putRequest(unit, request);
    return request.answer === null ? 'begin' : 'send';
  }

  return {
    /**
     * Stores what a device asks; resolves when it may be acknowledged. Answers the response to a device for which no more is
     * stored: it is told to ask again later. Rejects with Superseded, and when the write failed.
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
        if (fence) await fence(unit);
        const device = await findDevice(unit, deviceId);
        if (!device) throw new DomainError('DEVICE_NOT_ACTIVATED');
        const { activation, applicationId } = device;
        // As a unit can be run again, it begins with what the message says.
        const own = { ...request, applicationId: activation === 'activated' ? applicationId : null };
        return { outcome: await take(unit, own), own };
      });
      if (outcome.outcome === 'begin') begin(outcome.own);
      if (outcome.outcome === 'send') lanes.answered(outcome.own);
      if (outcome.outcome !== 'busy') return undefined;
      metrics.deviceRequests.inc({ outcome: 'busy' });
      return { requestId, ...BUSY };
    },

    /** A device is connected and subscribes its responses: what it waits for goes on. The returned function ends that. */
    open(link: ResponseLink): () => void {
      const ofDevice = workingOf(link.deviceId);
      ofDevice.backlog = true;
      void goOn(link.deviceId, ofDevice);
      return lanes.open(link);
    },

    /** In the unit in which a device is removed. */
    remove: repository.deleteRequests,

    idle: work.idle,

    /** Nothing further is begun: what is stored goes on after the next start. */
    async [Symbol.asyncDispose](): Promise<void> {
      stopped = true;
      await work.idle();
    },
  };
}
