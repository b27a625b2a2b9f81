/**
 * Advice for the caller whom the service has refused, by the error text of the service. Only for error texts that do
 * not tell the remedy themselves.
 */
export const ADVICE: Readonly<Record<string, string>> = {
  'unknown application or wrong secret': 'check --application and --secret: a replaced secret is no longer valid',
  'device is not activated.': 'activate it first: lapel device activate DEVICE',
  'device is already activated.': 'nothing needs to be done; see lapel device show DEVICE',
  'device information unavailable.': 'the developer has no such device: check the deviceId, or register the device',
  'device is activated in another application.': 'deactivate it there first',
  'not contracted or activation limit exceeded.':
    'raise the device limit of the developer: lapel admin developer update DEVELOPER --device-limit N',
  'authenticationKey is not issued.': 'issue the key that signs webhooks first: lapel settings key',
  'system notification destination is not configured.':
    'first set the URL that results are sent to: lapel settings set --device-event https://...',
  'package is used by a different developer.': 'package names are unique over all developers; choose another one',
  'distribution is not started.': 'start it: lapel version distribute PACKAGE VERSION',
  'binary is deleted.': 'upload it: lapel app upload FILE.apk',
  'the version is not signed, and its developer requires a signature.':
    'sign it: lapel app sign FILE.apk --key PRIVATE.pem',
  'administrator token is missing or wrong.':
    'give the right --token (or LAPEL_ADMIN_TOKEN), or the data folder of the running service with --data-dir',
  'wrong url.': 'the service does not know this operation; check its address and release',
  'developer not found.': 'lapel admin developer list shows all developers',
  'device is activated or has unfinished transactions.': 'deactivate it first: lapel device deactivate DEVICE',
  'application already exists.': 'an applicationId is never used again, also after its application was removed',
  'application still has activated devices.':
    'deactivate them first: lapel device list, lapel device deactivate DEVICE',
};
