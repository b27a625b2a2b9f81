import { type CryptoKey, createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet } from 'jose';
import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';

/** Microseconds. */
const SECOND = 1_000_000;
/** Keys are fetched again when they are older: one that its issuer took back is used no longer than that. */
const KEYS_FRESH_FOR = 600 * SECOND;
/** Between two fetches, whatever asks for them: forged key ids cannot make a storm, and an issuer that is down gets rest. */
const FETCH_GAP = 30 * SECOND;
const TIMEOUT_MILLISECONDS = 5_000;
const LONGEST_ANSWER = 64 * 1024;
const MOST_KEYS = 100;

interface Options {
  url: string;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** A token's header, as far as it chooses a key. */
type Header = Parameters<ReturnType<typeof createLocalJWKSet>>[0];

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > LONGEST_ANSWER) throw new Error(`the keys are longer than ${LONGEST_ANSWER / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The published keys (RFC 7517) of another issuer. They are fetched when first needed, when they are no longer fresh and
 * when a token names one that is not among them; one fetch at a time, which everybody waits for who needs it. What was
 * fetched last stays in use while the issuer does not answer.
 */
export function createRemoteKeys({ url, clock, log, metrics }: Options) {
  let keys: ReturnType<typeof createLocalJWKSet> | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  const stop = new AbortController();

  async function load(): Promise<JSONWebKeySet> {
    const late = new AbortController();
    const cancel = clock.after(TIMEOUT_MILLISECONDS, () => late.abort(new Error('no answer within 5 s')));
    try {
      const signal = AbortSignal.any([late.signal, stop.signal]);
      const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error(`answered ${response.status}`);
      }
      const found = JSON.parse(await readBounded(response)) as JSONWebKeySet;
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

  /** Fetches, unless that was done a moment ago; false when nothing can have changed. */
  async function refresh(): Promise<boolean> {
    if (!fetching && clock.now() - triedAt < FETCH_GAP) return false;
    fetching ??= fetchOnce();
    await fetching;
    return true;
  }

  return {
    /** The key of a token. Throws LEGACY_ISSUER_UNAVAILABLE while there are none, and jose's errors when none fits. */
    async find(header: Header, token: FlattenedJWSInput): Promise<CryptoKey> {
      if (clock.now() - fetchedAt >= KEYS_FRESH_FOR) await refresh();
      if (!keys) throw new DomainError('LEGACY_ISSUER_UNAVAILABLE');
      try {
        return await keys(header, token);
      } catch (cause) {
        const isUnknown = cause instanceof errors.JWKSNoMatchingKey;
        if (!isUnknown || !(await refresh())) throw cause;
        return keys(header, token);
      }
    },

    /** Ends a fetch that is under way. */
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort(new Error('the service stops'));
      await fetching;
    },
  };
}
