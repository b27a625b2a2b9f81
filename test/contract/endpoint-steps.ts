import { until } from '../until.ts';
import type { CheckedAnswer, CheckedClient } from './checked-client.ts';

/** A request with the example of an operation; `made` has what earlier ones have made. */
export interface Step {
  operationId: string;
  query?: string;
  headers?: Record<string, string>;
  before?: () => Promise<unknown>;
  after?: (answer: CheckedAnswer) => Promise<unknown>;
}

interface Parts {
  api: CheckedClient;
  path: string;
  receiver: { url: string };
  /** A device that has had events. */
  deviceId: string;
  made: Record<string, string>;
  /** Keeps the identifier of the first row of a list. */
  last(list: string, name: string, id: string): Promise<void>;
  idle(): Promise<void>;
}

/** The operations of endpoints, in an order in which each can succeed. */
export function endpointSteps({ api, path, receiver, deviceId, made, last, idle }: Parts): Step[] {
  const at = (): string => `${path}/endpoints/${made['endpointId']}`;
  return [
    {
      operationId: 'createEndpoint',
      after: async ({ body }) => {
        made['endpointId'] = body.endpointId;
      },
    },
    { operationId: 'listEndpoints' },
    { operationId: 'readEndpoint' },
    { operationId: 'updateEndpoint' },
    {
      operationId: 'replaceEndpointSecret',
      after: () => api.patch(at(), { json: { url: receiver.url } }),
    },
    {
      operationId: 'startReplay',
      after: () => until(async () => (await api.get(at())).body.replay === null),
    },
    {
      operationId: 'listEndpointDeliveries',
      query: `?status=delivered&deviceId=${deviceId}`,
      before: () => idle(),
    },
    {
      operationId: 'testEndpoint',
      before: () => api.patch(at(), { json: { url: 'http://127.0.0.1:9/' } }),
      after: () => last(`/endpoints/${made['endpointId']}/deliveries`, 'deliveries', 'sequence'),
    },
    { operationId: 'skipEndpointDelivery' },
    {
      operationId: 'cancelReplay',
      // An endpoint that is down, after five refused events, is sent nothing again, so its replay goes on.
      before: async () => {
        for (let sent = 0; sent < 5; sent += 1) await api.post(`${at()}/test`);
        await until(async () => {
          const { body } = await api.get(`${at()}/deliveries?status=pending`);
          const rows: { sequence: number; attempts: number }[] = body.deliveries;
          const { after } = (await api.get(at())).body;
          return after >= rows.at(-1)!.sequence && rows.every(({ attempts }) => attempts > 0);
        });
        await api.post(`${at()}/replay`, { json: {} });
      },
    },
    { operationId: 'deleteEndpoint' },
  ];
}
