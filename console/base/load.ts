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

/** Milliseconds for an answer. */
const PATIENCE = 60_000;

/** Reads something whenever `key` changes, and when the service is back. What belongs to another key is not shown. */
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
        const value = await latest.current(AbortSignal.any([stop.signal, AbortSignal.timeout(PATIENCE)]));
        if (stop.signal.aborted) return;
        loadedKey.current = key;
        state.value = { value, error: null, isLoading: false };
      } catch (error) {
        if (!stop.signal.aborted) state.value = { ...state.peek(), error: error as Error, isLoading: false };
      }
    }
    // What is being read is read to its end, however slow the line is, and then once more: else nothing ever would be.
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
