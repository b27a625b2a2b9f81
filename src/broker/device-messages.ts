import type { Contracts, SchemaName } from '../contracts/contracts.ts';
import type { SchemaTypes } from '../contracts/types.ts';
import type { Statuses } from '../devices/statuses.ts';
import { DomainError, faultText } from '../errors.ts';
import type { DeviceEvents } from '../events/device-events.ts';
import { isUploadRequest, UPLOAD_FEATURES } from '../events/upload-features.ts';
import type { UploadUrls } from '../events/upload-urls.ts';
import type { Metrics } from '../metrics.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { Handlers } from './inbound.ts';

interface Parts {
  contracts: Pick<Contracts, 'read'>;
  metrics: Metrics;
  transactions: Pick<Transactions, 'settle' | 'ending' | 'freshUrl'>;
  statuses: Pick<Statuses, 'report'>;
  events: Pick<DeviceEvents, 'accept'>;
  uploads: Pick<UploadUrls, 'ask'>;
}

const LONGEST_MESSAGE = 1000;

type RequestHandler = (deviceId: string, data: object) => Promise<{ data: object } | { error: object }>;

/** What the service does with each message of a device. A message that cannot be carried out throws a DomainError. */
export function createDeviceMessages({ contracts, metrics, transactions, statuses, events, uploads }: Parts): Handlers {
  /** The data of a request, read as tolerantly as the message that it is in. Throws REQUEST_INVALID. */
  function read<Name extends SchemaName>(name: Name, data: object): SchemaTypes[Name] {
    const { value, unknown } = contracts.read(name, data);
    if (unknown.count > 0) metrics.mqttUnknownMembers.inc({ topic: 'requests' }, unknown.count);
    return value;
  }

  /** By the `type` of the request. */
  const requests: Record<string, RequestHandler> = {
    async softwareDownloadUrl(deviceId, data) {
      const { transactionId } = read('mqtt/software-download-url-request', data);
      const found = await transactions.freshUrl(deviceId, transactionId);
      return 'code' in found ? { error: found } : { data: found };
    },
  };

  return {
    async acks(deviceId, ack, { fence }) {
      await transactions.settle(deviceId, ack, fence);
      return undefined;
    },
    async status(deviceId, status, { fence }) {
      await statuses.report(deviceId, status, fence);
      return undefined;
    },
    async events(deviceId, event, { bytes, fence }) {
      const ending = transactions.ending(deviceId);
      if (ending) await ending;
      await events.accept(deviceId, event, bytes, fence);
      return undefined;
    },
    /** Every request gets a response with its requestId, also when something is wrong with its data. */
    async requests(deviceId, { requestId, type, data }, { respond, fence }) {
      const ending = transactions.ending(deviceId);
      if (ending) await ending;
      const handler = Object.hasOwn(requests, type) ? requests[type] : undefined;
      try {
        if (handler) return { requestId, ...(await handler(deviceId, data)) };
        if (isUploadRequest(type)) {
          const asked = read(UPLOAD_FEATURES[type].schema, data);
          uploads.ask({ deviceId, type, asked, fence }, (answer) => respond({ requestId, ...answer }));
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
