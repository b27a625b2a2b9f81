import type { Role } from '../../core/people/roles.ts';
import { leadTo } from '../http/lead-to.ts';
import { routesOf } from '../http/route.ts';
import { mcpError } from '../mcp/answers.ts';
import { servePages } from '../pages/serve-pages.ts';
import { readAlarmReceiver, testAlarmReceiver } from './alarm-receiver.ts';
import { addCertificate, listCertificates, revokeCertificate } from './application-certificates.ts';
import { addSecret, endSecret, listSecrets } from './application-secrets.ts';
import { createApplication, deleteApplication, listApplications, replaceSecret } from './applications.ts';
import { askAsAdministrator, readAdminResourceMetadata } from './assistants.ts';
import { listAudit } from './audit.ts';
import { exportAudit, verifyAudit } from './audit-export.ts';
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
import {
  createDeviceAuthority,
  listDeviceAuthorities,
  readDeviceAuthority,
  retireDeviceAuthority,
  revokeDeviceAuthority,
} from './device-authorities.ts';
import { deleteDevice, listDevices, readDevice, registerDevice, replaceCredential, updateDevice } from './devices.ts';
import { readEncryption, rotateEncryptionKey } from './encryption.ts';
import {
  approveEnrolment,
  createEnrolmentBatch,
  listEnrolmentBatches,
  listEnrolments,
  readEnrolmentBatch,
  refuseEnrolment,
  revokeEnrolmentBatch,
} from './enrolments.ts';
import { readFailures } from './failures.ts';
import { readFeed } from './feed.ts';
import { listAllApplications, readApplication, updateApplication } from './fleet-applications.ts';
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
import { createMember, listMembers, revokeMember } from './members.ts';
import { addDeviceNote, deleteDeviceNote, listDeviceNotes } from './notes.ts';
import { renewObjectStoreKey } from './object-store-key.ts';
import { readHealth, readMetrics, readReadiness } from './operation.ts';
import {
  createPerson,
  createPersonToken,
  deletePerson,
  listPeople,
  putAdministratorToken,
  readAdministratorToken,
  readCaller,
  readPerson,
  renewOwnToken,
  revokePersonToken,
  updatePerson,
} from './people.ts';
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
import { readDeviceSamples, readFleetSamples } from './samples.ts';
import { search } from './search.ts';
import { firmware, systemPackages } from './service-software.ts';
import type { AdminServices } from './services.ts';
import { closeSession, endSession, listSessions, openSession, readOwnSession } from './sessions.ts';
import { listSettings } from './settings.ts';
import { beginSignIn, finishSignIn, toConsole } from './sign-in.ts';
import { listSigningKeys, renewSigningKey } from './signing-keys.ts';
import { addSoftwareKey, listSoftwareKeys, revokeSoftwareKey } from './software-keys.ts';
import { readDeviceStory } from './story.ts';

const route = routesOf<AdminServices, Administrator, Role>();

// The role that a route needs; the roles before it in this list may do the same. See src/core/people/roles.ts.
const OWN = 'owner';
const OPR = 'operator';
const SUP = 'support';
const ANY = 'reader';

/**
 * The whole administration API: method, path, role, schemas, handler. Statuses and descriptions are in
 * schemas/openapi-admin.yaml.
 */
