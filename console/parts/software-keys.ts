import { button, small, textarea, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, read, send } from '../base/requests.ts';
import type { SoftwareKeyList } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { controlField, textField } from './fields.ts';
import { loaded } from './loaded.ts';
import { age, card, empty, id, said } from './show.ts';
import { rowsTable } from './table.ts';

function add(developerId: string, done: () => void): void {
  ask({
    title: `Add a software key of ${developerId}`,
    text: 'Versions that are signed with the private key verify from then on. Make the pair where the private key stays.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true, hint: 'For people, such as release 2026.' }),
      controlField(
        'Public key',
        'Of ed25519, in PEM: openssl pkey -in release.pem -pubout',
        textarea({ name: 'publicKey', rows: 4, required: true, spellcheck: false }),
      ),
    ],
    does: 'Add',
    async act(data) {
      const json = { name: typed(data, 'name'), publicKey: typed(data, 'publicKey') };
      await send(operation('addSoftwareKey', { developerId }), { json });
      done();
      return 'The key was added.';
    },
  });
}

const revoke = (developerId: string, keyId: string, done: () => void): void =>
  ask({
    title: `Revoke ${keyId}?`,
    text: 'What was signed with this key is not distributed any more, and waiting installations fail.',
    typed: keyId,
    does: 'Revoke',
    isBad: true,
    async act() {
      await send(operation('revokeSoftwareKey', { developerId, keyId }));
      done();
      return `${keyId} was revoked.`;
    },
  });

function SoftwareKeys({ developerId }: { developerId: string }) {
  const keys = useLoad(`${developerId} keys`, (signal) =>
    read<SoftwareKeyList>(operation('listSoftwareKeys', { developerId }), { signal }),
  );
  const addButton = permits('addSoftwareKey')
    ? button({ type: 'button', class: 'tiny', onClick: () => add(developerId, keys.again) }, 'Add a key')
    : null;
  return card(
    { title: 'Software keys', bare: true, side: addButton },
    loaded(keys, (value) =>
      value.keys.length === 0
        ? empty({
            title: 'No software keys',
            text: 'With the public key of the developer the service and devices verify who has released a version.',
          })
        : rowsTable({
            label: 'Software keys',
            rows: value.keys,
            keyOf: ({ keyId }) => keyId,
            columns: [
              { name: 'Key', kind: 'lead', cell: ({ keyId, name }) => [id(keyId), small(null, said(name))] },
              { name: 'Added', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
              {
                name: '',
                kind: 'short',
                cell: ({ keyId }) =>
                  permits('revokeSoftwareKey')
                    ? button(
                        { type: 'button', class: 'tiny bad', onClick: () => revoke(developerId, keyId, keys.again) },
                        'Revoke',
                      )
                    : null,
              },
            ],
          }),
    ),
  );
}

/** The keys with which the versions of a developer are signed. */
export const softwareKeysCard = (developerId: string): VNode =>
  use(SoftwareKeys, { developerId, key: 'software-keys' });
