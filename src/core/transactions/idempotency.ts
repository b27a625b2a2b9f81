import { createHash, createHmac } from 'node:crypto';
import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { findKeptAnswer, forgetAnswers, keepAnswer } from './idempotency-repository.ts';

/** Microseconds that a key stands for its first answer. */
export const LIFETIME = 24 * 3600 * 1_000_000;

/** A request that its caller may send again. */
interface RepeatableRequest {
  applicationId: string;
  /** The Idempotency-Key. */
  key: string;
  /** All that makes it this request and no other: method, target, body. */
  request: string;
}

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Metrics;
}

/**
 * The Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the same request with the same key of the same
 * application is carried out once, and answered each time as it was the first time. The answer is kept in the unit of
 * work that it tells of, so both are there after a crash, or neither. A request that was refused left nothing behind:
 * its key is free again. Of two that come to two nodes at once one keeps its answer; the other is undone by that, or refused
 * because of what the first did, and then finds the answer.
 */
export function createIdempotency({ database, clock, metrics }: Parts) {
  /** Key -> request, of what is being carried out in this moment. */
  const running = new Map<string, string>();

  /**
   * Carries out `perform`, or answers what it answered before. `perform` calls `keep` in its unit of work with its
   * answer. Throws IDEMPOTENCY_KEY_RUNNING while the first request has no answer yet, IDEMPOTENCY_KEY_REUSED when the
   * key came with another request.
   */
  async function once(
    { applicationId, key, request }: RepeatableRequest,
    perform: (keep: (unit: UnitOfWork, answer: string) => Promise<void>) => Promise<string>,
  ): Promise<{ answer: string; replayed: boolean }> {
    const keyHash = createHash('sha256').update(key).digest();
    const requestHash = createHmac('sha256', key).update(request).digest();
    const name = `${applicationId} ${keyHash.toString('hex')}`;
    const other = running.get(name);
    if (other !== undefined) {
      const same = other === requestHash.toString('hex');
      metrics.idempotencyKeys.inc({ outcome: same ? 'running' : 'reused' });
      throw new DomainError(same ? 'IDEMPOTENCY_KEY_RUNNING' : 'IDEMPOTENCY_KEY_REUSED');
    }
    running.set(name, requestHash.toString('hex'));
    try {
      const known = await find(applicationId, keyHash, requestHash);
      if (known) return known;
      const keep = async (unit: UnitOfWork, text: string): Promise<void> => {
        const createdAt = clock.now();
        const since = createdAt - LIFETIME;
        await forgetAnswers(unit, since);
        const kept = { applicationId, keyHash, requestHash, answer: text, createdAt };
        if (!(await keepAnswer(unit, kept, since))) throw new DomainError('IDEMPOTENCY_KEY_RUNNING');
        unit.onCommit(() => metrics.idempotencyKeys.inc({ outcome: 'first' }));
      };
      const answer = await perform(keep).catch(async (refusal: unknown) => {
        // It may be refused because of what the first one did, at another node and in this moment.
        const first =
          database.concurrent && refusal instanceof DomainError
            ? await find(applicationId, keyHash, requestHash)
            : undefined;
        if (first) return first;
        throw refusal;
      });
      return typeof answer === 'string' ? { answer, replayed: false } : answer;
    } finally {
      running.delete(name);
    }
  }

  /** What the first request with the key was answered, if there was one. Throws IDEMPOTENCY_KEY_REUSED. */
  async function find(
    applicationId: string,
    keyHash: Buffer,
    requestHash: Buffer,
  ): Promise<{ answer: string; replayed: true } | undefined> {
    const kept = await findKeptAnswer(database.read, applicationId, keyHash, clock.now() - LIFETIME);
    if (!kept) return undefined;
    const same = kept.requestHash.equals(requestHash);
    metrics.idempotencyKeys.inc({ outcome: same ? 'replayed' : 'reused' });
    if (!same) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
    return { answer: kept.answer, replayed: true };
  }

  return { once };
}
