import { createKeyPair, signatureOf } from '../software/signing.ts';
import {
  asked,
  type Case,
  type Cases,
  commonCases,
  NO_DESTINATION,
  NOT_ACTIVATED,
  OF_COMMAND,
  OTHER_METHOD,
  operationOf,
  PLAIN,
  target,
} from './cases.ts';
import type { ConformanceWorld } from './conformance-world.ts';
import { ENDPOINTS } from './endpoint-cases.ts';
import { NOTES } from './note-cases.ts';
import { ROLLOUTS } from './rollout-cases.ts';
import { ROWS } from './rows.ts';
import { STREAM } from './stream-cases.ts';

const NO_DELIVERY = `msg_${'0'.repeat(32)}`;
const newestDelivery = async ({ api, path }: ConformanceWorld): Promise<string> =>
  `${path}/webhooks/deliveries/${(await api.get(`${path}/webhooks/deliveries`)).body.deliveries[0].deliveryId}`;

const newMember = ({ asAdmin, path }: ConformanceWorld, name: string) =>
  asAdmin.post(`${path}/members`, { json: { name, role: 'reader' } });

const KEY = createKeyPair();

/** Signs a new version with a key of its developer; returns the answer, and the path of the signature. */
async function signVersion({ api, world, tenant, newVersion }: ConformanceWorld) {
  const json = { name: 'release', publicKey: KEY.publicKey };
  await world.admin().post(`/admin/v1/developers/${tenant.developerId}/software-keys`, { json });
  const { name, version } = await newVersion();
  const path = `${version}/signature`;
  const signed = signatureOf(KEY, { package: name, version: '1.0.0' }, '0'.repeat(64));
  return { path, answer: await api.put(path, { json: signed }) };
}

