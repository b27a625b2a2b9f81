import type { AuditEntry } from '../core/audit/audit-repository.ts';
import type { NamedObject } from './audit.ts';

/**
 * Each recorded request in words: the verb (for a request that was refused, and for one that was answered), and
 * the rest, with the parameters of the path in braces. `{device}`, `{application}`, `{developer}`, `{rollout}` and
 * `{person}` are shown by their names.
 */
// biome-ignore format: a table is read by its rows
export const CHANGES: Readonly<Record<string, readonly [verb: string, past: string, rest: string]>> = {
  // The administration API.
  'POST /admin/v1/developers': ['create', 'created', 'the developer {developer}'],
  'PATCH /admin/v1/developers/{developerId}': ['change', 'changed', 'the developer {developer}'],
  'DELETE /admin/v1/developers/{developerId}': ['delete', 'deleted', 'the developer {developer}'],
  'POST /admin/v1/developers/{developerId}/software-keys': ['add', 'added', 'a software key of {developer}'],
  'DELETE /admin/v1/developers/{developerId}/software-keys/{keyId}': ['revoke', 'revoked', 'a software key of {developer}'],
  'POST /admin/v1/developers/{developerId}/members': ['let', 'let', 'a person in for {developer}'],
  'DELETE /admin/v1/developers/{developerId}/members/{memberId}': ['revoke', 'revoked', 'the access of a person of {developer}'],
  'POST /admin/v1/developers/{developerId}/applications': ['create', 'created', 'an application {application} of {developer}'],
  'PATCH /admin/v1/applications/{applicationId}': ['change', 'changed', 'how {application} gets its access tokens'],
  'DELETE /admin/v1/applications/{applicationId}': ['delete', 'deleted', 'the application {application}'],
  'POST /admin/v1/applications/{applicationId}/certificates': ['add', 'added', 'a certificate of {application}'],
  'DELETE /admin/v1/applications/{applicationId}/certificates/{certificateId}': ['revoke', 'revoked', 'a certificate of {application}'],
  'POST /admin/v1/applications/{applicationId}/secret': ['replace', 'replaced', 'the secret of {application}'],
  'POST /admin/v1/applications/{applicationId}/secrets': ['add', 'added', 'a second secret of {application}'],
  'DELETE /admin/v1/applications/{applicationId}/secrets/{secretId}': ['end', 'ended', 'a secret of {application}'],
  'POST /admin/v1/developers/{developerId}/removal': ['remove', 'began to remove', '{developer} with everything that belongs to it'],
  'POST /admin/v1/applications/{applicationId}/removal': ['remove', 'began to remove', '{application} with everything that belongs to it'],
  'POST /admin/v1/developers/{developerId}/devices': ['register', 'registered', 'the device {device} of {developer}'],
  'POST /admin/v1/developers/{developerId}/devices/import': ['import', 'imported', 'devices of {developer}'],
  'PATCH /admin/v1/devices/{deviceId}': ['change', 'changed', 'the device {device}'],
  'DELETE /admin/v1/devices/{deviceId}': ['delete', 'deleted', 'the device {device}'],
  'POST /admin/v1/devices/{deviceId}/credential': ['replace', 'replaced', 'the credential of the device {device}'],
  'POST /admin/v1/developers/{developerId}/device-authorities': ['create', 'created', 'a device CA of {developer}'],
  'POST /admin/v1/device-authorities/{authorityId}/retire': ['retire', 'retired', 'the device CA {authorityId}'],
  'POST /admin/v1/device-authorities/{authorityId}/revoke': ['revoke', 'revoked', 'the device CA {authorityId}'],
  'POST /admin/v1/developers/{developerId}/enrolment-batches': ['create', 'created', 'an enrolment batch of {developer}'],
  'POST /admin/v1/enrolment-batches/{batchId}/revoke': ['revoke', 'revoked', 'the enrolment batch {batchId}'],
  'POST /admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/approve': ['approve', 'approved', 'the enrolment of the device {device}'],
  'POST /admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/refuse': ['refuse', 'refused', 'the enrolment of the device {device}'],
  'DELETE /admin/v1/devices/{deviceId}/connection': ['end', 'ended', 'the connection of the device {device}'],
  'POST /admin/v1/devices/{deviceId}/notes': ['write', 'wrote', 'a note on the device {device}'],
  'DELETE /admin/v1/devices/{deviceId}/notes/{noteId}': ['delete', 'deleted', 'a note on the device {device}'],
  'POST /admin/v1/device-actions': ['start', 'started', 'an action on many devices'],
  'POST /admin/v1/device-actions/{actionId}/stop': ['stop', 'stopped', 'the device action {actionId}'],
  'DELETE /admin/v1/rollouts/{rolloutId}': ['cancel', 'cancelled', 'the rollout {rollout}'],
  'POST /admin/v1/rollouts/{rolloutId}/pause': ['pause', 'paused', 'the rollout {rollout}'],
  'POST /admin/v1/transactions/cancel': ['cancel', 'cancelled', 'many transactions'],
  'GET /admin/v1/transactions/{transactionId}': ['read', 'read', 'the parameters of transaction {transactionId}'],
  'DELETE /admin/v1/transactions/{transactionId}': ['cancel', 'cancelled', 'transaction {transactionId}'],
  'PUT /admin/v1/system-packages/{package}/versions/{version}': ['register', 'registered', '{package} {version} for all applications'],
  'DELETE /admin/v1/system-packages/{package}/versions/{version}': ['remove', 'removed', '{package} {version} of all applications'],
  'POST /admin/v1/system-packages/{package}/versions/{version}/binaries': ['upload', 'asked for a URL to upload', 'the binary of {package} {version}'],
  'PUT /admin/v1/firmware/{package}/versions/{version}': ['register', 'registered', 'the firmware {package} {version}'],
  'DELETE /admin/v1/firmware/{package}/versions/{version}': ['remove', 'removed', 'the firmware {package} {version}'],
  'POST /admin/v1/firmware/{package}/versions/{version}/binaries': ['upload', 'asked for a URL to upload', 'the firmware {package} {version}'],
  'GET /admin/v1/feed': ['watch', 'watched', 'the messages of a device live'],
  'POST /console/session': ['sign in', 'signed in', 'to the console'],
  'DELETE /console/session': ['sign out', 'signed out', 'of the console'],
  'POST /console/sign-in': ['sign in', 'began to sign in', 'through a provider'],
  'DELETE /admin/v1/sessions/{sessionId}': ['end', 'ended', 'a session of the console'],
  'POST /admin/v1/me/token': ['renew', 'renewed', 'their own token'],
  'POST /admin/v1/people': ['add', 'added', '{person} to the people of administration'],
  'PATCH /admin/v1/people/{personId}': ['change', 'changed', 'the rights of {person}'],
  'DELETE /admin/v1/people/{personId}': ['remove', 'removed', '{person} from the people of administration'],
  'POST /admin/v1/people/{personId}/tokens': ['give', 'gave', '{person} a token'],
  'DELETE /admin/v1/people/{personId}/tokens/{tokenId}': ['revoke', 'revoked', 'a token of {person}'],
  'PUT /admin/v1/administrator-token': ['replace', 'replaced', 'the administrator token'],
  'GET /admin/v1/applications/{applicationId}/deliveries/{deliveryId}': ['read', 'read', 'the body of a webhook of {application}'],
  'POST /admin/v1/applications/{applicationId}/deliveries/{deliveryId}/redeliver': ['send', 'sent', 'a webhook of {application} again'],
  'POST /admin/v1/applications/{applicationId}/deliveries/redeliver': ['send', 'sent', 'webhooks of {application} again'],
  'POST /admin/v1/applications/{applicationId}/webhooks/test': ['send', 'sent', 'a test event to {application}'],
  'POST /admin/v1/alarm-receiver/test': ['send', 'sent', 'a test message to the receiver of alarms'],
  'POST /admin/v1/encryption/rotation': ['rotate', 'began to rotate', 'the encryption key'],
  'POST /admin/v1/signing-keys': ['renew', 'renewed', 'the key that signs access tokens'],
  'POST /admin/v1/object-store-key': ['renew', 'renewed', 'the key that signs URLs of files'],

  // The application API.
  'GET /v1/applications/{applicationId}': ['read', 'read', 'the settings of {application}, with its key'],
  'PATCH /v1/applications/{applicationId}': ['change', 'changed', 'the settings of {application}'],
  'POST /v1/applications/{applicationId}/refresh_authkey': ['replace', 'replaced', 'the authenticationKey of {application}'],
  'POST /v1/applications/{applicationId}/devices/{deviceId}/notes': ['write', 'wrote', 'a note on the device {device}'],
  'DELETE /v1/applications/{applicationId}/devices/{deviceId}/notes/{noteId}': ['delete', 'deleted', 'a note on the device {device}'],
  'DELETE /v1/applications/{applicationId}/events/consumers/{consumer}': ['delete', 'deleted', 'the consumer {consumer} of the stream of events'],
  'POST /v1/applications/{applicationId}/endpoints': ['make', 'made', 'an endpoint of {application}'],
  'PATCH /v1/applications/{applicationId}/endpoints/{endpointId}': ['change', 'changed', 'the endpoint {endpointId}'],
  'DELETE /v1/applications/{applicationId}/endpoints/{endpointId}': ['remove', 'removed', 'the endpoint {endpointId}'],
  'POST /v1/applications/{applicationId}/endpoints/{endpointId}/secret': ['replace', 'replaced', 'the secret of the endpoint {endpointId}'],
  'POST /v1/applications/{applicationId}/endpoints/{endpointId}/test': ['send', 'sent', 'a test event to the endpoint {endpointId}'],
  'POST /v1/applications/{applicationId}/endpoints/{endpointId}/deliveries/{sequence}/skip': ['skip', 'skipped', 'a delivery to the endpoint {endpointId}'],
  'POST /v1/applications/{applicationId}/endpoints/{endpointId}/replay': ['send', 'sent', 'events again to the endpoint {endpointId}'],
  'DELETE /v1/applications/{applicationId}/endpoints/{endpointId}/replay': ['cancel', 'cancelled', 'the replay to the endpoint {endpointId}'],
  'POST /v1/applications/{applicationId}/rollouts': ['start', 'started', 'the rollout {rollout}'],
  'PATCH /v1/applications/{applicationId}/rollouts/{rolloutId}': ['change', 'changed', 'the rollout {rollout}'],
  'DELETE /v1/applications/{applicationId}/rollouts/{rolloutId}': ['cancel', 'cancelled', 'the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/pause': ['pause', 'paused', 'the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/resume': ['resume', 'resumed', 'the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/approve': ['approve', 'approved', 'a stage of the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/retry-failed': ['retry', 'retried', 'the failed devices of the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/rollouts/{rolloutId}/revert': ['revert', 'reverted', 'the rollout {rollout}'],
  'POST /v1/applications/{applicationId}/webhooks/deliveries/redeliver': ['send', 'sent', 'webhooks of {application} again'],
  'POST /v1/applications/{applicationId}/webhooks/deliveries/{deliveryId}/redeliver': ['send', 'sent', 'a webhook of {application} again'],
  'POST /v1/applications/{applicationId}/webhooks/test': ['send', 'sent', 'a test event to {application}'],
  'POST /v1/applications/{applicationId}/packages': ['register', 'registered', 'a package of {application}'],
  'PATCH /v1/applications/{applicationId}/packages/{package}': ['change', 'changed', 'the package {package}'],
  'DELETE /v1/applications/{applicationId}/packages/{package}': ['remove', 'removed', 'the package {package}'],
  'POST /v1/applications/{applicationId}/packages/{package}/versions': ['register', 'registered', 'a version of {package}'],
  'PATCH /v1/applications/{applicationId}/packages/{package}/versions/{version}': ['change', 'changed', '{package} {version}'],
  'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}': ['remove', 'removed', '{package} {version}'],
  'POST /v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries': ['upload', 'asked for a URL to upload', 'the binary of {package} {version}'],
  'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/binaries': ['remove', 'removed', 'the binary of {package} {version}'],
  'POST /v1/applications/{applicationId}/apps': ['upload', 'asked for URLs to upload', 'an app of {application}'],
  'POST /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions': ['distribute', 'distributed', '{package} {version}'],
  'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions': ['stop', 'stopped', 'the distribution of {package} {version}'],
  'PUT /v1/applications/{applicationId}/packages/{package}/versions/{version}/signature': ['sign', 'signed', '{package} {version}'],
  'DELETE /v1/applications/{applicationId}/packages/{package}/versions/{version}/signature': ['remove', 'removed', 'the signature of {package} {version}'],
  'POST /v1/applications/{applicationId}/members': ['let', 'let', 'a person in'],
  'DELETE /v1/applications/{applicationId}/members/{memberId}': ['revoke', 'revoked', 'the access of a person'],

  // Of these only what an assistant asks for is recorded.
  'PATCH /v1/applications/{applicationId}/devices/{deviceId}/tags': ['change', 'changed', 'tags of the device {device}'],
  'PATCH /v1/applications/{applicationId}/devices/tags': ['change', 'changed', 'tags of many devices'],
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/apps': ['install', 'sent a command to install', 'software on the device {device}'],
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/firmware': ['update', 'sent a command to update', 'the firmware of the device {device}'],
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/lang': ['set', 'sent a command to set', 'the language of the device {device}'],
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/connectivity/state': ['switch', 'sent a command to switch', 'the Bluetooth of the device {device}'],
  'POST /v1/applications/{applicationId}/devices/{deviceId}/diagnostics': ['collect', 'sent a command to collect', 'diagnostics of the device {device}'],

  // Entries that no request has made.
  'RENEW /devices/{deviceId}': ['renew', 'renewed', 'the certificate of the device {device}'],
  'RAISE /numbers': ['raise', 'raised', 'the next numbers, because the database may be another one'],
  'SIGN-IN /people': ['let', 'let', '{person} in through a provider'],
  'lapel owner': ['make', 'made', '{person} an owner'],
};

/** The words of the entries of rollouts and device actions, whose author may be the service itself. */
const EVENTS: Readonly<Record<string, string>> = {
  created: 'created',
  started: 'started',
  stageStarted: 'began the next stage of',
  paused: 'paused',
  resumed: 'resumed',
  approved: 'approved a stage of',
  changed: 'changed',
  retried: 'retried the failed devices of',
  reverted: 'reverted',
  completed: 'completed',
  cancelled: 'cancelled',
  stopped: 'stopped',
};

export type SaidEntry = Pick<
  AuditEntry,
  'action' | 'resource' | 'status' | 'actorKind' | 'actorName' | 'personName' | 'details'
> & { displayName: string | null; objects: readonly NamedObject[] };

/** The author in words. */
function authorOf({ actorKind, actorName, personName, displayName }: SaidEntry): string {
  if (actorKind === 'service') return 'The service';
  const name = personName ?? displayName;
  if (name !== null) return name;
  if (actorKind === 'application') return actorName ?? 'The application';
  return actorKind === 'machine' ? 'Somebody on the machine of the service' : 'The administrator token';
}

/** The parameters of a path by their names in its template. */
function parametersOf(template: string, path: string): Map<string, string> {
  const found = new Map<string, string>();
  const parts = path.split('/');
  for (const [index, part] of template.split('/').entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const value = parts[index];
    if (name === undefined || value === undefined) continue;
    try {
      found.set(name, decodeURIComponent(value));
    } catch {
      found.set(name, value); // a path that cannot be decoded is shown as it came
    }
  }
  return found;
}

const IDENTIFIERS: Readonly<Record<string, string>> = {
  device: 'deviceId',
  application: 'applicationId',
  developer: 'developerId',
  rollout: 'rolloutId',
  person: 'personId',
};

/** Fills the rest of a sentence in. An object that is not known leaves no gap. */
function filled(rest: string, template: string, { resource, objects }: SaidEntry): string {
  const parameters = parametersOf(template, resource.split('?', 1)[0] ?? '');
  const words = rest.replace(/\{(\w{1,20})\}/g, (_, name: string) => {
    const identifier = parameters.get(IDENTIFIERS[name] ?? name);
    const ofKind = objects.filter(({ kind }) => kind === name);
    const object = ofKind.find(({ id }) => id === identifier) ?? ofKind[0];
    return object?.name ?? object?.id ?? identifier ?? '';
  });
  return words.replace(/ {2,}/g, ' ').trim();
}

/** Whether the request was a dry run, which has changed nothing. */
const isDry = ({ details }: SaidEntry): boolean => (details as { dryRun?: unknown } | null)?.dryRun === true;

/** Says in a sentence who did what: `Ada distributed com.example.camera 1.1.0`. */
export function sentenceOf(entry: SaidEntry, who = authorOf(entry)): string {
  const { action, status } = entry;
  const [kind = '', event = ''] = action.split(' ');
  if (kind === 'REFUSED' || action === 'REFUSE /v1/enrolments')
    return kind === 'REFUSED' ? `Refused requests to ${event}` : 'Refused enrolments';
  if (kind === 'ROLLOUT') return `${who} ${EVENTS[event] ?? event} ${filled('the rollout {rollout}', '', entry)}`;
  if (kind === 'DEVICE-ACTION') return `${who} ${EVENTS[event] ?? event} a device action`;
  const said = CHANGES[action];
  if (!said) return `${who}: ${action}`;
  const [verb, past, rest] = said;
  const words = filled(rest, event, entry);
  if (status === null || status < 400)
    return isDry(entry) ? `${who} asked what it would do to ${verb} ${words}` : `${who} ${past} ${words}`;
  return `${who} tried to ${verb} ${words}, and was refused`;
}
