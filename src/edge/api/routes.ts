import { DOCUMENTS } from '../docs/names.ts';
import { leadTo } from '../http/lead-to.ts';
import { ANY_SCOPE, routesOf } from '../http/route.ts';
import { MCP_PATH, mcpError } from '../mcp/answers.ts';
import { servePages } from '../pages/serve-pages.ts';
import { readActivation } from './activation.ts';
import { askAsAssistant, readResourceMetadata } from './assistants.ts';
import { listOwnAudit } from './audit.ts';
import { listAvailable, listFirmware } from './available.ts';
import { issueUploadUrl, readBinary, removeBinary, uploadApp } from './binaries.ts';
import { command, commandOfQuery } from './commands.ts';
import { countDevices } from './device-count.ts';
import { readFirmware } from './device-software.ts';
import { listStatuses, readHardware, readStatus } from './device-status.ts';
import { readDistribution, startDistribution, stopDistribution } from './distributions.ts';
import { readDocs } from './docs.ts';
import {
  cancelReplay,
  createEndpoint,
  deleteEndpoint,
  listEndpointDeliveries,
  listEndpoints,
  readEndpoint,
  replaceEndpointSecret,
  skipEndpointDelivery,
  startReplay,
  testEndpoint,
  updateEndpoint,
} from './endpoints.ts';
import { enrolDevice, renewCertificate } from './enrolments.ts';
import { deleteConsumer, listConsumers, listEvents, moveConsumer, readConsumer } from './events.ts';
import { readFeed } from './feed.ts';
import { createMember, listMembers, readOwnAccess, revokeMember } from './members.ts';
import { addDeviceNote, deleteDeviceNote, listDeviceNotes } from './notes.ts';
import { listInstallations, listOwnDevices, listOwnTransactions, readFleet, readOwnTransaction } from './overview.ts';
import { listOwnBinaryWarnings, listPackages, registerPackage, removePackage, updatePackage } from './packages.ts';
import { revertRollout } from './rollout-revert.ts';
import { startRollout } from './rollout-start.ts';
import {
  approveRollout,
  cancelRollout,
  listRolloutDevices,
  listRollouts,
  pauseRollout,
  readRollout,
  readRolloutResults,
  resumeRollout,
  retryRollout,
  updateRollout,
} from './rollouts.ts';
import type { ApiServices, Caller } from './services.ts';
import { issueKey, readSettings, updateSettings } from './settings.ts';
import { putSignature, readSignature, readSoftwareTrust, removeSignature } from './signatures.ts';
import { readTags, updateTags, updateTagsOfMany } from './tags.ts';
import { issueToken, readJwks, readMetadata, tokenError } from './tokens.ts';
import { cancelTransaction, listTransactions, readTransaction } from './transactions.ts';
import { listVersions, registerVersion, removeVersion, updateVersion } from './versions.ts';
import { listDeliveries, readDelivery, redeliver, redeliverRange, sendTestEvent } from './webhooks.ts';

const route = routesOf<ApiServices, Caller>();

// The scopes that the specification calls A to D.
const A = 'svc:application:read';
const B = 'svc:application:write';
const C = 'svc:device:read';
const D = 'svc:device:write';

/**
 * The whole application API: method, path, scope, schemas, handler. Statuses and descriptions are in
 * schemas/openapi.yaml. The comments `op N` name the operations of the specification.
 */