/** The cases of single rows. */
const OWN: Record<string, Cases> = {
  diagnostics: {
    201: {
      title: 'an application whose devices upload files',
      async run({ api, path, tenant, device }) {
        const { url } = tenant.receiver;
        await api.patch(path, { json: { fileUploadGetUrl: url, fileUploadEvent: url } });
        const asked = await api.post(`${path}/devices/${device.deviceId}/diagnostics`, { json: { kinds: ['logs'] } });
        await api.patch(path, { json: { fileUploadGetUrl: null, fileUploadEvent: null } });
        return asked;
      },
    },
  },
  'op 1': { 200: PLAIN('op 1', 'settings of the application') },
  'op 2': { 200: PLAIN('op 2', 'settings are changed') },
  'op 3': {
    201: {
      title: 'a key is issued',
      run: ({ bare }) => bare.api.post(`${bare.path}/refresh_authkey`),
    },
  },
  'op 4': { 200: PLAIN('op 4', 'an activated device'), 405: OTHER_METHOD('PUT', 'op 4') },
  'op 5': {
    201: {
      title: 'a deactivated device',
      run: async ({ api, path, newDevice }) => api.post(`${path}/devices/${await newDevice()}`, { json: {} }),
    },
    403: PLAIN('op 5', 'device is already activated'),
    404: NO_DESTINATION('op 5'),
  },
  'op 6': {
    201: {
      title: 'an activated device',
      run: async ({ world, tenant, api }) => api.delete((await world.activatedDevice(tenant)).path),
    },
    403: NOT_ACTIVATED('op 6'),
    404: NO_DESTINATION('op 6'),
  },
  'op 7': { 200: PLAIN('op 7', 'an activated device'), 403: NOT_ACTIVATED('op 7') },
  'op 8': { 200: PLAIN('op 8', 'the devices of the application') },
  'op 9': {
    200: PLAIN('op 9', 'a device of the developer'),
    403: {
      title: 'a device of another developer',
      run: (world) => asked(operationOf('op 9'), world.foreign, target(operationOf('op 9'), world)),
    },
    405: OTHER_METHOD('POST', 'op 9'),
  },
  'op 12': { 200: PLAIN('op 12', 'the packages of the developer') },
  'op 13': {
    201: {
      title: 'a new package',
      run: ({ api, path, newName }) => api.post(`${path}/packages`, { json: { package: newName() } }),
    },
    400: {
      title: 'reserved prefix',
      run: ({ api, path }) => api.post(`${path}/packages`, { json: { package: 'com.lapel.mine' } }),
    },
    409: {
      title: 'package of another developer',
      async run({ api, path, other, newName }) {
        const json = { package: newName() };
        await other.api.post(`${other.path}/packages`, { json });
        return api.post(`${path}/packages`, { json });
      },
    },
  },
  'op 14': {
    200: {
      title: 'the display name is changed',
      run: async ({ api, newVersion }) => api.patch((await newVersion()).package, { json: { displayName: null } }),
    },
  },
  'op 15': {
    204: {
      title: 'a package without versions',
      async run({ api, path, newName, register }) {
        const name = newName();
        await register(name);
        return api.delete(`${path}/packages/${name}`);
      },
    },
    409: {
      title: 'package still has versions',
      run: async ({ api, newVersion }) => api.delete((await newVersion()).package),
    },
  },
  'op 16': {
    200: {
      title: 'the versions of a package',
      run: async ({ api, newVersion }) => api.get(`${(await newVersion()).package}/versions`),
    },
  },
  'op 17': {
    201: {
      title: 'a new version',
      run: async ({ api, newVersion }) =>
        api.post(`${(await newVersion()).package}/versions`, { json: { version: '2.0.0' } }),
    },
    409: {
      title: 'version already registered',
      run: async ({ api, newVersion }) =>
        api.post(`${(await newVersion()).package}/versions`, { json: { version: '1.0.0' } }),
    },
  },
  'op 18': {
    200: {
      title: 'the description is changed',
      run: async ({ api, newVersion }) => api.patch((await newVersion()).version, { json: { description: 'new' } }),
    },
  },
  'op 19': {
    204: {
      title: 'a version without binary and distribution',
      run: async ({ api, newVersion }) => api.delete((await newVersion()).version),
    },
    409: {
      title: 'version still has a binary',
      run: async ({ api, newVersion }) => api.delete((await newVersion('binary')).version),
    },
  },
  'op 20': {
    200: {
      title: 'a binary',
      run: async ({ api, newVersion }) => api.get(`${(await newVersion('binary')).version}/binaries`),
    },
  },
  'op 21': {
    204: {
      title: 'a binary is deleted',
      run: async ({ api, newVersion }) => api.delete(`${(await newVersion('binary')).version}/binaries`),
    },
  },
  'op 22': {
    200: {
      title: 'an upload URL',
      run: async ({ api, newVersion }) => api.post(`${(await newVersion()).version}/binaries`),
    },
  },
  'op 23': {
    200: {
      title: 'an upload URL for new software',
      run: ({ api, path, newName }) =>
        api.post(`${path}/apps`, { json: { package: newName(), version: '1.0.0', fileSize: 1 } }),
    },
    400: {
      title: 'package used by a different developer',
      async run({ api, path, other, newName }) {
        const json = { package: newName(), version: '1.0.0', fileSize: 1 };
        await other.api.post(`${other.path}/apps`, { json });
        return api.post(`${path}/apps`, { json });
      },
    },
  },
  'op 24': { 200: PLAIN('op 24', 'the available software') },
  'op 25': {
    200: {
      title: 'a version that is distributed',
      run: async ({ api, newVersion }) => api.get(`${(await newVersion('distributing')).version}/distributions`),
    },
  },
  'op 26': {
    201: {
      title: 'distribution is started',
      run: async ({ api, newVersion }) => api.post(`${(await newVersion()).version}/distributions`),
    },
    409: {
      title: 'distribution already started',
      run: async ({ api, newVersion }) => api.post(`${(await newVersion('distributing')).version}/distributions`),
    },
  },
  'op 27': {
    204: {
      title: 'distribution is stopped',
      run: async ({ api, newVersion }) => api.delete(`${(await newVersion('distributing')).version}/distributions`),
    },
  },
  'op 28': {
    201: {
      title: 'a version that is distributed',
      async run({ api, device, newVersion }) {
        const { name } = await newVersion('distributing');
        return api.put(`${device.path}/apps`, { json: { package: name, version: '1.0.0' } });
      },
    },
    400: {
      title: 'distribution is not started',
      async run({ api, device, newVersion }) {
        const { name } = await newVersion('binary');
        return api.put(`${device.path}/apps`, { json: { package: name, version: '1.0.0' } });
      },
    },
    403: NOT_ACTIVATED('op 28'),
    404: NO_DESTINATION('op 28'),
  },
  'op 29': { 200: PLAIN('op 29', 'the firmware list') },
  'firmware read': { 200: PLAIN('firmware read', 'an activated device'), 403: NOT_ACTIVATED('firmware read') },
  'firmware change': {
    201: {
      title: 'a version of the firmware list',
      run: ({ api, device, firmware }) => api.put(`${device.path}/firmware`, { json: firmware }),
    },
    400: PLAIN('firmware change', 'a version that is not in the firmware list'),
    403: NOT_ACTIVATED('firmware change'),
    404: NO_DESTINATION('firmware change'),
  },
  'transaction list': { 200: PLAIN('transaction list', 'the transactions of a device') },
  'transaction lookup': {
    200: { title: 'a transaction', run: async ({ api, newTransaction }) => api.get(await newTransaction()) },
    404: {
      title: 'transaction not found',
      run: ({ api, device }) => api.get(`${device.path}/transactions/999999`),
    },
  },
  'transaction cancel': {
    204: { title: 'an open transaction', run: async ({ api, newTransaction }) => api.delete(await newTransaction()) },
    404: {
      title: 'transaction not found',
      run: ({ api, device }) => api.delete(`${device.path}/transactions/999999`),
    },
    409: {
      title: 'a finished transaction',
      async run({ api, newTransaction }) {
        const path = await newTransaction();
        await api.delete(path);
        return api.delete(path);
      },
    },
  },
  'devices of the application': { 200: PLAIN('devices of the application', 'the devices of the application') },
  signature: {
    200: {
      title: 'a version with a signature',
      async run(world) {
        const signed = await signVersion(world);
        return world.api.get(signed.path);
      },
    },
  },
  signing: {
    200: { title: 'a signature that verifies', run: async (world) => (await signVersion(world)).answer },
  },
  'removal of a signature': {
    204: {
      title: 'a version with a signature',
      run: async (world) => world.api.delete((await signVersion(world)).path),
    },
  },
  'software keys': { 200: PLAIN('software keys', 'the keys of the developer') },
  'binary warnings': { 200: PLAIN('binary warnings', 'the files of the developer') },
  'device count': { 200: PLAIN('device count', 'all devices of the application') },
  fleet: { 200: PLAIN('fleet', 'all devices of the application') },
  'tags of a device': {
    200: PLAIN('tags of a device', 'an activated device'),
    403: NOT_ACTIVATED('tags of a device'),
  },
  'change of tags': {
    200: PLAIN('change of tags', 'an activated device'),
    403: NOT_ACTIVATED('change of tags'),
    409: {
      title: 'a device with 32 tags',
      async run({ api, path, device }) {
        const tags = `${path}/devices/${device.deviceId}/tags`;
        const full = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`k${index}`, 'v']));
        await api.patch(tags, { json: { site: null } });
        await api.patch(tags, { json: full });
        return api.patch(tags, { json: { one: 'more' } });
      },
    },
    412: {
      title: 'tags that were changed after they were read',
      run: ({ api, path, device }) =>
        api.patch(`${path}/devices/${device.deviceId}/tags`, { json: { site: 'x' }, headers: { 'if-match': '"old"' } }),
    },
  },
  ...NOTES,
  ...STREAM,
  ...ENDPOINTS,
  ...ROLLOUTS,
  'tags of many devices': { 200: PLAIN('tags of many devices', 'all devices of the application') },
  'transactions of the application': {
    200: PLAIN('transactions of the application', 'the transactions of the application'),
  },
  'transaction of the application': {
    200: {
      title: 'a transaction of the application',
      run: async ({ api, path, newTransaction }) =>
        api.get(`${path}/transactions/${(await newTransaction()).split('/').at(-1)}`),
    },
    404: {
      title: 'transaction not found',
      run: ({ api, path }) => api.get(`${path}/transactions/999999`),
    },
  },
  installations: {
    200: {
      title: 'a version of the developer',
      run: async ({ api, newVersion }) => api.get(`${(await newVersion()).version}/installations`),
    },
  },
  'audit log of the application': { 200: PLAIN('audit log of the application', 'the changes of the application') },
  'own access': { 200: PLAIN('own access', 'whose token it is') },
  members: {
    200: { title: 'the admin of the developer', run: ({ asAdmin, path }) => asAdmin.get(`${path}/members`) },
  },
  'new member': {
    201: { title: 'the admin of the developer', run: (world) => newMember(world, 'first') },
    409: { title: 'the name is taken', run: (world) => newMember(world, 'first') },
  },
  'end of a member': {
    204: {
      title: 'the admin of the developer',
      run: async (world) => {
        const { memberId } = (await newMember(world, 'second')).body;
        return world.asAdmin.delete(`${world.path}/members/${memberId}`);
      },
    },
    404: {
      title: 'member not found',
      run: ({ asAdmin, path }) => asAdmin.delete(`${path}/members/member_${'0'.repeat(32)}`),
    },
  },
  'delivery log': { 200: PLAIN('delivery log', 'the deliveries of the application') },
  'delivery lookup': {
    200: { title: 'a delivery of the application', run: async (world) => world.api.get(await newestDelivery(world)) },
    404: { title: 'delivery not found', run: ({ api, path }) => api.get(`${path}/webhooks/deliveries/${NO_DELIVERY}`) },
  },
  redelivery: {
    202: {
      title: 'a delivery of the application',
      run: async (world) => world.api.post(`${await newestDelivery(world)}/redeliver`),
    },
    404: {
      title: 'delivery not found',
      run: ({ api, path }) => api.post(`${path}/webhooks/deliveries/${NO_DELIVERY}/redeliver`),
    },
  },
  'redelivery of a range': { 202: PLAIN('redelivery of a range', 'deliveries that were given up') },
  'test event': {
    202: {
      title: 'a setting with a URL',
      run: ({ api, path }) => api.post(`${path}/webhooks/test`, { json: { setting: 'deviceEvent' } }),
    },
    404: PLAIN('test event', 'the setting has no URL'),
  },
};

/** The case for each status of a row; undefined if it is missing here. */
export function casesOf(row: string): [status: number, one: Case | undefined][] {
  const cases: Cases = { ...commonCases(row), ...(operationOf(row).isCommand && OF_COMMAND(row)), ...OWN[row] };
  return (ROWS[row]?.statuses ?? []).map((status) => [status, cases[status]]);
}
