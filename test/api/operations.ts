import { WIFI } from '../world.ts';

const A = 'svc:application:read';
const B = 'svc:application:write';
const C = 'svc:device:read';
const D = 'svc:device:write';

export interface Operation {
  /** Its row of the specification. */
  op: string;
  method: string;
  /** The path below `/v1/applications/{applicationId}`, or the whole path if it begins with `/v1`. */
  path: string;
  /** A valid query, if the operation needs one. */
  query?: string;
  scope: string;
  /** Whether its answer has no end; it has its own tests then. */
  endless?: true;
  /** A valid body, if the operation takes one. */
  json?: unknown;
  /** Whether it only stores a command for an activated device. The tables of the contract's tests need no row for it. */
  isCommand?: true;
}

/** The operations of the specification that need an access token, copied from its tables and not from the code. */
// biome-ignore format: a table is read by its rows
export const OPERATIONS: Operation[] = [
  { op: 'op 1', method: 'GET', path: '', scope: A },
  { op: 'op 2', method: 'PATCH', path: '', scope: B, json: {} },
  { op: 'op 3', method: 'POST', path: '/refresh_authkey', scope: B },
  { op: 'op 4', method: 'GET', path: '/devices/{deviceId}', scope: C },
  { op: 'op 5', method: 'POST', path: '/devices/{deviceId}', scope: D, json: {} },
  { op: 'op 6', method: 'DELETE', path: '/devices/{deviceId}', scope: D },
  { op: 'op 7', method: 'GET', path: '/devices/{deviceId}/status', scope: C },
  { op: 'op 8', method: 'GET', path: '/devices/status', scope: C },
  { op: 'op 9', method: 'GET', path: '/v1/devices/{deviceId}/hardware-properties', scope: C },
  { op: 'op 10', method: 'PUT', path: '/devices/{deviceId}/settings/apn', scope: D, json: [{ name: 'a', apn: 'b' }], isCommand: true },
  { op: 'op 11', method: 'PUT', path: '/devices/{deviceId}/settings/wifi', scope: D, json: WIFI, isCommand: true },
  { op: 'language', method: 'PUT', path: '/devices/{deviceId}/settings/lang', scope: D, json: { lang: 'ja-JP' }, isCommand: true },
  { op: 'connectivity state read', method: 'GET', path: '/devices/{deviceId}/connectivity/state', query: '?type=bluetooth', scope: C, isCommand: true },
  { op: 'connectivity state change', method: 'PUT', path: '/devices/{deviceId}/connectivity/state', scope: D, json: { type: 'bluetooth', enabled: true }, isCommand: true },
  { op: 'connectivity list', method: 'GET', path: '/devices/{deviceId}/connectivity/list', query: '?type=bluetooth', scope: C, isCommand: true },
  { op: 'pairing', method: 'POST', path: '/devices/{deviceId}/bluetooth/devices', scope: D, json: { macAddress: 'AA:BB:CC:DD:EE:FF' }, isCommand: true },
  { op: 'diagnostics', method: 'POST', path: '/devices/{deviceId}/diagnostics', scope: D, json: { kinds: ['logs'] }, isCommand: true },
  { op: 'op 12', method: 'GET', path: '/packages', scope: A },
  { op: 'op 13', method: 'POST', path: '/packages', scope: B, json: { package: 'com.example.made' } },
  { op: 'op 14', method: 'PATCH', path: '/packages/{package}', scope: B, json: {} },
  { op: 'op 15', method: 'DELETE', path: '/packages/{package}', scope: B },
  { op: 'op 16', method: 'GET', path: '/packages/{package}/versions', scope: A },
  { op: 'op 17', method: 'POST', path: '/packages/{package}/versions', scope: B, json: { version: '1.0.0' } },
  { op: 'op 18', method: 'PATCH', path: '/packages/{package}/versions/{version}', scope: B, json: {} },
  { op: 'op 19', method: 'DELETE', path: '/packages/{package}/versions/{version}', scope: B },
  { op: 'op 20', method: 'GET', path: '/packages/{package}/versions/{version}/binaries', scope: A },
  { op: 'op 21', method: 'DELETE', path: '/packages/{package}/versions/{version}/binaries', scope: B },
  { op: 'op 22', method: 'POST', path: '/packages/{package}/versions/{version}/binaries', scope: B },
  { op: 'op 23', method: 'POST', path: '/apps', scope: B, json: { package: 'com.example.made', version: '1.0.0', fileSize: 1 } },
  { op: 'op 24', method: 'GET', path: '/apps', scope: A },
  { op: 'op 25', method: 'GET', path: '/packages/{package}/versions/{version}/distributions', scope: A },
  { op: 'op 26', method: 'POST', path: '/packages/{package}/versions/{version}/distributions', scope: B },
  { op: 'op 27', method: 'DELETE', path: '/packages/{package}/versions/{version}/distributions', scope: B },
  { op: 'op 28', method: 'PUT', path: '/devices/{deviceId}/apps', scope: D, json: { package: 'com.example.none', version: '1.0.0' } },
  { op: 'op 29', method: 'GET', path: '/firmware', scope: A },
  { op: 'firmware read', method: 'GET', path: '/devices/{deviceId}/firmware', scope: C },
  { op: 'firmware change', method: 'PUT', path: '/devices/{deviceId}/firmware', scope: D, json: { package: 'com.example.none', version: '1.0.0' } },
  { op: 'transaction list', method: 'GET', path: '/devices/{deviceId}/transactions', scope: C },
  { op: 'transaction lookup', method: 'GET', path: '/devices/{deviceId}/transactions/{transactionId}', scope: C },
  { op: 'transaction cancel', method: 'DELETE', path: '/devices/{deviceId}/transactions/{transactionId}', scope: D },
  { op: 'feed', method: 'GET', path: '/feed', scope: C, endless: true },
  { op: 'devices of the application', method: 'GET', path: '/devices', scope: C },
  { op: 'signature', method: 'GET', path: '/packages/{package}/versions/{version}/signature', scope: A },
  { op: 'signing', method: 'PUT', path: '/packages/{package}/versions/{version}/signature', scope: B, json: { keyId: '81b803461ca7c485', sha256: '0'.repeat(64), signature: `${'A'.repeat(86)}==` } },
  { op: 'removal of a signature', method: 'DELETE', path: '/packages/{package}/versions/{version}/signature', scope: B },
  { op: 'software keys', method: 'GET', path: '/software-keys', scope: A },
  { op: 'binary warnings', method: 'GET', path: '/binary-warnings', scope: A },
  { op: 'device count', method: 'POST', path: '/devices/count', scope: C, json: { devices: {} } },
  { op: 'fleet', method: 'GET', path: '/fleet', scope: C },
  { op: 'tags of a device', method: 'GET', path: '/devices/{deviceId}/tags', scope: C },
  { op: 'change of tags', method: 'PATCH', path: '/devices/{deviceId}/tags', scope: D, json: { site: 'osaka' } },
  { op: 'notes', method: 'GET', path: '/devices/{deviceId}/notes', scope: C },
  { op: 'new note', method: 'POST', path: '/devices/{deviceId}/notes', scope: D, json: { text: 'x' } },
  { op: 'end of a note', method: 'DELETE', path: '/devices/{deviceId}/notes/{noteId}', scope: D },
  { op: 'tags of many devices', method: 'PATCH', path: '/devices/tags', scope: D, json: { devices: {}, tags: { site: 'osaka' } } },
  { op: 'rollouts', method: 'GET', path: '/rollouts', scope: C },
  { op: 'rollout start', method: 'POST', path: '/rollouts', scope: D, json: { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {}, startAt: '2030-01-01T00:00:00Z' } },
  { op: 'rollout', method: 'GET', path: '/rollouts/{rolloutId}', scope: C },
  { op: 'rollout change', method: 'PATCH', path: '/rollouts/{rolloutId}', scope: D, json: { label: 'a' } },
  { op: 'rollout cancel', method: 'DELETE', path: '/rollouts/{rolloutId}', scope: D },
  { op: 'rollout pause', method: 'POST', path: '/rollouts/{rolloutId}/pause', scope: D },
  { op: 'rollout resume', method: 'POST', path: '/rollouts/{rolloutId}/resume', scope: D },
  { op: 'rollout approval', method: 'POST', path: '/rollouts/{rolloutId}/approve', scope: D, json: {} },
  { op: 'rollout retry', method: 'POST', path: '/rollouts/{rolloutId}/retry-failed', scope: D, json: {} },
  { op: 'rollout revert', method: 'POST', path: '/rollouts/{rolloutId}/revert', scope: D, json: {} },
  { op: 'rollout results', method: 'GET', path: '/rollouts/{rolloutId}/results', scope: C },
  { op: 'rollout devices', method: 'GET', path: '/rollouts/{rolloutId}/devices', scope: C },
  { op: 'transactions of the application', method: 'GET', path: '/transactions', scope: A },
  { op: 'transaction of the application', method: 'GET', path: '/transactions/{transactionId}', scope: A },
  { op: 'installations', method: 'GET', path: '/packages/{package}/versions/{version}/installations', scope: A },
  { op: 'audit log of the application', method: 'GET', path: '/audit', scope: A },
  { op: 'own access', method: 'GET', path: '/me', scope: A },
  { op: 'members', method: 'GET', path: '/members', scope: A },
  { op: 'new member', method: 'POST', path: '/members', scope: B, json: { name: 'x', role: 'reader' } },
  { op: 'end of a member', method: 'DELETE', path: '/members/{memberId}', scope: B },
  { op: 'stream of events', method: 'GET', path: '/events', scope: A },
  { op: 'consumers of the stream', method: 'GET', path: '/events/consumers', scope: A },
  { op: 'a consumer of the stream', method: 'GET', path: '/events/consumers/{consumer}', scope: A },
  { op: 'move of a consumer', method: 'PUT', path: '/events/consumers/{consumer}', scope: B, json: { after: 0 } },
  { op: 'deletion of a consumer', method: 'DELETE', path: '/events/consumers/{consumer}', scope: B },
  { op: 'endpoints', method: 'GET', path: '/endpoints', scope: A },
  { op: 'new endpoint', method: 'POST', path: '/endpoints', scope: B, json: { url: 'https://example.com/lapel' } },
  { op: 'an endpoint', method: 'GET', path: '/endpoints/{endpointId}', scope: A },
  { op: 'change of an endpoint', method: 'PATCH', path: '/endpoints/{endpointId}', scope: B, json: { description: 'x' } },
  { op: 'removal of an endpoint', method: 'DELETE', path: '/endpoints/{endpointId}', scope: B },
  { op: 'secret of an endpoint', method: 'POST', path: '/endpoints/{endpointId}/secret', scope: B, json: {} },
  { op: 'test of an endpoint', method: 'POST', path: '/endpoints/{endpointId}/test', scope: B },
  { op: 'deliveries to an endpoint', method: 'GET', path: '/endpoints/{endpointId}/deliveries', scope: A },
  { op: 'skip of a delivery', method: 'POST', path: '/endpoints/{endpointId}/deliveries/{sequence}/skip', scope: B },
  { op: 'replay to an endpoint', method: 'POST', path: '/endpoints/{endpointId}/replay', scope: B, json: {} },
  { op: 'end of a replay', method: 'DELETE', path: '/endpoints/{endpointId}/replay', scope: B },
  { op: 'delivery log', method: 'GET', path: '/webhooks/deliveries', scope: A },
  { op: 'delivery lookup', method: 'GET', path: '/webhooks/deliveries/{deliveryId}', scope: A },
  { op: 'redelivery of a range', method: 'POST', path: '/webhooks/deliveries/redeliver', scope: B, json: {} },
  { op: 'redelivery', method: 'POST', path: '/webhooks/deliveries/{deliveryId}/redeliver', scope: B },
  { op: 'test event', method: 'POST', path: '/webhooks/test', scope: B, json: { setting: 'callEvent' } },
];

