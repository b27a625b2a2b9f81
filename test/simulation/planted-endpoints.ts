import type { Planted } from './planted.ts';

const ENDPOINTS = 'core/endpoints';

/** Faults in the sending to endpoints, which worlds whose customer has an endpoint show (`--endpoints`). */
export const PLANTED_ENDPOINTS: readonly Planted[] = [
  {
    name: 'endpoint-takes-side-by-side',
    about: 'an event of a device is taken while the one before waits for an attempt',
    within: 4,
    patches: [
      {
        file: `${ENDPOINTS}/taking.ts`,
        search: '    const isBlocked = busy.has(deviceId);\n',
        replacement: '    const isBlocked = false;\n',
      },
    ],
  },
  {
    name: 'endpoint-releases-a-later-one',
    about: 'several events of a device wait when the one before is accepted',
    within: 4,
    patches: [
      {
        file: `${ENDPOINTS}/endpoint-delivery-repository.ts`,
        search: 'device_id <= through.device_id ORDER BY device_id, sequence LIMIT 1)',
        replacement: 'device_id <= through.device_id ORDER BY device_id, sequence DESC LIMIT 1)',
      },
    ],
  },
  {
    name: 'endpoint-passes-over-an-event',
    about: 'several events come at a time, and fill a page of the stream',
    within: 1,
    patches: [
      {
        file: `${ENDPOINTS}/feed.ts`,
        search: 'page.events.filter(isFor(endpoint)), now, pace)',
        replacement: 'page.events.slice(0, 2), now, pace)',
      },
    ],
  },
  {
    name: 'endpoint-waits-for-nothing',
    about: 'an event comes while its endpoint begins to wait',
    within: 1,
    patches: [
      {
        file: `${ENDPOINTS}/feeding.ts`,
        search: '    await page;\n',
        replacement: '    await page;\n    return new Promise(() => undefined);\n',
      },
    ],
  },
  {
    name: 'endpoint-forgets-what-is-blocked',
    about: 'an event is given up, or accepted, while others of its device wait for it',
    within: 4,
    patches: [
      {
        file: `${ENDPOINTS}/receiving.ts`,
        search: ".filter((one) => isOf(key, one) && one.status !== 'pending')",
        replacement: ".filter((one) => isOf(key, one) && one.status === 'gone')",
      },
    ],
  },
];
