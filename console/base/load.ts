import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useEvery } from './every.ts';
import { feedRound } from './feed.ts';

export interface Loaded<Value> {
  /** What was read last; undefined until something was. */
  value: Value | undefined;
  /** Why the last try failed; null when it did not. */
  error: Error | null;
  isLoading: boolean;
}

export interface Loading<Value> {
  state: Signal<Loaded<Value>>;
  /** Reads it again; what is shown stays until then. */
  again(): void;
  /** Changes what is shown by what is known meanwhile. */
  change(by: (value: Value) => Value): void;
}

interface How {
  /** Milliseconds after which it is read again, while the page is seen. */
  every?: number;
}

/** Reads something whenever `key` changes, and when the service is back. What belongs to another key is not shown. */
export function useLoad<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { every }: How = {},
): Loading<Value> {
  const state = useSignal<Loaded<Value>>({ value: undefined, error: null, isLoading: true });
  const loadedKey = useRef<string | undefined>(undefined);
  const round = useSignal(0);

  useEffect(() => {
    const stop = new AbortController();
    const isOther = loadedKey.current !== key;
    state.value = { value: isOther ? undefined : state.peek().value, error: null, isLoading: true };
    load(stop.signal).then(
      (value) => {
        if (stop.signal.aborted) return;
        loadedKey.current = key;
        state.value = { value, error: null, isLoading: false };
      },
      (error: Error) => {
        if (!stop.signal.aborted) state.value = { ...state.peek(), error, isLoading: false };
      },
    );
    return () => stop.abort();
  }, [key, round.value, feedRound.value]);

  useEvery(every, () => {
    if (!state.peek().isLoading) round.value += 1;
  });

  return {
    state,
    again() {
      round.value += 1;
    },
    change(by) {
      const { value } = state.peek();
      if (value !== undefined) state.value = { ...state.peek(), value: by(value) };
    },
  };
}
