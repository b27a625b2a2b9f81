import type { Application } from '../applications/application-repository.ts';
import { routesOf } from '../http/route.ts';
import { activate, deactivate, readActivation } from './activation.ts';
import { setApn, setWifi } from './device-settings.ts';
import type { ApiServices } from './services.ts';
import { issueKey, readSettings, updateSettings } from './settings.ts';
import { issueToken, readJwks, readMetadata } from './tokens.ts';
import { cancelTransaction, listTransactions, readTransaction } from './transactions.ts';

const route = routesOf<ApiServices, Application>();

// The scopes A to D of the specification.
const A = 'svc:application:read';
const B = 'svc:application:write';
const C = 'svc:device:read';
const D = 'svc:device:write';

/** The whole application API: method, path, scope, schemas, handler. Statuses and words are in schemas/openapi.yaml. */
// biome-ignore format: a table is read by its rows
export const ROUTES = [
  route('POST',   '/api/v1/authenticate', null, { form: 'rest/token-request' }, issueToken),
  route('GET',    '/.well-known/jwks.json', null, {}, readJwks),
  route('GET',    '/.well-known/oauth-authorization-server', null, {}, readMetadata),

  route('GET',    '/v1/applications/{applicationId}', A, {}, readSettings), // op 1
  route('PATCH',  '/v1/applications/{applicationId}', B, { body: 'rest/application-settings-update' }, updateSettings), // op 2
  route('POST',   '/v1/applications/{applicationId}/refresh_authkey', B, {}, issueKey), // op 3

  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}', C, {}, readActivation), // op 4
  route('POST',   '/v1/applications/{applicationId}/devices/{deviceId}', D, { body: 'rest/activation-request', bodyOptional: true }, activate), // op 5
  route('DELETE', '/v1/applications/{applicationId}/devices/{deviceId}', D, {}, deactivate), // op 6
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/settings/apn', D, { body: 'rest/apn-settings' }, setApn), // op 10
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/settings/wifi', D, { body: 'rest/wifi-settings' }, setWifi), // op 11

  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/transactions', C, { query: 'rest/transaction-list-query' }, listTransactions),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', C, {}, readTransaction),
  route('DELETE', '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', D, {}, cancelTransaction),
];

/** Where a method that the path does not have is answered 405 with `Allow` (specification, "Errors"); elsewhere 403. */
export const STRICT_PATHS = ['/v1/applications/{applicationId}/devices/{deviceId}'];
