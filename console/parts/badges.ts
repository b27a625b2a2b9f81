import type { VNode } from '../base/elements.ts';
import type { DeliveryRow, DeviceRow, EndpointDelivery, Receiver, TransactionStatus } from '../base/rows.ts';
import { badge, type Tone } from './show.ts';

/** Badges for states. The text always names the state, because colour alone is not enough. */

const TRANSACTIONS: Record<TransactionStatus, Tone> = {
  queued: '',
  delivered: 'calm',
  processing: 'calm',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warn',
};
export const transactionBadge = (status: TransactionStatus, progress: number | null = null): VNode =>
  badge(TRANSACTIONS[status] ?? '', status === 'processing' && progress !== null ? `processing ${progress} %` : status);

export const isFinished = (status: TransactionStatus): boolean => ['succeeded', 'failed', 'cancelled'].includes(status);

const DELIVERIES: Record<DeliveryRow['status'] | EndpointDelivery['status'], Tone> = {
  pending: 'calm',
  delivered: 'good',
  exhausted: 'bad',
  gone: 'bad',
  blocked: 'warn',
  skipped: '',
};
export const deliveryBadge = (status: DeliveryRow['status'] | EndpointDelivery['status']): VNode =>
  badge(DELIVERIES[status] ?? '', status);

const RECEIVERS: Record<Receiver['state'], Tone> = {
  healthy: 'good',
  retrying: 'calm',
  slow: 'warn',
  failing: 'bad',
};
export const receiverBadge = (state: Receiver['state']): VNode => badge(RECEIVERS[state] ?? '', state);

export const connectionBadge = ({ connected }: Pick<DeviceRow, 'connected'>): VNode =>
  connected ? badge('good', 'connected') : badge('', 'disconnected');

export const activationBadge = ({ activation, blocked }: Pick<DeviceRow, 'activation' | 'blocked'>): VNode =>
  blocked
    ? badge('bad', 'blocked')
    : badge(activation === 'activated' ? 'good' : activation === 'activating' ? 'calm' : '', activation);

/** A battery charge below this percentage is shown as low, and below twice this as a warning. */
const LOW = 15;
export const batteryBadge = (percent: number): VNode =>
  badge(percent < LOW ? 'bad' : percent < 2 * LOW ? 'warn' : '', `${percent} %`);
