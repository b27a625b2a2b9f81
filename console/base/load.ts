import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useEvery } from './every.ts';
import { feedRound } from './feed.ts';
import { RequestError } from './requests.ts';
import { session } from './session.ts';

export interface Loaded<Value> {
  /** The value that was read last; undefined before that. */
  value: Value | undefined;
  /** The error of the last attempt to read; null when it succeeded. */
  error: Error | null;
  isLoading: boolean;
}

export interface Loading<Value> {
  state: Signal<Loaded<Value>>;
  /** Reads the value again. Until then the last value stays visible. */
  again(): void;
  /** Changes the value on the page without reading it again, because the feed has reported a change. */
  change(by: (value: Value) => Value): void;
}

interface How {
  /** Milliseconds after which the value is read again, while the page is visible. */
  every?: number;
}

/** Milliseconds that a read waits for the answer of the service. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Milliseconds until a read that has failed is tried again, by the number of failures. The last one is for all others. */
const RETRIES_MS = [1_000, 2_000, 4_000, 8_000];

/** Whether the cause of an error goes away by itself: the service, or a proxy before it, cannot be reached or is busy. */
export const isPassing = (error: Error): boolean =>
  error instanceof RequestError
    ? [429, 502, 503, 504].includes(error.status)
    : error instanceof TypeError || error.name === 'TimeoutError';

/**
 * Reads a value from the service: when `key` changes, when values may be outdated (`feedRound`), and again and again
 * after a failure that passes. A value that was read for another key is never shown.
 */
export function useLoad<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { every }: How = {},
): Loading<Value> {
  const state = useSignal<Loaded<Value>>({ value: undefined, error: null, isLoading: true });
  const loadedKey = useRef<string | undefined>(undefined);
  const latest = useRef(load);
  latest.current = load;
  const again = useRef(() => {});
  const isFirst = useRef(true);
  /** The changes that the feed has reported during a read. Its answer may be older than they are. */
  const reported = useRef<((value: Value) => Value)[]>([]);

  useEffect(() => {
    const stop = new AbortController();
    let isLoading = false;
    let isWanted = false;
    let failures = 0;
    let retry: ReturnType<typeof setTimeout> | undefined;
    async function once(): Promise<void> {
      const isOther = loadedKey.current !== key;
      reported.current = [];
      state.value = { value: isOther ? undefined : state.peek().value, error: state.peek().error, isLoading: true };
      try {
        const read = await latest.current(AbortSignal.any([stop.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]));
        if (stop.signal.aborted) return;
        loadedKey.current = key;
        failures = 0;
        const value = reported.current.reduce<Value>((before, change) => change(before), read);
        state.value = { value, error: null, isLoading: false };
      } catch (thrown) {
        if (stop.signal.aborted) return;
        const error = thrown as Error;
        // After the end of the session the sign-in says what is wrong, and everything is read again after it.
        state.value = { ...state.peek(), error: session.peek() ? error : state.peek().error, isLoading: false };
        if (!isPassing(error)) return;
        retry = setTimeout(() => {
          if (!document.hidden) void run();
        }, RETRIES_MS[failures] ?? RETRIES_MS.at(-1));
        failures += 1;
      }
    }
    // A read that is asked for while another one runs follows after it. If the running read were stopped instead, reads
    // over a slow line might never end.
    async function run(): Promise<void> {
      isWanted = true;
      if (isLoading) return;
      isLoading = true;
      while (isWanted && !stop.signal.aborted) {
        isWanted = false;
        clearTimeout(retry);
        await once();
      }
      isLoading = false;
    }
    again.current = () => void run();
    if (loadedKey.current !== key) state.value = { value: undefined, error: null, isLoading: true };
    void run();
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [key]);

  useEffect(() => {
    if (!isFirst.current) again.current();
    isFirst.current = false;
  }, [feedRound.value]);

  useEvery(every, () => {
    if (!state.peek().isLoading && session.peek()) again.current();
  });

  return {
    state,
    again: () => again.current(),
    change(by) {
      const { value, isLoading } = state.peek();
      if (isLoading) reported.current.push(by);
      if (value !== undefined) state.value = { ...state.peek(), value: by(value) };
    },
  };
}
