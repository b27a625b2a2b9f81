import type { Database } from '../../platform/database/sql.ts';
import { createParts } from '../../runtime/parts.ts';
import { createDeviceRequests } from '../requests/device-requests.ts';
import { createCustomerRequests } from '../webhooks/http/customer-requests.ts';
import { createRequestHandlers } from './request-handlers.ts';
import { createUploadUrls } from './upload-urls.ts';

type Parts = Omit<Parameters<typeof createUploadUrls>[0], 'requests'> &
  Parameters<typeof createCustomerRequests>[0] &
  Pick<Parameters<typeof createRequestHandlers>[0], 'freshUrl'> & {
    database: Database;
  };

/**
 * Connects the parts that answer requests of devices: upload URLs, fresh download URLs, and requests that wait for the
 * customer.
 */
export function createAnswering(parts: Parts) {
  const all = createParts();
  const uploads = all.add(createUploadUrls({ ...parts, requests: createCustomerRequests(parts) }));
  const answers = all.add(createRequestHandlers({ ...parts, uploads }));
  const requests = all.add(createDeviceRequests({ ...parts, handlers: answers.handlers }));
  const stack = all.move();

  return {
    accept: requests.accept,
    open: requests.open,
    slowLooks: requests.slowLooks,
    idle: () => all.idle(() => 0),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
