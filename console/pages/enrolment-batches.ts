import { now } from '../base/clock.ts';
import { button, div, small, use, type VNode } from '../base/elements.ts';
import { count, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { DeviceAuthority, DeviceAuthorityList, EnrolmentBatch } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { given, numberOf, typed } from '../base/typed.ts';
import { deviceCasCard } from '../parts/device-cas.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField, tick } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { showSecret } from '../parts/secret.ts';
import { age, badge, card, empty, idLink, nothing, said, type Tone, until } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';

const LIMIT = 50;
const DAY_MS = 86_400_000;
const STATES: Readonly<Record<EnrolmentBatch['state'], Tone>> = { open: 'good', expired: '', revoked: 'warn' };

export const batchBadge = ({ state }: Pick<EnrolmentBatch, 'state'>): VNode => badge(STATES[state] ?? '', state);

/** The fields for a batch whose devices get certificates; none while the developer has no device CA that signs. */
const ofCertificates = (authorities: readonly DeviceAuthority[]): VNode[] =>
  authorities.length === 0
    ? []
    : [
        choice({ name: 'authorityId', label: 'Devices get' }, [
          ['', 'A credential'],
          ...authorities.map(({ authorityId, name }) => [authorityId, `A certificate of ${visible(name)}`] as const),
        ]),
        textField(
          { name: 'certificateDays', label: 'Certificates valid for days', hint: '365 when left empty.' },
          { inputMode: 'numeric' },
        ),
      ];

function create(developerId: string, authorities: readonly DeviceAuthority[]): void {
  ask({
    title: `New enrolment batch of ${developerId}`,
    text: 'Devices of the batch get their credentials, or certificates, with one code, which they share.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true, hint: 'For people, as November, line 2.' }),
      textField({ name: 'mostDevices', label: 'Most devices', required: true }, { inputMode: 'numeric' }),
      textField({ name: 'days', label: 'Valid for days', value: '30', required: true }, { inputMode: 'numeric' }),
      choice({ name: 'approval', label: 'Approval', value: 'automatic' }, [
        ['automatic', 'The code is enough'],
        ['manual', 'A person approves each device'],
      ]),
      textField(
        {
          name: 'deviceIds',
          label: 'Only these deviceIds',
          hint: 'Whole ones or their first digits, separated by commas. Any when left empty.',
        },
        { inputMode: 'numeric' },
      ),
      ...ofCertificates(authorities),
      tick({ name: 'registered', label: 'Also registered devices that have never logged in' }),
    ],
    does: 'Make the code',
    async act(data, go) {
      const days = numberOf(data, 'days') ?? 0;
      const json = given({
        name: typed(data, 'name'),
        mostDevices: numberOf(data, 'mostDevices'),
        expiresAt: Number.isFinite(days) ? new Date(now.value + days * DAY_MS).toISOString() : '',
        approval: typed(data, 'approval'),
        deviceIds: typed(data, 'deviceIds')?.split(/[\s,;]+/),
        registered: data.has('registered') ? true : undefined,
        authorityId: typed(data, 'authorityId'),
        certificateDays: numberOf(data, 'certificateDays'),
      });
      const response = await send(operation('createEnrolmentBatch', { developerId }), { json });
      const { batchId, code } = (await response.json()) as { batchId: string; code: string };
      go(addressOf(['enrolment', batchId]));
      showSecret(
        'The code of the batch',
        'The devices of the batch get their credentials with it. It is shown only now, and never again.',
        code,
      );
    },
  });
}

const COLUMNS: readonly Column<EnrolmentBatch>[] = [
  {
    name: 'Batch',
    kind: 'lead',
    cell: ({ batchId, name }) => [idLink(addressOf(['enrolment', batchId]), batchId), small(null, said(name))],
  },
  { name: 'State', cell: batchBadge },
  {
    name: 'Enrolled',
    kind: 'right',
    cell: ({ enrolled, mostDevices }) => `${count(enrolled)} of ${count(mostDevices)}`,
  },
  {
    name: 'Waiting',
    kind: 'right',
    cell: ({ pending }) => (pending === 0 ? nothing() : badge('warn', count(pending))),
  },
  { name: 'Ends', kind: 'short', cell: ({ expiresAt, state }) => (state === 'open' ? until(expiresAt) : nothing()) },
  { name: 'Made', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
];

function Batches({ developerId }: { developerId: string }) {
  const offset = Number(place.value.query['after'] ?? 0);
  const page = useLoad(
    `${developerId} enrolment ${offset}`,
    (signal) =>
      read<{ batches: EnrolmentBatch[]; total: number }>(operation('listEnrolmentBatches', { developerId }), {
        query: { offset, limit: LIMIT },
        signal,
      }),
    { every: 15_000 },
  );
  const authorities = useLoad(`${developerId} device CAs`, (signal) =>
    read<DeviceAuthorityList>(operation('listDeviceAuthorities', { developerId }), { signal }),
  );
  const known = authorities.state.value.value?.authorities ?? [];
  const begin = (): void =>
    create(
      developerId,
      known.filter(({ state }) => state === 'active'),
    );
  return [
    head({
      title: 'Enrolment',
      trail: [
        [addressOf(['developers']), 'Developers'],
        [addressOf(['developers', developerId]), developerId],
      ],
      about: 'New devices get their credentials with the code of a batch.',
      actions: permits('createEnrolmentBatch')
        ? button({ type: 'button', class: 'main', onClick: begin }, 'New batch')
        : null,
    }),
    card(
      { title: 'Batches', bare: true },
      loaded(page, ({ batches, total }) =>
        batches.length === 0
          ? empty(
              { title: 'No batches yet', text: 'A batch has a code for a number of devices, until a time.' },
              permits('createEnrolmentBatch')
                ? button({ type: 'button', onClick: begin }, 'Make the first batch')
                : null,
            )
          : div(
              null,
              rowsTable({ label: 'Batches', rows: batches, columns: COLUMNS, keyOf: ({ batchId }) => batchId }),
              pager(offset + batches.length < total ? String(offset + batches.length) : null, batches.length),
            ),
      ),
    ),
    deviceCasCard(developerId, authorities),
  ];
}

export const enrolmentBatchesPage = (developerId: string): VNode => use(Batches, { developerId, key: developerId });
