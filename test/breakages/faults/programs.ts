import type { Breakage } from '../breakage.ts';

const EVENTS = 'edge/api/events.ts';
const play = 'programs';

/** Events that come wrongly to endpoints, or to consumers of the stream. */
export const PROGRAMS: readonly Breakage[] = [
  {
    name: 'ordered-endpoint-sends-side-by-side',
    about: 'The next event of a device is sent to an ordered endpoint while the one before waits for an attempt.',
    kind: 'order',
    patches: [
      {
        file: 'core/endpoints/taking.ts',
        search: '    const isBlocked = busy.has(deviceId);\n',
        replacement: '    const isBlocked = false;\n',
      },
    ],
    play,
    figures: ['order'],
    cause: /event \d+ .* came to the ordered endpoint billing after number \d+/,
  },
  {
    name: 'page-in-the-wrong-order',
    about: 'The events of a page of the stream come in the opposite order.',
    kind: 'order',
    patches: [{ file: EVENTS, search: 'events.map((event)', replacement: 'events.toReversed().map((event)' }],
    play,
    figures: ['order'],
    cause: /event \d+ .* came to the consumer \w+ after event \d+/,
  },
  {
    name: 'endpoint-takes-two-of-a-page',
    about: 'An endpoint takes two events of a page of the stream, and passes over the others.',
    kind: 'loss',
    patches: [
      {
        file: 'core/endpoints/feed.ts',
        search: 'page.events.filter(isFor(endpoint)), now, pace)',
        replacement: 'page.events.filter(isFor(endpoint)).slice(0, 2), now, pace)',
      },
    ],
    play,
    figures: ['gaps'],
    cause: /event \d+ .* never came to the (ordered )?endpoint \w+/,
  },
  {
    name: 'page-skips-its-last-event',
    about: 'A full page of the stream lacks its last event, and says that the next page begins behind it.',
    kind: 'loss',
    patches: [
      {
        file: EVENTS,
        search: '  const page = await stream.read(applicationId, reading);\n',
        replacement:
          '  const page = await stream.read(applicationId, reading);\n  if (page.events.length === reading.limit) page.events.pop();\n',
      },
    ],
    play,
    figures: ['gaps'],
    cause: /event \d+ .* never came to the consumer \w+/,
  },
  {
    name: 'device-numbers-leave-one-out',
    about: 'The fourth event of each device has the number 5, the next one 6, and so on.',
    kind: 'loss',
    patches: [
      {
        file: 'core/webhooks/delivery.ts',
        search: '{ sequence, deviceSequence }: EventNumbers): string {\n',
        replacement:
          '{ sequence, deviceSequence: own }: EventNumbers): string {\n  const deviceSequence = own !== null && own > 3 ? own + 1 : own;\n',
      },
    ],
    play,
    figures: ['gaps'],
    cause: /number 4 of the events of the device never came to/,
  },
  {
    name: 'stream-with-other-ids',
    about: 'The eventId in the stream is another one than the webhook-id of the event.',
    kind: 'content',
    patches: [
      {
        file: EVENTS,
        search: 'events.map((event)',
        replacement: "events.map((one) => ({ ...one, eventId: one.eventId.concat('0') })).map((event)",
      },
    ],
    play,
    figures: ['violations'],
    cause: /event \d+ .* with another id, number or content than before/,
  },
  {
    name: 'endpoint-gets-all-types',
    about: 'An endpoint gets events of types that it has not asked for.',
    kind: 'content',
    patches: [
      {
        file: 'core/endpoints/feed.ts',
        search: '        types: typesOf(endpoint.types),\n',
        replacement: '',
      },
    ],
    play,
    figures: ['violations'],
    cause: /the endpoint results got event \d+ \(custom.sos, .*\), whose type it has not asked for/,
  },
  {
    name: 'endpoint-signed-with-another-key',
    about: 'Events to endpoints are signed with another secret than that of the endpoint.',
    kind: 'refusal',
    patches: [
      {
        file: 'core/endpoints/receiving.ts',
        search: 'keys: endpoint ? secretsOf(endpoint, clock.now()) : []',
        replacement: "keys: endpoint ? ['whsec_'.concat(Buffer.alloc(32).toString('base64'))] : []",
      },
    ],
    play,
    figures: ['forged'],
    cause: /a webhook is not genuine: webhook-signature/,
  },
];
