import { button, type Child } from '../base/elements.ts';
import { addressOf } from '../base/place.ts';
import { operation, send } from '../base/requests.ts';
import { permits } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { textField } from '../parts/fields.ts';
import { showSecret } from '../parts/secret.ts';

interface Target {
  deviceId: string;
  developerId?: string;
  activation: 'deactivated' | 'activating' | 'activated';
  connected?: boolean;
  blocked?: boolean;
  unfinished?: number;
}

/** The buttons with which the operator manages a device. */
export function administration(
  { deviceId, developerId, activation, connected, blocked = false, unfinished = 0 }: Target,
  done: () => void,
): Child {
  const disconnect = (): void =>
    ask({
      title: `Close the connection of ${deviceId}?`,
      text: 'The device may reconnect at once. All data that is stored for it is kept.',
      does: 'Disconnect',
      async act() {
        await send(operation('closeConnection', { deviceId }));
        done();
        return `The connection of ${deviceId} was closed.`;
      },
    });
  const block = (): void =>
    ask({
      title: blocked ? `Let ${deviceId} connect again?` : `Block ${deviceId}?`,
      text: blocked
        ? 'Its credential is still valid.'
        : 'It cannot connect until it is unblocked. All data that is stored for it is kept.',
      does: blocked ? 'Unblock' : 'Block',
      isBad: !blocked,
      async act() {
        await send(operation('updateDevice', { deviceId }), { json: { blocked: !blocked } });
        done();
        return blocked ? `${deviceId} was unblocked.` : `${deviceId} was blocked.`;
      },
    });
  const reset = (): void =>
    ask({
      title: `Give ${deviceId} a new credential?`,
      text: 'The old credential becomes invalid at once, and the connection is closed. The device needs the new one to connect.',
      does: 'Replace the credential',
      isBad: true,
      async act() {
        const { credential } = (await (
          await send(operation('replaceCredential', { deviceId }), { json: {} })
        ).json()) as {
          credential: string;
        };
        done();
        showSecret(`The new credential of ${deviceId}`, 'It is shown only now, and never again.', credential);
      },
    });
  const move = (): void =>
    ask({
      title: `Move ${deviceId} to another developer`,
      text:
        activation === 'deactivated'
          ? 'Afterwards the applications of that developer can activate it.'
          : 'Only a deactivated device can be moved, so deactivate it first.',
      fields: textField({
        name: 'developerId',
        label: 'Developer',
        required: true,
        ...(developerId !== undefined && { value: developerId }),
      }),
      does: 'Move',
      async act(data) {
        await send(operation('updateDevice', { deviceId }), { json: { developerId: typed(data, 'developerId') } });
        done();
        return `${deviceId} was moved.`;
      },
    });
  const remove = (): void =>
    ask({
      title: `Delete ${deviceId}?`,
      text:
        activation === 'deactivated' && unfinished === 0
          ? 'Its credential, session and status are deleted. Its transactions are kept for the usual time.'
          : 'The device is deactivated and its unfinished transactions are cancelled; its application gets webhooks for that. Its credential, session and status are deleted.',
      typed: deviceId,
      does: 'Delete',
      isBad: true,
      async act(_, go) {
        await send(operation('deleteDevice', { deviceId }), {
          query: { force: activation === 'deactivated' && unfinished === 0 ? undefined : 'true' },
        });
        go(addressOf(['devices']));
        return `${deviceId} was deleted.`;
      },
    });
  return [
    connected && permits('closeConnection') ? button({ type: 'button', onClick: disconnect }, 'Disconnect') : null,
    permits('updateDevice') ? button({ type: 'button', onClick: block }, blocked ? 'Unblock' : 'Block') : null,
    permits('replaceCredential') ? button({ type: 'button', onClick: reset }, 'New credential') : null,
    permits('updateDevice') ? button({ type: 'button', onClick: move }, 'Move') : null,
    permits('deleteDevice') ? button({ type: 'button', class: 'bad', onClick: remove }, 'Delete') : null,
  ];
}
