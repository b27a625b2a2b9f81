import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { button, div, form, h1, input, main, p, span, use, type VNode } from '../base/elements.ts';
import { ROLE } from '../base/place.ts';
import { endReason, signInApplication, signInOperator } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { textField, tick } from '../parts/fields.ts';
import { mark } from '../parts/icon.ts';

const word = (data: FormData, name: string): string => typed(data, name) ?? '';

const enter = (data: FormData): Promise<string | null> =>
  ROLE === 'operator'
    ? signInOperator(word(data, 'token'))
    : signInApplication(word(data, 'applicationId'), word(data, 'secret'), { acts: data.has('acts') });

/** The page to sign in: the operator with a token, an application with its applicationId and secret. */
function SignIn() {
  const wrong = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  useEffect(() => {
    document.title = 'Sign in · Lapel';
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
  const password = { type: 'password', autoComplete: 'current-password' } as const;
  return main(
    { class: 'sign-in' },
    form(
      { onSubmit: (event) => void submit(event) },
      div({ class: 'brand' }, mark(), span(null, 'Lapel')),
      h1(null, ROLE === 'operator' ? 'Sign in as the operator' : 'Sign in as an application'),
      endReason.value ? p({ class: 'note', role: 'status' }, endReason.value) : null,
      ROLE === 'operator'
        ? [
            input({ type: 'text', name: 'username', defaultValue: 'operator', autoComplete: 'username', hidden: true }),
            textField(
              {
                name: 'token',
                label: 'Administrator token',
                required: true,
                hint: 'It is in the file admin-token of the data folder, unless LAPEL_ADMIN_TOKEN sets it.',
              },
              { ...password, autofocus: true },
            ),
          ]
        : [
            textField(
              { name: 'applicationId', label: 'Application', required: true },
              { autofocus: true, autoComplete: 'username' },
            ),
            textField(
              {
                name: 'secret',
                label: 'Secret',
                required: true,
                hint: 'It is not stored, so you will be asked again after an hour.',
              },
              password,
            ),
            tick({ name: 'acts', label: 'Allow changes' }, true),
          ],
      wrong.value ? p({ class: 'note bad', role: 'alert' }, wrong.value) : null,
      button({ type: 'submit', class: 'main', disabled: isBusy.value }, isBusy.value ? 'Please wait ...' : 'Sign in'),
    ),
  );
}

export const signIn = (): VNode => use(SignIn, {});
