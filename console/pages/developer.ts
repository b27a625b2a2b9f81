import { a, button, type Child, div, dl, p, progress, small, use, type VNode } from '../base/elements.ts';
import { bytes, count, counted } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, ROOT } from '../base/place.ts';
import { operation, readPage, readSeen, type Seen, send } from '../base/requests.ts';
import type { ApplicationRow, AuditEntry, Developer, DeveloperDetails } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { askForChange } from '../parts/change.ts';
import { historyOf } from '../parts/changes.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { membersCard } from '../parts/members.ts';
import { removalCard } from '../parts/removal.ts';
import { showSecret } from '../parts/secret.ts';
import { age, badge, card, empty, fact, id, nothing, said } from '../parts/show.ts';
import { softwareKeysCard } from '../parts/software-keys.ts';
import { rowsTable } from '../parts/table.ts';
import { wholeNumber } from './developers.ts';
import { importDevicesOf } from './import-devices.ts';
import { removeWhole } from './remove-whole.ts';

/** The newest change of a developer in the audit log, with a link to all of them. */
async function whoChanged(developerId: string): Promise<Child> {
  const resource = operation('readDeveloper', { developerId }).path.slice(ROOT.length);
  const { rows } = await readPage<AuditEntry>(operation('listAudit'), 'entries', { query: { resource, limit: 10 } });
  const last = rows.find(({ action, status }) => action.startsWith('PATCH ') && (status ?? 500) < 300);
  return [
    last
      ? ['The last change was by ', said(last.actor.displayName ?? last.actor.kind), ', ', age(last.at), '. ']
      : null,
    a({ href: addressOf(['audit'], { resource }), target: '_blank' }, 'Look at all changes'),
  ];
}

/** The rules for software that differ from those of the developer. */
const changedRules = (data: FormData, before: Developer): Record<string, string> =>
  Object.fromEntries(
    (['softwareSignatures', 'certificateChange'] as const).flatMap((name) => {
      const value = typed(data, name);
      return value === undefined || value === before[name] ? [] : [[name, value]];
    }),
  );

function change(developerId: string, seen: Seen<Developer>, done: () => void): void {
  askForChange<Developer>({
    title: `Change the contract of ${developerId}`,
    seen,
    fields: ({ name, deviceLimit, softwareSignatures, certificateChange }) => [
      textField({ name: 'name', label: 'Name', value: name, required: true }),
      textField(
        {
          name: 'deviceLimit',
          label: 'Most activated devices',
          value: deviceLimit === null ? '' : String(deviceLimit),
          hint: 'Leave this empty to end the contract. Activated devices stay activated.',
        },
        { inputMode: 'numeric' },
      ),
      choice({ name: 'softwareSignatures', label: 'Signatures of software', value: softwareSignatures }, [
        ['optional', 'optional'],
        ['required', 'required: only signed versions are distributed'],
      ]),
      choice({ name: 'certificateChange', label: 'Another certificate in an APK', value: certificateChange }, [
        ['warn', 'has a warning'],
        ['refuse', 'is refused'],
      ]),
    ],
    does: 'Change',
    async send(data, { value, tag }) {
      const name = typed(data, 'name')!;
      const deviceLimit = wholeNumber(typed(data, 'deviceLimit')) ?? null;
      const json = {
        ...(name !== value.name && { name }),
        ...(deviceLimit !== value.deviceLimit && { deviceLimit }),
        ...changedRules(data, value),
      };
      if (Object.keys(json).length === 0) return false;
      await send(operation('updateDeveloper', { developerId }), { json, ifMatch: tag });
      done();
      return true;
    },
    read: () => readSeen<DeveloperDetails>(operation('readDeveloper', { developerId })),
    shown: ({ name, deviceLimit, softwareSignatures, certificateChange }) => ({
      Name: name,
      'Most activated devices': deviceLimit,
      'Signatures of software': softwareSignatures,
      'Another certificate in an APK': certificateChange,
    }),
    who: () => whoChanged(developerId),
    done: () => `The contract of ${developerId} was changed.`,
  });
}

function addApplication(developerId: string): void {
  ask({
    title: `New application of ${developerId}`,
    fields: [
      textField({ name: 'name', label: 'Name', required: true }),
      textField({ name: 'applicationId', label: 'applicationId', hint: 'Generated when left empty.' }),
    ],
    does: 'Create',
    async act(data, go) {
      const json = given({ name: typed(data, 'name'), applicationId: typed(data, 'applicationId') });
      const response = await send(operation('createApplication', { developerId }), { json });
      const { applicationId, secret } = (await response.json()) as { applicationId: string; secret: string };
      go(addressOf(['applications', applicationId]));
      showSecret(
        `The secret of ${applicationId}`,
        'The application gets its access tokens with it. It is shown only now, and never again.',
        secret,
      );
    },
  });
}

function register(developerId: string): void {
  ask({
    title: `Register a device of ${developerId}`,
    fields: textField(
      { name: 'deviceId', label: 'deviceId', required: true, hint: 'The IMEI of the device, 15 digits.' },
      { inputMode: 'numeric' },
    ),
    does: 'Register',
    async act(data) {
      const response = await send(operation('registerDevice', { developerId }), {
        json: { deviceId: typed(data, 'deviceId') },
      });
      const { deviceId, credential } = (await response.json()) as { deviceId: string; credential: string };
      showSecret(
        `The credential of ${deviceId}`,
        'The device logs in with it. It is shown only now, and never again.',
        credential,
      );
    },
  });
}

function remove(developerId: string): void {
  ask({
    title: `Delete ${developerId}?`,
    text: 'A developer can be deleted when it has no applications and no devices.',
    typed: developerId,
    does: 'Delete',
    isBad: true,
    async act(_, go) {
      await send(operation('deleteDeveloper', { developerId }));
      go(addressOf(['developers']));
      return `${developerId} was deleted.`;
    },
  });
}

