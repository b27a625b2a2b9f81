import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { EndpointId, ReceiverName } from '../webhooks/delivery.ts';
import type { Notices, NoticeType } from '../webhooks/notices.ts';
import type { EndpointReceivers } from '../webhooks/webhooks.ts';
import { dueOfEndpoints } from './due-repository.ts';
import { type Endpoint, type EndpointKey, isDown, type Released, receiverOf, secretsOf } from './endpoint.ts';
import { hastenAll, holdAll, releaseBehind } from './endpoint-delivery-repository.ts';
import { findEndpoint, findOwner, saveEndpoint, saveReplay } from './endpoint-repository.ts';
import { hasMany } from './settling.ts';

/** Microseconds of failures after which the application is told; it is told at once when a delivery is given up. */
const TOLD_AFTER_MICROS = 30 * 60 * 1_000_000;
/** Microseconds of failures after which an endpoint is disabled: longer than the ten attempts of a delivery take. */
const DISABLED_AFTER_MICROS = 5 * 86_400 * 1_000_000;
/** So many attempts must have failed as well, because a clock that leaps is no time that has passed. */
const LEAST_FAILURES = 20;

interface Parts {
  database: { read: Sql };
  clock: Clock;
  /** Tells applications how their receivers do; called only while webhooks are sent. */
  notices(): Notices;
  /** Called after the commit of outcomes: further events may be taken, or sent. */
  concluded(endpoint: EndpointKey): void;
  /** Called after the commit of deliveries that may be sent. */
  offer(endpoint: EndpointKey, deliveries: readonly Released[]): void;
  /** Called when further deliveries of an endpoint are due. */
  due(receiver: ReceiverName): void;
  /** Called when something has changed about an endpoint of this node. */
  heard(endpoint: EndpointKey): void;
  /** Finds the endpoints of this node. */
  takeUp(): Promise<void>;
}

type Batch = Parameters<EndpointReceivers['concluded']>[1];

const keysOf = (batch: Batch): EndpointKey[] => {
  const keys = new Map(
    batch.map(({ applicationId, setting }) => [`${applicationId} ${setting}`, { applicationId, endpointId: setting }]),
  );
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
};

const isOf = ({ applicationId, endpointId }: EndpointKey, one: Batch[number]): boolean =>
  one.setting === endpointId && one.applicationId === applicationId;

/** The state of an endpoint after the outcomes of a batch, which are in the order of the attempts' ends. */
function judged(endpoint: Endpoint, batch: Batch): { changed: Endpoint; isGivenUp: boolean } {
  const own = batch.filter((one) => isOf(endpoint, one));
  let { failingSince, failedInRow, refusedInRow, lastStatusCode, lastError, toldAt } = endpoint;
  for (const { failure, attempts, at, statusCode } of own) {
    if (failure) {
      failingSince ??= at;
      failedInRow += 1;
      if (attempts === 1) refusedInRow += 1;
      [lastStatusCode, lastError] = [statusCode, failure.error];
    } else {
      [failingSince, failedInRow, refusedInRow] = [null, 0, 0];
      [lastStatusCode, lastError, toldAt] = [null, null, null];
    }
  }
  return {
    changed: { ...endpoint, failingSince, failedInRow, refusedInRow, lastStatusCode, lastError, toldAt },
    isGivenUp: own.at(-1)?.failure !== undefined && own.some(({ failure, status }) => failure && status !== 'pending'),
  };
}

