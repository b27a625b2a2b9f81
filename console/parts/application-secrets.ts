import { button, small, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, read, send } from '../base/requests.ts';
import type { ApplicationSecretList } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { textField } from './fields.ts';
import { loaded } from './loaded.ts';
import { showSecret } from './secret.ts';
import { age, card, id, nothing, said } from './show.ts';
import { rowsTable } from './table.ts';

const issue = (applicationId: string, done: () => void): void =>
  ask({
    title: `Issue another secret for ${applicationId}`,
    text: 'The present secret stays valid until you end it, so that programs can change over one after another.',
    fields: [textField({ name: 'name', label: 'Name', hint: 'What it is for, such as new servers.' })],
    does: 'Issue',
    async act(data) {
      const name = typed(data, 'name');
      const answer = await send(operation('addSecret', { applicationId }), { json: name ? { name } : {} });
      const { secret } = (await answer.json()) as { secret: string };
      done();
      showSecret(`Another secret of ${applicationId}`, 'It is shown only now, and never again.', secret);
    },
  });

const end = (applicationId: string, secretId: string, done: () => void): void =>
  ask({
    title: `End ${secretId}?`,
    text: 'The secret becomes invalid at once, and so do the access tokens that were issued for it, and their streams.',
    does: 'End it',
    isBad: true,
    async act() {
      await send(operation('endSecret', { applicationId, secretId }));
      done();
      return `${secretId} has ended.`;
    },
  });

function Secrets({ applicationId }: { applicationId: string }) {
  const secrets = useLoad(`${applicationId} secrets`, (signal) =>
    read<ApplicationSecretList>(operation('listSecrets', { applicationId }), { signal }),
  );
  const { value } = secrets.state.value;
  const issueButton =
    permits('addSecret') && value?.secrets.length === 1
      ? button({ type: 'button', class: 'tiny', onClick: () => issue(applicationId, secrets.again) }, 'Issue another')
      : null;
  return card(
    { title: 'Secrets', bare: true, side: issueButton },
    loaded(secrets, (list) =>
      rowsTable({
        label: 'Secrets',
        rows: list.secrets,
        keyOf: ({ secretId }) => secretId,
        columns: [
          {
            name: 'Secret',
            kind: 'lead',
            cell: ({ secretId, name }) => [id(secretId), name === null ? null : small(null, said(name))],
          },
          { name: 'Issued', kind: 'short', cell: ({ createdAt }) => (createdAt ? age(createdAt) : nothing()) },
          { name: 'Last used', kind: 'short', cell: ({ lastUsedAt }) => (lastUsedAt ? age(lastUsedAt) : nothing()) },
          { name: 'Ends', kind: 'short', cell: ({ endsAt }) => (endsAt ? age(endsAt) : nothing()) },
          {
            name: '',
            kind: 'short',
            cell: ({ secretId }) =>
              permits('endSecret') && list.secrets.length > 1
                ? button(
                    { type: 'button', class: 'tiny bad', onClick: () => end(applicationId, secretId, secrets.again) },
                    'End',
                  )
                : null,
          },
        ],
      }),
    ),
  );
}

/** The secrets of an application: when each was last used, another one, and the end of one. */
export const secretsCard = (applicationId: string): VNode => use(Secrets, { applicationId, key: 'secrets' });
