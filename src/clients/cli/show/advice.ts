/** What to do about a refusal, by what the service says. Some of it is not to be guessed from the words alone. */
export const ADVICE: Readonly<Record<string, string>> = {
  'unknown application or wrong secret':
    'look at --application and --secret: a secret that was replaced is good no more',
  'device is not activated.': 'activate it first: lapel device activate DEVICE',
  'device is already activated.': 'there is nothing to do: lapel device show DEVICE',
  'device information unavailable.': 'no such device of this developer: look at its number, or register it',
  'device is activated in another application.': 'deactivate it there first',
  'not contracted or activation limit exceeded.':
    'the contract of the developer has to grow: lapel admin developer update DEVELOPER --device-limit N',
  'authenticationKey is not issued.': 'issue the key that signs webhooks first: lapel settings key',
  'system notification destination is not configured.':
    'set where results are sent first: lapel settings set --device-event https://...',
  'package is used by a different developer.': 'names of packages are unique over all developers: take another one',
  'distribution is not started.': 'start it: lapel version distribute PACKAGE VERSION',
  'binary is deleted.': 'upload it: lapel app upload FILE.apk',
  'administrator token is missing or wrong.':
    'give the right --token (or LAPEL_ADMIN_TOKEN), or --data-dir, the data folder of the running service',
  'wrong url.': 'the service does not know this operation: is this the right address, and a service of this release?',
  'developer not found.': 'lapel admin developer list shows those that there are',
  'device is activated or has unfinished transactions.': 'deactivate it first: lapel device deactivate DEVICE',
  'application still has activated devices.':
    'deactivate them first: lapel device list, lapel device deactivate DEVICE',
};
