import { column, date, flexible, type Resource, type Verb } from './admin-resource.ts';

/** The rules for the software of a developer. */
export const RULES: Verb['fields'] = {
  signatures: {
    field: 'softwareSignatures',
    value: 'optional|required',
    text: 'whether only signed versions are distributed',
  },
  'certificate-change': {
    field: 'certificateChange',
    value: 'warn|refuse',
    text: 'what happens to an APK with another certificate than the version before',
  },
};

/** The keys with which the versions of a developer are signed. */
export const SOFTWARE_KEYS: Resource = {
  resource: 'software-key',
  columns: [column('KEY', 'keyId'), date('ADDED', 'createdAt'), flexible('NAME', 'name')],
  verbs: [
    {
      verb: 'add',
      summary: 'Adds a public key, with which versions of a developer are signed',
      operation: 'addSoftwareKey',
      fields: {
        name: { field: 'name', value: 'TEXT', text: 'a name for people' },
        'public-key': {
          field: 'publicKey',
          kind: 'text',
          value: 'FILE.pem',
          text: 'the public key of ed25519, in PEM; - reads standard input',
        },
      },
      examples: ["lapel admin software-key add --developer acme --name 'release 2026' --public-key release.pub.pem"],
    },
    {
      verb: 'list',
      summary: 'Lists the public keys of a developer',
      operation: 'listSoftwareKeys',
      kind: 'list',
      list: 'keys',
      whole: true,
      examples: ['lapel admin software-key list --developer acme'],
    },
    {
      verb: 'revoke',
      summary: 'Revokes a key: what was signed with it is not distributed any more',
      operation: 'revokeSoftwareKey',
      arguments: { KEY: 'keyId' },
      done: 'revoked',
      examples: ['lapel admin software-key revoke 81b803461ca7c485 --developer acme'],
    },
  ],
};
