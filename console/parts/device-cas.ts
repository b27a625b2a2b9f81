import { button, div, small, textarea, type VNode } from '../base/elements.ts';
import { counted, visible } from '../base/format.ts';
import type { Loading } from '../base/load.ts';
import { operation, send } from '../base/requests.ts';
import type { DeviceAuthority, DeviceAuthorityList } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { controlField, textField } from './fields.ts';
import { loaded } from './loaded.ts';
import { badge, card, empty, id, said, type Tone, until } from './show.ts';
import { type Column, rowsTable } from './table.ts';

const STATES: Readonly<Record<DeviceAuthority['state'], Tone>> = {
  active: 'good',
  retired: '',
  revoked: 'warn',
  expired: 'warn',
};

function make(developerId: string, done: () => void): void {
  ask({
    title: `New device CA of ${developerId}`,
    text: 'It signs client certificates of devices. The service makes its key, and stores it encrypted; or give a CA of your own.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true, hint: 'For people, such as 2026.' }),
      controlField(
        'Certificate',
        'Of a CA of your own, in PEM. The service makes one when left empty.',
        textarea({ name: 'certificate', rows: 4, spellcheck: false }),
      ),
      controlField(
        'Private key',
        'Of that certificate, in PEM (PKCS #8) without a password.',
        textarea({ name: 'privateKey', rows: 4, spellcheck: false, autoComplete: 'off' }),
      ),
    ],
    does: 'Make the CA',
    async act(data) {
      const json = given({
        name: typed(data, 'name'),
        certificate: typed(data, 'certificate'),
        privateKey: typed(data, 'privateKey'),
      });
      await send(operation('createDeviceAuthority', { developerId }), { json });
      done();
      return 'The device CA was made.';
    },
  });
}

const retire = ({ authorityId, name }: DeviceAuthority, done: () => void): void =>
  ask({
    title: `Retire ${visible(name)}?`,
    text: 'It signs no more. The certificates that it has signed stay valid until they end.',
    does: 'Retire the CA',
    async act() {
      await send(operation('retireDeviceAuthority', { authorityId }));
      done();
      return `${name} was retired.`;
    },
  });

const revoke = ({ authorityId, name, devices }: DeviceAuthority, done: () => void): void =>
  ask({
    title: `Revoke ${visible(name)}?`,
    text: `The certificates of ${counted(devices, 'device')} are invalid at once, and their connections end.`,
    typed: authorityId,
    does: 'Revoke the CA',
    isBad: true,
    async act() {
      await send(operation('revokeDeviceAuthority', { authorityId }));
      done();
      return `${name} was revoked.`;
    },
  });

const columnsOf = (done: () => void): readonly Column<DeviceAuthority>[] => [
  { name: 'CA', kind: 'lead', cell: ({ authorityId, name }) => [id(authorityId), small(null, said(name))] },
  { name: 'State', cell: ({ state }) => badge(STATES[state] ?? '', state) },
  { name: 'Devices', kind: 'right', cell: ({ devices }) => String(devices) },
  { name: 'Ends', kind: 'short', cell: ({ expiresAt }) => until(expiresAt) },
  {
    name: '',
    kind: 'short',
    cell: (authority) =>
      authority.state === 'revoked' || !permits('revokeDeviceAuthority')
        ? null
        : div(
            { class: 'row' },
            authority.state === 'active'
              ? button({ type: 'button', class: 'tiny', onClick: () => retire(authority, done) }, 'Retire')
              : null,
            button({ type: 'button', class: 'tiny bad', onClick: () => revoke(authority, done) }, 'Revoke'),
          ),
  },
];

/** The CAs that sign the client certificates of a developer's devices. */
export const deviceCasCard = (developerId: string, authorities: Loading<DeviceAuthorityList>): VNode =>
  card(
    {
      title: 'Device CAs',
      bare: true,
      side: permits('createDeviceAuthority')
        ? button(
            { type: 'button', class: 'tiny', onClick: () => make(developerId, authorities.again) },
            'New device CA',
          )
        : null,
    },
    loaded(authorities, (value) =>
      value.authorities.length === 0
        ? empty({
            title: 'No device CAs',
            text: 'With one, devices of a batch get a client certificate in place of a credential.',
          })
        : rowsTable({
            label: 'Device CAs',
            rows: value.authorities,
            keyOf: ({ authorityId }) => authorityId,
            columns: columnsOf(authorities.again),
          }),
    ),
  );
