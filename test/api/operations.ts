import { WIFI } from '../world.ts';

const A = 'svc:application:read';
const B = 'svc:application:write';
const C = 'svc:device:read';
const D = 'svc:device:write';

export interface Operation {
  /** Its row of the specification. */
  op: string;
  method: string;
  /** Below `/v1/applications/{applicationId}`. */
  path: string;
  scope: string;
  /** A body that obeys its schema; none where the operation takes none. */
  json?: unknown;
}

/** The operations of the specification that want an access token, written down from its tables and not from the code. */
// biome-ignore format: a table is read by its rows
export const OPERATIONS: Operation[] = [
  { op: 'op 1', method: 'GET', path: '', scope: A },
  { op: 'op 2', method: 'PATCH', path: '', scope: B, json: {} },
  { op: 'op 3', method: 'POST', path: '/refresh_authkey', scope: B },
  { op: 'op 4', method: 'GET', path: '/devices/{deviceId}', scope: C },
  { op: 'op 5', method: 'POST', path: '/devices/{deviceId}', scope: D, json: {} },
  { op: 'op 6', method: 'DELETE', path: '/devices/{deviceId}', scope: D },
  { op: 'op 10', method: 'PUT', path: '/devices/{deviceId}/settings/apn', scope: D, json: [{ name: 'a', apn: 'b' }] },
  { op: 'op 11', method: 'PUT', path: '/devices/{deviceId}/settings/wifi', scope: D, json: WIFI },
  { op: 'transaction list', method: 'GET', path: '/devices/{deviceId}/transactions', scope: C },
  { op: 'transaction lookup', method: 'GET', path: '/devices/{deviceId}/transactions/{transactionId}', scope: C },
  { op: 'transaction cancel', method: 'DELETE', path: '/devices/{deviceId}/transactions/{transactionId}', scope: D },
];

export const ON_DEVICES: Operation[] = OPERATIONS.filter(({ path }) => path.includes('{deviceId}'));
export const WITH_BODY: Operation[] = OPERATIONS.filter(({ json }) => json !== undefined);
/** Ops 6, 10 and 11: they need an activated device. */
export const NEED_ACTIVATION: Operation[] = OPERATIONS.filter(({ op }) => ['op 6', 'op 10', 'op 11'].includes(op));

const GOOD_DEVICE = '490154203237518';

/** The request target of an operation, with a device and a transaction that obey their schemas unless told. */
export function targetOf(
  { path }: Operation,
  at: { applicationId: string; deviceId?: string; transactionId?: string | number },
): string {
  const { applicationId, deviceId = GOOD_DEVICE, transactionId = 1 } = at;
  return `/v1/applications/${applicationId}${path}`
    .replace('{deviceId}', deviceId)
    .replace('{transactionId}', String(transactionId));
}

/** `body.0.ssid missing`: the faults of a Reason error, sorted, for comparison as a whole. */
export const faultsOf = ({ body }: { body: { details: { loc: string[]; type: string }[] } }): string[] =>
  body.details.map(({ loc, type }) => `${loc.join('.')} ${type}`).sort();
