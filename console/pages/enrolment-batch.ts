import { a, button, code, div, dl, use, type VNode } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, type Page, read, readPage, send } from '../base/requests.ts';
import type { EnrolmentBatch, EnrolmentDevice } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { devicesCard } from '../parts/devices-card.ts';
import { act, ask } from '../parts/dialog.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { age, badge, card, fact, id, idLink, moment, nothing, said, type Tone, until } from '../parts/show.ts';
import type { Column } from '../parts/table.ts';
import { batchBadge } from './enrolment-batches.ts';

const LIMIT = 100;
/** Milliseconds between two reads. The feed does not report enrolments. */
const READ_EVERY = 5_000;
/** The most beginnings of deviceIds that are shown. */
const SHOWN = 20;

const STATES: Readonly<Record<EnrolmentDevice['state'], Tone>> = {
  pending: 'warn',
  approved: 'calm',
  enrolled: 'good',
  refused: 'bad',
};
const STATE: Filter = {
  name: 'state',
  label: 'State',
  choices: Object.keys(STATES).map((state) => [state, state] as const),
};
const CSV = [
  'deviceId',
  'state',
  'address',
  'requestedAt',
  'decidedAt',
] as const satisfies readonly (keyof EnrolmentDevice)[];

function revoke({ batchId, name, enrolled }: EnrolmentBatch, done: () => void): void {
  ask({
    title: `Revoke the code of ${visible(name)}?`,
    text: `Nobody enrols with it any more. ${counted(enrolled, 'device')} that enrolled with it stay.`,
    does: 'Revoke the code',
    isBad: true,
    async act() {
      await send(operation('revokeEnrolmentBatch', { batchId }));
      done();
      return 'The code is revoked.';
    },
  });
}

const columnsOf = (batchId: string, done: () => void): readonly Column<EnrolmentDevice>[] => {
  const decide = (name: 'approveEnrolment' | 'refuseEnrolment', deviceId: string, told: string): void =>
    act(async () => {
      await send(operation(name, { batchId, deviceId }));
      done();
      return `${deviceId} is ${told}.`;
    });
  return [
    { name: 'Device', kind: 'lead', cell: ({ deviceId }) => idLink(addressOf(['devices', deviceId]), deviceId) },
    { name: 'State', cell: ({ state }) => badge(STATES[state] ?? '', state) },
    {
      name: 'Decision',
      isEmpty: ({ state }) => state !== 'pending',
      cell: ({ deviceId, state }) =>
        state !== 'pending' || !permits('approveEnrolment')
          ? nothing()
          : div(
              { class: 'row' },
              button(
                {
                  type: 'button',
                  class: 'tiny',
                  'aria-label': `Approve ${deviceId}`,
                  onClick: () => decide('approveEnrolment', deviceId, 'approved'),
                },
                'Approve',
              ),
              button(
                {
                  type: 'button',
                  class: 'tiny bad',
                  'aria-label': `Refuse ${deviceId}`,
                  onClick: () => decide('refuseEnrolment', deviceId, 'refused'),
                },
                'Refuse',
              ),
            ),
    },
    { name: 'Address', cell: ({ address }) => said(address) },
    { name: 'Asked', kind: 'short', cell: ({ requestedAt }) => age(requestedAt) },
  ];
};

/** The deviceIds that the batch is for, or the first of them. */
function deviceIdsOf({ deviceIds }: EnrolmentBatch): VNode | string {
  if (deviceIds === null) return 'any';
  const more = deviceIds.length - SHOWN;
  return code({ class: 'wrap' }, deviceIds.slice(0, SHOWN).join(', '), more > 0 ? ` and ${count(more)} more` : '');
}

const factsOf = (batch: EnrolmentBatch): VNode =>
  dl(
    { class: 'facts' },
    fact('Developer', a({ href: addressOf(['developers', batch.developerId]) }, visible(batch.developerId))),
    fact('Enrolled', `${count(batch.enrolled)} of ${count(batch.mostDevices)}`),
    fact('Approval', batch.approval === 'manual' ? 'a person approves each device' : 'the code is enough'),
    fact('For deviceIds', deviceIdsOf(batch)),
    fact('Registered devices', batch.registered ? 'if they have never logged in' : 'are refused'),
    batch.authorityId === null
      ? fact('Devices get', 'a credential')
      : fact('Devices get', [
          'a certificate for ',
          counted(batch.certificateDays ?? 0, 'day'),
          ' of ',
          id(batch.authorityId),
        ]),
    fact('Made', moment(batch.createdAt)),
    fact('Ends', batch.state === 'open' ? until(batch.expiresAt) : moment(batch.revokedAt ?? batch.expiresAt)),
  );

function OneBatch({ batchId }: { batchId: string }) {
  const every = { every: READ_EVERY };
  const batch = useLoad(
    batchId,
    (signal) => read<EnrolmentBatch>(operation('readEnrolmentBatch', { batchId }), { signal }),
    every,
  );
  const request = operation('listEnrolments', { batchId });
  const query = { ...asked(['state']), limit: LIMIT };
  const page: Loading<Page<EnrolmentDevice>> = useLoad(
    JSON.stringify([batchId, query]),
    (signal) => readPage<EnrolmentDevice>(request, 'devices', { query, signal }),
    every,
  );
  const again = (): void => {
    batch.again();
    page.again();
  };
  const { value } = batch.state.value;
  return [
    head({
      title: value?.name ?? 'Enrolment batch',
      copied: batchId,
      trail: [
        [addressOf(['developers']), 'Developers'],
        ...(value
          ? [
              [addressOf(['developers', value.developerId]), value.developerId] as const,
              [addressOf(['developers', value.developerId, 'enrolment']), 'Enrolment'] as const,
            ]
          : []),
      ],
      state: value ? batchBadge(value) : null,
      actions:
        value?.state === 'open' && permits('revokeEnrolmentBatch')
          ? button({ type: 'button', class: 'bad', onClick: () => revoke(value, again) }, 'Revoke ...')
          : null,
    }),
    card({ title: 'Batch', bare: true }, loaded(batch, factsOf)),
    filterBar([STATE]),
    devicesCard({
      title: 'Devices that have asked',
      none: 'No devices yet',
      page,
      request: request,
      query,
      columns: columnsOf(batchId, again),
      csv: { name: 'enrolment', columns: CSV },
    }),
  ];
}

export const enrolmentBatchPage = (batchId: string): VNode => use(OneBatch, { batchId, key: batchId });
