import type { AdminOperations } from '@lapel/client/admin-operations';
import { adminRequest } from '@lapel/client/admin-request';
import { ADMIN_OPTIONS, openAdministration } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { render } from '../show/look.ts';
import { type Column, table, timeText } from '../show/table.ts';

type Encryption = AdminOperations['readEncryption']['answer'];
type Key = Encryption['keys'][number];

const MEANINGS: Readonly<Record<Key['state'], string>> = {
  current: 'new secrets are encrypted with it',
  former: 'some secrets still are; every node needs it',
  unused: 'no secret of this database is encrypted with it',
};

const COLUMNS: readonly Column<Key>[] = [
  { head: 'KEY', cell: ({ keyId }) => keyId },
  { head: 'STATE', cell: ({ state }) => state },
  { head: 'MEANS', cell: ({ state }) => MEANINGS[state], flexible: true },
];

/** The sentence about the latest rotation. */
function rotationText({ rotation }: Encryption): string {
  if (rotation === null) return 'There was no rotation yet.';
  const { keyId, state, waitsFor, rewritten, endedAt } = rotation;
  const done = `${rewritten} values were encrypted anew`;
  if (state === 'ended') return `All secrets are encrypted with ${keyId} since ${endedAt}; ${done}.`;
  if (waitsFor.length === 0) return `The rotation to ${keyId} is ${state}; ${done}.`;
  const reason = state === 'waiting' ? 'which lack the key' : 'which do not use the key yet';
  return `The rotation to ${keyId} waits for these nodes, ${reason}: ${waitsFor.join(', ')}.`;
}

const textOf = (encryption: Encryption) => {
  const keys = table(COLUMNS, encryption.keys, 'No key is set: secrets are stored as they are.');
  return (look: Parameters<typeof render>[1]): string => `${render(keys, look)}${rotationText(encryption)}\n`;
};

const status: Command = {
  name: 'keys status',
  summary: 'Says with which keys secrets are encrypted at rest, and how far a rotation is',
  options: ADMIN_OPTIONS,
  examples: ['lapel keys status', 'lapel keys status --json | jq -r .rotation.state'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const request = adminRequest('readEncryption', {});
    const encryption = (await administration.request('read the keys', request)) as Encryption;
    return { json: { ok: true, ...encryption }, text: textOf(encryption) };
  },
};

const rotate: Command = {
  name: 'keys rotate',
  summary: 'Encrypts all secrets at rest with the newest key, in the background',
  about:
    'Before, put the new key above the others in the file of LAPEL_ENCRYPTION_KEY_FILE, on every node. The service reads it again now, without a restart. When `lapel keys status` says that the rotation has ended, the other keys are needed for older backups only.',
  options: ADMIN_OPTIONS,
  examples: ['lapel keys rotate'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const request = adminRequest('rotateEncryptionKey', {});
    const encryption = (await administration.request('rotate the key', request)) as Encryption;
    return { json: { ok: true, ...encryption }, text: textOf(encryption) };
  },
};

type SigningKey = AdminOperations['listSigningKeys']['answer']['keys'][number];

const SIGNING_COLUMNS: readonly Column<SigningKey>[] = [
  { head: 'KEY', cell: ({ keyId }) => keyId },
  { head: 'STATE', cell: ({ state }) => state },
  { head: 'MADE', cell: ({ createdAt }) => timeText(createdAt) },
];

const signing: Command = {
  name: 'keys signing',
  summary: 'Lists the keys that sign access tokens, the newest first; times are in UTC',
  about: '`next` signs ten minutes after it was made; the tokens of a `former` one are valid until they expire.',
  options: ADMIN_OPTIONS,
  examples: ['lapel keys signing'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const request = adminRequest('listSigningKeys', {});
    const answer = (await administration.request('list the signing keys', request)) as { keys: SigningKey[] };
    return { json: { ok: true, ...answer }, text: table(SIGNING_COLUMNS, answer.keys, 'There is no key.') };
  },
};

const renew: Command = {
  name: 'keys renew',
  summary: 'Makes a new key that signs access tokens; the service does so every 30 days by itself',
  about:
    'The new key signs after ten minutes, and tokens of the former one stay valid until they expire. Use --at-once when a key may have been stolen: then all access tokens of all applications end, with their streams, and programs have to ask for new ones.',
  options: { ...ADMIN_OPTIONS, 'at-once': { text: 'end all keys of before now, with all their access tokens' } },
  examples: ['lapel keys renew', 'lapel keys renew --at-once'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const request = adminRequest('renewSigningKey', { body: { atOnce: given.flag('at-once') } });
    const answer = (await administration.request('renew the signing key', request)) as { keys: SigningKey[] };
    return { json: { ok: true, ...answer }, text: table(SIGNING_COLUMNS, answer.keys, 'There is no key.') };
  },
};

const renewStore: Command = {
  name: 'keys renew-store',
  summary: 'Makes a new key that signs upload and download URLs of the embedded object store',
  about: 'URLs of the former key stay valid until they expire. Use --at-once when the key may have been stolen.',
  options: { ...ADMIN_OPTIONS, 'at-once': { text: 'end all URLs of before now' } },
  examples: ['lapel keys renew-store', 'lapel keys renew-store --at-once'],
  async run(given, terminal) {
    const administration = await openAdministration(given, terminal);
    const request = adminRequest('renewObjectStoreKey', { body: { atOnce: given.flag('at-once') } });
    await administration.request('renew the key of the object store', request);
    return { json: { ok: true }, text: () => 'New URLs are signed with a new key.\n' };
  },
};

/** The keys with which the service encrypts secrets at rest, signs access tokens, and URLs of objects. */
export const KEY_COMMANDS: readonly Command[] = [status, rotate, signing, renew, renewStore];
