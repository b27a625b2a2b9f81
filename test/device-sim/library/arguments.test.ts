import { generateKeyPairSync } from 'node:crypto';
import { operations } from '@lapel/device-sim/model/operations';
import { type DeviceOptions, device, type FleetOptions, fleet, type ReceiverOptions, receiver } from 'lapel/sim';
import t from 'tap';
import { startWorld } from '../../world.ts';
import { startBroker } from '../plain-broker.ts';

const deviceId = '350000000000006';
const good: DeviceOptions = { mqtt: 'mqtt://127.0.0.1:1', deviceId, credential: 'secret' };
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' });
const webhooks = { authenticationKey: 'whsec_c2VjcmV0' };

/** Options as a JavaScript program may give them. */
const wrongDevices: [wrong: object, message: RegExp][] = [
  [{ mqtt: undefined }, /^mqtt: is needed$/],
  [{ mqtt: 'http://127.0.0.1' }, /^mqtt: 'http:\/\/127.0.0.1' is not a URL that begins with mqtt:\/\/, mqtts:\/\//],
  [{ deviceId: '35' }, /^deviceId: '35' is no IMEI: 15 digits/],
  [{ credential: '' }, /^credential: '' is not a text of at least one character$/],
  [{ credentials: 'x' }, /^credentials: is no option of device; did you mean "credential"\? there are mqtt, /],
  [{ seed: 1.5 }, /^seed: 1.5 is not a whole number from 0 to 4294967295$/],
  [{ behaviour: { latency: 'soon' } }, /^behaviour\.latency: /],
  [{ behaviour: { latencys: '1s' } }, /^behaviour\.latencys: is unknown here; did you mean "latency"\?/],
  [{ network: { away: '99 %' } }, /^network\.away: must be at most 95 %$/],
  [{ faults: [{ fault: 'fail', probability: 1 }] }, /^faults\[0\]\.fault: .*did you mean "fails"\?/],
  [{ on: { setWfi: () => {} } }, /^on: there is no 'setWfi'; did you mean "setWifi"\?/],
  [{ on: { setWifi: 'never' } }, /^on\(setWifi\): 'never' is no function$/],
  [{ trustedKeys: 'x' }, /^trustedKeys: 'x' is not a list of public keys$/],
  [{ trustedKeys: [rsa] }, /^trustedKeys\[0\]: is no public key of ed25519 in PEM$/],
  [{ trustedKeys: [''] }, /^trustedKeys\[0\]: is no public key of ed25519 in PEM$/],
  [{ activation: { applicationId: 'a' } }, /^activation\.clientId: is needed$/],
];

const wrongFleets: [wrong: object, message: RegExp][] = [
  [{}, /^count: is needed, or accounts instead, and not both$/],
  [{ count: 1, accounts: [] }, /^count: is needed, or accounts instead, and not both$/],
  [{ count: 0 }, /^count: 0 is not a whole number from 1 to 1000000$/],
  [{ count: 1, service: { adminUrl: 'x' } }, /^adminUrl: is no option of service; .*there are mqtt, api, admin/],
  [{ count: 1, service: { api: '::' } }, /^service\.api: '::' is not a URL/],
  [{ count: 1, service: { adminToken: '' } }, /^service\.adminToken: '' is not a text/],
  [{ accounts: [] }, /^accounts: is not a list/],
  [{ accounts: [1, 2].map(() => ({ deviceId, credential: 'x' })) }, /^accounts\[1\]\.deviceId: is in the list twice$/],
  [{ count: 1, on: null }, /^on: null is no object of operations/],
  [{ count: 1, language: 5 }, /^language: /],
  [{ accounts: [{ deviceId }] }, /^accounts\[0\]\.credential: is needed$/],
  [
    { accounts: [{ deviceId, credential: 'x' }], activate: true },
    /^application: is needed to activate devices of accounts$/,
  ],
  [{ count: 1, application: { applicationId: 'a' } }, /^application\.secret: is needed$/],
  [{ count: 1, receiver: { url: 'x' } }, /^url: is no option of receiver; /],
];

const wrongReceivers: [wrong: object, message: RegExp][] = [
  [{}, /^authenticationKey: is needed$/],
  [{ authenticationKey: 'secret' }, /^authenticationKey: does not begin with whsec_$/],
  [{ ...webhooks, application: { applicationId: 'a', secret: 'b' } }, /^authenticationKey: cannot be given with/],
  [{ ...webhooks, port: 70_000 }, /^port: 70000 is not a whole number from 0 to 65535$/],
];

t.test('an error about options names the option and says what is right', async (t) => {
  for (const [wrong, message] of wrongDevices) await t.rejects(device({ ...good, ...wrong }), { message });
  for (const [wrong, message] of wrongFleets) await t.rejects(fleet(wrong as FleetOptions), { message });
  for (const [wrong, message] of wrongReceivers) await t.rejects(receiver(wrong as ReceiverOptions), { message });
  // @ts-expect-error: a JavaScript program may forget the options
  await t.rejects(device(), { message: /^device: undefined is no object with options: mqtt, deviceId, / });
});

t.test('a device that cannot connect says so, and so does an unreachable service', async (t) => {
  await t.rejects(device(good), { message: /^device 350000000000006 cannot connect to mqtt:\/\/127\.0\.0\.1:1: / });
  const service = { admin: 'http://127.0.0.1:1', adminToken: 'x' };
  await t.rejects(fleet({ count: 1, service }), { message: /^cannot reach http:\/\/127\.0\.0\.1:1/ });
});

t.test('a service that refuses the receiver is told apart, and nothing stays registered', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'false' } });
  const { admin, http: api, mqtt } = world.service.addresses;
  const service = { mqtt, api, admin, adminToken: world.service.adminToken };
  await t.rejects(fleet({ count: 2, service, developer: 'lib' }), {
    message:
      /^application app_\w+ cannot use http:.*: 400 .*; a receiver on a private address needs LAPEL_WEBHOOK_ALLOW/,
  });
  t.strictSame((await world.admin().get('/admin/v1/developers/lib/devices')).body.devices, []);
});

