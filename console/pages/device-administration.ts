import { button, type Child } from '../base/elements.ts';
import { addressOf, go } from '../base/place.ts';
import { at, send } from '../base/requests.ts';
import { ask } from '../parts/dialog.ts';
import { textField, typed } from '../parts/fields.ts';
import { showSecret } from '../parts/secret.ts';

interface Target {
  deviceId: string;
  developerId?: string;
  activation: 'deactivated' | 'activating' | 'activated';
  connected?: boolean;
  blocked?: boolean;
  unfinished?: number;
}

/** What the operator can do about a device. */
export function administration(
  { deviceId, developerId, activation, connected, blocked = false, unfinished = 0 }: Target,
  done: () => void,
): Child {
  const path = `/devices${at(deviceId)}`;
  const disconnect = (): void =>
    ask({
      title: `Close the connection of ${deviceId}?`,
      text: 'The device may come back at once. Nothing that is stored for it is lost.',
      does: 'Disconnect',
      async act() {
        await send('DELETE', `${path}/connection`);
        done();
        return `The connection of ${deviceId} is closed.`;
      },
    });
  const block = (): void =>
    ask({
      title: blocked ? `Let ${deviceId} connect again?` : `Block ${deviceId}?`,
      text: blocked
        ? 'Its credential is as good as before.'
        : 'It cannot connect until it is unblocked. What is stored for it stays.',
      does: blocked ? 'Unblock' : 'Block',
      isBad: !blocked,
      async act() {
        await send('PATCH', path, { json: { blocked: !blocked } });
        done();
        return blocked ? `${deviceId} may connect again.` : `${deviceId} is blocked.`;
      },
    });
  const reset = (): void =>
    ask({
      title: `Give ${deviceId} a new credential?`,
      text: 'The old one stops at once, and its connection is closed. The device needs the new one to connect.',
      does: 'Make a new one',
      isBad: true,
      async act() {
        const { credential } = (await (await send('POST', `${path}/credential`, { json: {} })).json()) as {
          credential: string;
        };
        done();
        showSecret(`The new credential of ${deviceId}`, 'It is shown here only, and never again.', credential);
      },
    });
  const move = (): void =>
    ask({
      title: `Move ${deviceId} to another developer`,
      text:
        activation === 'deactivated'
          ? 'From now on that developer’s applications can activate it.'
          : 'Only a deactivated device moves: deactivate it first.',
      fields: textField({
        name: 'developerId',
        label: 'Developer',
        required: true,
        ...(developerId !== undefined && { value: developerId }),
      }),
      does: 'Move it',
      async act(data) {
        await send('PATCH', path, { json: { developerId: typed(data, 'developerId') } });
        done();
        return `${deviceId} is moved.`;
      },
    });
  const remove = (): void =>
    ask({
      title: `Delete ${deviceId}?`,
      text:
        activation === 'deactivated' && unfinished === 0
          ? 'Its credential, its session and its status are gone. Its history stays as long as any.'
          : 'It is taken away from its application, which is told, and everything unfinished is cancelled. Its credential, its session and its status are gone.',
      typed: deviceId,
      does: 'Delete it',
      isBad: true,
      async act() {
        await send('DELETE', path, {
          query: { force: activation === 'deactivated' && unfinished === 0 ? undefined : 'true' },
        });
        go(addressOf(['devices']));
        return `${deviceId} is deleted.`;
      },
    });
  return [
    connected ? button({ type: 'button', onClick: disconnect }, 'Disconnect') : null,
    button({ type: 'button', onClick: block }, blocked ? 'Unblock' : 'Block'),
    button({ type: 'button', onClick: reset }, 'New credential'),
    button({ type: 'button', onClick: move }, 'Move'),
    button({ type: 'button', class: 'bad', onClick: remove }, 'Delete'),
  ];
}
