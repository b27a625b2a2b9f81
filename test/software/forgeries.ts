import { createKeyPair, sha256Of, signatureOf } from './signing.ts';

interface Genuine {
  key: ReturnType<typeof createKeyPair>;
  package: string;
  version: string;
  /** Of the file that goes to devices. */
  sha256: string;
}

type Signed = ReturnType<typeof signatureOf>;

const STRANGER = createKeyPair();

/**
 * Artifacts that somebody without the private key can put together, each with the fault that the API names. A row makes the
 * signature for a version; null: the signature is left out. Tests try each row at the API, at the delivery and at a device.
 */
export const FORGERIES: readonly {
  title: string;
  /** The field that the API refuses; undefined where there is nothing to send. */
  field: 'keyId' | 'signature' | undefined;
  forge(genuine: Genuine): Signed | null;
}[] = [
  {
    title: 'forged: made with another key under the name of the right one',
    field: 'signature',
    forge: ({ key, sha256, ...name }) => signatureOf({ ...STRANGER, keyId: key.keyId }, name, sha256),
  },
  {
    title: 'forged: made with a key that nobody knows',
    field: 'keyId',
    forge: ({ sha256, ...name }) => signatureOf(STRANGER, name, sha256),
  },
  {
    title: 'forged: a bit of the right signature is changed',
    field: 'signature',
    forge({ key, sha256, ...name }) {
      const signed = signatureOf(key, name, sha256);
      const bytes = Buffer.from(signed.signature, 'base64');
      bytes[0]! ^= 1;
      return { ...signed, signature: bytes.toString('base64') };
    },
  },
  {
    title: 'swapped: the signature of another package with the same file',
    field: 'signature',
    forge: ({ key, sha256, version }) => signatureOf(key, { package: 'com.example.other', version }, sha256),
  },
  {
    title: 'swapped: the signature of the same version for another file',
    field: 'signature',
    forge: ({ key, sha256, ...name }) => ({ ...signatureOf(key, name, sha256Of('another file')), sha256 }),
  },
  {
    title: 'downgraded: an older version with its file and its signature, under the newer number',
    field: 'signature',
    forge: ({ key, sha256, package: name }) => signatureOf(key, { package: name, version: '0.9.0' }, sha256),
  },
  { title: 'stripped: the signature is left out', field: undefined, forge: () => null },
];
