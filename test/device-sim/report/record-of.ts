import type { Figures } from '@lapel/device-sim/customer/figures';
import { createHistogram } from '@lapel/device-sim/histogram';
import { createRandom } from '@lapel/device-sim/random';
import type { Chapter, RunRecord, Sample } from '@lapel/device-sim/report/record';

/** Figures of which only these differ from zero. */
export function figuresOf(some: Partial<Figures>, milliseconds: readonly number[] = []): Figures {
  const histogram = (factor: number) => {
    const made = createHistogram();
    for (const one of milliseconds) made.record(one * factor);
    return made.data();
  };
  const zero = {
    requests: 0,
    accepted: 0,
    carriedOut: 0,
    errors: 0,
    postponed: 0,
    delivered: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    unfinished: 0,
    lost: 0,
    doubled: 0,
    late: 0,
    unordered: 0,
    reused: 0,
    violations: 0,
    wrong: 0,
    forged: 0,
    unasked: 0,
    resent: 0,
    repeated: 0,
    hammering: 0,
    window: 0,
    eventsTold: 0,
    eventsReceived: 0,
    eventsLost: 0,
    eventsDoubled: 0,
    rollouts: 0,
    rolloutDevices: 0,
    spared: 0,
    overshoot: 0,
    stages: 0,
    plannedStages: 0,
    pushed: 0,
    pulled: 0,
    order: 0,
    gaps: 0,
    customerLost: 0,
    customerAgain: 0,
  };
  return {
    ...zero,
    refused: {},
    failures: {},
    rolloutStates: {},
    ...some,
    latency: { accepted: histogram(0.4), delivered: histogram(1), answered: histogram(3), settled: histogram(4) },
  };
}

/** The record of an invented run that contains everything possible; the same for the same seed. */
export function recordOf(changes: Partial<RunRecord> = {}, seconds = 180): RunRecord {
  const random = createRandom(7);
  const slow = (): number => 8 * Math.exp(2.2 * (random() + random() + random() - 1.5));
  const samples = Array.from({ length: seconds }, (_, at): Sample => {
    const storm = at > seconds * 0.45 && at < seconds * 0.6;
    const factor = storm ? 12 : 1;
    const p50 = slow() ** 0.3 * 5 * factor;
    return {
      at: 1000 * (at + 1),
      connected: Math.min(2000, storm ? Math.round(700 + (at - seconds * 0.45) * (7800 / seconds)) : at * 400),
      accepted: at * 40,
      settled: at * 39,
      unfinished: at,
      errors: 0,
      delivered: at < 4 ? null : { p50, p99: p50 * (3 + 4 * random()) },
      settledAfter: at < 4 ? null : { p50: p50 * 3, p99: p50 * (12 + 9 * random()) },
      loopDelay: 12,
      processor: 0.3,
      behind: 2,
    };
  });
  const fleet = {
    devices: 2000,
    connected: 1998,
    activated: 2000,
    connections: 3310,
    losses: 1304,
    commands: 7411,
    repetitions: 211,
    connectRate: 812.4,
    memoryPerDevice: 22_400,
    downloads: 5980,
    downloadedBytes: 119_600_000,
    uploads: 120,
    uploadFailures: 3,
  };
  const chapter = (name: string, from: number, to: number, some: Partial<Figures>, count = 400): Chapter => ({
    name,
    spans: [{ from: from * seconds * 1000, to: to * seconds * 1000 }],
    figures: figuresOf(some, Array.from({ length: count }, slow)),
    fleet,
  });
  const all = {
    requests: 7213,
    accepted: 7200,
    carriedOut: 2,
    delivered: 7196,
    refused: { 429: 8, 404: 3 },
    errors: 5,
    succeeded: 5120,
    failed: 2069,
    failures: { VERSION_NAME_MISMATCH: 1804, STORAGE_FULL: 200, DOWNLOAD_FAILED: 65 },
    cancelled: 7,
    unfinished: 3,
    lost: 1,
    eventsTold: 310,
    eventsReceived: 310,
    resent: 12,
  };
  return {
    format: 1,
    scenario: 'bad-release',
    about:
      'A release that says another version than it was distributed as goes out to everyone, and the next one mends it.',
    run: 'bad-release',
    seed: 7,
    startedAt: '2026-11-22T06:05:00.000Z',
    milliseconds: seconds * 1000,
    service: { api: 'http://127.0.0.1:8080', mqtt: 'mqtt://127.0.0.1:1883' },
    shard: null,
    groups: [
      { name: 'wifi', devices: 1600 },
      { name: 'full', devices: 100 },
      { name: 'lte', devices: 300 },
    ],
    chapters: [
      chapter('run', 0, 1, all, 4000),
      chapter('start', 0, 0.06, { accepted: 2000, succeeded: 2000 }),
      chapter('good', 0.06, 0.36, { accepted: 1700, succeeded: 1600, failed: 100 }),
      chapter('bad', 0.36, 0.66, { accepted: 1760, failed: 1804, lost: 1 }),
      chapter('mended', 0.66, 0.94, { accepted: 1740, succeeded: 1520, failed: 165, unfinished: 3 }),
      chapter('settle', 0.94, 1, {}, 0),
    ],
    samples,
    faults: { 'breaks-off-install': 61, 'download-cut': 44, 'half-open': 12 },
    rollouts: [
      {
        rolloutId: 'rol_0193480f3a5b00112233445566778899',
        label: 'Camera <b>2.0.0</b>\u001b[31m',
        phase: 'bad',
        operation: 'installSoftware',
        state: 'paused',
        reason: 'ABORT_RULE',
        stages: 1,
        plannedStages: 3,
        devices: 2000,
        counts: { waiting: 1960, unfinished: 2, succeeded: 26, failed: 12, cancelled: 0, unchanged: 0, refused: 0 },
        spared: 1958,
        overshoot: 1,
        stop: null,
      },
    ],
    looks: { 'command-content': 4711, 'command-order': 4711, 'cancel-owed': 0 },
    verdicts: [
      { text: 'doubled == 0', phase: null, holds: true, measurable: true, value: 0, shown: '0', story: [] },
      {
        text: 'lost == 0',
        phase: null,
        holds: false,
        measurable: true,
        value: 1,
        shown: '1',
        story: [
          '1:12.031  customer  asked for setWifi (action 4711): 201, transaction 5120',
          '1:12.044  service   delivered it to device 354201330000124, attempt 1',
          '1:12.120  device    answered succeeded',
          '1:12.125  service   acknowledged the answer',
          '2:12.125  customer  has no result after 60 s; the service says: succeeded',
        ],
      },
      {
        text: 'p99(delivered) < 2 s',
        phase: null,
        holds: true,
        measurable: true,
        value: 310,
        shown: '310 ms',
        story: [],
      },
      {
        text: 'failed(VERSION_NAME_MISMATCH) >= 90 %',
        phase: 'bad',
        holds: true,
        measurable: true,
        value: 98.2,
        shown: '98.2 %',
        story: [],
      },
    ],
    requirements: [],
    notRun: [],
    own: { standstill: 0, full: 0, loopDelay: 12, behind: 2 },
    memory: { before: 80_000_000, connected: 124_800_000, end: 131_000_000 },
    troubles: ['354201330000124: the service reported a fault in devices/354201330000124/acks: <no JSON>'],
    troublesNotShown: 4,
    interrupted: false,
    ...changes,
  };
}
