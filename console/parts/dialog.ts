import { effect, signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, type Child, dialog, div, form, h2, input, label, p, span, use, type VNode } from '../base/elements.ts';
import { go as goTo, moves } from '../base/place.ts';
import { RequestError } from '../base/requests.ts';
import { owner } from '../base/session.ts';
import { trouble } from './loaded.ts';
import { tell } from './toast.ts';

interface Shown {
  id: number;
  content: Child;
  /**
   * True while closing the dialog would lose something, such as a secret that is shown once. Then only its own button
   * closes it; Escape and a change of the page do not.
   */
  holds(): boolean;
}

const shown = signal<Shown | null>(null);
let last = 0;
let resume: Element | null = null;

const NOTHING = (): boolean => false;

/**
 * Shows a dialog over the page until `close`, Escape, or a change of the page, because the dialog belongs to that page.
 * Afterwards the focus returns to the element that had it before.
 */
export function open(content: Child, { holds = NOTHING }: { holds?: () => boolean } = {}): void {
  last += 1;
  if (shown.peek() === null) resume = document.activeElement;
  shown.value = { id: last, content, holds };
}

export function close(): void {
  shown.value = null;
  if (resume instanceof HTMLElement) resume.focus();
  resume = null;
}

const isHeld = (): boolean => shown.peek()?.holds() ?? false;
let movesBefore = moves.peek();
effect(() => {
  if (moves.value !== movesBefore && !isHeld()) shown.value = null;
  movesBefore = moves.value;
});
let ownerBefore = owner.peek();
effect(() => {
  // Nobody may see what was shown to another user.
  if (owner.value !== ownerBefore) shown.value = null;
  ownerBefore = owner.value;
});
addEventListener('beforeunload', (event) => {
  if (isHeld()) event.preventDefault();
});

function Host({ content }: Shown) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  const cancel = (event: Event): void => {
    if (isHeld()) event.preventDefault();
  };
  // At a second Escape, browsers close a dialog even though the code prevents it. Then it is opened again.
  const closed = (): void => {
    if (isHeld()) element.current?.showModal();
    else close();
  };
  return dialog({ ref: element, 'aria-labelledby': 'dialog-title', onCancel: cancel, onClose: closed }, content);
}
const Dialogs = () => (shown.value ? use(Host, { ...shown.value, key: shown.value.id }) : null);
export const dialogsHere = (): VNode => use(Dialogs, {});

export const title = (text: string): VNode => h2({ id: 'dialog-title' }, text);

interface Ask {
  title: string;
  text?: Child;
  /** The form fields of the dialog. Each needs a name. */
  fields?: Child;
  /** The label of the button that carries out the action. */
  does: string;
  isBad?: boolean;
  /** A text that the user must type before an action that cannot be undone. */
  typed?: string;
  /**
   * Carries out the action. When it fails, the dialog stays open and shows the error. When it returns a text, the page
   * shows this as a message. `go` goes to another page, unless the user has left the dialog meanwhile: on a slow line
   * nobody is taken away from the page that they look at.
   */
  act(data: FormData, go: (address: string) => void): Promise<string | undefined>;
}

/** An error that a dialog shows in a form of its own. */
export class Told extends Error {
  readonly view: VNode;
  constructor(view: VNode) {
    super('Nothing was changed.');
    this.view = view;
  }
}

/** The words of an error in a form: whether the change was made, and what to do. */
const inForm = (error: Error): Error =>
  error instanceof RequestError && error.status === 401
    ? new Error('The session had ended, so nothing was changed. Your input is still here: send it again.')
    : error;

function Form({ title: heading, text, fields, does, isBad = false, typed, act }: Ask) {
  const error = useSignal<Error | null>(null);
  const isBusy = useSignal(false);
  const entered = useSignal('');
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = null;
    const { id } = shown.peek()!;
    try {
      const go = (address: string): void => {
        if (shown.peek()?.id === id) goTo(address);
      };
      const told = await act(new FormData(event.currentTarget as HTMLFormElement), go);
      if (shown.peek()?.id === id) close();
      if (told) tell(told);
    } catch (thrown) {
      if (shown.peek()?.id === id) error.value = inForm(thrown as Error);
      else tell(`${heading} ${(thrown as Error).message}`, { isBad: true });
    }
    isBusy.value = false;
  };
  return form(
    { onSubmit: (event) => void submit(event), autoComplete: 'off' },
    title(heading),
    typeof text === 'string' ? p({ class: 'soft' }, text) : text,
    fields ? div({ class: 'fields' }, fields) : null,
    typed === undefined
      ? null
      : label(
          { class: 'field' },
          span(null, `Type ${typed} to confirm`),
          input({
            type: 'text',
            autoComplete: 'off',
            spellcheck: false,
            onInput: (event) => (entered.value = event.currentTarget.value),
          }),
        ),
    error.value === null ? null : error.value instanceof Told ? error.value.view : trouble(error.value),
    div(
      { class: 'ends' },
      button({ type: 'button', onClick: close }, 'Back'),
      button(
        {
          type: 'submit',
          class: `main ${isBad ? 'bad' : ''}`,
          disabled: isBusy.value || (typed !== undefined && entered.value !== typed),
        },
        isBusy.value ? 'Please wait ...' : does,
      ),
    ),
  );
}

/** Shows a dialog that asks for confirmation or input, then carries out an action. */
export const ask = (what: Ask): void => open(use(Form, what));

/** Carries out an action without asking, and shows its result or its error as a message. */
export function act(what: () => Promise<string | undefined>): void {
  what().then(
    (told) => told && tell(told),
    (error: Error) => tell(error.message, { isBad: true }),
  );
}
