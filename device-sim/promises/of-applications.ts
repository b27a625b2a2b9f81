import { type Promised, promisesOf } from './promise.ts';

const { seen, tested } = promisesOf('application-developers.md');
const idempotency = promisesOf('idempotency.md');
const reference = promisesOf('reference.md');

/** The promises to applications, except those about rollouts. */
export const OF_APPLICATIONS: readonly Promised[] = [
  seen('An access token is valid for one hour, and its answer says so.', 'tokens', 'token-hour', 'smoke'),
  seen('A token is valid for its time, although a newer one was issued.', 'tokens', 'token-valid', 'promises'),
  seen('An expired token is refused with 401.', 'tokens', 'token-expired', 'hours'),
  seen('A token has the scopes that its request asked for, and no others.', 'tokens', 'token-scope', 'promises'),
  seen('A forged or changed token is refused with 401.', 'tokens', ['token-forged', 'token-changed'], 'promises'),
  tested(
    'When the secret is replaced, the old secret and all its tokens end at once.',
    'tokens',
    'applications/applications.test.ts',
  ),
  tested(
    'The keys that sign tokens are rotated, and published before they sign.',
    'tokens',
    'applications/key-rotation.test.ts',
  ),
  tested(
    'A token that was got with a certificate needs the certificate in each call.',
    'tokens',
    'applications/certificates.test.ts',
  ),

  seen('A webhook is signed with the authenticationKey.', 'webhooks', 'webhook-signed', 'smoke'),
  seen(
    'After a new authenticationKey, each attempt is signed with it.',
    'how-long-things-are-kept',
    'webhook-new-key',
    'promises',
  ),
  seen(
    'The former authenticationKey signs as well, for 24 hours.',
    'how-long-things-are-kept',
    'webhook-former-key',
    'promises',
  ),
  tested('Webhooks come in no fixed order; their `timestamp` puts them in order.', 'webhooks', 'flow/events.test.ts'),
  seen('`timestamp` is the time of the event.', 'webhooks', 'webhook-timestamp', ['smoke', 'promises']),
  seen('`type` and `deviceId` of a webhook are those of its transaction.', 'webhooks', 'result-envelope', 'smoke'),
  seen(
    'After a failed attempt the next one comes after 5 s, 5 min, 30 min ..., each up to 20 % shorter.',
    'webhooks',
    'webhook-schedule',
    'promises',
  ),
  seen('A `Retry-After` that asks for longer counts.', 'webhooks', 'webhook-retry-after', 'promises'),
  seen('After any 2xx within 15 seconds no further attempt comes.', 'webhooks', 'webhook-accepted', 'smoke'),
  seen('After an answer of 410 no further attempt comes.', 'webhooks', 'webhook-gone', 'promises'),
  tested(
    'An answer after 15 seconds is a failed attempt, and so is each status but 2xx.',
    'webhooks',
    'webhooks/delivery.test.ts',
  ),
  tested('A receiver that is slow or down does not delay the others.', 'webhooks', 'webhooks/isolation.test.ts'),
  tested(
    'A receiver that fails for half an hour is told with `endpoint.failing`, and its end with `endpoint.recovered`.',
    'webhooks',
    'webhooks/endpoint-events.test.ts',
  ),
  tested('A webhook URL does not lead to private or metadata addresses.', 'webhooks', 'webhooks/address-guard.test.ts'),

  seen('A call is answered, and not with 5xx.', 'retries-and-limits', 'calls-answered', 'smoke'),
  idempotency.seen('A repeated call with its Idempotency-Key gets the first answer.', 'how-it-works', 'key-repeated', [
    'smoke',
    'promises',
  ]),
  idempotency.seen('So it does much later, for 24 hours.', 'how-it-works', 'key-later', ['promises', 'hours']),
  idempotency.seen('The same key with another request is refused with 422.', 'how-it-works', 'key-other-request', [
    'smoke',
    'promises',
  ]),
  tested(
    'An application above its rate is answered 429 with `Retry-After`.',
    'retries-and-limits',
    'api/rate-limit.test.ts',
  ),
  tested(
    'A device has at most 1000 unfinished transactions; one more is answered 429.',
    'retries-and-limits',
    'api/bounds.test.ts',
  ),
  tested(
    'Finished transactions are kept for 90 days, deliveries for 30 days.',
    'how-long-things-are-kept',
    'retention/retention.test.ts',
  ),

  seen(
    'Each accepted transaction gets a result, in one webhook with one body.',
    'transactions',
    ['result-lost', 'result-once'],
    'smoke',
  ),
  seen('The result is sent when the answer of the device was acknowledged.', 'transactions', 'result-late', 'promises'),
  seen('The webhook of a result says what the device has answered.', 'transactions', 'result-content', [
    'smoke',
    'promises',
  ]),
  seen('The record of a transaction agrees with its webhook.', 'transactions', 'result-record', 'smoke'),
  seen('No two transactions have one transactionId.', 'transactions', 'ids-once', 'smoke'),
  reference.seen(
    'A transaction whose cancel was answered 204 ends as cancelled.',
    'states-of-a-transaction',
    'result-cancelled',
    'promises',
  ),

  seen(
    'A command expires by its own term only, and not before its time.',
    'commands-that-expire',
    'result-expired',
    'promises',
  ),
  seen(
    'A command ends with `SUPERSEDED` only for a newer one that may take its place.',
    'commands-that-expire',
    'result-superseded',
    'promises',
  ),
  seen(
    'With `revertAfter` a device that its new networks cut off comes back with the former ones, and says `REVERTED`.',
    'networks-that-a-device-tries',
    'result-reverted',
    'promises',
  ),
  tested(
    'The networks of a device that has answered `REVERTED` are the former ones, also for a rollout that gives them back.',
    'networks-that-a-device-tries',
    'rollouts/revert-after.test.ts',
  ),
  tested(
    'The first answer after `EXPIRED`, `NO_ANSWER` or `SUPERSEDED` is kept as `late`.',
    'commands-that-expire',
    'flow/expiry.test.ts',
  ),
  tested(
    'A command that supersedes needs no room beside those that it replaces.',
    'commands-that-expire',
    'api/supersede.test.ts',
  ),

  tested(
    'A patch of tags sets, removes and leaves what it says; a device has at most 32.',
    'tags-and-selectors',
    'api/tags.test.ts',
  ),
  tested('A share of a selector is stable.', 'one-selector', 'api/selector.test.ts'),

  seen('The status of a device is what it last reported.', 'state-of-devices-and-bluetooth', 'status-content', [
    'promises',
    'turnover',
  ]),
  seen(
    'A status is that of the device that was asked for.',
    'state-of-devices-and-bluetooth',
    'status-device',
    'smoke',
  ),
  seen(
    'A device that the developer does not have, or that belongs to another one, is refused.',
    'state-of-devices-and-bluetooth',
    ['device-unknown', 'device-foreign'],
    'promises',
  ),
  seen(
    'A device that moved to another developer is refused to the former one.',
    'state-of-devices-and-bluetooth',
    'device-moved',
    'promises',
  ),

  seen('A download URL yields its file.', 'software-for-devices', 'url-valid', ['smoke', 'promises']),
  seen('A download URL is refused after it has expired.', 'software-for-devices', 'url-expired', 'hours'),
  seen(
    'A download URL is good for an hour from its delivery, and `expiresAt` says so.',
    'software-for-devices',
    'url-hour',
    ['smoke', 'promises'],
  ),
  tested(
    'A version that was stopped, or whose file is gone, is not delivered.',
    'software-for-devices',
    'software/installs.test.ts',
  ),

  seen(
    'An acknowledged event has one webhook, with its type, device and data.',
    'events-and-uploads-of-devices',
    ['event-lost', 'event-once', 'event-content'],
    'smoke',
  ),
  tested(
    'A request for upload URLs is signed, and asked twice at most.',
    'events-and-uploads-of-devices',
    'events/upload-answer.test.ts',
  ),
];