t.test('calls of a device name a wrong argument', async (t) => {
  await using broker = await startBroker();
  await using camera = await device({
    ...good,
    mqtt: broker.url,
    activation: { applicationId: 'patrol', clientId: 'c' },
  });
  // @ts-expect-error: no operation of devices
  t.throws(() => camera.on('readStatus', () => {}), { message: /^on: there is no 'readStatus'; / });
  t.throws(() => camera.call({ milliseconds: -1 }), { message: /^milliseconds: -1 is not a number from 0 to / });
  t.throws(() => camera.call({ others: 32 }), { message: /^others: 32 is not a whole number from 1 to 31$/ });
  await t.rejects(camera.command('setWifi', { within: 0 }), { message: /^within: 0 is not a number from 1 to/ });
  await t.rejects(camera.event(''), { message: /^type: '' is not a text/ });
  for (const name of operations.keys()) camera.on(name as Parameters<typeof camera.on>[0], () => undefined)();
});

t.test('a fleet of accounts has no application and no receiver of its own', async (t) => {
  await using broker = await startBroker();
  await using cameras = await fleet({ service: { mqtt: broker.url }, accounts: [{ deviceId, credential: 'x' }] });
  t.equal(cameras.devices[0].online, true);
  t.equal(cameras.application, null);
  t.throws(() => cameras.receiver, { message: /^application: is missing, so there are no webhooks$/ });
  await t.rejects(cameras.request('readStatus', { deviceId }), { message: /^application: is needed/ });
  await t.rejects(cameras.request('readStati'), { message: /^operation: there is no 'readStati'; did you mean/ });
  t.throws(() => cameras.devices[0].uploadFile(), { message: /is not activated/ });
});
