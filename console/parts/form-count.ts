import { type Signal, useSignal } from '@preact/signals';
import type { Ref } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { createNewest, type Outcome } from '../base/newest.ts';

/** Milliseconds after the last keystroke until something is counted. */
const DEBOUNCE_MS = 250;

interface FormCount {
  /** The last count; null while it is made. */
  found: Signal<Outcome<number> | null>;
  /** For the element around the fields. */
  watched: { ref: Ref<HTMLDivElement>; onInput(): void; onChange(): void };
}

/** Counts what a form selects, when it is shown and after each change of its fields. */
export function useFormCount(ask: (data: FormData, signal: AbortSignal) => Promise<number>): FormCount {
  const found = useSignal<Outcome<number> | null>(null);
  const ref = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const newest = useMemo(() => createNewest<number>((outcome) => (found.value = outcome)), []);
  const count = (): void => {
    clearTimeout(timer.current);
    newest.stop();
    found.value = null;
    timer.current = setTimeout(() => {
      const data = new FormData(ref.current!.closest('form')!);
      newest.ask((signal) => ask(data, signal));
    }, DEBOUNCE_MS);
  };
  useEffect(() => {
    count();
    return () => {
      clearTimeout(timer.current);
      newest.stop();
    };
  }, []);
  return { found, watched: { ref, onInput: count, onChange: count } };
}
