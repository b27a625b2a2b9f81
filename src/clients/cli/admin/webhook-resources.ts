import { column, date, flexible, type Resource } from './admin-resource.ts';

const STATES = 'pending, delivered, exhausted or gone';

/** Where webhooks go. */
export const RECEIVERS: Resource = {
  resource: 'receiver',
  columns: [
    column('APPLICATION', 'applicationId'),
    column('SETTING', 'setting'),
    { ...column('STATE', 'state'), state: true },
    column('PENDING', 'pending'),
    date('FAILING SINCE', 'failingSince'),
    flexible('ERROR', 'lastError'),
    flexible('URL', 'url'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Where webhooks go, and how it does there; times are in UTC',
      method: 'GET',
      path: '/admin/v1/receivers',
      kind: 'list',
      list: 'receivers',
      first: 1000,
      query: { state: { parameter: 'state', value: 'STATE', text: 'healthy, slow or failing: only those' } },
      examples: ['lapel admin receiver list --state failing'],
    },
  ],
};

/** Webhooks of all applications. */
export const DELIVERIES: Resource = {
  resource: 'delivery',
  columns: [
    column('DELIVERY', 'deliveryId'),
    column('APPLICATION', 'applicationId'),
    column('TYPE', 'type'),
    { ...column('STATUS', 'status'), state: true },
    column('ATTEMPTS', 'attempts'),
    column('ANSWER', 'lastStatusCode'),
    date('CREATED', 'createdAt'),
    flexible('ERROR', 'lastError'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Webhooks of all applications, the newest first; times are in UTC',
      method: 'GET',
      path: '/admin/v1/deliveries',
      kind: 'list',
      list: 'deliveries',
      first: 100,
      query: {
        application: { parameter: 'applicationId', value: 'ID', text: 'of this application only' },
        device: { parameter: 'deviceId', value: 'DEVICE', text: 'about this device only' },
        transaction: { parameter: 'transactionId', value: 'N', text: 'the one that told the end of this transaction' },
        status: { parameter: 'status', value: 'S', text: `${STATES}: only those` },
        setting: { parameter: 'setting', value: 'S', text: 'to this setting only' },
        since: { parameter: 'since', value: 'TIME', text: 'made from this moment on, in UTC: 2026-11-20T08:30:00Z' },
        until: { parameter: 'until', value: 'TIME', text: 'made before this moment' },
      },
      examples: [
        'lapel admin delivery list --status exhausted',
        'lapel admin delivery list --application patrol --since 2026-11-20T08:00:00Z',
      ],
    },
    {
      verb: 'show',
      summary: 'One webhook: what is sent, and what came of its failed attempts',
      method: 'GET',
      path: '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}',
      arguments: { APPLICATION: 'applicationId', DELIVERY: 'deliveryId' },
      examples: ['lapel admin delivery show patrol msg_01a1febf1ef712cc23793580c1b6dbbc'],
    },
    {
      verb: 'redeliver',
      summary: 'Sends a webhook again, whatever became of it',
      method: 'POST',
      path: '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}/redeliver',
      arguments: { APPLICATION: 'applicationId', DELIVERY: 'deliveryId' },
      done: 'sent again',
      examples: ['lapel admin delivery redeliver patrol msg_01a1febf1ef712cc23793580c1b6dbbc'],
    },
    {
      verb: 'redeliver-range',
      summary: 'Sends webhooks of an application again: what was given up, unless a state is named',
      method: 'POST',
      path: '/admin/v1/applications/{applicationId}/deliveries/redeliver',
      arguments: { APPLICATION: 'applicationId' },
      fields: {
        since: { field: 'since', value: 'TIME', text: 'made from this moment on, in UTC: 2026-11-20T08:30:00Z' },
        until: { field: 'until', value: 'TIME', text: 'made before this moment' },
        status: { field: 'status', value: 'S', text: `${STATES}: only those` },
        setting: { field: 'setting', value: 'S', text: 'to this setting only' },
      },
      examples: [
        'lapel admin delivery redeliver-range patrol --since 2026-11-20T08:00:00Z --until 2026-11-20T12:00:00Z',
      ],
    },
    {
      verb: 'test',
      summary: 'Sends a test event to the URL of a setting',
      method: 'POST',
      path: '/admin/v1/applications/{applicationId}/webhooks/test',
      arguments: { APPLICATION: 'applicationId', SETTING: 'setting' },
      examples: ['lapel admin delivery test patrol deviceEvent'],
    },
  ],
};
