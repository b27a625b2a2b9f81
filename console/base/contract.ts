// Generated from schemas/ by `npm run generate`; edit the schemas instead.
// biome-ignore-all format: generated

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
