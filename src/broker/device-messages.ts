import type { Contracts } from '../contracts/contracts.ts';
import type { Statuses } from '../devices/statuses.ts';
import { DomainError } from '../errors.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { Handler } from './inbound.ts';
import type { Inbound } from './topics.ts';

interface Parts {
  contracts: Contracts;
  transactions: Pick<Transactions, 'settle' | 'freshUrl'>;
  statuses: Pick<Statuses, 'report'>;
}

type RequestHandler = (deviceId: string, data: object) => Promise<{ data: object } | { error: object }>;

/** What the service does with each message of a device. A message that breaks its schema throws REQUEST_INVALID. */
export function createDeviceMessages({ contracts, transactions, statuses }: Parts): Record<Inbound, Handler> {
  /** By the `type` of the request. */
  const requests: Record<string, RequestHandler> = {
    async softwareDownloadUrl(deviceId, data) {
      const { transactionId } = contracts.check('mqtt/software-download-url-request', data, 'body');
      const found = await transactions.freshUrl(deviceId, transactionId);
      return 'code' in found ? { error: found } : { data: found };
    },
  };

  return {
    async acks(deviceId, message) {
      await transactions.settle(deviceId, contracts.check('mqtt/ack', message, 'body'));
      return undefined;
    },
    async status(deviceId, message) {
      await statuses.report(deviceId, contracts.check('mqtt/status', message, 'body'));
      return undefined;
    },
    async events(_deviceId, message) {
      contracts.check('mqtt/event', message, 'body');
      return undefined;
    },
    /** Every request gets a response with its requestId, also when something is wrong with it. */
    async requests(deviceId, message) {
      const { requestId, type, data } = contracts.check('mqtt/request', message, 'body');
      const handler = Object.hasOwn(requests, type) ? requests[type] : undefined;
      if (!handler)
        return { requestId, error: { code: 'UNSUPPORTED', message: 'requests of this type are not served.' } };
      try {
        return { requestId, ...(await handler(deviceId, data)) };
      } catch (thrown) {
        if (!(thrown instanceof DomainError)) throw thrown;
        return { requestId, error: { code: 'INVALID_PARAMETERS', message: thrown.message } };
      }
    },
  };
}
