import type { createMetricKinds } from './runtime/metric-kinds.ts';

/** The metrics of webhooks and their receivers. */
export const createWebhookMetrics = ({
  counter,
  gauge,
  labelled,
  histogram,
}: ReturnType<typeof createMetricKinds>) => ({
  eventReadersWaiting: gauge('event_readers_waiting', 'Readers that wait for the next event of their application'),
  eventConsumers: labelled(
    'event_consumers',
    'Consumers of the streams of events that do not keep up, by state: `behind`: an event has waited for an hour; `ending`: such an event is soon removed; `lost`: one was; `abandoned`: the same, and nobody moves the consumer. Only the node that leads counts them, every minute',
    ['state'],
  ),
  eventsUnsent: counter(
    'events_unsent_total',
    'Events that are only in the stream of their application, because their setting had no URL',
    ['setting'],
  ),
  endpoints: labelled(
    'endpoints',
    'Endpoints of applications by state: `enabled`; `down`: enabled, but the last five events or more were refused; `disabled`',
    ['state'],
  ),
  endpointDeliveries: labelled(
    'endpoint_deliveries_waiting',
    'Deliveries to endpoints that wait: `pending` for their next attempt, `blocked` for another event of their device, or for their endpoint',
    ['status'],
  ),
  deliveriesCreated: counter('webhook_deliveries_total', 'Webhook deliveries created and stored', ['type']),
  deliveriesPending: gauge('webhook_pending', 'Webhook deliveries neither delivered nor given up'),
  oldestDeliveryDue: gauge(
    'webhook_oldest_due_seconds',
    'How late the pending webhook delivery is that should have been sent first',
  ),
  receiversFailing: gauge('webhook_receivers_failing', 'Receivers of webhooks whose last attempt failed'),
  answersDropped: counter(
    'delivery_answers_dropped_total',
    'Answers to failed webhook attempts that were not stored, because the application had used up its bytes for such answers',
  ),
  deliveryAttempts: counter('webhook_attempts_total', 'Webhook attempts, by outcome', ['outcome']),
  webhookMessages: counter(
    'webhook_messages_total',
    'Messages sent to receivers, by way: `direct`, or `node` with LAPEL_WEBHOOK_DIRECT=false',
    ['way'],
  ),
  receiverConnectionsKept: gauge('receiver_connections_kept', 'Idle connections to receivers, kept for later messages'),
  receiverConnectionsLimit: gauge(
    'receiver_connections_kept_limit',
    'The most idle connections to receivers that are kept, of all developers',
  ),
  receiverConnectionsClosed: counter(
    'receiver_connections_closed_total',
    'Idle connections to receivers closed early, by bound: `developer`, or `service`',
    ['bound'],
  ),
  deliveryAttemptsCut: counter(
    'webhook_attempts_cut_total',
    'Slow webhook attempts ended early, because other deliveries waited and no more attempts may run at a time',
  ),
  deliverySeconds: histogram('webhook_attempt_duration_seconds', 'Time of one webhook attempt'),
  deliveriesGivenUp: counter(
    'webhook_given_up_total',
    'Deliveries whose outcome could not be stored within 20 s when their receiver went to another node, which sends them again',
  ),
  deliveriesHeld: counter(
    'webhook_held_total',
    'Times that a delivery waited, because its receiver had as many simultaneous attempts as it may have',
  ),
});