export const ON_DEVICES: Operation[] = OPERATIONS.filter(({ path }) => path.includes('{deviceId}'));
export const WITH_BODY: Operation[] = OPERATIONS.filter(({ json }) => json !== undefined);
/** The operations whose path names the application. */
export const ON_APPLICATIONS: Operation[] = OPERATIONS.filter(({ path }) => !path.startsWith('/v1'));
/** The operations that create a transaction for an activated device. */
export const NEED_ACTIVATION: Operation[] = OPERATIONS.filter(({ op, isCommand }) => isCommand || op === 'op 6');

const GOOD_DEVICE = '490154203237518';
const NO_ROLLOUT = `rol_${'0'.repeat(32)}`;
const NO_NOTE = `note_${'0'.repeat(32)}`;
const NO_MEMBER = `member_${'0'.repeat(32)}`;
const NO_ENDPOINT = `ep_${'0'.repeat(32)}`;
const NO_DELIVERY = `msg_${'0'.repeat(32)}`;

/** The request target of an operation, with valid path parameters by default. */
export function targetOf(
  { path, query = '' }: Operation,
  at: { applicationId: string; deviceId?: string; transactionId?: string | number; package?: string; version?: string },
): string {
  const { applicationId, deviceId = GOOD_DEVICE, transactionId = 1 } = at;
  const { package: name = 'com.example.none', version = '1.0.0' } = at;
  return `${path.startsWith('/v1') ? '' : `/v1/applications/${applicationId}`}${path}${query}`
    .replace('{deviceId}', deviceId)
    .replace('{transactionId}', String(transactionId))
    .replace('{package}', name)
    .replace('{version}', version)
    .replace('{noteId}', NO_NOTE)
    .replace('{consumer}', 'nobody')
    .replace('{endpointId}', NO_ENDPOINT)
    .replace('{sequence}', '1')
    .replace('{memberId}', NO_MEMBER)
    .replace('{deliveryId}', NO_DELIVERY)
    .replace('{rolloutId}', NO_ROLLOUT);
}

/** `body.0.ssid missing`: the faults of a Reason error, sorted, for comparison as a whole. */
export const faultsOf = ({ body }: { body: { details: { loc: string[]; type: string }[] } }): string[] =>
  body.details.map(({ loc, type }) => `${loc.join('.')} ${type}`).sort();
