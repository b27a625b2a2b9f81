import type { Statuses } from '../../core/devices/statuses.ts';
import type { DeviceEvents } from '../../core/events/device-events.ts';
import type { DeviceRequests } from '../../core/requests/device-requests.ts';
import type { Transactions } from '../../core/transactions/transactions.ts';
import type { Handlers } from './inbound.ts';

interface Parts {
  transactions: Pick<Transactions, 'settle' | 'ending'>;
  statuses: Pick<Statuses, 'report'>;
  events: Pick<DeviceEvents, 'accept'>;
  requests: Pick<DeviceRequests, 'accept'>;
}

/**
 * Makes the handlers for the messages of devices, one for each topic. A handler throws a DomainError when the message
 * is at fault.
 */
export function createDeviceMessages({ transactions, statuses, events, requests }: Parts): Handlers {
  return {
    async acks(deviceId, ack, { fence }) {
      await transactions.settle(deviceId, ack, fence);
      return undefined;
    },
    async status(deviceId, status, { fence }) {
      await statuses.report(deviceId, status, fence);
      return undefined;
    },
    async events(deviceId, event, { bytes, fence, partly }) {
      const ending = transactions.ending(deviceId);
      if (ending) await ending;
      const fault = await events.accept(deviceId, event, bytes, fence);
      if (fault) partly(fault);
      return undefined;
    },
    /** Every request gets a response with its requestId, also when its data is faulty. */
    async requests(deviceId, request, { fence }) {
      const ending = transactions.ending(deviceId);
      if (ending) await ending;
      return requests.accept(deviceId, request, fence);
    },
  };
}
