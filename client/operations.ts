// Generated from schemas/openapi.yaml by `npm run generate`; edit that instead.
// biome-ignore-all format: a table is read by its rows
import type { SchemaTypes } from '@lapel/schemas/contracts/types';

/** Every operation of the application API, with its input (apart from the application) and its answer. */
export interface Operations {
  /** Read the settings of the application (op 1). */
  readSettings: { input: object; answer: SchemaTypes['rest/application-settings'] };
  /** Change settings of the application (op 2). */
  updateSettings: { input: { body: SchemaTypes['rest/application-settings-update']; ifMatch?: string }; answer: undefined };
  /** Issue the authenticationKey (op 3). */
  issueKey: { input: object; answer: SchemaTypes['rest/authentication-key'] };
  /** Read the activation status of a device (op 4). */
  readActivation: { input: { deviceId: string }; answer: SchemaTypes['rest/activation-status'] };
  /** Activate a device (op 5). */
  activate: { input: { deviceId: string; body?: SchemaTypes['rest/activation-request']; query?: Partial<SchemaTypes['rest/expiry-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Deactivate a device (op 6). */
  deactivate: { input: { deviceId: string; query?: Partial<SchemaTypes['rest/expiry-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Read the status of a device (op 7). */
  readStatus: { input: { deviceId: string }; answer: SchemaTypes['rest/device-status'] };
  /** List the status of the devices of the application (op 8). */
  listStatuses: { input: { query?: Partial<SchemaTypes['rest/device-status-query']> }; answer: SchemaTypes['rest/device-status-list'] };
  /** Count the devices that a selector matches (device count). */
  countDevices: { input: { body: SchemaTypes['rest/device-count-request'] }; answer: SchemaTypes['rest/device-count'] };
  /** Change tags of many devices (tags of many devices). */
  updateTagsOfMany: { input: { body: SchemaTypes['rest/tagging'] }; answer: SchemaTypes['rest/tagged'] };
  /** Summarize the fleet (fleet). */
  readFleet: { input: object; answer: SchemaTypes['rest/own-fleet'] };
  /** Read the tags of a device (tags of a device). */
  readTags: { input: { deviceId: string }; answer: SchemaTypes['common/tags'] };
  /** Change tags of a device (change of tags). */
  updateTags: { input: { deviceId: string; body: SchemaTypes['common/tag-patch']; ifMatch?: string }; answer: SchemaTypes['common/tags'] };
  /** List the notes on a device (notes). */
  listDeviceNotes: { input: { deviceId: string }; answer: SchemaTypes['common/device-note-list'] };
  /** Write a note on a device (new note). */
  addDeviceNote: { input: { deviceId: string; body: SchemaTypes['common/device-note-create'] }; answer: SchemaTypes['common/device-note'] };
  /** Delete a note on a device (end of a note). */
  deleteDeviceNote: { input: { deviceId: string; noteId: string }; answer: undefined };
  /** Start a rollout (rollout start). */
  startRollout: { input: { body: SchemaTypes['rest/rollout-create'] }; answer: SchemaTypes['rest/rollout-created'] };
  /** List the rollouts of the application (rollouts). */
  listRollouts: { input: { query?: Partial<SchemaTypes['rest/rollout-query']> }; answer: SchemaTypes['common/rollout-row-list'] };
  /** Show a rollout (rollout). */
  readRollout: { input: { rolloutId: string; query?: Partial<SchemaTypes['common/rollout-detail-query']> }; answer: SchemaTypes['common/rollout'] };
  /** Change the rules of a rollout (rollout change). */
  updateRollout: { input: { rolloutId: string; body: SchemaTypes['rest/rollout-update']; ifMatch?: string }; answer: SchemaTypes['common/rollout'] };
  /** Cancel a rollout (rollout cancel). */
  cancelRollout: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout'] };
  /** Pause a rollout (rollout pause). */
  pauseRollout: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout'] };
  /** Let a paused rollout go on (rollout resume). */
  resumeRollout: { input: { rolloutId: string; ifMatch?: string }; answer: SchemaTypes['common/rollout'] };
  /** Approve the present stage (rollout approval). */
  approveRollout: { input: { rolloutId: string; body?: SchemaTypes['rest/rollout-approval']; ifMatch?: string }; answer: SchemaTypes['common/rollout'] };
  /** Let failed devices try again (rollout retry). */
  retryRollout: { input: { rolloutId: string; body?: SchemaTypes['rest/rollout-retry'] }; answer: SchemaTypes['rest/rollout-retried'] };
  /** Bring the devices of a rollout back (rollout revert). */
  revertRollout: { input: { rolloutId: string; body?: SchemaTypes['rest/rollout-revert'] }; answer: SchemaTypes['rest/rollout-reverted'] };
  /** List the devices of a rollout (rollout devices). */
  listRolloutDevices: { input: { rolloutId: string; query?: Partial<SchemaTypes['rest/rollout-device-query']> }; answer: SchemaTypes['common/rollout-device-list'] };
  /** Read the results of a rollout over time (rollout results). */
  readRolloutResults: { input: { rolloutId: string }; answer: SchemaTypes['common/rollout-results'] };
  /** Read the hardware properties of a device (op 9). */
  readHardware: { input: { deviceId: string }; answer: SchemaTypes['rest/hardware-properties'] };
  /** Set the access point names of a device (op 10). */
  setApn: { input: { deviceId: string; body: SchemaTypes['rest/apn-settings']; query?: Partial<SchemaTypes['rest/network-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Set the Wi-Fi networks of a device (op 11). */
  setWifi: { input: { deviceId: string; body: SchemaTypes['rest/wifi-settings']; query?: Partial<SchemaTypes['rest/network-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Set the language of a device (language). */
  setLanguage: { input: { deviceId: string; body: SchemaTypes['rest/language-setting']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Ask a device whether Bluetooth is on (connectivity state read). */
  readConnectivity: { input: { deviceId: string; query: SchemaTypes['rest/connectivity-query'] }; answer: SchemaTypes['rest/transaction-response'] };
  /** Turn Bluetooth of a device on or off (connectivity state change). */
  changeConnectivity: { input: { deviceId: string; body: SchemaTypes['rest/connectivity-state']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Ask a device for the Bluetooth devices in its reach (connectivity list). */
  listConnectivity: { input: { deviceId: string; query: SchemaTypes['rest/connectivity-query'] }; answer: SchemaTypes['rest/transaction-response'] };
  /** Pair a device with a Bluetooth device (pairing). */
  pairBluetooth: { input: { deviceId: string; body: SchemaTypes['rest/bluetooth-pairing']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Ask a device for its logs (diagnostics). */
  collectDiagnostics: { input: { deviceId: string; body: SchemaTypes['rest/diagnostics-request']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Install a distributed version on a device (op 28). */
  installSoftware: { input: { deviceId: string; body: SchemaTypes['rest/install-request']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** Read the firmware of a device (firmware read). */
  readFirmware: { input: { deviceId: string }; answer: SchemaTypes['rest/firmware-state'] };
  /** Update the firmware of a device (firmware update). */
  updateFirmware: { input: { deviceId: string; body: SchemaTypes['rest/install-request']; query?: Partial<SchemaTypes['rest/terms-query']> }; answer: SchemaTypes['rest/transaction-response'] };
  /** List the transactions of a device (transaction list). */
  listTransactions: { input: { deviceId: string; query?: Partial<SchemaTypes['rest/transaction-list-query']> }; answer: SchemaTypes['rest/transaction-list'] };
  /** Read a transaction (transaction lookup). */
  readTransaction: { input: { deviceId: string; transactionId: number }; answer: SchemaTypes['rest/transaction-record'] };
  /** Cancel a transaction (transaction cancel). */
  cancelTransaction: { input: { deviceId: string; transactionId: number }; answer: undefined };
  /** List the devices of the application (devices of the application). */
  listOwnDevices: { input: { query?: Partial<SchemaTypes['rest/own-device-query']> }; answer: SchemaTypes['common/device-row-list'] };
  /** List the transactions of the application (transactions of the application). */
  listOwnTransactions: { input: { query?: Partial<SchemaTypes['rest/own-transaction-query']> }; answer: SchemaTypes['common/transaction-row-list'] };
  /** Read a transaction by its number alone (transaction of the application). */
  readOwnTransaction: { input: { transactionId: number }; answer: SchemaTypes['common/transaction-detail'] };
  /** List the devices that have a version, wait for it, or failed at it (installations). */
  listInstallations: { input: { package: string; version: string; query?: Partial<SchemaTypes['rest/own-installation-query']> }; answer: SchemaTypes['common/installations'] };
  /** List the changes of the application (audit log of the application). */
  listOwnAudit: { input: { query?: Partial<SchemaTypes['rest/own-audit-query']> }; answer: SchemaTypes['rest/own-audit-list'] };
  /** Read the stream of events (stream of events). */
  listEvents: { input: { query?: Partial<SchemaTypes['rest/event-list-query']> }; answer: SchemaTypes['rest/event-list'] };
  /** List the consumers of the stream (consumers of the stream). */
  listConsumers: { input: object; answer: SchemaTypes['rest/event-consumer-list'] };
  /** Read a consumer of the stream (a consumer of the stream). */
  readConsumer: { input: { consumer: string }; answer: SchemaTypes['rest/event-consumer'] };
  /** Move a consumer of the stream (move of a consumer). */
  moveConsumer: { input: { consumer: string; body: SchemaTypes['rest/event-consumer-update']; ifMatch?: string }; answer: SchemaTypes['rest/event-consumer'] };
  /** Delete a consumer of the stream (deletion of a consumer). */
  deleteConsumer: { input: { consumer: string }; answer: undefined };
  /** List the endpoints of the application (endpoints). */
  listEndpoints: { input: object; answer: SchemaTypes['rest/endpoint-list'] };
  /** Make an endpoint (new endpoint). */
  createEndpoint: { input: { body: SchemaTypes['rest/endpoint-create'] }; answer: SchemaTypes['rest/endpoint-created'] };
  /** Read an endpoint (an endpoint). */
  readEndpoint: { input: { endpointId: string }; answer: SchemaTypes['rest/endpoint'] };
  /** Change an endpoint (change of an endpoint). */
  updateEndpoint: { input: { endpointId: string; body: SchemaTypes['rest/endpoint-update']; ifMatch?: string }; answer: SchemaTypes['rest/endpoint'] };
  /** Remove an endpoint (removal of an endpoint). */
  deleteEndpoint: { input: { endpointId: string; ifMatch?: string }; answer: undefined };
  /** Make another secret for an endpoint (secret of an endpoint). */
  replaceEndpointSecret: { input: { endpointId: string; body: SchemaTypes['rest/endpoint-secret-replace'] }; answer: SchemaTypes['rest/endpoint-created'] };
  /** Send a test event to an endpoint (test of an endpoint). */
  testEndpoint: { input: { endpointId: string }; answer: SchemaTypes['rest/endpoint-test-answer'] };
  /** List the deliveries to an endpoint (deliveries to an endpoint). */
  listEndpointDeliveries: { input: { endpointId: string; query?: Partial<SchemaTypes['rest/endpoint-delivery-list-query']> }; answer: SchemaTypes['rest/endpoint-delivery-list'] };
  /** Give up a delivery to an endpoint (skip of a delivery). */
  skipEndpointDelivery: { input: { endpointId: string; sequence: number }; answer: undefined };
  /** Send events again to an endpoint (replay to an endpoint). */
  startReplay: { input: { endpointId: string; body: SchemaTypes['rest/replay-request'] }; answer: SchemaTypes['rest/replay-answer'] };
  /** Cancel a replay (end of a replay). */
  cancelReplay: { input: { endpointId: string }; answer: undefined };
  /** List the webhook deliveries of the application (delivery log). */
  listDeliveries: { input: { query?: Partial<SchemaTypes['rest/delivery-list-query']> }; answer: SchemaTypes['rest/delivery-list'] };
  /** Show a webhook delivery (delivery lookup). */
  readDelivery: { input: { deliveryId: string }; answer: SchemaTypes['common/delivery-detail'] };
  /** Send a range of deliveries again (redelivery of a range). */
  redeliverRange: { input: { body: SchemaTypes['rest/redelivery-range'] }; answer: SchemaTypes['rest/redelivered'] };
  /** Send a delivery again (redelivery). */
  redeliver: { input: { deliveryId: string }; answer: undefined };
  /** Send a test event (test event). */
  sendTestEvent: { input: { body: SchemaTypes['rest/webhook-test'] }; answer: SchemaTypes['rest/webhook-test-sent'] };
  /** List the packages of the developer (op 12). */
  listPackages: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['rest/package-list'] };
  /** Register a package (op 13). */
  registerPackage: { input: { body: SchemaTypes['rest/package-create'] }; answer: SchemaTypes['rest/package'] };
  /** Change the display name of a package (op 14). */
  updatePackage: { input: { package: string; body: SchemaTypes['rest/package-update'] }; answer: SchemaTypes['rest/package'] };
  /** Delete a package (op 15). */
  removePackage: { input: { package: string }; answer: undefined };
  /** List the versions of a package (op 16). */
  listVersions: { input: { package: string; query?: Partial<SchemaTypes['rest/version-list-query']> }; answer: SchemaTypes['rest/version-list'] };
  /** Register a version (op 17). */
  registerVersion: { input: { package: string; body: SchemaTypes['rest/version-create'] }; answer: SchemaTypes['rest/version'] };
  /** Change the description of a version (op 18). */
  updateVersion: { input: { package: string; version: string; body: SchemaTypes['rest/version-update'] }; answer: SchemaTypes['rest/version'] };
  /** Delete a version (op 19). */
  removeVersion: { input: { package: string; version: string }; answer: undefined };
  /** Read whether a version has a binary (op 20). */
  readBinary: { input: { package: string; version: string }; answer: SchemaTypes['rest/binary-status'] };
  /** Delete the binary of a version (op 21). */
  removeBinary: { input: { package: string; version: string }; answer: undefined };
  /** Issue a URL to upload the binary of a version (op 22). */
  issueUploadUrl: { input: { package: string; version: string }; answer: SchemaTypes['rest/upload-urls'] };
  /** List uploads that differ from their registration (binary warnings). */
  listOwnBinaryWarnings: { input: { query?: Partial<SchemaTypes['common/paging-query']> }; answer: SchemaTypes['common/binary-warning-list'] };
  /** Register software and issue a URL to upload it (op 23). */
  uploadApp: { input: { body: SchemaTypes['rest/app-upload'] }; answer: SchemaTypes['rest/app-upload-urls'] };
  /** List the software that the application can distribute (op 24). */
  listAvailable: { input: { query?: Partial<SchemaTypes['rest/available-software-query']> }; answer: SchemaTypes['rest/available-software'] };
  /** Read whether a version is distributed (op 25). */
  readDistribution: { input: { package: string; version: string }; answer: SchemaTypes['rest/distribution-status'] };
  /** Start the distribution of a version (op 26). */
  startDistribution: { input: { package: string; version: string }; answer: SchemaTypes['rest/distribution-started'] };
  /** Stop the distribution of a version (op 27). */
  stopDistribution: { input: { package: string; version: string }; answer: undefined };
  /** Read the signature of a version. */
  readSignature: { input: { package: string; version: string }; answer: SchemaTypes['rest/version-signature'] };
  /** Sign a version. */
  putSignature: { input: { package: string; version: string; body: SchemaTypes['rest/signature-put'] }; answer: SchemaTypes['rest/version-signature'] };
  /** Remove the signature of a version. */
  removeSignature: { input: { package: string; version: string }; answer: undefined };
  /** Read the keys and rules for software. */
  readSoftwareTrust: { input: object; answer: SchemaTypes['rest/software-trust'] };
  /** Read whose token it is. */
  readOwnAccess: { input: object; answer: SchemaTypes['rest/own-access'] };
  /** List the people of the developer. */
  listMembers: { input: object; answer: SchemaTypes['common/member-list'] };
  /** Give a person a token. */
  createMember: { input: { body: SchemaTypes['common/member-create'] }; answer: SchemaTypes['common/member-created'] };
  /** Revoke the token of a person. */
  revokeMember: { input: { memberId: string }; answer: undefined };
  /** List the firmware that can be distributed (op 29). */
  listFirmware: { input: object; answer: SchemaTypes['rest/firmware-list'] };
}

/** The method, the path and the scope of each operation. A repeatable one accepts an Idempotency-Key. */
export const OPERATIONS: Record<keyof Operations, { method: string; path: string; scope: string; repeatable?: true }> = {
  readSettings: { method: 'GET', path: '/v1/applications/{applicationId}', scope: 'svc:application:read' },
  updateSettings: { method: 'PATCH', path: '/v1/applications/{applicationId}', scope: 'svc:application:write' },
  issueKey: { method: 'POST', path: '/v1/applications/{applicationId}/refresh_authkey', scope: 'svc:application:write' },
  readActivation: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}', scope: 'svc:device:read' },
  activate: { method: 'POST', path: '/v1/applications/{applicationId}/devices/{deviceId}', scope: 'svc:device:write', repeatable: true },
  deactivate: { method: 'DELETE', path: '/v1/applications/{applicationId}/devices/{deviceId}', scope: 'svc:device:write', repeatable: true },
  readStatus: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/status', scope: 'svc:device:read' },
  listStatuses: { method: 'GET', path: '/v1/applications/{applicationId}/devices/status', scope: 'svc:device:read' },
  countDevices: { method: 'POST', path: '/v1/applications/{applicationId}/devices/count', scope: 'svc:device:read' },
  updateTagsOfMany: { method: 'PATCH', path: '/v1/applications/{applicationId}/devices/tags', scope: 'svc:device:write' },
  readFleet: { method: 'GET', path: '/v1/applications/{applicationId}/fleet', scope: 'svc:device:read' },
  readTags: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/tags', scope: 'svc:device:read' },
  updateTags: { method: 'PATCH', path: '/v1/applications/{applicationId}/devices/{deviceId}/tags', scope: 'svc:device:write' },
  listDeviceNotes: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/notes', scope: 'svc:device:read' },
  addDeviceNote: { method: 'POST', path: '/v1/applications/{applicationId}/devices/{deviceId}/notes', scope: 'svc:device:write' },
  deleteDeviceNote: { method: 'DELETE', path: '/v1/applications/{applicationId}/devices/{deviceId}/notes/{noteId}', scope: 'svc:device:write' },
  startRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts', scope: 'svc:device:write', repeatable: true },
  listRollouts: { method: 'GET', path: '/v1/applications/{applicationId}/rollouts', scope: 'svc:device:read' },
  readRollout: { method: 'GET', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}', scope: 'svc:device:read' },
  updateRollout: { method: 'PATCH', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}', scope: 'svc:device:write' },
  cancelRollout: { method: 'DELETE', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}', scope: 'svc:device:write' },
  pauseRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/pause', scope: 'svc:device:write' },
  resumeRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/resume', scope: 'svc:device:write' },
  approveRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/approve', scope: 'svc:device:write' },
  retryRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/retry-failed', scope: 'svc:device:write' },
  revertRollout: { method: 'POST', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/revert', scope: 'svc:device:write', repeatable: true },
  listRolloutDevices: { method: 'GET', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/devices', scope: 'svc:device:read' },
  readRolloutResults: { method: 'GET', path: '/v1/applications/{applicationId}/rollouts/{rolloutId}/results', scope: 'svc:device:read' },
  readHardware: { method: 'GET', path: '/v1/devices/{deviceId}/hardware-properties', scope: 'svc:device:read' },
  setApn: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/settings/apn', scope: 'svc:device:write', repeatable: true },
  setWifi: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/settings/wifi', scope: 'svc:device:write', repeatable: true },
  setLanguage: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/settings/lang', scope: 'svc:device:write', repeatable: true },
  readConnectivity: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', scope: 'svc:device:read' },
  changeConnectivity: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/state', scope: 'svc:device:write', repeatable: true },
  listConnectivity: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/connectivity/list', scope: 'svc:device:read' },
  pairBluetooth: { method: 'POST', path: '/v1/applications/{applicationId}/devices/{deviceId}/bluetooth/devices', scope: 'svc:device:write', repeatable: true },
  collectDiagnostics: { method: 'POST', path: '/v1/applications/{applicationId}/devices/{deviceId}/diagnostics', scope: 'svc:device:write', repeatable: true },
  installSoftware: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/apps', scope: 'svc:device:write', repeatable: true },
  readFirmware: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/firmware', scope: 'svc:device:read' },
  updateFirmware: { method: 'PUT', path: '/v1/applications/{applicationId}/devices/{deviceId}/firmware', scope: 'svc:device:write', repeatable: true },
  listTransactions: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/transactions', scope: 'svc:device:read' },
  readTransaction: { method: 'GET', path: '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', scope: 'svc:device:read' },
  cancelTransaction: { method: 'DELETE', path: '/v1/applications/{applicationId}/devices/{deviceId}/transactions/{transactionId}', scope: 'svc:device:write' },
  listOwnDevices: { method: 'GET', path: '/v1/applications/{applicationId}/devices', scope: 'svc:device:read' },
  listOwnTransactions: { method: 'GET', path: '/v1/applications/{applicationId}/transactions', scope: 'svc:application:read' },
  readOwnTransaction: { method: 'GET', path: '/v1/applications/{applicationId}/transactions/{transactionId}', scope: 'svc:application:read' },
  listInstallations: { method: 'GET', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/installations', scope: 'svc:application:read' },
  listOwnAudit: { method: 'GET', path: '/v1/applications/{applicationId}/audit', scope: 'svc:application:read' },
  listEvents: { method: 'GET', path: '/v1/applications/{applicationId}/events', scope: 'svc:application:read' },
  listConsumers: { method: 'GET', path: '/v1/applications/{applicationId}/events/consumers', scope: 'svc:application:read' },
  readConsumer: { method: 'GET', path: '/v1/applications/{applicationId}/events/consumers/{consumer}', scope: 'svc:application:read' },
  moveConsumer: { method: 'PUT', path: '/v1/applications/{applicationId}/events/consumers/{consumer}', scope: 'svc:application:write' },
  deleteConsumer: { method: 'DELETE', path: '/v1/applications/{applicationId}/events/consumers/{consumer}', scope: 'svc:application:write' },
  listEndpoints: { method: 'GET', path: '/v1/applications/{applicationId}/endpoints', scope: 'svc:application:read' },
  createEndpoint: { method: 'POST', path: '/v1/applications/{applicationId}/endpoints', scope: 'svc:application:write' },
  readEndpoint: { method: 'GET', path: '/v1/applications/{applicationId}/endpoints/{endpointId}', scope: 'svc:application:read' },
  updateEndpoint: { method: 'PATCH', path: '/v1/applications/{applicationId}/endpoints/{endpointId}', scope: 'svc:application:write' },
  deleteEndpoint: { method: 'DELETE', path: '/v1/applications/{applicationId}/endpoints/{endpointId}', scope: 'svc:application:write' },
  replaceEndpointSecret: { method: 'POST', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/secret', scope: 'svc:application:write' },
  testEndpoint: { method: 'POST', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/test', scope: 'svc:application:write' },
  listEndpointDeliveries: { method: 'GET', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/deliveries', scope: 'svc:application:read' },
  skipEndpointDelivery: { method: 'POST', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/deliveries/{sequence}/skip', scope: 'svc:application:write' },
  startReplay: { method: 'POST', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/replay', scope: 'svc:application:write' },
  cancelReplay: { method: 'DELETE', path: '/v1/applications/{applicationId}/endpoints/{endpointId}/replay', scope: 'svc:application:write' },
  listDeliveries: { method: 'GET', path: '/v1/applications/{applicationId}/webhooks/deliveries', scope: 'svc:application:read' },
  readDelivery: { method: 'GET', path: '/v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}', scope: 'svc:application:read' },
  redeliverRange: { method: 'POST', path: '/v1/applications/{applicationId}/webhooks/deliveries/redeliver', scope: 'svc:application:write' },
  redeliver: { method: 'POST', path: '/v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}/redeliver', scope: 'svc:application:write' },
  sendTestEvent: { method: 'POST', path: '/v1/applications/{applicationId}/webhooks/test', scope: 'svc:application:write' },
  listPackages: { method: 'GET', path: '/v1/applications/{applicationId}/packages', scope: 'svc:application:read' },
  registerPackage: { method: 'POST', path: '/v1/applications/{applicationId}/packages', scope: 'svc:application:write' },
  updatePackage: { method: 'PATCH', path: '/v1/applications/{applicationId}/packages/{package}', scope: 'svc:application:write' },
  removePackage: { method: 'DELETE', path: '/v1/applications/{applicationId}/packages/{package}', scope: 'svc:application:write' },
  listVersions: { method: 'GET', path: '/v1/applications/{applicationId}/packages/{package}/versions', scope: 'svc:application:read' },
  registerVersion: { method: 'POST', path: '/v1/applications/{applicationId}/packages/{package}/versions', scope: 'svc:application:write' },
  updateVersion: { method: 'PATCH', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}', scope: 'svc:application:write' },
  removeVersion: { method: 'DELETE', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}', scope: 'svc:application:write' },
  readBinary: { method: 'GET', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: 'svc:application:read' },
  removeBinary: { method: 'DELETE', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: 'svc:application:write' },
  issueUploadUrl: { method: 'POST', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries', scope: 'svc:application:write' },
  listOwnBinaryWarnings: { method: 'GET', path: '/v1/applications/{applicationId}/binary-warnings', scope: 'svc:application:read' },
  uploadApp: { method: 'POST', path: '/v1/applications/{applicationId}/apps', scope: 'svc:application:write' },
  listAvailable: { method: 'GET', path: '/v1/applications/{applicationId}/apps', scope: 'svc:application:read' },
  readDistribution: { method: 'GET', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: 'svc:application:read' },
  startDistribution: { method: 'POST', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: 'svc:application:write' },
  stopDistribution: { method: 'DELETE', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions', scope: 'svc:application:write' },
  readSignature: { method: 'GET', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: 'svc:application:read' },
  putSignature: { method: 'PUT', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: 'svc:application:write' },
  removeSignature: { method: 'DELETE', path: '/v1/applications/{applicationId}/packages/{package}/versions/{version}/signature', scope: 'svc:application:write' },
  readSoftwareTrust: { method: 'GET', path: '/v1/applications/{applicationId}/software-keys', scope: 'svc:application:read' },
  readOwnAccess: { method: 'GET', path: '/v1/applications/{applicationId}/me', scope: 'svc:application:read' },
  listMembers: { method: 'GET', path: '/v1/applications/{applicationId}/members', scope: 'svc:application:read' },
  createMember: { method: 'POST', path: '/v1/applications/{applicationId}/members', scope: 'svc:application:write' },
  revokeMember: { method: 'DELETE', path: '/v1/applications/{applicationId}/members/{memberId}', scope: 'svc:application:write' },
  listFirmware: { method: 'GET', path: '/v1/applications/{applicationId}/firmware', scope: 'svc:application:read' },
};

/** The request for an access token. */
export const TOKEN_REQUEST = { method: 'POST', path: '/api/v1/authenticate' } as const;

/** The operations that a transaction carries out on its device. */
export const TRANSACTION_OPERATIONS = [
  'activate',
  'deactivate',
  'setApn',
  'setWifi',
  'setLanguage',
  'getConnectivityState',
  'setConnectivityState',
  'listConnectivity',
  'pairBluetooth',
  'collectDiagnostics',
  'installSoftware',
  'updateFirmware',
] as const;

/** The settings whose URLs get webhooks; the others are asked for upload URLs. */
export const WEBHOOK_SETTINGS = ['deviceEvent', 'callEvent', 'callFileSendEvent', 'fileUploadEvent'] as const;

/** The settings of an application that hold URLs, with the requests that each URL gets. */
export const URL_SETTINGS = {
  deviceEvent: 'The results of transactions, and events of devices. Without it no transaction can be created.',
  callEvent: 'Events of calls.',
  callFileSendEvent: 'Results of recordings.',
  callRecGetMultiPresignedUrl: 'Requests for the upload URLs of recordings.',
  fileUploadEvent: 'Results of file uploads of devices.',
  fileUploadGetUrl: 'Requests for the upload URLs of files.',
} as const;