// biome-ignore format: a table is read by its rows
export const ROUTES = [
  route('POST',   '/api/v1/authenticate', null, { form: 'rest/token-request', errors: tokenError }, issueToken),
  route('POST',   '/v1/enrolments', null, { body: 'rest/enrolment-request', bodyLimit: 16_384 }, enrolDevice),
  route('POST',   '/v1/enrolments/renewals', null, { body: 'rest/renewal-request', bodyLimit: 16_384 }, renewCertificate),
  route('GET',    '/.well-known/jwks.json', null, {}, readJwks),
  route('GET',    '/.well-known/oauth-authorization-server', null, {}, readMetadata),
  route('GET',    '/.well-known/oauth-protected-resource/mcp', null, {}, readResourceMetadata),
  route('POST',   '/mcp', ANY_SCOPE, { body: 'common/mcp-message', bodyLimit: 65_536, errors: mcpError, asks: true }, askAsAssistant),
  route('GET',    '/', null, { head: true, name: 'openRoot' }, leadTo('docs')),
  ...DOCUMENTS.map((path) => route('GET', path, null, { head: true }, readDocs)),
  route('GET',    '/docs', null, { head: true }, readDocs),
  route('GET',    '/docs/', null, { head: true, name: 'openDocs' }, leadTo('../docs')),
  route('GET',    '/docs/{page}', null, { head: true }, readDocs),
  route('GET',    '/console', null, { head: true, below: true, anyQuery: true }, servePages),

  route('GET',    '/v1/applications/{applicationId}', A, { showsSecret: true }, readSettings), // op 1
  route('PATCH',  '/v1/applications/{applicationId}', B, { body: 'rest/application-settings-update', bodyLimit: 65_536 }, updateSettings), // op 2
  route('POST',   '/v1/applications/{applicationId}/refresh_authkey', B, {}, issueKey), // op 3

  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}', C, {}, readActivation), // op 4
  route('POST',   '/v1/applications/{applicationId}/devices/{deviceId}', D, { query: 'rest/expiry-query', body: 'rest/activation-request', bodyOptional: true }, command('activate')), // op 5
  route('DELETE', '/v1/applications/{applicationId}/devices/{deviceId}', D, { query: 'rest/expiry-query' }, command('deactivate')), // op 6
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/status', C, {}, readStatus), // op 7
  route('GET',    '/v1/applications/{applicationId}/devices/status', C, { query: 'rest/device-status-query', costly: true }, listStatuses), // op 8
  route('POST',   '/v1/applications/{applicationId}/devices/count', C, { body: 'rest/device-count-request', costly: true }, countDevices),
  route('PATCH',  '/v1/applications/{applicationId}/devices/tags', D, { body: 'rest/tagging', costly: true }, updateTagsOfMany),
  route('GET',    '/v1/applications/{applicationId}/fleet', C, { costly: true }, readFleet),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/tags', C, {}, readTags),
  route('PATCH',  '/v1/applications/{applicationId}/devices/{deviceId}/tags', D, { body: 'common/tag-patch', bodyLimit: 65_536 }, updateTags),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/notes', C, {}, listDeviceNotes),
  route('POST',   '/v1/applications/{applicationId}/devices/{deviceId}/notes', D, { body: 'common/device-note-create', bodyLimit: 65_536 }, addDeviceNote),
  route('DELETE', '/v1/applications/{applicationId}/devices/{deviceId}/notes/{noteId}', D, {}, deleteDeviceNote),
  route('POST',   '/v1/applications/{applicationId}/rollouts', D, { body: 'rest/rollout-create', costly: true }, startRollout),
  route('GET',    '/v1/applications/{applicationId}/rollouts', C, { query: 'rest/rollout-query', costly: true }, listRollouts),
  route('GET',    '/v1/applications/{applicationId}/rollouts/{rolloutId}', C, { query: 'common/rollout-detail-query', costly: true }, readRollout),
  route('PATCH',  '/v1/applications/{applicationId}/rollouts/{rolloutId}', D, { body: 'rest/rollout-update', bodyLimit: 65_536 }, updateRollout),
  route('DELETE', '/v1/applications/{applicationId}/rollouts/{rolloutId}', D, {}, cancelRollout),
  route('POST',   '/v1/applications/{applicationId}/rollouts/{rolloutId}/pause', D, {}, pauseRollout),
  route('POST',   '/v1/applications/{applicationId}/rollouts/{rolloutId}/resume', D, {}, resumeRollout),
  route('POST',   '/v1/applications/{applicationId}/rollouts/{rolloutId}/approve', D, { body: 'rest/rollout-approval', bodyLimit: 65_536, bodyOptional: true }, approveRollout),
  route('POST',   '/v1/applications/{applicationId}/rollouts/{rolloutId}/retry-failed', D, { body: 'rest/rollout-retry', bodyLimit: 65_536, bodyOptional: true }, retryRollout),
  route('POST',   '/v1/applications/{applicationId}/rollouts/{rolloutId}/revert', D, { body: 'rest/rollout-revert', bodyLimit: 65_536, bodyOptional: true, costly: true }, revertRollout),
  route('GET',    '/v1/applications/{applicationId}/rollouts/{rolloutId}/devices', C, { query: 'rest/rollout-device-query', costly: true }, listRolloutDevices),
  route('GET',    '/v1/applications/{applicationId}/rollouts/{rolloutId}/results', C, { costly: true }, readRolloutResults),
  route('GET',    '/v1/devices/{deviceId}/hardware-properties', C, {}, readHardware), // op 9
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/settings/apn', D, { query: 'rest/network-query', body: 'rest/apn-settings' }, command('setApn')), // op 10
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/settings/wifi', D, { query: 'rest/network-query', body: 'rest/wifi-settings' }, command('setWifi')), // op 11
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/settings/lang', D, { query: 'rest/terms-query', body: 'rest/language-setting' }, command('setLanguage')),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', C, { query: 'rest/connectivity-query', name: 'readConnectivity' }, commandOfQuery('getConnectivityState')),
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', D, { query: 'rest/terms-query', body: 'rest/connectivity-state', name: 'changeConnectivity' }, command('setConnectivityState')),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/list', C, { query: 'rest/connectivity-query' }, commandOfQuery('listConnectivity')),
  route('POST',   '/v1/applications/{applicationId}/devices/{deviceId}/bluetooth/devices', D, { query: 'rest/terms-query', body: 'rest/bluetooth-pairing' }, command('pairBluetooth')),
  route('POST',   '/v1/applications/{applicationId}/devices/{deviceId}/diagnostics', D, { query: 'rest/terms-query', body: 'rest/diagnostics-request' }, command('collectDiagnostics')),

  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/apps', D, { query: 'rest/terms-query', body: 'rest/install-request' }, command('installSoftware')), // op 28
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/firmware', C, {}, readFirmware),
  route('PUT',    '/v1/applications/{applicationId}/devices/{deviceId}/firmware', D, { query: 'rest/terms-query', body: 'rest/install-request' }, command('updateFirmware')),

  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/transactions', C, { query: 'rest/transaction-list-query', costly: true }, listTransactions),
  route('GET',    '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', C, {}, readTransaction),
  route('DELETE', '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', D, {}, cancelTransaction),

  route('GET',    '/v1/applications/{applicationId}/feed', C, { query: 'common/feed-query' }, readFeed),
  route('GET',    '/v1/applications/{applicationId}/devices', C, { query: 'rest/own-device-query', costly: true }, listOwnDevices),
  route('GET',    '/v1/applications/{applicationId}/transactions', A, { query: 'rest/own-transaction-query', costly: true }, listOwnTransactions),
  route('GET',    '/v1/applications/{applicationId}/transactions/{transactionId}', A, {}, readOwnTransaction),
  route('GET',    '/v1/applications/{applicationId}/packages/{package}/versions/{version}/installations', A, { query: 'rest/own-installation-query', costly: true }, listInstallations),

  route('GET',    '/v1/applications/{applicationId}/audit', A, { query: 'rest/own-audit-query', costly: true }, listOwnAudit),
  route('GET',    '/v1/applications/{applicationId}/events', A, { query: 'rest/event-list-query' }, listEvents),
  route('GET',    '/v1/applications/{applicationId}/events/consumers', A, {}, listConsumers),
  route('GET',    '/v1/applications/{applicationId}/events/consumers/{consumer}', A, {}, readConsumer),
  route('PUT',    '/v1/applications/{applicationId}/events/consumers/{consumer}', B, { body: 'rest/event-consumer-update', bodyLimit: 65_536 }, moveConsumer),
  route('DELETE', '/v1/applications/{applicationId}/events/consumers/{consumer}', B, {}, deleteConsumer),
  route('GET',    '/v1/applications/{applicationId}/endpoints', A, { costly: true }, listEndpoints),
  route('POST',   '/v1/applications/{applicationId}/endpoints', B, { body: 'rest/endpoint-create', bodyLimit: 65_536 }, createEndpoint),
  route('GET',    '/v1/applications/{applicationId}/endpoints/{endpointId}', A, { costly: true }, readEndpoint),
  route('PATCH',  '/v1/applications/{applicationId}/endpoints/{endpointId}', B, { body: 'rest/endpoint-update', bodyLimit: 65_536 }, updateEndpoint),
  route('DELETE', '/v1/applications/{applicationId}/endpoints/{endpointId}', B, {}, deleteEndpoint),
  route('POST',   '/v1/applications/{applicationId}/endpoints/{endpointId}/secret', B, { body: 'rest/endpoint-secret-replace', bodyLimit: 65_536 }, replaceEndpointSecret),
  route('POST',   '/v1/applications/{applicationId}/endpoints/{endpointId}/test', B, {}, testEndpoint),
  route('GET',    '/v1/applications/{applicationId}/endpoints/{endpointId}/deliveries', A, { query: 'rest/endpoint-delivery-list-query', costly: true }, listEndpointDeliveries),
  route('POST',   '/v1/applications/{applicationId}/endpoints/{endpointId}/deliveries/{sequence}/skip', B, {}, skipEndpointDelivery),
  route('POST',   '/v1/applications/{applicationId}/endpoints/{endpointId}/replay', B, { body: 'rest/replay-request', bodyLimit: 65_536, costly: true }, startReplay),
  route('DELETE', '/v1/applications/{applicationId}/endpoints/{endpointId}/replay', B, {}, cancelReplay),
  route('GET',    '/v1/applications/{applicationId}/webhooks/deliveries', A, { query: 'rest/delivery-list-query', costly: true }, listDeliveries),
  route('GET',    '/v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}', A, {}, readDelivery),
  route('POST',   '/v1/applications/{applicationId}/webhooks/deliveries/redeliver', B, { body: 'rest/redelivery-range', bodyLimit: 65_536, costly: true }, redeliverRange),
  route('POST',   '/v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}/redeliver', B, {}, redeliver),
  route('POST',   '/v1/applications/{applicationId}/webhooks/test', B, { body: 'rest/webhook-test', bodyLimit: 65_536 }, sendTestEvent),

  route('GET',    '/v1/applications/{applicationId}/packages', A, { query: 'common/paging-query' }, listPackages), // op 12
  route('POST',   '/v1/applications/{applicationId}/packages', B, { body: 'rest/package-create', bodyLimit: 65_536 }, registerPackage), // op 13
  route('PATCH',  '/v1/applications/{applicationId}/packages/{package}', B, { body: 'rest/package-update', bodyLimit: 65_536 }, updatePackage), // op 14
  route('DELETE', '/v1/applications/{applicationId}/packages/{package}', B, {}, removePackage), // op 15
  route('GET',    '/v1/applications/{applicationId}/packages/{package}/versions', A, { query: 'rest/version-list-query', costly: true }, listVersions), // op 16
  route('POST',   '/v1/applications/{applicationId}/packages/{package}/versions', B, { body: 'rest/version-create', bodyLimit: 65_536 }, registerVersion), // op 17
  route('PATCH',  '/v1/applications/{applicationId}/packages/{package}/versions/{version}', B, { body: 'rest/version-update', bodyLimit: 65_536 }, updateVersion), // op 18
  route('DELETE', '/v1/applications/{applicationId}/packages/{package}/versions/{version}', B, {}, removeVersion), // op 19
  route('GET',    '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', A, {}, readBinary), // op 20
  route('DELETE', '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', B, {}, removeBinary), // op 21
  route('POST',   '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', B, {}, issueUploadUrl), // op 22
  route('GET',    '/v1/applications/{applicationId}/binary-warnings', A, { query: 'common/paging-query' }, listOwnBinaryWarnings),
  route('POST',   '/v1/applications/{applicationId}/apps', B, { body: 'rest/app-upload', bodyLimit: 65_536 }, uploadApp), // op 23
  route('GET',    '/v1/applications/{applicationId}/apps', A, { query: 'rest/available-software-query', costly: true }, listAvailable), // op 24
  route('GET',    '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', A, {}, readDistribution), // op 25
  route('POST',   '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', B, {}, startDistribution), // op 26
  route('DELETE', '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', B, {}, stopDistribution), // op 27
  route('GET',    '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', A, {}, readSignature),
  route('PUT',    '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', B, { body: 'rest/signature-put', bodyLimit: 65_536 }, putSignature),
  route('DELETE', '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', B, {}, removeSignature),
  route('GET',    '/v1/applications/{applicationId}/software-keys', A, {}, readSoftwareTrust),
  route('GET',    '/v1/applications/{applicationId}/me', A, {}, readOwnAccess),
  route('GET',    '/v1/applications/{applicationId}/members', A, {}, listMembers),
  route('POST',   '/v1/applications/{applicationId}/members', B, { body: 'common/member-create', bodyLimit: 65_536 }, createMember),
  route('DELETE', '/v1/applications/{applicationId}/members/{memberId}', B, {}, revokeMember),
  route('GET',    '/v1/applications/{applicationId}/firmware', A, {}, listFirmware), // op 29
];

/**
 * Paths on which an unknown method is answered 405 with `Allow` (specification, "Errors"); on all others it is answered
 * 403.
 */
export const STRICT_PATHS = [
  '/v1/applications/{applicationId}/devices/{deviceId}',
  '/v1/devices/{deviceId}/hardware-properties',
  MCP_PATH,
];
