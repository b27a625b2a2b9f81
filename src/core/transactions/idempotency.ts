import { createHash, createHmac } from 'node:crypto';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import { findKeptAnswer, forgetAnswers, type KeptAnswer, keepAnswer } from './idempotency-repository.ts';

/** Microseconds for which a key returns its first answer. */
export const LIFETIME_MICROS = 24 * 3600 * 1_000_000;

/** A request that its caller may send again. */
interface RepeatableRequest {
  applicationId: string;
  /** The value of the Idempotency-Key header. */
  key: string;
  /** Everything that identifies the request: method, target, body. */
  request: string;
}

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Metrics;
  trust: Pick<ClockTrust, 'isHeld'>;
}

/**
 * The Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): an application's request that is repeated with the same key
 * is carried out once, and gets the first answer each time. The answer is stored in the unit of work of the change, so after a
 * crash both exist, or neither. A refused request stores nothing, so its key can be used again. Of two equal requests that
 * reach two nodes at the same time, one stores its answer; the other is rolled back for that reason, or refused because of
 * the first one's change, and then finds the stored answer.
 */
export function createIdempotency({ database, clock, metrics, trust }: Parts) {
  /** The time since which keys count. After a leap of the clock, all of them would seem to be old. */
  const keptSince = (): number => (trust.isHeld() ? 0 : clock.now() - LIFETIME_MICROS);

  /** The requests in progress, by key. `isRepetition` resolves to true if the key has an answer, which the request only repeats. */
  const running = new Map<string, { requestHash: Buffer; isRepetition: Promise<boolean> }>();

  /**
   * Carries out `perform`, or returns the stored answer of the first request. `perform` calls `keep` in its unit of work with
   * its answer. Throws IDEMPOTENCY_KEY_RUNNING while the first request is in progress, IDEMPOTENCY_KEY_REUSED when the key
   * was used for another request.
   */
  async function once(
    { applicationId, key, request }: RepeatableRequest,
    perform: (keep: (unit: UnitOfWork, answer: string) => Promise<void>) => Promise<string>,
  ): Promise<{ answer: string; replayed: boolean }> {
    const keyHash = createHash('sha256').update(key).digest();
    const requestHash = createHmac('sha256', key).update(request).digest();
    const name = `${applicationId} ${keyHash.toString('hex')}`;
    const find = async (): Promise<{ answer: string; replayed: true } | undefined> => {
      const kept = await findKeptAnswer(database.read, applicationId, keyHash, keptSince());
      return kept && repeat(kept, requestHash);
    };
    const other = running.get(name);
    if (other) {
      const known = (await other.isRepetition) ? await find() : undefined;
      if (known) return known;
      const same = other.requestHash.equals(requestHash);
      metrics.idempotencyKeys.inc({ outcome: same ? 'running' : 'reused' });
      throw new DomainError(same ? 'IDEMPOTENCY_KEY_RUNNING' : 'IDEMPOTENCY_KEY_REUSED');
    }
    const keeping = findKeptAnswer(database.read, applicationId, keyHash, keptSince());
    const isRepetition = keeping.then((kept) => kept !== undefined);
    isRepetition.catch(() => undefined); // the request itself fails
    running.set(name, { requestHash, isRepetition });
    try {
      const known = await keeping;
      if (known) return repeat(known, requestHash);
      const keep = async (unit: UnitOfWork, text: string): Promise<void> => {
        const createdAt = clock.now();
        const since = keptSince();
        await forgetAnswers(unit, since);
        const kept = { applicationId, keyHash, requestHash, answer: text, createdAt };
        if (!(await keepAnswer(unit, kept, since))) throw new DomainError('IDEMPOTENCY_KEY_RUNNING');
        unit.onCommit(() => metrics.idempotencyKeys.inc({ outcome: 'first' }));
      };
      const answer = await perform(keep).catch(async (refusal: unknown) => {
        // The refusal may be caused by the first request's change, which another node has just committed.
        const first = database.shared && refusal instanceof DomainError ? await find() : undefined;
        if (first) return first;
        throw refusal;
      });
      return typeof answer === 'string' ? { answer, replayed: false } : answer;
    } finally {
      running.delete(name);
    }
  }

  /** Repeats the answer of the first request with the key. Throws IDEMPOTENCY_KEY_REUSED. */
  function repeat(kept: KeptAnswer, requestHash: Buffer): { answer: string; replayed: true } {
    const same = kept.requestHash.equals(requestHash);
    metrics.idempotencyKeys.inc({ outcome: same ? 'replayed' : 'reused' });
    if (!same) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
    return { answer: kept.answer, replayed: true };
  }

  return { once };
}
