import { column, date, type Field, flexible, type Resource } from './admin-resource.ts';

const CA = { CA: 'authorityId' };
const ID = 'dca_0193480f3a5b00112233445566778899';
const NAME: Field = { field: 'name', value: 'TEXT', text: 'a name for people' };

/** The CAs with which the service signs the client certificates of a developer's devices. */
export const DEVICE_CAS: Resource = {
  resource: 'device-ca',
  columns: [
    column('ID', 'authorityId'),
    { ...column('STATE', 'state'), state: true },
    column('DEVICES', 'devices'),
    date('ENDS (UTC)', 'expiresAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'create',
      summary: 'Makes a CA that signs client certificates of a developer’s devices',
      about: 'The service makes the key, and stores it encrypted. No command shows it.',
      operation: 'createDeviceAuthority',
      fields: { name: NAME },
      examples: ['lapel admin device-ca create --developer acme --name 2026'],
    },
    {
      verb: 'import',
      summary: 'Gives the service a CA that signs client certificates of a developer’s devices',
      about: 'The service stores the key encrypted. No command shows it.',
      operation: 'createDeviceAuthority',
      fields: {
        name: NAME,
        certificate: {
          field: 'certificate',
          kind: 'text',
          value: 'FILE.pem',
          file: true,
          text: 'the certificate of the CA, in PEM',
        },
        'private-key': {
          field: 'privateKey',
          kind: 'text',
          value: 'FILE.key',
          file: true,
          text: 'its private key, in PEM (PKCS #8) without a password; - reads standard input',
        },
      },
      done: 'imported',
      examples: ['lapel admin device-ca import --developer acme --name 2026 --certificate ca.pem --private-key ca.key'],
    },
    {
      verb: 'list',
      summary: 'Lists the CAs of a developer’s devices, the newest first',
      operation: 'listDeviceAuthorities',
      kind: 'list',
      list: 'authorities',
      whole: true,
      examples: ['lapel admin device-ca list --developer acme'],
    },
    {
      verb: 'show',
      summary: 'Shows a CA of devices with its certificate, and how many devices have one of it',
      operation: 'readDeviceAuthority',
      arguments: CA,
      examples: [`lapel admin device-ca show ${ID}`, `lapel admin device-ca show ${ID} --json | jq -r .certificate`],
    },
    {
      verb: 'retire',
      summary: 'Ends the signing of a CA of devices; the certificates that it has signed stay valid',
      operation: 'retireDeviceAuthority',
      arguments: CA,
      done: 'retired',
      examples: [`lapel admin device-ca retire ${ID}`],
    },
    {
      verb: 'revoke',
      summary: 'Revokes a CA of devices: the certificates that it has signed are invalid at once',
      operation: 'revokeDeviceAuthority',
      arguments: CA,
      done: 'revoked',
      examples: [`lapel admin device-ca revoke ${ID}`],
    },
  ],
};