// biome-ignore format: a table is read by its rows
export const ROUTES = [
  route('POST',   '/admin/v1/developers', OPR, { body: 'admin/developer-create', bodyLimit: 65_536 }, createDeveloper),
  route('GET',    '/admin/v1/developers', ANY, { query: 'common/paging-query' }, listDevelopers),
  route('GET',    '/admin/v1/developers/{developerId}', ANY, {}, readDeveloper),
  route('PATCH',  '/admin/v1/developers/{developerId}', OPR, { body: 'admin/developer-update', bodyLimit: 65_536 }, updateDeveloper),
  route('DELETE', '/admin/v1/developers/{developerId}', OPR, {}, deleteDeveloper),

  route('POST',   '/admin/v1/developers/{developerId}/software-keys', OPR, { body: 'admin/software-key-create' }, addSoftwareKey),
  route('GET',    '/admin/v1/developers/{developerId}/software-keys', ANY, {}, listSoftwareKeys),
  route('DELETE', '/admin/v1/developers/{developerId}/software-keys/{keyId}', OPR, {}, revokeSoftwareKey),

  route('POST',   '/admin/v1/developers/{developerId}/members', OPR, { body: 'common/member-create', bodyLimit: 65_536 }, createMember),
  route('GET',    '/admin/v1/developers/{developerId}/members', ANY, {}, listMembers),
  route('DELETE', '/admin/v1/developers/{developerId}/members/{memberId}', OPR, {}, revokeMember),

  route('POST',   '/admin/v1/developers/{developerId}/applications', OPR, { body: 'admin/application-create', bodyLimit: 65_536 }, createApplication),
  route('GET',    '/admin/v1/developers/{developerId}/applications', ANY, { query: 'common/paging-query' }, listApplications),
  route('GET',    '/admin/v1/applications', ANY, { query: 'admin/application-row-query' }, listAllApplications),
  route('GET',    '/admin/v1/applications/{applicationId}', ANY, {}, readApplication),
  route('PATCH',  '/admin/v1/applications/{applicationId}', OPR, { body: 'admin/application-update', bodyLimit: 65_536 }, updateApplication),
  route('DELETE', '/admin/v1/applications/{applicationId}', OPR, {}, deleteApplication),
  route('POST',   '/admin/v1/applications/{applicationId}/certificates', OPR, { body: 'admin/application-certificate-create' }, addCertificate),
  route('GET',    '/admin/v1/applications/{applicationId}/certificates', ANY, {}, listCertificates),
  route('DELETE', '/admin/v1/applications/{applicationId}/certificates/{certificateId}', OPR, {}, revokeCertificate),
  route('POST',   '/admin/v1/applications/{applicationId}/secret', OPR, {}, replaceSecret),
  route('GET',    '/admin/v1/applications/{applicationId}/secrets', ANY, {}, listSecrets),
  route('POST',   '/admin/v1/applications/{applicationId}/secrets', OPR, { body: 'admin/application-secret-create', bodyLimit: 65_536, bodyOptional: true }, addSecret),
  route('DELETE', '/admin/v1/applications/{applicationId}/secrets/{secretId}', OPR, {}, endSecret),

  route('GET',    '/admin/v1/developers/{developerId}/contents', ANY, {}, readDeveloperContents),
  route('POST',   '/admin/v1/developers/{developerId}/removal', OPR, { body: 'admin/removal-request', bodyLimit: 65_536 }, removeDeveloper),
  route('GET',    '/admin/v1/applications/{applicationId}/contents', ANY, {}, readApplicationContents),
  route('POST',   '/admin/v1/applications/{applicationId}/removal', OPR, { body: 'admin/removal-request', bodyLimit: 65_536 }, removeApplication),
  route('GET',    '/admin/v1/removals', ANY, { query: 'admin/removal-query' }, listRemovals),
  route('GET',    '/admin/v1/removals/{removalId}', ANY, {}, readRemoval),

  route('POST',   '/admin/v1/developers/{developerId}/devices', OPR, { body: 'admin/device-register' }, registerDevice),
  route('POST',   '/admin/v1/developers/{developerId}/devices/import', OPR, {}, importDevices),
  route('GET',    '/admin/v1/developers/{developerId}/devices', ANY, { query: 'common/paging-query' }, listDevices),
  route('GET',    '/admin/v1/devices/{deviceId}', ANY, {}, readDevice),
  route('PATCH',  '/admin/v1/devices/{deviceId}', OPR, { body: 'admin/device-update' }, updateDevice),
  route('DELETE', '/admin/v1/devices/{deviceId}', OPR, { query: 'admin/device-delete-query' }, deleteDevice),
  route('POST',   '/admin/v1/devices/{deviceId}/credential', OPR, { body: 'admin/credential-replace', bodyLimit: 65_536, bodyOptional: true }, replaceCredential),

  route('POST',   '/admin/v1/developers/{developerId}/device-authorities', OWN, { body: 'admin/device-authority-create' }, createDeviceAuthority),
  route('GET',    '/admin/v1/developers/{developerId}/device-authorities', ANY, {}, listDeviceAuthorities),
  route('GET',    '/admin/v1/device-authorities/{authorityId}', ANY, {}, readDeviceAuthority),
  route('POST',   '/admin/v1/device-authorities/{authorityId}/retire', OWN, { name: 'retireDeviceAuthority' }, retireDeviceAuthority),
  route('POST',   '/admin/v1/device-authorities/{authorityId}/revoke', OWN, { name: 'revokeDeviceAuthority' }, revokeDeviceAuthority),

  route('POST',   '/admin/v1/developers/{developerId}/enrolment-batches', OPR, { body: 'admin/enrolment-batch-create' }, createEnrolmentBatch),
  route('GET',    '/admin/v1/developers/{developerId}/enrolment-batches', ANY, { query: 'common/paging-query' }, listEnrolmentBatches),
  route('GET',    '/admin/v1/enrolment-batches/{batchId}', ANY, {}, readEnrolmentBatch),
  route('POST',   '/admin/v1/enrolment-batches/{batchId}/revoke', OPR, {}, revokeEnrolmentBatch),
  route('GET',    '/admin/v1/enrolment-batches/{batchId}/devices', ANY, { query: 'admin/enrolment-query' }, listEnrolments),
  route('POST',   '/admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/approve', OPR, {}, approveEnrolment),
  route('POST',   '/admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/refuse', OPR, {}, refuseEnrolment),

  route('GET',    '/admin/v1/devices', ANY, { query: 'admin/fleet-device-query' }, listFleetDevices),
  route('GET',    '/admin/v1/devices/{deviceId}/status', ANY, {}, readFleetDeviceStatus),
  route('GET',    '/admin/v1/devices/{deviceId}/connection', ANY, {}, readConnection),
  route('DELETE', '/admin/v1/devices/{deviceId}/connection', SUP, {}, closeConnection),
  route('GET',    '/admin/v1/devices/{deviceId}/story', ANY, { query: 'admin/story-query' }, readDeviceStory),
  route('GET',    '/admin/v1/devices/{deviceId}/samples', ANY, { query: 'admin/device-samples-query' }, readDeviceSamples),
  route('GET',    '/admin/v1/devices/{deviceId}/notes', ANY, {}, listDeviceNotes),
  route('POST',   '/admin/v1/devices/{deviceId}/notes', SUP, { body: 'common/device-note-create', bodyLimit: 65_536 }, addDeviceNote),
  route('DELETE', '/admin/v1/devices/{deviceId}/notes/{noteId}', SUP, {}, deleteDeviceNote),
  route('GET',    '/admin/v1/devices/{deviceId}/transactions', ANY, { query: 'admin/device-transaction-query' }, listFleetDeviceTransactions),

  route('POST',   '/admin/v1/device-actions', OPR, { body: 'admin/device-action-start' }, startDeviceAction),
  route('GET',    '/admin/v1/device-actions', ANY, { query: 'admin/device-action-query' }, listDeviceActions),
  route('GET',    '/admin/v1/device-actions/{actionId}', ANY, {}, readDeviceAction),
  route('POST',   '/admin/v1/device-actions/{actionId}/stop', OPR, {}, stopDeviceAction),
  route('GET',    '/admin/v1/device-actions/{actionId}/devices', ANY, { query: 'admin/action-device-query' }, listDevicesOfAction),

  route('GET',    '/admin/v1/rollouts', ANY, { query: 'admin/rollout-query' }, listFleetRollouts),
  route('GET',    '/admin/v1/rollouts/{rolloutId}', ANY, { query: 'common/rollout-detail-query' }, readFleetRollout),
  route('DELETE', '/admin/v1/rollouts/{rolloutId}', OPR, {}, cancelFleetRollout),
  route('POST',   '/admin/v1/rollouts/{rolloutId}/pause', SUP, {}, pauseFleetRollout),
  route('GET',    '/admin/v1/rollouts/{rolloutId}/devices', ANY, { query: 'rest/rollout-device-query' }, listFleetRolloutDevices),
  route('GET',    '/admin/v1/rollouts/{rolloutId}/results', ANY, {}, readFleetRolloutResults),

  route('GET',    '/admin/v1/transactions', ANY, { query: 'admin/transaction-query' }, listFleetTransactions),
  route('POST',   '/admin/v1/transactions/cancel', SUP, { body: 'admin/transactions-cancel' }, cancelFleetTransactions),
  route('GET',    '/admin/v1/transactions/{transactionId}', ANY, { showsSecret: true }, readFleetTransaction),
  route('DELETE', '/admin/v1/transactions/{transactionId}', SUP, {}, cancelFleetTransaction),

  route('GET',    '/admin/v1/packages', ANY, { query: 'admin/package-row-query' }, listAllPackages),
  route('GET',    '/admin/v1/packages/{package}', ANY, { query: 'admin/line-query' }, readAnyPackage),
  route('GET',    '/admin/v1/packages/{package}/versions', ANY, { query: 'admin/version-row-query' }, listAnyVersions),
  route('GET',    '/admin/v1/packages/{package}/versions/{version}/installations', ANY, { query: 'admin/installation-query' }, listAnyInstallations),
  route('GET',    '/admin/v1/binary-warnings', ANY, { query: 'common/paging-query' }, listBinaryWarnings),
  route('GET',    '/admin/v1/system-packages', ANY, { query: 'common/paging-query', name: 'listSystemPackages' }, systemPackages.list),
  route('PUT',    '/admin/v1/system-packages/{package}/versions/{version}', OPR, { body: 'admin/service-software-put', bodyLimit: 65_536, bodyOptional: true, name: 'putSystemPackage' }, systemPackages.put),
  route('DELETE', '/admin/v1/system-packages/{package}/versions/{version}', OPR, { name: 'removeSystemPackage' }, systemPackages.remove),
  route('POST',   '/admin/v1/system-packages/{package}/versions/{version}/binaries', OPR, { name: 'issueSystemPackageUrl' }, systemPackages.uploadUrl),
  route('GET',    '/admin/v1/firmware', ANY, { query: 'common/paging-query', name: 'listFirmwareVersions' }, firmware.list),
  route('PUT',    '/admin/v1/firmware/{package}/versions/{version}', OPR, { body: 'admin/service-software-put', bodyLimit: 65_536, bodyOptional: true, name: 'putFirmware' }, firmware.put),
  route('DELETE', '/admin/v1/firmware/{package}/versions/{version}', OPR, { name: 'removeFirmware' }, firmware.remove),
  route('POST',   '/admin/v1/firmware/{package}/versions/{version}/binaries', OPR, { name: 'issueFirmwareUrl' }, firmware.uploadUrl),

  route('GET',    '/admin/v1/feed', ANY, { query: 'common/feed-query' }, readFeed),
  route('GET',    '/admin/v1/sessions', ANY, {}, listSessions),
  route('DELETE', '/admin/v1/sessions/{sessionId}', ANY, {}, endSession),

  route('GET',    '/admin/v1/me', ANY, {}, readCaller),
  route('POST',   '/admin/v1/me/token', ANY, {}, renewOwnToken),
  route('POST',   '/admin/v1/people', OWN, { body: 'admin/person-create', bodyLimit: 65_536 }, createPerson),
  route('GET',    '/admin/v1/people', ANY, { query: 'common/paging-query' }, listPeople),
  route('GET',    '/admin/v1/people/{personId}', ANY, {}, readPerson),
  route('PATCH',  '/admin/v1/people/{personId}', OWN, { body: 'admin/person-update', bodyLimit: 65_536 }, updatePerson),
  route('DELETE', '/admin/v1/people/{personId}', OWN, {}, deletePerson),
  route('POST',   '/admin/v1/people/{personId}/tokens', OWN, { body: 'admin/person-token-create', bodyLimit: 65_536 }, createPersonToken),
  route('DELETE', '/admin/v1/people/{personId}/tokens/{tokenId}', OWN, {}, revokePersonToken),
  route('GET',    '/admin/v1/administrator-token', ANY, {}, readAdministratorToken),
  route('PUT',    '/admin/v1/administrator-token', OWN, { body: 'admin/administrator-token', bodyLimit: 65_536 }, putAdministratorToken),

  route('GET',    '/admin/v1/fleet/summary', ANY, {}, readSummary),
  route('GET',    '/admin/v1/fleet/breakdown', ANY, { query: 'admin/fleet-breakdown-query' }, readBreakdown),
  route('GET',    '/admin/v1/fleet/failures', ANY, { query: 'admin/failure-query' }, readFailures),
  route('GET',    '/admin/v1/fleet/samples', ANY, { query: 'admin/fleet-samples-query' }, readFleetSamples),
  route('GET',    '/admin/v1/fleet/history', ANY, { query: 'admin/fleet-history-query' }, readHistory),

  route('GET',    '/admin/v1/fleet/health', ANY, { query: 'admin/fleet-health-query' }, readFleetHealth),
  route('GET',    '/admin/v1/fleet/alarms', ANY, {}, listAlarms),
  route('GET',    '/admin/v1/alarm-receiver', ANY, {}, readAlarmReceiver),
  route('POST',   '/admin/v1/alarm-receiver/test', SUP, {}, testAlarmReceiver),
  route('GET',    '/admin/v1/nodes', ANY, {}, listNodes),

  route('GET',    '/admin/v1/receivers', ANY, { query: 'admin/receiver-query' }, listReceivers),
  route('GET',    '/admin/v1/deliveries', ANY, { query: 'admin/delivery-query' }, listAllDeliveries),
  route('GET',    '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}', ANY, { showsSecret: true }, readDelivery),
  route('POST',   '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}/redeliver', SUP, {}, redeliverOne),
  route('POST',   '/admin/v1/applications/{applicationId}/deliveries/redeliver', SUP, { body: 'admin/redelivery-range', bodyLimit: 65_536 }, redeliverSome),
  route('POST',   '/admin/v1/applications/{applicationId}/webhooks/test', SUP, { body: 'rest/webhook-test', bodyLimit: 65_536 }, testReceiver),

  route('GET',    '/admin/v1/audit', ANY, { query: 'admin/audit-query' }, listAudit),
  route('GET',    '/admin/v1/audit/export', ANY, { query: 'admin/audit-export-query' }, exportAudit),
  route('GET',    '/admin/v1/audit/verification', ANY, { query: 'admin/audit-verification-query' }, verifyAudit),

  route('GET',    '/', null, { head: true, name: 'openRoot' }, leadTo('console')),
  route('GET',    '/console', null, { head: true, below: true, anyQuery: true }, servePages),
  route('POST',   '/console/session', null, { body: 'admin/console-login', bodyLimit: 65_536 }, openSession),
  route('GET',    '/console/session', null, {}, readOwnSession),
  route('DELETE', '/console/session', null, {}, closeSession),
  route('POST',   '/console/sign-in', null, { body: 'admin/sign-in', bodyLimit: 65_536 }, beginSignIn),
  route('GET',    '/console/sign-in/{providerId}', null, { anyQuery: true, errors: toConsole }, finishSignIn),

  route('GET',    '/admin/v1/encryption', ANY, {}, readEncryption),
  route('POST',   '/admin/v1/encryption/rotation', OWN, {}, rotateEncryptionKey),

  route('GET',    '/admin/v1/signing-keys', ANY, {}, listSigningKeys),
  route('POST',   '/admin/v1/signing-keys', OWN, { body: 'admin/signing-key-renew', bodyLimit: 65_536, bodyOptional: true }, renewSigningKey),

  route('POST',   '/admin/v1/object-store-key', OWN, { body: 'admin/object-store-key-renew', bodyLimit: 65_536, bodyOptional: true }, renewObjectStoreKey),

  route('GET',    '/admin/v1/settings', ANY, {}, listSettings),
  route('GET',    '/.well-known/oauth-protected-resource/mcp', null, {}, readAdminResourceMetadata),
  route('POST',   '/mcp', ANY, { body: 'common/mcp-message', bodyLimit: 65_536, errors: mcpError, asks: true }, askAsAdministrator),
  route('GET',    '/admin/v1/search', ANY, { query: 'admin/search-query' }, search),

  route('GET',    '/metrics', null, {}, readMetrics),
  route('GET',    '/healthz', null, { anyHost: true }, readHealth),
  route('GET',    '/readyz', null, { anyHost: true }, readReadiness),
];
