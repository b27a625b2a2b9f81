import { signal } from '@preact/signals';
import { button, div, p, use, type VNode } from '../base/elements.ts';

interface Toast {
  id: number;
  text: string;
  isBad: boolean;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;
/** Milliseconds that a message is shown; an error stays until the user closes it. */
const SHOWN_MS = 6_000;
const MOST = 4;

const remove = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Shows a message about a finished action, or an error. */
export function tell(text: string, { isBad = false } = {}): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, text, isBad }].slice(-MOST);
  if (!isBad) setTimeout(() => remove(id), SHOWN_MS);
}

const Toasts = () =>
  div(
    { class: 'toasts', role: 'status', 'aria-live': 'polite' },
    toasts.value.map(({ id, text, isBad }) =>
      div(
        { class: `toast ${isBad ? 'bad' : ''}`, key: id },
        p(null, text),
        button({ type: 'button', class: 'plain tiny', 'aria-label': 'Close', onClick: () => remove(id) }, '×'),
      ),
    ),
  );

export const toastsHere = (): VNode => use(Toasts, {});
