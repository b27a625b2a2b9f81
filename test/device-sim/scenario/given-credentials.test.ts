import { EventEmitter } from 'node:events';
import { Refused } from '@lapel/device-sim/mqtt/link';
import { watchCredentials } from '@lapel/device-sim/scenario/given-credentials';
import t from 'tap';

const device = { deviceId: '352900130000016' };

/** Watches a fleet of one device, which notes the breaches. */
function watched({ areGiven = true, mayChange = false } = {}) {
  const events = new EventEmitter();
  const breaches: string[] = [];
  events.on('violation', ({ deviceId }: typeof device, text: string) => breaches.push(`${deviceId}: ${text}`));
  const fleet = { devices: [device], events } as never;
  return { events, breaches, ...watchCredentials({ fleet, areGiven, mayChange: () => mayChange }) };
}
const refused = (code: number): Error => new Error('cannot connect', { cause: new Refused(code) });
const BREACH = `${device.deviceId}: it refuses the credential that it gave to the device`;

t.test('a service that refuses a credential which it has given breaks the contract', async (t) => {
  const { events, breaches, onGivenUp } = watched();
  t.equal(onGivenUp({ ...device, error: refused(4) }), true);
  events.emit('refused', device, new Refused(4));
  t.strictSame(breaches, [BREACH, BREACH]);
});

t.test('a service that is away, or a device that is blocked, breaks nothing', async (t) => {
  const { events, breaches, onGivenUp } = watched();
  for (const code of [3, 5]) {
    t.equal(onGivenUp({ ...device, error: refused(code) }), false);
    events.emit('refused', device, new Refused(code));
  }
  t.equal(onGivenUp({ ...device, error: new Error('no route') }), false);
  t.strictSame(breaches, []);
});

t.test('credentials from elsewhere, and those that an operator changes, are not judged', async (t) => {
  for (const options of [{ areGiven: false }, { mayChange: true }]) {
    const { breaches, onGivenUp } = watched(options);
    t.equal(onGivenUp({ ...device, error: refused(4) }), false);
    t.strictSame(breaches, []);
  }
});
