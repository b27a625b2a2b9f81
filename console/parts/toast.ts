import { signal } from '@preact/signals';
import { button, div, p, use, type VNode } from '../base/elements.ts';

interface Toast {
  id: number;
  text: string;
  isBad: boolean;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;
/** Milliseconds; what went wrong stays until it is taken away. */
const STAYS = 6_000;
const MOST = 4;

const remove = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Tells what has been done, or went wrong. */
export function tell(text: string, { isBad = false } = {}): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value, { id, text, isBad }].slice(-MOST);
  if (!isBad) setTimeout(() => remove(id), STAYS);
}

const Toasts = () =>
  div(
    { class: 'toasts', role: 'status', 'aria-live': 'polite' },
    toasts.value.map(({ id, text, isBad }) =>
      div(
        { class: `toast ${isBad ? 'bad' : ''}`, key: id },
        p(null, text),
        button({ type: 'button', class: 'plain tiny', 'aria-label': 'Take away', onClick: () => remove(id) }, '×'),
      ),
    ),
  );

export const toastsHere = (): VNode => use(Toasts, {});
