import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  a,
  button,
  code,
  datalist,
  div,
  form,
  h3,
  input,
  label,
  option,
  p,
  pre,
  span,
  use,
  type VNode,
} from '../base/elements.ts';
import { FIRST_COMMANDS, SECRET_LINE, waysToSend } from '../base/first-commands.ts';
import { addressOf, ROOT } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import type { DeviceRow } from '../base/rows.ts';
import { mayChange, session } from '../base/session.ts';
import { copy } from './copy.ts';
import { choice } from './fields.ts';
import { loaded, trouble } from './loaded.ts';
import { card } from './show.ts';
import { stages, useTransaction } from './stages.ts';

/** A deviceId of the documents, until the user has chosen a device. */
const EXAMPLE = '490154203237518';

const snippet = (name: string, text: string): VNode =>
  div(
    { class: 'stack tight', key: name },
    div({ class: 'row spread' }, h3(null, name), copy(text)),
    pre({ class: 'json', tabIndex: 0, 'aria-label': name }, text),
  );

function Sent({ transactionId, told }: { transactionId: string; told: () => void }) {
  const transaction = useTransaction(transactionId);
  const webhook = transaction.state.value.value?.webhook?.status;
  useEffect(told, [webhook]);
  return div(
    { class: 'stack' },
    loaded(transaction, stages),
    a({ href: addressOf(['transactions', transactionId]) }, `Transaction ${transactionId}`),
  );
}

interface Given {
  devices: readonly DeviceRow[];
  /** Called when the command has an effect that other parts of the page show. */
  told(): void;
}

function FirstCommand({ devices, told }: Given) {
  const known = devices.find(({ connected }) => connected) ?? devices[0];
  const typedDevice = useSignal<string | null>(null);
  const chosen = useSignal<string | null>(null);
  const sent = useSignal<string | null>(null);
  const error = useSignal<Error | null>(null);
  const isBusy = useSignal(false);

  const deviceId = typedDevice.value ?? known?.deviceId ?? '';
  const isActive = devices.some((one) => one.deviceId === deviceId && one.activation === 'activated');
  const asked = chosen.value ?? (isActive ? 'setLanguage' : 'activate');
  const command = FIRST_COMMANDS.find((one) => one.asked === asked) ?? FIRST_COMMANDS[0]!;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = null;
    try {
      const response = await send(operation(command.asked, { deviceId }), {
        ...(command.json && { json: command.json }),
        query: command.query,
      });
      sent.value = String(((await response.json()) as { transactionId: number }).transactionId);
      // The next command is another one: a device that was activated can be asked for more.
      chosen.value = null;
      told();
    } catch (thrown) {
      error.value = thrown as Error;
    }
    isBusy.value = false;
  };
  const applicationId = session.value?.applicationId ?? '';
  const ways = waysToSend(command, applicationId, deviceId === '' ? EXAMPLE : deviceId);
  return div(
    { class: 'columns' },
    card(
      { title: 'Send a command here' },
      form(
        { class: 'stack', autoComplete: 'off', onSubmit: (event) => void submit(event) },
        label(
          { class: 'field' },
          span(null, 'Device'),
          input({
            type: 'text',
            name: 'device',
            list: 'own-devices',
            required: true,
            pattern: '[0-9]{15}',
            title: 'A deviceId has 15 digits',
            autoComplete: 'off',
            spellcheck: false,
            value: deviceId,
            onInput: (event) => {
              typedDevice.value = event.currentTarget.value.trim();
              chosen.value = null;
            },
          }),
          span({ class: 'hint' }, 'The operator of the service registers devices, and gives you their deviceIds.'),
        ),
        datalist(
          { id: 'own-devices' },
          devices.map((one) => option({ key: one.deviceId, value: one.deviceId })),
        ),
        choice(
          { name: 'command', label: 'Command', value: asked, hint: command.about },
          FIRST_COMMANDS.map((one) => [one.asked, one.name] as const),
          { value: asked, onChange: (event) => (chosen.value = event.currentTarget.value) },
        ),
        error.value === null ? null : trouble(error.value),
        mayChange('device')
          ? button(
              { type: 'submit', class: 'main', disabled: isBusy.value },
              isBusy.value ? 'Please wait ...' : 'Send the command',
            )
          : p({ class: 'quiet' }, 'You have signed in without the right to make changes.'),
      ),
      sent.value === null ? null : use(Sent, { transactionId: sent.value, told, key: sent.value }),
    ),
    card(
      { title: 'Send it from your program' },
      div(
        { class: 'stack' },
        div(
          { class: 'stack tight' },
          p(
            { class: 'soft' },
            'Once in your terminal: this line waits for the secret of the application, which the console does not know.',
          ),
          div({ class: 'secret' }, code(null, SECRET_LINE), copy(SECRET_LINE)),
        ),
        ways.map((way) => snippet(way.name, way.code)),
        p(
          { class: 'quiet small' },
          a({ href: `${ROOT}/docs/tutorial`, target: '_blank' }, 'The first five minutes'),
          ' · ',
          a({ href: `${ROOT}/docs/application-developers`, target: '_blank' }, 'guide for applications'),
          ' · ',
          a({ href: `${ROOT}/docs`, target: '_blank' }, 'all calls'),
        ),
      ),
    ),
  );
}

/** The form that sends a first command and shows its stages, beside the same command for the developer's own program. */
export const firstCommand = (given: Given): VNode => use(FirstCommand, given);
