import { type CryptoKey, createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet } from 'jose';
import { DomainError } from '../../errors.ts';
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
/**
 * The least microseconds between two fetches, so that tokens with invented key ids cannot cause many fetches, and an
 * issuer that fails is not burdened further.
 */
const FETCH_GAP_MICROS = 30 * SECOND_MICROS;
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
      keys = createLocalJWKSet(await load());
      fetchedAt = triedAt;
      metrics.legacyKeyFetches.inc({ outcome: 'fetched' });
    } catch (err) {
      metrics.legacyKeyFetches.inc({ outcome: 'failed' });
      log.warn({ err, keptKeys: keys !== undefined }, 'the keys of the legacy issuer could not be fetched');
    }
    fetching = undefined;
  }

  /**
   * Fetches the keys, or waits for the fetch in progress. Returns false, without a fetch, when the last one began less
   * than FETCH_GAP_MICROS ago.
   */
  async function refresh(): Promise<boolean> {
    if (!fetching && clock.now() - triedAt < FETCH_GAP_MICROS) return false;
    fetching ??= fetchOnce();
    await fetching;
    return true;
  }

  return {
    /**
     * Finds the key of a token. Throws LEGACY_ISSUER_UNAVAILABLE before the first keys were fetched, and jose's errors when
     * no key fits.
     */
    async find(header: Header, token: FlattenedJWSInput): Promise<CryptoKey> {
      if (clock.now() - fetchedAt >= KEYS_FRESH_FOR_MICROS) await refresh();
      if (!keys) throw new DomainError('LEGACY_ISSUER_UNAVAILABLE');
      try {
        return await keys(header, token);
      } catch (cause) {
        const isUnknown = cause instanceof errors.JWKSNoMatchingKey;
        if (!isUnknown || !(await refresh())) throw cause;
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