/** Endpoints as the sender of webhooks sees them: their URL and keys, and the meaning of an attempt for them. */
export function createEndpointReceiving({ database, clock, notices, concluded, offer, due, heard, takeUp }: Parts) {
  /** What is to be done behind the outcomes of a unit of work, which has locked the rows of the endpoints. */
  const behind = new WeakMap<UnitOfWork, { ordered: Set<string>; woken: Set<string>; disabled: EndpointKey[] }>();

  async function tell(unit: UnitOfWork, type: NoticeType, endpoint: Endpoint): Promise<void> {
    const { applicationId, endpointId, description, url, failingSince, lastStatusCode, lastError } = endpoint;
    const target = await notices().targetFor(unit, { applicationId, url });
    if (target === undefined) return;
    const about = { applicationId, name: { endpointId, description }, since: failingSince ?? clock.now() };
    notices().send(unit, target, type, { ...about, statusCode: lastStatusCode, error: lastError ?? '' });
  }

  async function concludeOne(unit: UnitOfWork, key: EndpointKey, batch: Batch): Promise<void> {
    const known = await findEndpoint(unit, key, unit.forUpdate);
    if (!known) return;
    const { changed, isGivenUp } = judged(known, batch);
    const { failingSince } = changed;
    const failedFor: Micros = failingSince === null ? 0 : clock.now() - failingSince;
    if (known.failingSince !== null && failingSince === null && known.toldAt !== null)
      await tell(unit, 'endpoint.recovered', known);
    const isDead = failedFor >= DISABLED_AFTER_MICROS && changed.failedInRow >= LEAST_FAILURES && known.enabled;
    if (isDead) Object.assign(changed, { enabled: false, disabledReason: 'failing', updatedAt: clock.now() });
    const worksAgain = isDown(known) && !isDown(changed);
    if ((isDead || worksAgain) && (await hasMany(unit, key))) changed.settling ??= 0;
    const mustTell = failingSince !== null && changed.toldAt === null && (isGivenUp || failedFor >= TOLD_AFTER_MICROS);
    if (mustTell || isDead) {
      changed.toldAt = clock.now();
      await tell(unit, isDead ? 'endpoint.disabled' : 'endpoint.failing', changed);
    }
    if (failingSince !== null || known.failingSince !== null) saveEndpoint(unit, changed);
    const later = behind.get(unit) ?? { ordered: new Set(), woken: new Set(), disabled: [] };
    behind.set(unit, later);
    const { settling } = changed;
    if (isDead) {
      if (settling === null) later.disabled.push(key);
      if (known.replay) saveReplay(unit, known, null);
    } else if (known.enabled && known.ordered && settling === null) later.ordered.add(known.endpointId);
    if (worksAgain) {
      if (settling === null) hastenAll(unit, key, clock.now());
      later.woken.add(known.endpointId);
    }
    if (worksAgain || settling !== null) unit.onCommit(() => heard(key));
  }

  const receivers: EndpointReceivers = {
    rows: dueOfEndpoints,

    async concluded(unit, batch) {
      for (const key of keysOf(batch)) await concludeOne(unit, key, batch);
    },

    async release(unit, batch) {
      const now = clock.now();
      const later = behind.get(unit);
      for (const key of keysOf(batch)) {
        const ended = batch
          .filter((one) => isOf(key, one) && one.status !== 'pending')
          .flatMap(({ sequence }) => sequence ?? []);
        if (later?.ordered.has(key.endpointId)) {
          const released = await releaseBehind(unit, key, ended, now);
          unit.onCommit(() => offer(key, released));
        }
        unit.onCommit(() => {
          concluded(key);
          if (later?.woken.has(key.endpointId)) due(receiverOf(key));
        });
      }
      for (const key of later?.disabled ?? []) holdAll(unit, key);
    },

    heard,
    takeUp,
  };

  return {
    receivers,

    /** The URL of an endpoint, and the keys that sign; nothing is sent to one that is disabled, removed, or settling. */
    async endpointOf(
      applicationId: string,
      endpointId: EndpointId,
    ): Promise<{ url: string | null; owner: string; keys: string[]; leaves: boolean }> {
      const [endpoint, owner] = await Promise.all([
        findEndpoint(database.read, { applicationId, endpointId }),
        findOwner(database.read, applicationId),
      ]);
      return {
        url: endpoint?.url ?? null,
        owner: owner ?? '',
        keys: endpoint ? secretsOf(endpoint, clock.now()) : [],
        leaves: !endpoint?.enabled || endpoint.settling !== null || owner === undefined,
      };
    },
  };
}
