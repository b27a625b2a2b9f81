// Generated from schemas/openapi-admin.yaml by `npm run generate`; edit that instead.
// biome-ignore-all format: a table is read by its rows
import type { SchemaTypes } from '@lapel/schemas/contracts/types';

/** Every operation of administration, with its input and its answer. */
export interface AdminOperations {
  /** Create a developer. */
  createDeveloper: { input: { body: SchemaTypes['admin/developer-create'] }; answer: SchemaTypes['admin/developer'] };
  /** List the developers. */
  listDevelopers: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/developer-list'] };
  /** Read a developer. */
  readDeveloper: { input: { developerId: string }; answer: SchemaTypes['admin/developer-details'] };
  /** Change the name, the contract or the rules of a developer. */
  updateDeveloper: { input: { developerId: string; body: SchemaTypes['admin/developer-update']; ifMatch?: string }; answer: SchemaTypes['admin/developer'] };
  /** Delete a developer. */
  deleteDeveloper: { input: { developerId: string }; answer: undefined };
  /** Add a software key. */
  addSoftwareKey: { input: { developerId: string; body: SchemaTypes['admin/software-key-create'] }; answer: SchemaTypes['common/software-key'] };
  /** List the software keys of a developer. */
  listSoftwareKeys: { input: { developerId: string }; answer: SchemaTypes['admin/software-key-list'] };
  /** Revoke a software key. */
  revokeSoftwareKey: { input: { developerId: string; keyId: string }; answer: undefined };
  /** Give a person of a developer a token. */
  createMember: { input: { developerId: string; body: SchemaTypes['common/member-create'] }; answer: SchemaTypes['common/member-created'] };
  /** List the people of a developer. */
  listMembers: { input: { developerId: string }; answer: SchemaTypes['common/member-list'] };
  /** Revoke the token of a person of a developer. */
  revokeMember: { input: { developerId: string; memberId: string }; answer: undefined };
  /** Create an application. */
  createApplication: { input: { developerId: string; body: SchemaTypes['admin/application-create'] }; answer: SchemaTypes['admin/application-created'] };
  /** List the applications of a developer. */
  listApplications: { input: { developerId: string; query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/application-list'] };
  /** List the applications of all developers. */
  listAllApplications: { input: { query?: Partial<SchemaTypes['admin/application-row-query']> }; answer: SchemaTypes['admin/application-row-list'] };
  /** Read an application. */
  readApplication: { input: { applicationId: string }; answer: SchemaTypes['admin/application-row'] };
  /** Change how an application gets its tokens. */
  updateApplication: { input: { applicationId: string; body: SchemaTypes['admin/application-update'] }; answer: SchemaTypes['admin/application-row'] };
  /** Delete an application. */
  deleteApplication: { input: { applicationId: string }; answer: undefined };
  /** Add a certificate of an application. */
  addCertificate: { input: { applicationId: string; body: SchemaTypes['admin/application-certificate-create'] }; answer: SchemaTypes['admin/application-certificate'] };
  /** List the certificates of an application. */
  listCertificates: { input: { applicationId: string }; answer: SchemaTypes['admin/application-certificate-list'] };
  /** Revoke a certificate of an application. */
  revokeCertificate: { input: { applicationId: string; certificateId: string }; answer: undefined };
  /** Replace the secret of an application. */
  replaceSecret: { input: { applicationId: string }; answer: SchemaTypes['admin/application-secret'] };
  /** List the secrets of an application. */
  listSecrets: { input: { applicationId: string }; answer: SchemaTypes['admin/application-secret-list'] };
  /** Issue another secret for an application. */
  addSecret: { input: { applicationId: string; body?: SchemaTypes['admin/application-secret-create'] }; answer: SchemaTypes['admin/application-secret-issued'] };
  /** End a secret of an application. */
  endSecret: { input: { applicationId: string; secretId: string }; answer: undefined };
  /** Count what belongs to a developer. */
  readDeveloperContents: { input: { developerId: string }; answer: SchemaTypes['admin/contents'] };
  /** Remove a developer with everything. */
  removeDeveloper: { input: { developerId: string; body: SchemaTypes['admin/removal-request'] }; answer: SchemaTypes['admin/removal'] };
  /** Count what belongs to an application. */
  readApplicationContents: { input: { applicationId: string }; answer: SchemaTypes['admin/contents'] };
  /** Remove an application with everything. */
  removeApplication: { input: { applicationId: string; body: SchemaTypes['admin/removal-request'] }; answer: SchemaTypes['admin/removal'] };
  /** List the removals of developers and applications. */
  listRemovals: { input: { query?: Partial<SchemaTypes['admin/removal-query']> }; answer: SchemaTypes['admin/removal-list'] };
  /** Read a removal. */
  readRemoval: { input: { removalId: string }; answer: SchemaTypes['admin/removal'] };
  /** Register a device. */
  registerDevice: { input: { developerId: string; body: SchemaTypes['admin/device-register'] }; answer: SchemaTypes['admin/device-registered'] };
  /** Register many devices. */
  importDevices: { input: { developerId: string }; answer: undefined };
  /** List the devices of a developer. */
  listDevices: { input: { developerId: string; query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/device-list'] };
  /** Read a device. */
  readDevice: { input: { deviceId: string }; answer: SchemaTypes['admin/device'] };
  /** Change or move a device. */
  updateDevice: { input: { deviceId: string; body: SchemaTypes['admin/device-update'] }; answer: SchemaTypes['admin/device'] };
  /** Delete a device. */
  deleteDevice: { input: { deviceId: string; query?: Partial<SchemaTypes['admin/device-delete-query']> }; answer: undefined };
  /** Replace the credential of a device. */
  replaceCredential: { input: { deviceId: string; body?: SchemaTypes['admin/credential-replace'] }; answer: SchemaTypes['admin/credential-replaced'] };
  /** Make a device CA. */
  createDeviceAuthority: { input: { developerId: string; body: SchemaTypes['admin/device-authority-create'] }; answer: SchemaTypes['admin/device-authority'] };
  /** List the device CAs of a developer. */
  listDeviceAuthorities: { input: { developerId: string }; answer: SchemaTypes['admin/device-authority-list'] };
  /** Read a device CA. */
  readDeviceAuthority: { input: { authorityId: string }; answer: SchemaTypes['admin/device-authority'] };
  /** Retire a device CA. */
  retireDeviceAuthority: { input: { authorityId: string }; answer: SchemaTypes['admin/device-authority'] };
  /** Revoke a device CA. */
  revokeDeviceAuthority: { input: { authorityId: string }; answer: SchemaTypes['admin/device-authority'] };
  /** Make an enrolment batch. */
  createEnrolmentBatch: { input: { developerId: string; body: SchemaTypes['admin/enrolment-batch-create'] }; answer: SchemaTypes['admin/enrolment-batch-created'] };
  /** List the enrolment batches of a developer. */
  listEnrolmentBatches: { input: { developerId: string; query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/enrolment-batch-list'] };
  /** Read an enrolment batch. */
  readEnrolmentBatch: { input: { batchId: string }; answer: SchemaTypes['admin/enrolment-batch'] };
  /** Revoke the code of an enrolment batch. */
  revokeEnrolmentBatch: { input: { batchId: string }; answer: SchemaTypes['admin/enrolment-batch'] };
  /** List the devices of an enrolment batch. */
  listEnrolments: { input: { batchId: string; query?: Partial<SchemaTypes['admin/enrolment-query']> }; answer: SchemaTypes['admin/enrolment-list'] };
  /** Approve a device that waits. */
  approveEnrolment: { input: { batchId: string; deviceId: string }; answer: SchemaTypes['admin/enrolment-device'] };
  /** Refuse a device that waits. */
  refuseEnrolment: { input: { batchId: string; deviceId: string }; answer: SchemaTypes['admin/enrolment-device'] };
  /** List devices. */
  listFleetDevices: { input: { query?: Partial<SchemaTypes['admin/fleet-device-query']> }; answer: SchemaTypes['common/device-row-list'] };
  /** Read the last reported status of a device. */
  readFleetDeviceStatus: { input: { deviceId: string }; answer: SchemaTypes['admin/device-status'] };
  /** Read the connection of a device. */
  readConnection: { input: { deviceId: string }; answer: SchemaTypes['admin/device-connection'] };
  /** Close the connection of a device. */
  closeConnection: { input: { deviceId: string }; answer: undefined };
  /** Read the story of a device. */
  readDeviceStory: { input: { deviceId: string; query?: Partial<SchemaTypes['admin/story-query']> }; answer: SchemaTypes['admin/device-story'] };
  /** Show what a device reported over time. */
  readDeviceSamples: { input: { deviceId: string; query?: Partial<SchemaTypes['admin/device-samples-query']> }; answer: SchemaTypes['admin/device-samples'] };
  /** List the notes on a device. */
  listDeviceNotes: { input: { deviceId: string }; answer: SchemaTypes['common/device-note-list'] };
  /** Write a note on a device. */
  addDeviceNote: { input: { deviceId: string; body: SchemaTypes['common/device-note-create'] }; answer: SchemaTypes['common/device-note'] };
  /** Delete a note on a device. */
  deleteDeviceNote: { input: { deviceId: string; noteId: string }; answer: undefined };
  /** List the transactions of a device. */
  listFleetDeviceTransactions: { input: { deviceId: string; query?: Partial<SchemaTypes['admin/device-transaction-query']> }; answer: SchemaTypes['common/transaction-row-list'] };
  /** Change all devices that match a filter. */
  startDeviceAction: { input: { body: SchemaTypes['admin/device-action-start'] }; answer: SchemaTypes['admin/device-action'] };
  /** List the device actions. */
  listDeviceActions: { input: { query?: Partial<SchemaTypes['admin/device-action-query']> }; answer: SchemaTypes['admin/device-action-list'] };
  /** Show a device action. */
  readDeviceAction: { input: { actionId: string }; answer: SchemaTypes['admin/device-action'] };
  /** Stop a device action. */
  stopDeviceAction: { input: { actionId: string }; answer: SchemaTypes['admin/device-action'] };
  /** List the devices of a device action. */
  listDevicesOfAction: { input: { actionId: string; query?: Partial<SchemaTypes['admin/action-device-query']> }; answer: SchemaTypes['admin/action-device-list'] };
  /** List the rollouts of all applications. */
  listFleetRollouts: { input: { query?: Partial<SchemaTypes['admin/rollout-query']> }; answer: SchemaTypes['common/rollout-row-list'] };
  /** Show a rollout. */
  readFleetRollout: { input: { rolloutId: string; query?: Partial<SchemaTypes['common/rollout-detail-query']> }; answer: SchemaTypes['common/rollout'] };
  /** Cancel a rollout. */
  cancelFleetRollout: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout'] };
  /** Pause a rollout. */
  pauseFleetRollout: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout'] };
  /** List the devices of a rollout. */
  listFleetRolloutDevices: { input: { rolloutId: string; query?: Partial<SchemaTypes['rest/rollout-device-query']> }; answer: SchemaTypes['common/rollout-device-list'] };
  /** Read the results of a rollout over time. */
  readFleetRolloutResults: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout-results'] };
  /** List transactions. */
  listFleetTransactions: { input: { query?: Partial<SchemaTypes['admin/transaction-query']> }; answer: SchemaTypes['common/transaction-row-list'] };
  /** Cancel many transactions. */
  cancelFleetTransactions: { input: { body: SchemaTypes['admin/transactions-cancel'] }; answer: SchemaTypes['admin/transactions-cancelled'] };
  /** Read a transaction. */
  readFleetTransaction: { input: { transactionId: number }; answer: SchemaTypes['common/transaction-detail'] };
  /** Cancel a transaction. */
  cancelFleetTransaction: { input: { transactionId: number }; answer: undefined };
  /** List the packages of all developers and of the service. */
  listAllPackages: { input: { query?: Partial<SchemaTypes['admin/package-row-query']> }; answer: SchemaTypes['admin/package-row-list'] };
  /** Read a package. */
  readAnyPackage: { input: { package: string; query?: Partial<SchemaTypes['admin/line-query']> }; answer: SchemaTypes['admin/package-row'] };
  /** List the versions of a package. */
  listAnyVersions: { input: { package: string; query?: Partial<SchemaTypes['admin/version-row-query']> }; answer: SchemaTypes['admin/version-row-list'] };
  /** List the devices of a version. */
  listAnyInstallations: { input: { package: string; version: string; query?: Partial<SchemaTypes['admin/installation-query']> }; answer: SchemaTypes['common/installations'] };
  /** List uploads that differ from their registration. */
  listBinaryWarnings: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['common/binary-warning-list'] };
  /** List system packages. */
  listSystemPackages: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/system-package-list'] };
  /** Register or change a version of system packages. */
  putSystemPackage: { input: { package: string; version: string; body?: SchemaTypes['admin/service-software-put'] }; answer: SchemaTypes['admin/service-software-version'] };
  /** Delete a version of system packages. */
  removeSystemPackage: { input: { package: string; version: string }; answer: undefined };
  /** Issue a URL to upload a version of system packages. */
  issueSystemPackageUrl: { input: { package: string; version: string }; answer: SchemaTypes['rest/upload-urls'] };
  /** List firmware. */
  listFirmwareVersions: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/firmware-version-list'] };
  /** Register or change a version of firmware. */
  putFirmware: { input: { package: string; version: string; body?: SchemaTypes['admin/service-software-put'] }; answer: SchemaTypes['admin/service-software-version'] };
  /** Delete a version of firmware. */
  removeFirmware: { input: { package: string; version: string }; answer: undefined };
  /** Issue a URL to upload a version of firmware. */
  issueFirmwareUrl: { input: { package: string; version: string }; answer: SchemaTypes['rest/upload-urls'] };
  /** List sessions of the console. */
  listSessions: { input: object; answer: SchemaTypes['admin/console-session-list'] };
  /** End a session of the console. */
  endSession: { input: { sessionId: string }; answer: undefined };
  /** Read who the caller is. */
  readCaller: { input: object; answer: SchemaTypes['admin/caller'] };
  /** Replace the secret of the own token. */
  renewOwnToken: { input: object; answer: SchemaTypes['admin/person-token-created'] };
  /** Create a person. */
  createPerson: { input: { body: SchemaTypes['admin/person-create'] }; answer: SchemaTypes['admin/person'] };
  /** List the people. */
  listPeople: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['admin/person-list'] };
  /** Read a person. */
  readPerson: { input: { personId: string }; answer: SchemaTypes['admin/person-details'] };
  /** Change a person. */
  updatePerson: { input: { personId: string; body: SchemaTypes['admin/person-update']; ifMatch?: string }; answer: SchemaTypes['admin/person'] };
  /** Delete a person. */
  deletePerson: { input: { personId: string }; answer: undefined };
  /** Make a token for a person. */
  createPersonToken: { input: { personId: string; body: SchemaTypes['admin/person-token-create'] }; answer: SchemaTypes['admin/person-token-created'] };
  /** Revoke a token of a person. */
  revokePersonToken: { input: { personId: string; tokenId: string }; answer: undefined };
  /** Read whether the administrator token is accepted. */
  readAdministratorToken: { input: object; answer: SchemaTypes['admin/administrator-token'] };
  /** Let the administrator token be accepted or refused. */
  putAdministratorToken: { input: { body: SchemaTypes['admin/administrator-token'] }; answer: SchemaTypes['admin/administrator-token'] };
  /** Show the fleet in figures. */
  readSummary: { input: object; answer: SchemaTypes['admin/fleet-summary'] };
  /** Count devices in groups. */
  readBreakdown: { input: { query?: Partial<SchemaTypes['admin/fleet-breakdown-query']> }; answer: SchemaTypes['admin/fleet-breakdown'] };
  /** Count the installations that failed. */
  readFailures: { input: { query?: Partial<SchemaTypes['admin/failure-query']> }; answer: SchemaTypes['admin/failure-breakdown'] };
  /** Compare devices by version. */
  readFleetSamples: { input: { query?: Partial<SchemaTypes['admin/fleet-samples-query']> }; answer: SchemaTypes['admin/fleet-samples'] };
  /** Show the figures over time. */
  readHistory: { input: { query?: Partial<SchemaTypes['admin/fleet-history-query']> }; answer: SchemaTypes['admin/fleet-history'] };
  /** Show what is slow. */
  readFleetHealth: { input: { query?: Partial<SchemaTypes['admin/fleet-health-query']> }; answer: SchemaTypes['admin/fleet-health'] };
  /** List what must be mended. */
  listAlarms: { input: object; answer: SchemaTypes['admin/alarm-list'] };
  /** Read who is told of alarms. */
  readAlarmReceiver: { input: object; answer: SchemaTypes['admin/alarm-receiver'] };
  /** Send a test message to the receiver of alarms. */
  testAlarmReceiver: { input: object; answer: SchemaTypes['admin/alarm-receiver'] };
  /** List the nodes. */
  listNodes: { input: object; answer: SchemaTypes['admin/node-list'] };
  /** List the receivers of webhooks. */
  listReceivers: { input: { query?: Partial<SchemaTypes['admin/receiver-query']> }; answer: SchemaTypes['admin/receiver-list'] };
  /** List webhooks of all applications. */
  listAllDeliveries: { input: { query?: Partial<SchemaTypes['admin/delivery-query']> }; answer: SchemaTypes['common/delivery-row-list'] };
  /** Show a webhook. */
  readDelivery: { input: { applicationId: string; deliveryId: string }; answer: SchemaTypes['common/delivery-detail'] };
  /** Send a webhook again. */
  redeliverOne: { input: { applicationId: string; deliveryId: string }; answer: undefined };
  /** Send the webhooks of a range of time again. */
  redeliverSome: { input: { applicationId: string; body: SchemaTypes['admin/redelivery-range'] }; answer: SchemaTypes['rest/redelivered'] };
  /** Send a test event. */
  testReceiver: { input: { applicationId: string; body: SchemaTypes['rest/webhook-test'] }; answer: SchemaTypes['rest/webhook-test-sent'] };
  /** List the entries of the audit log. */
  listAudit: { input: { query?: Partial<SchemaTypes['admin/audit-query']> }; answer: SchemaTypes['admin/audit-list'] };
  /** Export the audit log. */
  exportAudit: { input: { query?: Partial<SchemaTypes['admin/audit-export-query']> }; answer: undefined };
  /** Check the audit log. */
  verifyAudit: { input: { query?: Partial<SchemaTypes['admin/audit-verification-query']> }; answer: SchemaTypes['admin/audit-verification'] };
  /** Read with which keys secrets are encrypted. */
  readEncryption: { input: object; answer: SchemaTypes['admin/encryption'] };
  /** Encrypt all secrets with the newest key. */
  rotateEncryptionKey: { input: object; answer: SchemaTypes['admin/encryption'] };
  /** List the keys that sign access tokens. */
  listSigningKeys: { input: object; answer: SchemaTypes['admin/signing-key-list'] };
  /** Make a new key that signs access tokens. */
  renewSigningKey: { input: { body?: SchemaTypes['admin/signing-key-renew'] }; answer: SchemaTypes['admin/signing-key-list'] };
  /** Make a new key of the embedded object store. */
  renewObjectStoreKey: { input: { body?: SchemaTypes['admin/object-store-key-renew'] }; answer: undefined };
  /** List the settings of the service. */
  listSettings: { input: object; answer: SchemaTypes['admin/setting-list'] };
  /** Search by identifier or name. */
  search: { input: { query?: Partial<SchemaTypes['admin/search-query']> }; answer: SchemaTypes['admin/search-results'] };
}

/** The method and the path of each operation. */
export const ADMIN_OPERATIONS: Readonly<Record<keyof AdminOperations, { method: string; path: string }>> = {
  createDeveloper: { method: 'POST', path: '/admin/v1/developers' },
  listDevelopers: { method: 'GET', path: '/admin/v1/developers' },
  readDeveloper: { method: 'GET', path: '/admin/v1/developers/{developerId}' },
  updateDeveloper: { method: 'PATCH', path: '/admin/v1/developers/{developerId}' },
  deleteDeveloper: { method: 'DELETE', path: '/admin/v1/developers/{developerId}' },
  addSoftwareKey: { method: 'POST', path: '/admin/v1/developers/{developerId}/software-keys' },
  listSoftwareKeys: { method: 'GET', path: '/admin/v1/developers/{developerId}/software-keys' },
  revokeSoftwareKey: { method: 'DELETE', path: '/admin/v1/developers/{developerId}/software-keys/{keyId}' },
  createMember: { method: 'POST', path: '/admin/v1/developers/{developerId}/members' },
  listMembers: { method: 'GET', path: '/admin/v1/developers/{developerId}/members' },
  revokeMember: { method: 'DELETE', path: '/admin/v1/developers/{developerId}/members/{memberId}' },
  createApplication: { method: 'POST', path: '/admin/v1/developers/{developerId}/applications' },
  listApplications: { method: 'GET', path: '/admin/v1/developers/{developerId}/applications' },
  listAllApplications: { method: 'GET', path: '/admin/v1/applications' },
  readApplication: { method: 'GET', path: '/admin/v1/applications/{applicationId}' },
  updateApplication: { method: 'PATCH', path: '/admin/v1/applications/{applicationId}' },
  deleteApplication: { method: 'DELETE', path: '/admin/v1/applications/{applicationId}' },
  addCertificate: { method: 'POST', path: '/admin/v1/applications/{applicationId}/certificates' },
  listCertificates: { method: 'GET', path: '/admin/v1/applications/{applicationId}/certificates' },
  revokeCertificate: { method: 'DELETE', path: '/admin/v1/applications/{applicationId}/certificates/{certificateId}' },
  replaceSecret: { method: 'POST', path: '/admin/v1/applications/{applicationId}/secret' },
  listSecrets: { method: 'GET', path: '/admin/v1/applications/{applicationId}/secrets' },
  addSecret: { method: 'POST', path: '/admin/v1/applications/{applicationId}/secrets' },
  endSecret: { method: 'DELETE', path: '/admin/v1/applications/{applicationId}/secrets/{secretId}' },
  readDeveloperContents: { method: 'GET', path: '/admin/v1/developers/{developerId}/contents' },
  removeDeveloper: { method: 'POST', path: '/admin/v1/developers/{developerId}/removal' },
  readApplicationContents: { method: 'GET', path: '/admin/v1/applications/{applicationId}/contents' },
  removeApplication: { method: 'POST', path: '/admin/v1/applications/{applicationId}/removal' },
  listRemovals: { method: 'GET', path: '/admin/v1/removals' },
  readRemoval: { method: 'GET', path: '/admin/v1/removals/{removalId}' },
  registerDevice: { method: 'POST', path: '/admin/v1/developers/{developerId}/devices' },
  importDevices: { method: 'POST', path: '/admin/v1/developers/{developerId}/devices/import' },
  listDevices: { method: 'GET', path: '/admin/v1/developers/{developerId}/devices' },
  readDevice: { method: 'GET', path: '/admin/v1/devices/{deviceId}' },
  updateDevice: { method: 'PATCH', path: '/admin/v1/devices/{deviceId}' },
  deleteDevice: { method: 'DELETE', path: '/admin/v1/devices/{deviceId}' },
  replaceCredential: { method: 'POST', path: '/admin/v1/devices/{deviceId}/credential' },
  createDeviceAuthority: { method: 'POST', path: '/admin/v1/developers/{developerId}/device-authorities' },
  listDeviceAuthorities: { method: 'GET', path: '/admin/v1/developers/{developerId}/device-authorities' },
  readDeviceAuthority: { method: 'GET', path: '/admin/v1/device-authorities/{authorityId}' },
  retireDeviceAuthority: { method: 'POST', path: '/admin/v1/device-authorities/{authorityId}/retire' },
  revokeDeviceAuthority: { method: 'POST', path: '/admin/v1/device-authorities/{authorityId}/revoke' },
  createEnrolmentBatch: { method: 'POST', path: '/admin/v1/developers/{developerId}/enrolment-batches' },
  listEnrolmentBatches: { method: 'GET', path: '/admin/v1/developers/{developerId}/enrolment-batches' },
  readEnrolmentBatch: { method: 'GET', path: '/admin/v1/enrolment-batches/{batchId}' },
  revokeEnrolmentBatch: { method: 'POST', path: '/admin/v1/enrolment-batches/{batchId}/revoke' },
  listEnrolments: { method: 'GET', path: '/admin/v1/enrolment-batches/{batchId}/devices' },
  approveEnrolment: { method: 'POST', path: '/admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/approve' },
  refuseEnrolment: { method: 'POST', path: '/admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/refuse' },
  listFleetDevices: { method: 'GET', path: '/admin/v1/devices' },
  readFleetDeviceStatus: { method: 'GET', path: '/admin/v1/devices/{deviceId}/status' },
  readConnection: { method: 'GET', path: '/admin/v1/devices/{deviceId}/connection' },
  closeConnection: { method: 'DELETE', path: '/admin/v1/devices/{deviceId}/connection' },
  readDeviceStory: { method: 'GET', path: '/admin/v1/devices/{deviceId}/story' },
  readDeviceSamples: { method: 'GET', path: '/admin/v1/devices/{deviceId}/samples' },
  listDeviceNotes: { method: 'GET', path: '/admin/v1/devices/{deviceId}/notes' },
  addDeviceNote: { method: 'POST', path: '/admin/v1/devices/{deviceId}/notes' },
  deleteDeviceNote: { method: 'DELETE', path: '/admin/v1/devices/{deviceId}/notes/{noteId}' },
  listFleetDeviceTransactions: { method: 'GET', path: '/admin/v1/devices/{deviceId}/transactions' },
  startDeviceAction: { method: 'POST', path: '/admin/v1/device-actions' },
  listDeviceActions: { method: 'GET', path: '/admin/v1/device-actions' },
  readDeviceAction: { method: 'GET', path: '/admin/v1/device-actions/{actionId}' },
  stopDeviceAction: { method: 'POST', path: '/admin/v1/device-actions/{actionId}/stop' },
  listDevicesOfAction: { method: 'GET', path: '/admin/v1/device-actions/{actionId}/devices' },
  listFleetRollouts: { method: 'GET', path: '/admin/v1/rollouts' },
  readFleetRollout: { method: 'GET', path: '/admin/v1/rollouts/{rolloutId}' },
  cancelFleetRollout: { method: 'DELETE', path: '/admin/v1/rollouts/{rolloutId}' },
  pauseFleetRollout: { method: 'POST', path: '/admin/v1/rollouts/{rolloutId}/pause' },
  listFleetRolloutDevices: { method: 'GET', path: '/admin/v1/rollouts/{rolloutId}/devices' },
  readFleetRolloutResults: { method: 'GET', path: '/admin/v1/rollouts/{rolloutId}/results' },
  listFleetTransactions: { method: 'GET', path: '/admin/v1/transactions' },
  cancelFleetTransactions: { method: 'POST', path: '/admin/v1/transactions/cancel' },
  readFleetTransaction: { method: 'GET', path: '/admin/v1/transactions/{transactionId}' },
  cancelFleetTransaction: { method: 'DELETE', path: '/admin/v1/transactions/{transactionId}' },
  listAllPackages: { method: 'GET', path: '/admin/v1/packages' },
  readAnyPackage: { method: 'GET', path: '/admin/v1/packages/{package}' },
  listAnyVersions: { method: 'GET', path: '/admin/v1/packages/{package}/versions' },
  listAnyInstallations: { method: 'GET', path: '/admin/v1/packages/{package}/versions/{version}/installations' },
  listBinaryWarnings: { method: 'GET', path: '/admin/v1/binary-warnings' },
  listSystemPackages: { method: 'GET', path: '/admin/v1/system-packages' },
  putSystemPackage: { method: 'PUT', path: '/admin/v1/system-packages/{package}/versions/{version}' },
  removeSystemPackage: { method: 'DELETE', path: '/admin/v1/system-packages/{package}/versions/{version}' },
  issueSystemPackageUrl: { method: 'POST', path: '/admin/v1/system-packages/{package}/versions/{version}/binaries' },
  listFirmwareVersions: { method: 'GET', path: '/admin/v1/firmware' },
  putFirmware: { method: 'PUT', path: '/admin/v1/firmware/{package}/versions/{version}' },
  removeFirmware: { method: 'DELETE', path: '/admin/v1/firmware/{package}/versions/{version}' },
  issueFirmwareUrl: { method: 'POST', path: '/admin/v1/firmware/{package}/versions/{version}/binaries' },
  listSessions: { method: 'GET', path: '/admin/v1/sessions' },
  endSession: { method: 'DELETE', path: '/admin/v1/sessions/{sessionId}' },
  readCaller: { method: 'GET', path: '/admin/v1/me' },
  renewOwnToken: { method: 'POST', path: '/admin/v1/me/token' },
  createPerson: { method: 'POST', path: '/admin/v1/people' },
  listPeople: { method: 'GET', path: '/admin/v1/people' },
  readPerson: { method: 'GET', path: '/admin/v1/people/{personId}' },
  updatePerson: { method: 'PATCH', path: '/admin/v1/people/{personId}' },
  deletePerson: { method: 'DELETE', path: '/admin/v1/people/{personId}' },
  createPersonToken: { method: 'POST', path: '/admin/v1/people/{personId}/tokens' },
  revokePersonToken: { method: 'DELETE', path: '/admin/v1/people/{personId}/tokens/{tokenId}' },
  readAdministratorToken: { method: 'GET', path: '/admin/v1/administrator-token' },
  putAdministratorToken: { method: 'PUT', path: '/admin/v1/administrator-token' },
  readSummary: { method: 'GET', path: '/admin/v1/fleet/summary' },
  readBreakdown: { method: 'GET', path: '/admin/v1/fleet/breakdown' },
  readFailures: { method: 'GET', path: '/admin/v1/fleet/failures' },
  readFleetSamples: { method: 'GET', path: '/admin/v1/fleet/samples' },
  readHistory: { method: 'GET', path: '/admin/v1/fleet/history' },
  readFleetHealth: { method: 'GET', path: '/admin/v1/fleet/health' },
  listAlarms: { method: 'GET', path: '/admin/v1/fleet/alarms' },
  readAlarmReceiver: { method: 'GET', path: '/admin/v1/alarm-receiver' },
  testAlarmReceiver: { method: 'POST', path: '/admin/v1/alarm-receiver/test' },
  listNodes: { method: 'GET', path: '/admin/v1/nodes' },
  listReceivers: { method: 'GET', path: '/admin/v1/receivers' },
  listAllDeliveries: { method: 'GET', path: '/admin/v1/deliveries' },
  readDelivery: { method: 'GET', path: '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}' },
  redeliverOne: { method: 'POST', path: '/admin/v1/applications/{applicationId}/deliveries/{deliveryId}/redeliver' },
  redeliverSome: { method: 'POST', path: '/admin/v1/applications/{applicationId}/deliveries/redeliver' },
  testReceiver: { method: 'POST', path: '/admin/v1/applications/{applicationId}/webhooks/test' },
  listAudit: { method: 'GET', path: '/admin/v1/audit' },
  exportAudit: { method: 'GET', path: '/admin/v1/audit/export' },
  verifyAudit: { method: 'GET', path: '/admin/v1/audit/verification' },
  readEncryption: { method: 'GET', path: '/admin/v1/encryption' },
  rotateEncryptionKey: { method: 'POST', path: '/admin/v1/encryption/rotation' },
  listSigningKeys: { method: 'GET', path: '/admin/v1/signing-keys' },
  renewSigningKey: { method: 'POST', path: '/admin/v1/signing-keys' },
  renewObjectStoreKey: { method: 'POST', path: '/admin/v1/object-store-key' },
  listSettings: { method: 'GET', path: '/admin/v1/settings' },
  search: { method: 'GET', path: '/admin/v1/search' },
};
