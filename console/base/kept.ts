import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { ROLE } from './place.ts';
import { owner } from './session.ts';

/** Increases with each change, in this window or another one. */
const changes = signal(0);
addEventListener('storage', () => {
  changes.value += 1;
});

export interface Kept<Value> {
  value: ReadonlySignal<Value>;
  /** Keeps another value; undefined forgets it. */
  keep(value: Value | undefined): void;
}

/**
 * Keeps a value in this browser, for one user of it: each application has its own. `read` reads what a text of the
 * storage says, which anybody may have written; null: nothing is kept.
 */
export function createKept<Value>(about: string, read: (text: string | null) => Value): Kept<Value> {
  const nameOf = (): string => `lapel-${about} ${ROLE === 'operator' ? '' : `application ${owner.value ?? ''}`}`.trim();
  /** A browser may forbid its storage, which then throws. Then the value holds until the window is closed. */
  let here: string | null = null;
  const stored = (): string | null => {
    try {
      return localStorage.getItem(nameOf());
    } catch {
      return here;
    }
  };
  return {
    value: computed(() => {
      void changes.value;
      return read(stored());
    }),
    keep(value) {
      here = value === undefined ? null : JSON.stringify(value);
      try {
        if (here === null) localStorage.removeItem(nameOf());
        else localStorage.setItem(nameOf(), here);
      } catch {
        // kept in memory
      }
      changes.value += 1;
    },
  };
}
