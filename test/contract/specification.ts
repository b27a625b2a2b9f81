/** A row of the specification's "Endpoints" table; `key` is method and path. */
export interface Row {
  key: string;
  scope: string;
  /** The success and every error status of the row, without the statuses that the contract adds to all operations. */
  statuses: number[];
}

const A = 'svc:application:read';
const B = 'svc:application:write';
const C = 'svc:device:read';
const D = 'svc:device:write';

/** The specification's "Endpoints" table, copied from the specification and not from the code. */
// biome-ignore format: a table is read by its rows
export const SPECIFICATION: Record<string, Row> = {
  'op 1': { key: 'GET /v1/applications/{applicationId}', scope: A, statuses: [200, 400, 401, 403, 500] },
  'op 2': { key: 'PATCH /v1/applications/{applicationId}', scope: B, statuses: [200, 400, 401, 403, 500] },
  'op 3': { key: 'POST /v1/applications/{applicationId}/refresh_authkey', scope: B, statuses: [201, 400, 401, 403, 500] },
  'op 4': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}', scope: C, statuses: [200, 400, 401, 403, 404, 405, 500] },
  'op 5': { key: 'POST /v1/applications/{applicationId}/devices/{deviceId}', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'op 6': { key: 'DELETE /v1/applications/{applicationId}/devices/{deviceId}', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'op 7': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/status', scope: C, statuses: [200, 400, 401, 403, 500] },
  'op 8': { key: 'GET /v1/applications/{applicationId}/devices/status', scope: C, statuses: [200, 400, 401, 500] },
  'op 9': { key: 'GET /v1/devices/{deviceId}/hardware-properties', scope: C, statuses: [200, 400, 401, 403, 404, 405, 500] },
  'op 10': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/apn', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'op 11': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/wifi', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'op 12': { key: 'GET /v1/applications/{applicationId}/packages', scope: A, statuses: [200, 400, 401, 403, 500] },
  'op 13': { key: 'POST /v1/applications/{applicationId}/packages', scope: B, statuses: [201, 400, 401, 403, 409, 500] },
  'op 14': { key: 'PATCH /v1/applications/{applicationId}/packages/{package}', scope: B, statuses: [200, 400, 401, 403, 404, 500] },
  'op 15': { key: 'DELETE /v1/applications/{applicationId}/packages/{package}', scope: B, statuses: [204, 400, 401, 403, 409, 500] },
  'op 16': { key: 'GET /v1/applications/{applicationId}/packages/{package}/versions', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'op 17': { key: 'POST /v1/applications/{applicationId}/packages/{package}/versions', scope: B, statuses: [201, 400, 401, 403, 404, 409, 500] },
  'op 18': { key: 'PATCH /v1/applications/{applicationId}/packages/{package}/versions/{version}', scope: B, statuses: [200, 400, 401, 403, 404, 500] },
  'op 19': { key: 'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}', scope: B, statuses: [204, 400, 401, 403, 404, 409, 500] },
  'op 20': { key: 'GET /v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'op 21': { key: 'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'op 22': { key: 'POST /v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: B, statuses: [200, 400, 401, 403, 404, 500] },
  'op 23': { key: 'POST /v1/applications/{applicationId}/apps', scope: B, statuses: [200, 400, 401, 403, 500] },
  'op 24': { key: 'GET /v1/applications/{applicationId}/apps', scope: A, statuses: [200, 400, 401, 403, 500] },
  'op 25': { key: 'GET /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'op 26': { key: 'POST /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: B, statuses: [201, 400, 401, 403, 404, 409, 500] },
  'op 27': { key: 'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'op 28': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/apps', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'op 29': { key: 'GET /v1/applications/{applicationId}/firmware', scope: A, statuses: [200, 400, 401, 403, 500] },
};

/**
 * The operations that the specification refers to without showing them, and the webhook operations, with the statuses
 * of the contract.
 */
// biome-ignore format: a table is read by its rows
export const REFERENCED: Record<string, Row> = {
  'connectivity state read': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', scope: C, statuses: [201, 400, 401, 403, 404, 500] },
  'connectivity state change': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'connectivity list': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/connectivity/list', scope: C, statuses: [201, 400, 401, 403, 404, 500] },
  'pairing': { key: 'POST /v1/applications/{applicationId}/devices/{deviceId}/bluetooth/devices', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'transaction cancel': { key: 'DELETE /v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', scope: D, statuses: [204, 401, 403, 404, 409, 500] },
  'transaction lookup': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', scope: C, statuses: [200, 401, 403, 404, 500] },
  'transaction list': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/transactions', scope: C, statuses: [200, 400, 401, 403, 404, 500] },
  'language': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/lang', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'firmware read': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/firmware', scope: C, statuses: [200, 401, 403, 404, 500] },
  'firmware change': { key: 'PUT /v1/applications/{applicationId}/devices/{deviceId}/firmware', scope: D, statuses: [201, 400, 401, 403, 404, 500] },
  'devices of the application': { key: 'GET /v1/applications/{applicationId}/devices', scope: C, statuses: [200, 400, 401, 403, 500] },
  'device count': { key: 'POST /v1/applications/{applicationId}/devices/count', scope: C, statuses: [200, 400, 401, 403, 500] },
  'fleet': { key: 'GET /v1/applications/{applicationId}/fleet', scope: C, statuses: [200, 400, 401, 403, 500] },
  'tags of a device': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/tags', scope: C, statuses: [200, 401, 403, 404, 500] },
  'change of tags': { key: 'PATCH /v1/applications/{applicationId}/devices/{deviceId}/tags', scope: D, statuses: [200, 400, 401, 403, 404, 409, 412, 500] },
  'tags of many devices': { key: 'PATCH /v1/applications/{applicationId}/devices/tags', scope: D, statuses: [200, 400, 401, 403, 500] },
  'notes': { key: 'GET /v1/applications/{applicationId}/devices/{deviceId}/notes', scope: C, statuses: [200, 400, 401, 403, 404, 500] },
  'new note': { key: 'POST /v1/applications/{applicationId}/devices/{deviceId}/notes', scope: D, statuses: [201, 400, 401, 403, 404, 409, 500] },
  'end of a note': { key: 'DELETE /v1/applications/{applicationId}/devices/{deviceId}/notes/{noteId}', scope: D, statuses: [204, 400, 401, 403, 404, 500] },
  'rollouts': { key: 'GET /v1/applications/{applicationId}/rollouts', scope: C, statuses: [200, 400, 401, 403, 500] },
  'rollout start': { key: 'POST /v1/applications/{applicationId}/rollouts', scope: D, statuses: [200, 201, 400, 401, 403, 404, 500] },
  'rollout': { key: 'GET /v1/applications/{applicationId}/rollouts/{rolloutId}', scope: C, statuses: [200, 401, 403, 404, 500] },
  'rollout change': { key: 'PATCH /v1/applications/{applicationId}/rollouts/{rolloutId}', scope: D, statuses: [200, 400, 401, 403, 404, 409, 412, 500] },
  'rollout cancel': { key: 'DELETE /v1/applications/{applicationId}/rollouts/{rolloutId}', scope: D, statuses: [200, 401, 403, 404, 409, 500] },
  'rollout pause': { key: 'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/pause', scope: D, statuses: [200, 401, 403, 404, 409, 500] },
  'rollout resume': { key: 'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/resume', scope: D, statuses: [200, 401, 403, 404, 409, 500] },
  'rollout approval': { key: 'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/approve', scope: D, statuses: [200, 400, 401, 403, 404, 409, 500] },
  'rollout retry': { key: 'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/retry-failed', scope: D, statuses: [200, 400, 401, 403, 404, 409, 500] },
  'rollout revert': { key: 'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/revert', scope: D, statuses: [201, 400, 401, 403, 404, 409, 500] },
  'rollout results': { key: 'GET /v1/applications/{applicationId}/rollouts/{rolloutId}/results', scope: C, statuses: [200, 401, 403, 404, 500] },
  'rollout devices': { key: 'GET /v1/applications/{applicationId}/rollouts/{rolloutId}/devices', scope: C, statuses: [200, 400, 401, 403, 404, 500] },
  'transactions of the application': { key: 'GET /v1/applications/{applicationId}/transactions', scope: A, statuses: [200, 400, 401, 403, 500] },
  'transaction of the application': { key: 'GET /v1/applications/{applicationId}/transactions/{transactionId}', scope: A, statuses: [200, 401, 403, 404, 500] },
  'signature': { key: 'GET /v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: A, statuses: [200, 401, 403, 404, 500] },
  'signing': { key: 'PUT /v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: B, statuses: [200, 400, 401, 403, 404, 500] },
  'removal of a signature': { key: 'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: B, statuses: [204, 401, 403, 404, 500] },
  'software keys': { key: 'GET /v1/applications/{applicationId}/software-keys', scope: A, statuses: [200, 401, 403, 500] },
  'binary warnings': { key: 'GET /v1/applications/{applicationId}/binary-warnings', scope: A, statuses: [200, 400, 401, 403, 500] },
  'installations': { key: 'GET /v1/applications/{applicationId}/packages/{package}/versions/{version}/installations', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'audit log of the application': { key: 'GET /v1/applications/{applicationId}/audit', scope: A, statuses: [200, 400, 401, 403, 500] },
  'own access': { key: 'GET /v1/applications/{applicationId}/me', scope: A, statuses: [200, 400, 401, 403, 500] },
  'members': { key: 'GET /v1/applications/{applicationId}/members', scope: A, statuses: [200, 400, 401, 403, 500] },
  'new member': { key: 'POST /v1/applications/{applicationId}/members', scope: B, statuses: [201, 400, 401, 403, 409, 500] },
  'end of a member': { key: 'DELETE /v1/applications/{applicationId}/members/{memberId}', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'stream of events': { key: 'GET /v1/applications/{applicationId}/events', scope: A, statuses: [200, 400, 401, 403, 410, 500] },
  'consumers of the stream': { key: 'GET /v1/applications/{applicationId}/events/consumers', scope: A, statuses: [200, 400, 401, 403, 500] },
  'a consumer of the stream': { key: 'GET /v1/applications/{applicationId}/events/consumers/{consumer}', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'move of a consumer': { key: 'PUT /v1/applications/{applicationId}/events/consumers/{consumer}', scope: B, statuses: [200, 400, 401, 403, 404, 409, 412, 500] },
  'deletion of a consumer': { key: 'DELETE /v1/applications/{applicationId}/events/consumers/{consumer}', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'endpoints': { key: 'GET /v1/applications/{applicationId}/endpoints', scope: A, statuses: [200, 400, 401, 403, 500] },
  'new endpoint': { key: 'POST /v1/applications/{applicationId}/endpoints', scope: B, statuses: [201, 400, 401, 403, 409, 500] },
  'an endpoint': { key: 'GET /v1/applications/{applicationId}/endpoints/{endpointId}', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'change of an endpoint': { key: 'PATCH /v1/applications/{applicationId}/endpoints/{endpointId}', scope: B, statuses: [200, 400, 401, 403, 404, 412, 500] },
  'removal of an endpoint': { key: 'DELETE /v1/applications/{applicationId}/endpoints/{endpointId}', scope: B, statuses: [204, 400, 401, 403, 404, 412, 500] },
  'secret of an endpoint': { key: 'POST /v1/applications/{applicationId}/endpoints/{endpointId}/secret', scope: B, statuses: [201, 400, 401, 403, 404, 500] },
  'test of an endpoint': { key: 'POST /v1/applications/{applicationId}/endpoints/{endpointId}/test', scope: B, statuses: [202, 400, 401, 403, 404, 409, 500] },
  'deliveries to an endpoint': { key: 'GET /v1/applications/{applicationId}/endpoints/{endpointId}/deliveries', scope: A, statuses: [200, 400, 401, 403, 404, 500] },
  'skip of a delivery': { key: 'POST /v1/applications/{applicationId}/endpoints/{endpointId}/deliveries/{sequence}/skip', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'replay to an endpoint': { key: 'POST /v1/applications/{applicationId}/endpoints/{endpointId}/replay', scope: B, statuses: [202, 400, 401, 403, 404, 409, 500] },
  'end of a replay': { key: 'DELETE /v1/applications/{applicationId}/endpoints/{endpointId}/replay', scope: B, statuses: [204, 400, 401, 403, 404, 500] },
  'delivery log': { key: 'GET /v1/applications/{applicationId}/webhooks/deliveries', scope: A, statuses: [200, 400, 401, 403, 500] },
  'delivery lookup': { key: 'GET /v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}', scope: A, statuses: [200, 401, 403, 404, 500] },
  'redelivery': { key: 'POST /v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}/redeliver', scope: B, statuses: [202, 401, 403, 404, 500] },
  'redelivery of a range': { key: 'POST /v1/applications/{applicationId}/webhooks/deliveries/redeliver', scope: B, statuses: [202, 400, 401, 403, 500] },
  'test event': { key: 'POST /v1/applications/{applicationId}/webhooks/test', scope: B, statuses: [202, 400, 401, 403, 404, 500] },
};
