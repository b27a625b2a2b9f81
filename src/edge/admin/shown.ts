import { HIDDEN } from '@lapel/schemas/base/secret-names';
import type { DeliveryDetail, DeliveryRow, SchemaTypes, TransactionDetail } from '@lapel/schemas/contracts/types';
import { type Role, seesPayloads } from '../../core/people/roles.ts';
import { hiddenUrl, withoutUrls } from '../../runtime/without-urls.ts';
import type { FeedItem } from '../feed/feed-stream.ts';

type Receiver = SchemaTypes['admin/receiver'];
type ApplicationRow = SchemaTypes['admin/application-row'];
type AuditEntry = SchemaTypes['admin/audit-entry'];

/** How bodies are shown to a caller: as they are, or without the parts that the caller's role may not see. */
export interface Shown {
  transaction(detail: TransactionDetail): TransactionDetail;
  delivery(detail: DeliveryDetail): DeliveryDetail;
  deliveryRow(row: DeliveryRow): DeliveryRow;
  receiver(receiver: Receiver): Receiver;
  application(row: ApplicationRow): ApplicationRow;
  auditEntry(entry: AuditEntry): AuditEntry;
  feedItem(item: FeedItem): FeedItem;
}

const same = <Body>(body: Body): Body => body;

const WHOLE: Shown = {
  transaction: same,
  delivery: same,
  deliveryRow: same,
  receiver: same,
  application: same,
  auditEntry: same,
  feedItem: same,
};

/** Takes the place of an object that is hidden. */
const hiddenObject = { hidden: HIDDEN };
const object = (value: object | null): object | null => value && hiddenObject;
const text = (value: string | null): string | null => value && HIDDEN;

const deliveryRow = <Row extends DeliveryRow>(row: Row): Row => ({ ...row, url: hiddenUrl(row.url) });

const WITHOUT_PAYLOADS: Shown = {
  transaction: ({ late, webhook, ...detail }) => ({
    ...detail,
    parameters: object(detail.parameters),
    result: object(detail.result),
    webhook: webhook && deliveryRow(webhook),
    ...(late && { late: { ...late, ...(late.result && { result: hiddenObject }) } }),
  }),
  delivery: (detail) => ({
    ...deliveryRow(detail),
    body: HIDDEN,
    answer: text(detail.answer),
    failedAttempts: detail.failedAttempts.map((attempt) => ({ ...attempt, answer: text(attempt.answer) })),
  }),
  deliveryRow,
  receiver: (receiver) => ({ ...receiver, url: hiddenUrl(receiver.url) }),
  application: (row) => ({
    ...row,
    settings: Object.fromEntries(
      Object.entries(row.settings).map(([name, value]) => [name, hiddenUrl(value)]),
    ) as ApplicationRow['settings'],
  }),
  auditEntry: (entry) => ({ ...entry, details: withoutUrls(entry.details) as AuditEntry['details'] }),
  feedItem(item) {
    const { topic, value } = item;
    if (topic === 'receivers') return { ...item, value: { ...value, url: hiddenUrl((value as Receiver).url) } };
    if (topic === 'device') return { ...item, value: { ...value, payload: HIDDEN } };
    return item;
  },
};

/** How bodies are shown to somebody with a role. */
export const shownTo = ({ role }: { role: Role }): Shown => (seesPayloads(role) ? WHOLE : WITHOUT_PAYLOADS);
