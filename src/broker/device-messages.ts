import type { Contracts } from '../contracts/contracts.ts';
import type { Statuses } from '../devices/statuses.ts';
import { DomainError, faultText } from '../errors.ts';
import type { DeviceEvents } from '../events/device-events.ts';
import { isUploadRequest } from '../events/upload-features.ts';
import type { UploadUrls } from '../events/upload-urls.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { Handler } from './inbound.ts';
import type { Inbound } from './topics.ts';

interface Parts {
  contracts: Contracts;
  transactions: Pick<Transactions, 'settle' | 'freshUrl'>;
  statuses: Pick<Statuses, 'report'>;
  events: Pick<DeviceEvents, 'accept'>;
  uploads: Pick<UploadUrls, 'ask'>;
}

const LONGEST_MESSAGE = 1000;

type RequestHandler = (deviceId: string, data: object) => Promise<{ data: object } | { error: object }>;

/** What the service does with each message of a device. A message that breaks its schema throws REQUEST_INVALID. */
export function createDeviceMessages(parts: Parts): Record<Inbound, Handler> {
  const { contracts, transactions, statuses, events, uploads } = parts;
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
    async events(deviceId, message) {
      await events.accept(deviceId, contracts.check('mqtt/event', message, 'body'));
      return undefined;
    },
    /** Every request gets a response with its requestId, also when something is wrong with it. */
    async requests(deviceId, message, respond) {
      const { requestId, type, data } = contracts.check('mqtt/request', message, 'body');
      const handler = Object.hasOwn(requests, type) ? requests[type] : undefined;
      try {
        if (handler) return { requestId, ...(await handler(deviceId, data)) };
        if (isUploadRequest(type)) {
          uploads.ask(deviceId, type, data, (answer) => respond({ requestId, ...answer }));
          return undefined;
        }
        return { requestId, error: { code: 'UNSUPPORTED', message: 'requests of this type are not served.' } };
      } catch (thrown) {
        if (!(thrown instanceof DomainError)) throw thrown;
        const why = `${thrown.message} ${faultText(thrown.details)}`.trim().slice(0, LONGEST_MESSAGE);
        return { requestId, error: { code: 'INVALID_PARAMETERS', message: why } };
      }
    },
  };
}
