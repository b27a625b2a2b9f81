import { column, date, flexible, type Resource } from './admin-resource.ts';

const STATES = 'pending, delivered, exhausted or gone';

/** The receivers of webhooks. */
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
      summary: 'Lists the receivers of webhooks and their states; times are in UTC',
      operation: 'listReceivers',
      kind: 'list',
      list: 'receivers',
      first: 1000,
      query: {
        state: {
          parameter: 'state',
          value: 'STATE',
          text: 'only receivers in this state: healthy, retrying, slow or failing',
        },
        developer: { parameter: 'developerId', value: 'ID', text: 'only receivers of this developer' },
        application: { parameter: 'applicationId', value: 'ID', text: 'only receivers of this application' },
      },
      examples: ['lapel admin receiver list --state failing'],
    },
  ],
};

/** The webhook deliveries of all applications. */
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
      summary: 'Lists webhook deliveries of all applications, the newest first; times are in UTC',
      operation: 'listAllDeliveries',
      kind: 'list',
      list: 'deliveries',
      first: 100,
      query: {
        application: { parameter: 'applicationId', value: 'ID', text: 'only deliveries of this application' },
        device: { parameter: 'deviceId', value: 'DEVICE', text: 'only deliveries about this device' },
        transaction: {
          parameter: 'transactionId',
          value: 'N',
          text: 'only the delivery that reported the end of this transaction',
        },
        status: { parameter: 'status', value: 'S', text: `only deliveries in this state: ${STATES}` },
        setting: { parameter: 'setting', value: 'S', text: 'only deliveries to the URL of this setting' },
        since: {
          parameter: 'since',
          value: 'TIME',
          text: 'only deliveries created from this time on, in UTC: 2026-11-20T08:30:00Z',
        },
        until: { parameter: 'until', value: 'TIME', text: 'only deliveries created before this time' },
      },
      examples: [
        'lapel admin delivery list --status exhausted',
        'lapel admin delivery list --application patrol --since 2026-11-20T08:00:00Z',
      ],
    },
    {
      verb: 'show',
      summary: 'Shows a delivery with its body and the results of its failed attempts',
      operation: 'readDelivery',
      arguments: { APPLICATION: 'applicationId', DELIVERY: 'deliveryId' },
      examples: ['lapel admin delivery show patrol msg_01a1febf1ef712cc23793580c1b6dbbc'],
    },
    {
      verb: 'redeliver',
      summary: 'Sends a delivery again, whatever its state',
      operation: 'redeliverOne',
      arguments: { APPLICATION: 'applicationId', DELIVERY: 'deliveryId' },
      done: 'sent again',
      examples: ['lapel admin delivery redeliver patrol msg_01a1febf1ef712cc23793580c1b6dbbc'],
    },
    {
      verb: 'redeliver-range',
      summary: 'Sends undelivered deliveries of an application again, or those in the state of --status',
      operation: 'redeliverSome',
      arguments: { APPLICATION: 'applicationId' },
      fields: {
        since: {
          field: 'since',
          value: 'TIME',
          text: 'only deliveries created from this time on, in UTC: 2026-11-20T08:30:00Z',
        },
        until: { field: 'until', value: 'TIME', text: 'only deliveries created before this time' },
        status: { field: 'status', value: 'S', text: `only deliveries in this state: ${STATES}` },
        setting: { field: 'setting', value: 'S', text: 'only deliveries to the URL of this setting' },
      },
      examples: [
        'lapel admin delivery redeliver-range patrol --since 2026-11-20T08:00:00Z --until 2026-11-20T12:00:00Z',
      ],
    },
    {
      verb: 'test',
      summary: 'Sends a test event to the URL of a setting',
      operation: 'testReceiver',
      arguments: { APPLICATION: 'applicationId', SETTING: 'setting' },
      examples: ['lapel admin delivery test patrol deviceEvent'],
    },
  ],
};
