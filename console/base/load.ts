import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useEvery } from './every.ts';
import { feedRound } from './feed.ts';

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

/**
 * Reads a value from the service: when `key` changes, and when the service can be reached again after an interruption.
 * A value that was read for another key is never shown.
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

  useEffect(() => {
    const stop = new AbortController();
    let isLoading = false;
    let isWanted = false;
    async function once(): Promise<void> {
      const isOther = loadedKey.current !== key;
      state.value = { value: isOther ? undefined : state.peek().value, error: null, isLoading: true };
      try {
        const value = await latest.current(AbortSignal.any([stop.signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]));
        if (stop.signal.aborted) return;
        loadedKey.current = key;
        state.value = { value, error: null, isLoading: false };
      } catch (error) {
        if (!stop.signal.aborted) state.value = { ...state.peek(), error: error as Error, isLoading: false };
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
        await once();
      }
      isLoading = false;
    }
    again.current = () => void run();
    void run();
    return () => stop.abort();
  }, [key]);

  useEffect(() => {
    if (!isFirst.current) again.current();
    isFirst.current = false;
  }, [feedRound.value]);

  useEvery(every, () => {
    if (!state.peek().isLoading) again.current();
  });

  return {
    state,
    again: () => again.current(),
    change(by) {
      const { value } = state.peek();
      if (value !== undefined) state.value = { ...state.peek(), value: by(value) };
    },
  };
}
