import { type Promised, promisesOf } from './promise.ts';

const { seen, tested } = promisesOf('endpoints.md');
const stream = promisesOf('stream.md');
const ORDER = 'order-of-the-events-of-a-device';

/** The promises about endpoints and about the stream of events. */
export const OF_EVENTS: readonly Promised[] = [
  stream.seen(
    'A reader gets the events with rising `sequence`, and none with a lower number comes later.',
    'order-and-gaps',
    ['stream-order', 'stream-all'],
    'endpoints',
  ),
  stream.seen('`deviceSequence` rises by one within a device.', 'order-and-gaps', 'device-numbers', 'endpoints'),
  stream.seen(
    'An event has the same id, numbers and body in the stream, at each endpoint and in its webhook.',
    'pull-or-push',
    'event-same',
    'endpoints',
  ),
  stream.seen(
    'A consumer goes on where it was, and none of its events is passed over.',
    'a-consumer',
    ['stream-order', 'stream-all'],
    'endpoints',
  ),
  stream.tested('A reader that waits is answered with the next event.', 'pull', 'stream/stream.test.ts'),
  stream.tested(
    'A reader whose place is older than the events that are kept is answered 410 `EVENTS_REMOVED`.',
    'if-you-are-away',
    'stream/stream.test.ts',
  ),
  seen(
    'An endpoint gets each event of its types from then on, and no other.',
    'make-one',
    ['endpoint-all', 'event-types'],
    'endpoints',
  ),
  seen(
    'An ordered endpoint sees the events of each device with rising `deviceSequence`.',
    ORDER,
    'endpoint-order',
    'endpoints',
  ),
  seen('An event to an endpoint is signed with the key of the endpoint.', 'signatures', 'endpoint-signed', 'endpoints'),
  seen('After any 2xx no further attempt comes to an endpoint.', 'make-one', 'webhook-accepted', 'endpoints'),
  tested('An event that is refused holds up its device only, and can be skipped.', ORDER, 'endpoints/order.test.ts'),
  tested(
    'After another secret each event is signed with both for 24 hours.',
    'signatures',
    'endpoints/endpoints.test.ts',
  ),
  tested(
    'An endpoint that is down costs its own place in the stream only.',
    'while-it-fails',
    'endpoints/endpoints.test.ts',
  ),
  tested(
    'A caller who enables an endpoint says whether the events that it missed are sent.',
    'disable-and-enable',
    'endpoints/endpoints.test.ts',
  ),
  tested('A replay sends events of the stream once more.', 'replay', 'endpoints/replay.test.ts'),
];