/** Shows how many devices are activated, of those that the contract allows, for all applications of the developer. */
function usage({ deviceLimit }: Developer, applications: readonly ApplicationRow[]): VNode {
  const activated = applications.reduce((sum, one) => sum + one.activated, 0);
  if (deviceLimit === null)
    return div(
      { class: 'pad' },
      p(null, `${counted(activated, 'activated device')}. There is no contract, so no device can be activated.`),
    );
  return div(
    { class: 'pad stack tight' },
    progress({ max: Math.max(1, deviceLimit), value: activated, 'aria-label': 'Usage of the contract' }),
    p({ class: 'num' }, `${count(activated)} of ${count(deviceLimit)} devices are activated`),
  );
}

/** Formats the usage of a quota: `3 of 10`. */
const ofQuota = (used: string, most: string | null): string => (most === null ? used : `${used} of ${most}`);

function OneDeveloper({ developerId }: { developerId: string }) {
  const developer = useLoad(developerId, (signal) =>
    readSeen<DeveloperDetails>(operation('readDeveloper', { developerId }), { signal }),
  );
  const applications = useLoad(
    `${developerId} applications`,
    async (signal) =>
      (
        await readPage<ApplicationRow>(operation('listAllApplications'), 'applications', {
          query: { developerId, limit: 1000 },
          signal,
        })
      ).rows,
    { every: 15_000 },
  );
  const { value } = developer.state.value;
  return [
    head({
      title: value?.value.name ?? developerId,
      copied: developerId,
      trail: [[addressOf(['developers']), 'Developers']],
      actions:
        value && value.value.removalId === null
          ? [
              permits('createApplication')
                ? button(
                    { type: 'button', class: 'main', onClick: () => addApplication(developerId) },
                    'New application',
                  )
                : null,
              permits('registerDevice')
                ? button({ type: 'button', onClick: () => register(developerId) }, 'Register a device')
                : null,
              permits('importDevices')
                ? button({ type: 'button', onClick: () => importDevicesOf(developerId) }, 'Import devices')
                : null,
              permits('updateDeveloper')
                ? button({ type: 'button', onClick: () => change(developerId, value, developer.again) }, 'Change')
                : null,
              permits('deleteDeveloper')
                ? button({ type: 'button', class: 'bad', onClick: () => remove(developerId) }, 'Delete')
                : null,
              permits('removeDeveloper')
                ? button(
                    {
                      type: 'button',
                      class: 'bad',
                      onClick: () => removeWhole({ kind: 'developer', id: developerId }),
                    },
                    'Remove whole',
                  )
                : null,
            ]
          : null,
    }),
    value && value.value.removalId !== null ? removalCard(value.value.removalId) : null,
    card(
      { title: 'Contract', bare: true },
      loaded(developer, ({ value: one }) => [
        usage(one, applications.state.value.value ?? []),
        dl(
          { class: 'facts' },
          fact('developerId', id(one.developerId)),
          fact('Devices', a({ href: addressOf(['devices'], { developerId }) }, 'All devices')),
          fact('Enrolment', a({ href: addressOf(['developers', developerId, 'enrolment']) }, 'Codes for new devices')),
          fact(
            'Packages',
            a(
              { href: addressOf(['software'], { developerId }) },
              ofQuota(count(one.usage.packages), one.quotas.packages === null ? null : count(one.quotas.packages)),
            ),
          ),
          fact(
            'Versions',
            ofQuota(count(one.usage.versions), one.quotas.versions === null ? null : count(one.quotas.versions)),
          ),
          fact('Signatures', one.softwareSignatures === 'required' ? 'required' : 'optional'),
          fact('Another certificate', one.certificateChange === 'refuse' ? 'is refused' : 'has a warning'),
          fact(
            'Binaries',
            ofQuota(
              bytes(one.usage.storedBytes),
              one.quotas.storedBytes === null ? null : bytes(one.quotas.storedBytes),
            ),
          ),
        ),
      ]),
    ),
    value && value.value.removalId !== null
      ? null
      : card(
          { title: 'Applications', bare: true },
          loaded(applications, (rows) =>
            rows.length === 0
              ? empty(
                  {
                    title: 'No applications yet',
                    text: 'An application has a secret, webhook URLs and activated devices.',
                  },
                  permits('createApplication')
                    ? button(
                        { type: 'button', onClick: () => addApplication(developerId) },
                        'Create the first application',
                      )
                    : null,
                )
              : rowsTable({
                  label: 'Applications',
                  rows,
                  keyOf: ({ applicationId }) => applicationId,
                  columns: [
                    {
                      name: 'Application',
                      kind: 'lead',
                      cell: ({ applicationId, name }) => [
                        a({ href: addressOf(['applications', applicationId]) }, said(name)),
                        small(null, id(applicationId)),
                      ],
                    },
                    {
                      name: 'Activated',
                      kind: 'right',
                      cell: ({ applicationId, activated }) =>
                        activated === 0
                          ? nothing()
                          : a({ href: addressOf(['devices'], { applicationId }) }, count(activated)),
                    },
                    {
                      name: 'Webhooks',
                      cell: ({ settings, hasKey }) =>
                        hasKey && settings['deviceEvent']
                          ? badge('good', 'set')
                          : badge('warn', hasKey ? 'no deviceEvent' : 'no key'),
                    },
                    { name: 'Created', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
                  ],
                }),
          ),
        ),
    value && value.value.removalId === null ? [softwareKeysCard(developerId), membersCard(developerId)] : null,
    historyOf('developer', developerId),
  ];
}

export const developerPage = (developerId: string): VNode => use(OneDeveloper, { developerId, key: developerId });
