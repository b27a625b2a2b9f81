import { DomainError } from '@lapel/schemas/contracts/errors';
import { type CryptoKey, createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet } from 'jose';
import type { Metrics } from '../../metrics.ts';
import { boundedRequest } from '../../runtime/bounded-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

const SECOND_MICROS = 1_000_000;
/**
 * Microseconds after which the keys are fetched again. So a key that the issuer has withdrawn is used for at most this
 * time.
 */
const KEYS_FRESH_FOR_MICROS = 600 * SECOND_MICROS;
/** The least microseconds between two fetches because of age, so that an issuer that fails is not burdened further. */
const FETCH_GAP_MICROS = 30 * SECOND_MICROS;
/**
 * The fetches that unknown key ids may cause at once, and the microseconds after which there may be one more: a new key is
 * found at once, and tokens with invented key ids cannot cause many fetches.
 */
const MOST_LOOKS = 3;
const LOOK_MICROS = 30 * SECOND_MICROS;
/** The key ids that are remembered as unknown to the issuer. */
const MOST_ABSENT = 1_000;
const TIMEOUT_MS = 5_000;
const LONGEST_ANSWER = 64 * 1024;
const MOST_KEYS = 100;

interface Options {
  url: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** The part of a token's header that chooses a key. */
type Header = Parameters<ReturnType<typeof createLocalJWKSet>>[0];

/**
 * The published keys (RFC 7517) of another issuer. They are fetched at the first use, when they are no longer fresh, and when
 * a token names an unknown key. One fetch runs at a time, and all who need it wait for it. While the issuer does not answer,
 * the keys of the last fetch stay in use.
 */
export function createRemoteKeys({ url, clock, log, metrics }: Options) {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  const stop = new AbortController();
  let knownIds: ReadonlySet<string | undefined> = new Set();
  let looks = MOST_LOOKS;
  let countedAt = clock.now();
  /** By key id: when the issuer did not have it. */
  const absentAt = new Map<string, number>();

  async function load(): Promise<JSONWebKeySet> {
    const late = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => late.abort(new Error('no answer within 5 s')));
    try {
      const signal = AbortSignal.any([late.signal, stop.signal]);
      const headers = { accept: 'application/json' };
      const { status, body } = await boundedRequest(url, { signal, headers, mostBytes: LONGEST_ANSWER });
      if (status !== 200) throw new Error(`answered ${status}`);
      const found = JSON.parse(body.toString('utf8')) as JSONWebKeySet;
      if (found.keys.length > MOST_KEYS) throw new Error(`there are more than ${MOST_KEYS} keys`);
      return found;
    } finally {
      cancel();
    }
  }

  async function fetchOnce(): Promise<void> {
    triedAt = clock.now();
    try {
      const found = await load();
      keys = createLocalJWKSet(found);
      knownIds = new Set(found.keys.map(({ kid }) => kid));
      fetchedAt = triedAt;
      metrics.legacyKeyFetches.inc({ outcome: 'fetched' });
    } catch (err) {
      metrics.legacyKeyFetches.inc({ outcome: 'failed' });
      log.warn({ err, keptKeys: keys !== undefined }, 'the keys of the legacy issuer could not be fetched');
    }
    fetching = undefined;
  }

  /** Fetches keys that are no longer fresh, or waits for the fetch in progress. */
  async function refresh(): Promise<void> {
    if (!fetching && clock.now() - triedAt < FETCH_GAP_MICROS) return;
    fetching ??= fetchOnce();
    await fetching;
  }

  /** Whether an unknown key id may cause a fetch now. */
  function takeLook(): boolean {
    const now = clock.now();
    const more = Math.floor((now - countedAt) / LOOK_MICROS);
    looks = Math.min(MOST_LOOKS, looks + more);
    countedAt += more * LOOK_MICROS;
    if (looks === 0) return false;
    looks -= 1;
    return true;
  }

  /**
   * Asks the issuer for a key that is not among the known ones. Throws LEGACY_ISSUER_UNAVAILABLE if it cannot be asked now:
   * the key may be a new one.
   */
  async function look(keyId: string): Promise<void> {
    if (clock.now() - (absentAt.get(keyId) ?? Number.NEGATIVE_INFINITY) < LOOK_MICROS) return;
    if (!fetching && !takeLook()) throw new DomainError('LEGACY_ISSUER_UNAVAILABLE');
    const began = fetching ? triedAt : clock.now();
    fetching ??= fetchOnce();
    await fetching;
    if (fetchedAt < began) throw new DomainError('LEGACY_ISSUER_UNAVAILABLE');
    absentAt.delete(keyId);
    absentAt.set(keyId, clock.now()); // without effect if the issuer has it
    if (absentAt.size > MOST_ABSENT) for (const oldest of absentAt.keys().take(1)) absentAt.delete(oldest);
  }

  return {
    /**
     * Finds the key of a token. Throws LEGACY_ISSUER_UNAVAILABLE while nobody knows whether the issuer has it, and jose's
     * errors when no key fits.
     */
    async find(header: Header, token: FlattenedJWSInput): Promise<CryptoKey> {
      if (clock.now() - fetchedAt >= KEYS_FRESH_FOR_MICROS) await refresh();
      if (!keys) throw new DomainError('LEGACY_ISSUER_UNAVAILABLE');
      try {
        return await keys(header, token);
      } catch (cause) {
        if (!(cause instanceof errors.JWKSNoMatchingKey) || knownIds.has(header?.kid)) throw cause;
        await look(header?.kid ?? '');
        return keys(header, token);
      }
    },

    /** Aborts a fetch in progress. */
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort(new Error('the service stops'));
      await fetching;
    },
  };
}
