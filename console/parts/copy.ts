import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';

/** Milliseconds for which a button says that it has copied. */
const SAID_MS = 2_000;

/** Copies a text. Pages that are not served with TLS may only copy what is selected. Returns false when nothing works. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    const before = document.activeElement;
    field.value = text;
    field.readOnly = true;
    // In an open dialog, because everything else has no focus then.
    (document.querySelector('dialog[open]') ?? document.body).append(field);
    field.select();
    const isDone = document.execCommand('copy');
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    return isDone;
  }
}

/** Copies at a click, and says for a while what came of it. */
function useCopy(text: string): { said: 'copied' | 'failed' | null; copy(): void } {
  const said = useSignal<'copied' | 'failed' | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    said: said.value,
    copy: () =>
      void copyText(text).then((isDone) => {
        clearTimeout(timer.current);
        said.value = isDone ? 'copied' : 'failed';
        timer.current = setTimeout(() => (said.value = null), SAID_MS);
      }),
  };
}

function Copy({ text }: { text: string }) {
  const { said, copy } = useCopy(text);
  return button(
    { type: 'button', class: 'tiny', onClick: copy, 'aria-live': 'polite' },
    said === null ? 'Copy' : said === 'copied' ? 'Copied' : 'Select the text to copy it',
  );
}

/** The button beside a text that is to be copied. */
export const copy = (text: string): VNode => use(Copy, { text, key: text });

function CopyIcon({ text }: { text: string }) {
  const { said, copy } = useCopy(text);
  // The style sheet draws its icon, because a list has hundreds of these buttons.
  return button({
    type: 'button',
    class: `copy ${said ?? ''}`,
    'aria-label': said === 'copied' ? 'Copied' : `Copy ${visible(text)}`,
    title: said === 'failed' ? 'The browser does not allow it' : said === 'copied' ? 'Copied' : 'Copy',
    onClick: copy,
  });
}

/** The small button beside an identifier. In a table it is seen in the row under the cursor, or with the focus. */
export const copyIcon = (text: string): VNode => use(CopyIcon, { text, key: text });
