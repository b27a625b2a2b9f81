import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { button, dialog, div, form, h1, input, main, p, span, use, type VNode } from '../base/elements.ts';
import { ROLE } from '../base/place.ts';
import { failure, PROVIDERS, signInThrough } from '../base/providers.ts';
import { endReason, owner, session, signInApplication, signInOperator } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { textField, tick } from '../parts/fields.ts';
import { mark } from '../parts/icon.ts';

const word = (data: FormData, name: string): string => typed(data, name) ?? '';

const enter = (data: FormData): Promise<string | null> =>
  ROLE === 'operator'
    ? signInOperator(word(data, 'token'))
    : signInApplication(word(data, 'applicationId'), word(data, 'secret'), { acts: data.has('acts') });

/** The fields to sign in: the operator with a token, an application with its applicationId and secret. */
function SignIn({ isOver = false }: { isOver?: boolean }) {
  const wrong = useSignal<string | null>(isOver ? null : failure);
  const isBusy = useSignal(false);
  useEffect(() => {
    const before = document.title;
    document.title = 'Sign in · Lapel';
    return () => {
      document.title = before;
    };
  }, []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    const fields = event.currentTarget as HTMLFormElement;
    wrong.value = await enter(new FormData(fields)).catch(() => 'The service cannot be reached.');
    isBusy.value = false;
    if (wrong.value !== null) fields.querySelector<HTMLInputElement>('input[type=password]')?.select();
  };
  const leave = async (providerId: string): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    wrong.value = await signInThrough(providerId, { apart: isOver }).catch(() => 'The service cannot be reached.');
    isBusy.value = false;
  };
  const password = { type: 'password', autoComplete: 'current-password' } as const;
  return form(
    { onSubmit: (event) => void submit(event) },
    div({ class: 'brand' }, mark(), span(null, 'Lapel')),
    h1({ id: 'sign-in-title' }, ROLE === 'operator' ? 'Sign in as the operator' : 'Sign in as an application'),
    endReason.value ? p({ class: 'note', role: 'status' }, endReason.value) : null,
    ROLE === 'operator'
      ? [
          input({ type: 'text', name: 'username', defaultValue: 'operator', autoComplete: 'username', hidden: true }),
          textField(
            {
              name: 'token',
              label: 'Administrator token',
              required: true,
              hint: 'Your own, which an owner has made; or that of the settings, which is in the file admin-token of the data folder, unless LAPEL_ADMIN_TOKEN sets it.',
            },
            { ...password, autofocus: true },
          ),
        ]
      : [
          textField(
            { name: 'applicationId', label: 'Application', required: true, value: owner.peek() ?? '' },
            { autofocus: owner.peek() === null, autoComplete: 'username' },
          ),
          textField(
            {
              name: 'secret',
              label: 'Secret, or your token',
              required: true,
              hint: 'This tab stays signed in for an hour at most. A token of your own decides itself what you may change.',
            },
            { ...password, autofocus: owner.peek() !== null },
          ),
          tick({ name: 'acts', label: 'Allow changes' }, true),
        ],
    wrong.value ? p({ class: 'note bad', role: 'alert' }, wrong.value) : null,
    button({ type: 'submit', class: 'main', disabled: isBusy.value }, isBusy.value ? 'Please wait ...' : 'Sign in'),
    PROVIDERS.map(({ providerId, name }) =>
      button(
        { type: 'button', key: providerId, disabled: isBusy.value, onClick: () => void leave(providerId) },
        `Sign in with ${name}`,
      ),
    ),
  );
}

/** The page to sign in. */
export const signIn = (): VNode => main({ class: 'sign-in' }, use(SignIn, {}));

function Again() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current: own } = element;
    own?.showModal();
    // Escape would close this dialog, and then the one below it.
    const stay = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') event.preventDefault();
    };
    addEventListener('keydown', stay, true);
    return () => {
      removeEventListener('keydown', stay, true);
      // Closing it gives the focus back to the field in which the user was.
      own?.close();
    };
  }, []);
  return dialog(
    {
      ref: element,
      class: 'sign-in over',
      'aria-labelledby': 'sign-in-title',
      onCancel: (event) => event.preventDefault(),
      // Some browsers have other ways to close a dialog, such as a gesture.
      onClose: () => {
        if (!session.peek() && element.current?.isConnected) element.current.showModal();
      },
    },
    use(SignIn, { isOver: true }),
  );
}

/**
 * The sign-in over the pages of a user whose session has ended. It hides them from the eyes of others, and keeps them with
 * all that was typed.
 */
export const signInAgain = (): VNode => use(Again, {});
