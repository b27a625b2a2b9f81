import { a, button, div, dl, span, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, RequestError, read, send } from '../base/requests.ts';
import type { ApplicationRow } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { secretsCard } from '../parts/application-secrets.ts';
import { certificatesCard } from '../parts/certificates.ts';
import { historyOf } from '../parts/changes.ts';
import { ask } from '../parts/dialog.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { removalOfApplication } from '../parts/removal.ts';
import { showSecret } from '../parts/secret.ts';
import { age, badge, card, fact, id, nothing, outside } from '../parts/show.ts';
import { removeWhole } from './remove-whole.ts';

function replaceSecret(applicationId: string): void {
  ask({
    title: `Give ${applicationId} a new secret?`,
    text: 'The old secret becomes invalid at once, and so do all access tokens that were issued for it.',
    does: 'Replace the secret',
    isBad: true,
    async act() {
      const { secret } = (await (await send(operation('replaceSecret', { applicationId }))).json()) as {
        secret: string;
      };
      showSecret(`The new secret of ${applicationId}`, 'It is shown only now, and never again.', secret);
    },
  });
}

function changeAuthentication({ applicationId, authentication }: ApplicationRow, done: () => void): void {
  const next = authentication === 'secret' ? 'certificate' : 'secret';
  ask({
    title:
      next === 'certificate' ? `Demand a certificate of ${applicationId}?` : `Accept the secret of ${applicationId}?`,
    text:
      next === 'certificate'
        ? 'Its secret gets no access tokens any more, and access tokens that were issued for it end at once.'
        : 'A program with its secret gets access tokens again, without a certificate.',
    does: next === 'certificate' ? 'Demand a certificate' : 'Accept the secret',
    isBad: true,
    async act() {
      await send(operation('updateApplication', { applicationId }), { json: { authentication: next } });
      done();
      return `${applicationId} was changed.`;
    },
  });
}

function remove({ applicationId, developerId }: ApplicationRow): void {
  ask({
    title: `Delete ${applicationId}?`,
    text: 'An application can be deleted when it has no activated devices. Its applicationId is never used again. Its pending webhooks are still delivered.',
    typed: applicationId,
    does: 'Delete',
    isBad: true,
    async act(_, go) {
      await send(operation('deleteApplication', { applicationId }));
      go(addressOf(['developers', developerId]));
      return `${applicationId} was deleted.`;
    },
  });
}

function OneApplication({ applicationId }: { applicationId: string }) {
  const application = useLoad(
    applicationId,
    (signal) => read<ApplicationRow>(operation('readApplication', { applicationId }), { signal }),
    { every: 15_000 },
  );
  const { value, error } = application.state.value;
  const isGone = error instanceof RequestError && error.status === 404;
  const details = loaded(application, (one) =>
    div(
      { class: 'columns' },
      card(
        { title: 'Details', bare: true },
        dl(
          { class: 'facts' },
          fact('applicationId', id(one.applicationId)),
          fact('Developer', named('developers', one.developerId)),
          fact('Created', age(one.createdAt)),
          fact(
            'Activated devices',
            one.activated === 0
              ? nothing()
              : a({ href: addressOf(['devices'], { applicationId }) }, count(one.activated)),
          ),
          fact(
            'authenticationKey',
            one.hasKey
              ? [
                  badge('good', 'issued'),
                  one.keyReplacedAt ? span({ class: 'age' }, 'replaced ', age(one.keyReplacedAt)) : null,
                ]
              : badge('warn', 'not issued: no command can be sent'),
          ),
          fact(
            'Access tokens',
            one.authentication === 'certificate' ? 'with a certificate only' : 'with the secret or a certificate',
          ),
          fact('Transactions', a({ href: addressOf(['transactions'], { applicationId }) }, 'All transactions')),
          fact('Deliveries', a({ href: addressOf(['webhooks'], { applicationId }) }, 'Delivery log')),
        ),
      ),
      card(
        { title: 'Webhook URLs', bare: true },
        dl(
          { class: 'facts' },
          Object.entries(one.settings).map(([name, url]) => fact(name, outside(url))),
        ),
      ),
    ),
  );
  return [
    head({
      title: value?.name ?? applicationId,
      copied: applicationId,
      trail: value
        ? [
            [addressOf(['developers']), 'Developers'],
            [addressOf(['developers', value.developerId]), value.developerId],
          ]
        : [],
      actions:
        value && !isGone
          ? [
              permits('replaceSecret')
                ? button({ type: 'button', onClick: () => replaceSecret(applicationId) }, 'New secret')
                : null,
              permits('updateApplication')
                ? button(
                    { type: 'button', onClick: () => changeAuthentication(value, application.again) },
                    'Access tokens',
                  )
                : null,
              permits('deleteApplication')
                ? button({ type: 'button', class: 'bad', onClick: () => remove(value) }, 'Delete')
                : null,
              permits('removeApplication')
                ? button(
                    {
                      type: 'button',
                      class: 'bad',
                      onClick: () => removeWhole({ kind: 'application', id: applicationId }),
                    },
                    'Remove whole',
                  )
                : null,
            ]
          : null,
    }),
    isGone ? removalOfApplication(applicationId, details) : details,
    value && !isGone ? certificatesCard(applicationId) : null,
    value && !isGone ? secretsCard(applicationId) : null,
    historyOf('application', applicationId),
  ];
}

export const applicationPage = (applicationId: string): VNode =>
  use(OneApplication, { applicationId, key: applicationId });
