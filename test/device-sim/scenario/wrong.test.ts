import t from 'tap';
import { changed, type Faults, type Json, put, startBreakable, together, valueAt } from './broken-service.ts';

const OTHER = '352900130000016';

const SCENARIO = `devices: 2
phases:
  - name: work
    duration: 300ms
    actions:
      - { do: setWifi, each: 2 }
      - { do: setApn, each: 2 }
      - { do: setLanguage, each: 1 }
      - { do: readBluetooth, each: 1 }
      - { do: pressButton, each: 1 }
settle: 5s
`;

const ofCommand =
  (operation: string, change: (command: Json) => void): NonNullable<Faults['mqtt']> =>
  (publish) => {
    const text = publish.payload.toString();
    if (!text.includes(`"operation":"${operation}"`)) return [publish];
    return [{ ...publish, payload: changed(text, change) }];
  };
const ofResult =
  (operation: string, change: (event: Json) => void): NonNullable<Faults['webhook']> =>
  (event) => {
    if (valueAt(event, 'data.transaction.operation') === operation) change(event);
  };
const ofAnswer =
  (method: string, path: RegExp, change: (body: Json) => void): NonNullable<Faults['api']> =>
  async (passing, pass) => {
    const reply = await pass();
    if (passing.method !== method || !path.test(passing.path) || reply.status >= 300) return reply;
    return { ...reply, body: changed(reply.body, change) };
  };

/** Each fault: where it is, and the trouble that it must cause. Each changes something that no other one changes. */
const FAULTS: Readonly<Record<string, { faults: Faults; text: RegExp }>> = {
  'a parameter of a command': {
    faults: {
      mqtt: ofCommand('setLanguage', (command) => put(command, 'parameters.lang', () => 'xx')),
    },
    text: /device \d{15}: command \d+ has the wrong parameters\.lang: "xx" instead of "/,
  },
  'a letter that is not ASCII': {
    faults: {
      mqtt: ofCommand('setApn', (command) =>
        put(command, 'parameters.apns.0.name', (name) => String(name).replace(/[^ -~]/gu, '?')),
      ),
    },
    text: /command \d+ has the wrong parameters\.apns\[0\]\.name: ".*\?/,
  },
  'an empty text that is left out': {
    faults: {
      mqtt: ofCommand('setApn', (command) => put(command, 'parameters.apns.0.user', (user) => user || undefined)),
    },
    text: /command \d+ has the wrong parameters\.apns\[0\]\.user: nothing instead of ""/,
  },
  'the result of a webhook': {
    faults: {
      webhook: ofResult('getConnectivityState', (event) =>
        put(event, 'data.transaction.result.enabled', (enabled) => !enabled),
      ),
    },
    text: /the webhook of transaction \d+ has the wrong result\.enabled: true instead of false/,
  },
  'the status of a webhook': {
    faults: {
      webhook: ofResult('setLanguage', (event) => {
        put(event, 'type', () => 'transaction.failed');
        put(event, 'data.transaction.status', () => 'failed');
        put(event, 'data.transaction.error', () => ({ code: 'INTERNAL', message: 'no' }));
      }),
    },
    text: /the webhook of transaction \d+ has the wrong status: "failed" instead of "succeeded"/,
  },
  'the type of a webhook': {
    faults: {
      webhook: ofResult('setWifi', (event) => put(event, 'type', () => 'transaction.failed')),
    },
    text: /the webhook of transaction \d+ has the wrong type: "transaction.failed" instead of "transaction.succeeded"/,
  },
  'the device of a webhook': {
    faults: {
      webhook: ofResult('setApn', (event) => {
        put(event, 'data.deviceId', () => OTHER);
        put(event, 'data.transaction.deviceId', () => OTHER);
      }),
    },
    text: /the result of transaction \d+, which was for device \d{15}, names device 352900130000016/,
  },
  'the data of an event': {
    faults: {
      webhook: (event) => {
        if (event['type'] === 'custom.sos') put(event, 'data.button', () => 'front');
      },
    },
    text: /device \d{15}: event [0-9a-f-]{36} \(custom\.sos\) has the wrong data\.button: "front" instead of "side"/,
  },
  'a record': {
    faults: {
      api: ofAnswer('GET', /\/transactions\/\d+$/, (record) =>
        put(record, 'error', () => ({ code: 'INTERNAL', message: 'no' })),
      ),
    },
    text: /the record of transaction \d+ has the wrong error: \{"code":"INTERNAL","message":"no"\} instead of null/,
  },
  'the device of a status': {
    faults: {
      api: ofAnswer('GET', /\/status$/, (status) => put(status, 'deviceId', () => OTHER)),
    },
    text: /the status of device \d{15} has the wrong deviceId: "352900130000016" instead of "/,
  },
  'the connection of a device': {
    faults: {
      api: ofAnswer('GET', /\/status$/, (status) => put(status, 'connected', () => false)),
    },
    text: /the status of device \d{15} has the wrong connected: false instead of true/,
  },
  'the status of a device': {
    faults: {
      api: ofAnswer('GET', /\/status$/, (status) => put(status, 'lang', () => 'xx')),
    },
    text: /the status of device \d{15} has the wrong lang: "xx" instead of "/,
  },
};

t.test('the contents of a service', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);

  t.test('that keeps its promises are right, on all ways', async (t) => {
    const { verdicts } = await play(t, SCENARIO, {});
    for (const { text, holds, shown, story } of verdicts) t.ok(holds, `${text}: ${shown}`, { story });
    t.ok(verdicts.some(({ text }) => text === 'wrong == 0'));
  });

  // A run keeps only its first troubles, so each way has a run of its own.
  for (const way of ['mqtt', 'webhook', 'api'] as const) {
    t.test(`that are wrong are found, and told with a story: ${way}`, async (t) => {
      const faults = Object.entries(FAULTS).filter(([, one]) => one.faults[way] !== undefined);
      const { verdicts, troubles } = await play(t, SCENARIO, together(faults.map(([, one]) => one.faults)));
      const verdict = verdicts.find((one) => one.text === 'wrong == 0');
      t.equal(verdict?.holds, false);
      for (const [name, { text }] of faults) t.match(troubles.join('\n'), text, name);
      t.ok((verdict?.story.length ?? 0) > 1, 'there is a story');
    });
  }
});
