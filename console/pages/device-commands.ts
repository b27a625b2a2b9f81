import { button, type Child, div, li, p, small, span, ul, type VNode } from '../base/elements.ts';
import { addressOf } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import { mayChange } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { COMMANDS, type Command } from '../parts/commands.ts';
import { ask, close, open, title } from '../parts/dialog.ts';
import { textField } from '../parts/fields.ts';
import { REVERT_AFTER, revertField } from '../parts/revert-field.ts';
import { termsFields, termsQuery } from '../parts/terms-fields.ts';

interface Target {
  deviceId: string;
  activation: 'deactivated' | 'activating' | 'activated';
}

const ACTIVATE: Command = {
  name: 'Activate',
  about: 'Activates the device for this application.',
  asked: 'activate',
  supersedesNone: true,
  fields: () => textField({ name: 'clientId', label: 'clientId', hint: 'Generated when left empty.' }),
  body: (data) => given({ clientId: typed(data, 'clientId') }),
};

function askFor(
  { name, about, asked, fields, body, query, isBad = false, supersedesNone = false }: Command,
  { deviceId }: Target,
  done: () => void,
): void {
  ask({
    title: `${name}: ${deviceId}`,
    text: about,
    fields: [fields?.({}), revertField(asked), termsFields(!supersedesNone)],
    does: isBad ? name : 'Send the command',
    isBad,
    async act(data, go) {
      const response = await send(operation(asked, { deviceId }), {
        ...(body && { json: body(data) }),
        query: { ...query, ...termsQuery(data), ...given({ [REVERT_AFTER]: typed(data, REVERT_AFTER) }) },
      });
      const { transactionId } = (await response.json()) as { transactionId: number };
      done();
      go(addressOf(['transactions', transactionId]));
    },
  });
}

const list = (target: Target, done: () => void): VNode =>
  div(
    null,
    title(`Commands for ${target.deviceId}`),
    p({ class: 'soft' }, 'A command is stored at once, and carried out when the device is connected.'),
    ul(
      { class: 'stack tight' },
      COMMANDS.map((command) =>
        li(
          { key: command.name },
          button(
            {
              type: 'button',
              class: `wide ${command.isBad ? 'bad' : ''}`,
              onClick: () => askFor(command, target, done),
            },
            span(null, command.name),
            small({ class: 'quiet' }, command.about),
          ),
        ),
      ),
    ),
    div({ class: 'ends' }, button({ type: 'button', onClick: close }, 'Back')),
  );

/** The button that opens the commands of an application to a device. */
export function commands(target: Target, done: () => void): Child {
  if (!mayChange('device')) return null;
  if (target.activation !== 'activated')
    return button({ type: 'button', class: 'main', onClick: () => askFor(ACTIVATE, target, done) }, 'Activate');
  return button({ type: 'button', class: 'main', onClick: () => open(list(target, done)) }, 'Send a command');
}
