import { a, div, small, span } from '../base/elements.ts';
import { addressOf, ROLE } from '../base/place.ts';
import type { DeliveryRow } from '../base/rows.ts';
import { deliveryBadge } from './badges.ts';
import { nameAlone } from './named.ts';
import { age, idLink, nothing, said, until } from './show.ts';
import type { Column } from './table.ts';

/** The result of the last attempt, in words. */
export const lastAnswer = ({ lastStatusCode, lastError }: Pick<DeliveryRow, 'lastStatusCode' | 'lastError'>): string =>
  lastError ?? (lastStatusCode === null ? '' : `answered ${lastStatusCode}`);

export const deliveryColumns = (): Column<DeliveryRow>[] => [
  {
    name: 'Delivery',
    kind: 'lead',
    cell: ({ applicationId, deliveryId, type }) => [
      a({ href: addressOf(['webhooks', applicationId, deliveryId]) }, said(type)),
      small({ class: 'mono' }, deliveryId),
    ],
  },
  {
    name: 'About',
    cell: ({ deviceId, transactionId }) =>
      div(
        null,
        deviceId === null ? nothing() : idLink(addressOf(['devices', deviceId]), deviceId),
        transactionId === null
          ? null
          : small(null, 'transaction ', idLink(addressOf(['transactions', transactionId]), transactionId)),
      ),
  },
  {
    name: 'To',
    cell: ({ applicationId, setting }) =>
      div(null, said(setting), ROLE === 'operator' ? small(null, nameAlone('applications', applicationId)) : null),
  },
  {
    name: 'State',
    cell: (row) =>
      div(
        null,
        deliveryBadge(row.status),
        row.status !== 'delivered' && lastAnswer(row) !== ''
          ? small({ class: row.status === 'pending' ? '' : 'fault' }, said(lastAnswer(row)))
          : null,
        row.nextAttemptAt === null || row.attempts === 0
          ? null
          : small(null, 'next attempt ', until(row.nextAttemptAt)),
      ),
  },
  { name: 'Attempts', kind: 'right', cell: ({ attempts }) => span(null, String(attempts)) },
  { name: 'Created', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
];
