import { leadTo } from '../http/lead-to.ts';
import { routesOf } from '../http/route.ts';
import { servePages } from '../pages/serve-pages.ts';
import { createApplication, deleteApplication, listApplications, replaceSecret } from './applications.ts';
import { listAudit } from './audit.ts';
import type { Administrator } from './authorize.ts';
import { listBinaryWarnings } from './binary-warnings.ts';
import { createDeveloper, deleteDeveloper, listDevelopers, readDeveloper, updateDeveloper } from './developers.ts';
import {
  listDeviceActions,
  listDevicesOfAction,
  readDeviceAction,
  startDeviceAction,
  stopDeviceAction,
} from './device-actions.ts';
import { deleteDevice, listDevices, readDevice, registerDevice, replaceCredential, updateDevice } from './devices.ts';
import { readFailures } from './failures.ts';
import { readFeed } from './feed.ts';
import { listAllApplications, readApplication } from './fleet-applications.ts';
import {
  listAllDeliveries,
  listReceivers,
  readDelivery,
  redeliverOne,
  redeliverSome,
  testReceiver,
} from './fleet-deliveries.ts';
import { closeConnection, listFleetDeviceTransactions, readConnection, readFleetDeviceStatus } from './fleet-device.ts';
import { listFleetDevices } from './fleet-devices.ts';
import { readBreakdown, readHistory, readSummary } from './fleet-figures.ts';
import { listAlarms, listNodes, readFleetHealth } from './fleet-health.ts';
import { listAllPackages, listAnyInstallations, listAnyVersions, readAnyPackage } from './fleet-packages.ts';
import {
  cancelFleetTransaction,
  cancelFleetTransactions,
  listFleetTransactions,
  readFleetTransaction,
} from './fleet-transactions.ts';
import { importDevices } from './import-devices.ts';
import { readHealth, readMetrics, readReadiness } from './operation.ts';
import {
  listRemovals,
  readApplicationContents,
  readDeveloperContents,
  readRemoval,
  removeApplication,
  removeDeveloper,
} from './removals.ts';
import {
  cancelFleetRollout,
  listFleetRolloutDevices,
  listFleetRollouts,
  pauseFleetRollout,
  readFleetRollout,
  readFleetRolloutResults,
} from './rollouts.ts';
import { search } from './search.ts';
import { firmware, systemPackages } from './service-software.ts';
import type { AdminServices } from './services.ts';
import { closeSession, endSession, listSessions, openSession, readOwnSession } from './sessions.ts';
import { listSettings } from './settings.ts';
import { addSoftwareKey, listSoftwareKeys, revokeSoftwareKey } from './software-keys.ts';
import { readDeviceStory } from './story.ts';

const route = routesOf<AdminServices, Administrator>();

// The administrator token has no scopes: it permits everything here.
const A = 'administrator';

/**
 * The whole administration API: method, path, token, schemas, handler. Statuses and descriptions are in
 * schemas/openapi-admin.yaml.
 */
// biome-ignore format: a table is read by its rows
export const ROUTES = [
  route('POST',   '/admin/v1/developers', A, { body: 'admin/developer-create' }, createDeveloper),
  route('GET',    '/admin/v1/developers', A, { query: 'common/paging-query' }, listDevelopers),
  route('GET',    '/admin/v1/developers/{developerId}', A, {}, readDeveloper),
  route('PATCH',  '/admin/v1/developers/{developerId}', A, { body: 'admin/developer-update' }, updateDeveloper),
  route('DELETE', '/admin/v1/developers/{developerId}', A, {}, deleteDeveloper),

  route('POST',   '/admin/v1/developers/{developerId}/software-keys', A, { body: 'admin/software-key-create' }, addSoftwareKey),
  route('GET',    '/admin/v1/developers/{developerId}/software-keys', A, {}, listSoftwareKeys),
  route('DELETE', '/admin/v1/developers/{developerId}/software-keys/{keyId}', A, {}, revokeSoftwareKey),

  route('POST',   '/admin/v1/developers/{developerId}/applications', A, { body: 'admin/application-create' }, createApplication),
  route('GET',    '/admin/v1/developers/{developerId}/applications', A, { query: 'common/paging-query' }, listApplications),
  route('GET',    '/admin/v1/applications', A, { query: 'admin/application-row-query' }, listAllApplications),
  route('GET',    '/admin/v1/applications/{applicationId}', A, {}, readApplication),
  route('DELETE', '/admin/v1/applications/{applicationId}', A, {}, deleteApplication),
  route('POST',   '/admin/v1/applications/{applicationId}/secret', A, {}, replaceSecret),

  route('GET',    '/admin/v1/developers/{developerId}/contents', A, {}, readDeveloperContents),
  route('POST',   '/admin/v1/developers/{developerId}/removal', A, { body: 'admin/removal-request' }, removeDeveloper),
  route('GET',    '/admin/v1/applications/{applicationId}/contents', A, {}, readApplicationContents),
  route('POST',   '/admin/v1/applications/{applicationId}/removal', A, { body: 'admin/removal-request' }, removeApplication),
  route('GET',    '/admin/v1/removals', A, { query: 'admin/removal-query' }, listRemovals),
  route('GET',    '/admin/v1/removals/{removalId}', A, {}, readRemoval),

  route('POST',   '/admin/v1/developers/{developerId}/devices', A, { body: 'admin/device-register' }, registerDevice),
  route('POST',   '/admin/v1/developers/{developerId}/devices/import', A, {}, importDevices),
  route('GET',    '/admin/v1/developers/{developerId}/devices', A, { query: 'common/paging-query' }, listDevices),
  route('GET',    '/admin/v1/devices/{deviceId}', A, {}, readDevice),
  route('PATCH',  '/admin/v1/devices/{deviceId}', A, { body: 'admin/device-update' }, updateDevice),
  route('DELETE', '/admin/v1/devices/{deviceId}', A, { query: 'admin/device-delete-query' }, deleteDevice),
  route('POST',   '/admin/v1/devices/{deviceId}/credential', A, { body: 'admin/credential-replace', bodyOptional: true }, replaceCredential),

  route('GET',    '/admin/v1/devices', A, { query: 'admin/fleet-device-query' }, listFleetDevices),
  route('GET',    '/admin/v1/devices/{deviceId}/status', A, {}, readFleetDeviceStatus),
  route('GET',    '/admin/v1/devices/{deviceId}/connection', A, {}, readConnection),
  route('DELETE', '/admin/v1/devices/{deviceId}/connection', A, {}, closeConnection),
  route('GET',    '/admin/v1/devices/{deviceId}/story', A, { query: 'admin/story-query' }, readDeviceStory),
  route('GET',    '/admin/v1/devices/{deviceId}/transactions', A, { query: 'admin/device-transaction-query' }, listFleetDeviceTransactions),

  route('POST',   '/admin/v1/device-actions', A, { body: 'admin/device-action-start' }, startDeviceAction),
  route('GET',    '/admin/v1/device-actions', A, { query: 'admin/device-action-query' }, listDeviceActions),
  route('GET',    '/admin/v1/device-actions/{actionId}', A, {}, readDeviceAction),
  route('POST',   '/admin/v1/device-actions/{actionId}/stop', A, {}, stopDeviceAction),
  route('GET',    '/admin/v1/device-actions/{actionId}/devices', A, { query: 'admin/action-device-query' }, listDevicesOfAction),

  route('GET',    '/admin/v1/rollouts', A, { query: 'admin/rollout-query' }, listFleetRollouts),
  route('GET',    '/admin/v1/rollouts/{rolloutId}', A, {}, readFleetRollout),
  route('DELETE', '/admin/v1/rollouts/{rolloutId}', A, {}, cancelFleetRollout),
  route('POST',   '/admin/v1/rollouts/{rolloutId}/pause', A, {}, pauseFleetRollout),
  route('GET',    '/admin/v1/rollouts/{rolloutId}/devices', A, { query: 'rest/rollout-device-query' }, listFleetRolloutDevices),
  route('GET',    '/admin/v1/rollouts/{rolloutId}/results', A, {}, readFleetRolloutResults),

  route('GET',    '/admin/v1/transactions', A, { query: 'admin/transaction-query' }, listFleetTransactions),
  route('POST',   '/admin/v1/transactions/cancel', A, { body: 'admin/transactions-cancel' }, cancelFleetTransactions),
  route('GET',    '/admin/v1/transactions/{transactionId}', A, {}, readFleetTransaction),
  route('DELETE', '/admin/v1/transactions/{transactionId}', A, {}, cancelFleetTransaction),

  route('GET',    '/admin/v1/packages', A, { query: 'admin/package-row-query' }, listAllPackages),
  route('GET',    '/admin/v1/packages/{package}', A, { query: 'admin/line-query' }, readAnyPackage),
  route('GET',    '/admin/v1/packages/{package}/versions', A, { query: 'admin/version-row-query' }, listAnyVersions),
  route('GET',    '/admin/v1/packages/{package}/versions/{version}/installations', A, { query: 'admin/installation-query' }, listAnyInstallations),
  route('GET',    '/admin/v1/binary-warnings', A, { query: 'common/paging-query' }, listBinaryWarnings),
  route('GET',    '/admin/v1/system-packages', A, { query: 'common/paging-query', name: 'listSystemPackages' }, systemPackages.list),
  route('PUT',    '/admin/v1/system-packages/{package}/versions/{version}', A, { body: 'admin/service-software-put', bodyOptional: true, name: 'putSystemPackage' }, systemPackages.put),
  route('DELETE', '/admin/v1/system-packages/{package}/versions/{version}', A, { name: 'removeSystemPackage' }, systemPackages.remove),
  route('POST',   '/admin/v1/system-packages/{package}/versions/{version}/binaries', A, { name: 'issueSystemPackageUrl' }, systemPackages.uploadUrl),
  route('GET',    '/admin/v1/firmware', A, { query: 'common/paging-query', name: 'listFirmwareVersions' }, firmware.list),
  route('PUT',    '/admin/v1/firmware/{package}/versions/{version}', A, { body: 'admin/service-software-put', bodyOptional: true, name: 'putFirmware' }, firmware.put),
  route('DELETE', '/admin/v1/firmware/{package}/versions/{version}', A, { name: 'removeFirmware' }, firmware.remove),
  route('POST',   '/admin/v1/firmware/{package}/versions/{version}/binaries', A, { name: 'issueFirmwareUrl' }, firmware.uploadUrl),

  route('GET',    '/admin/v1/feed', A, { query: 'common/feed-query' }, readFeed),
  route('GET',    '/admin/v1/sessions', A, {}, listSessions),
  route('DELETE', '/admin/v1/sessions/{sessionId}', A, {}, endSession),

  route('GET',    '/admin/v1/fleet/summary', A, {}, readSummary),
  route('GET',    '/admin/v1/fleet/breakdown', A, { query: 'admin/fleet-breakdown-query' }, readBreakdown),
  route('GET',    '/admin/v1/fleet/failures', A, { query: 'admin/failure-query' }, readFailures),
  route('GET',    '/admin/v1/fleet/history', A, { query: 'admin/fleet-history-query' }, readHistory),

  route('GET',    '/admin/v1/fleet/health', A, { query: 'admin/fleet-health-query' }, readFleetHealth),
  route('GET',    '/admin/v1/fleet/alarms', A, {}, listAlarms),
  route('GET',    '/admin/v1/nodes', A, {}, listNodes),

  route('GET',    '/admin/v1/receivers', A, { query: 'admin/receiver-query' }, listReceivers),
  route('GET',    '/admin/v1/deliveries', A, { query: 'admin/delivery-query' }, listAllDeliveries),
  route('GET',    '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}', A, {}, readDelivery),
  route('POST',   '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}/redeliver', A, {}, redeliverOne),
  route('POST',   '/admin/v1/applications/{applicationId}/deliveries/redeliver', A, { body: 'admin/redelivery-range' }, redeliverSome),
  route('POST',   '/admin/v1/applications/{applicationId}/webhooks/test', A, { body: 'rest/webhook-test' }, testReceiver),

  route('GET',    '/admin/v1/audit', A, { query: 'admin/audit-query' }, listAudit),

  route('GET',    '/', null, { head: true, name: 'openRoot' }, leadTo('console')),
  route('GET',    '/console', null, { head: true, below: true }, servePages),
  route('POST',   '/console/session', null, { body: 'admin/console-login' }, openSession),
  route('GET',    '/console/session', null, {}, readOwnSession),
  route('DELETE', '/console/session', null, {}, closeSession),

  route('GET',    '/admin/v1/settings', A, {}, listSettings),
  route('GET',    '/admin/v1/search', A, { query: 'admin/search-query' }, search),

  route('GET',    '/metrics', null, {}, readMetrics),
  route('GET',    '/healthz', null, { anyHost: true }, readHealth),
  route('GET',    '/readyz', null, { anyHost: true }, readReadiness),
];
