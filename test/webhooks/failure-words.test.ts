import { readFileSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import t, { type Test } from 'tap';
import { createAuthority, skip } from '../broker/authority.ts';
import { createSetUp } from './set-up.ts';

/** Lets a server listen on 127.0.0.1; resolves to its https URL. */
async function listening(t: Test, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

void t.test('lastError says in words why a connection over TLS failed', { skip }, async (t) => {
  const folder = t.testdir();
  const known = createAuthority(folder, 'known');
  const unknown = createAuthority(folder, 'unknown');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, readFileSync(known.ca, 'utf8')]);
  t.teardown(() => setDefaultCACertificates(before));
  const old = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_CCM_SHA256' } as const;
  const cases: [what: string, server: Server, words: RegExp][] = [
    [
      'another name',
      createServer(known.sign('other', 'other', 30, 'DNS:other.example')),
      /^the certificate of the receiver is for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
    ],
    [
      'expired',
      createServer(known.sign('late', 'late', -1)),
      /^the certificate of the receiver has expired \(CERT_HAS_EXPIRED\)$/,
    ],
    ['unknown authority', createServer(unknown.sign('stranger')), /^unable to .*\(UNABLE_TO_[A-Z_]+\)$/],
    ['no cipher in common', createServer({ ...known.sign('odd'), ...old }), /^the TLS connection could not be made: /],
    ['plain HTTP', createPlain(), /^the TLS connection could not be made: /],
  ];
  for (const [what, server, words] of cases) {
    const url = await listening(t, server);
    for (const direct of [true, false]) {
      const { open, row } = await createSetUp(t, url);
      const { webhooks, record } = await open({ direct });
      const deliveryId = await record();
      await webhooks.idle();
      const { error } = await row(deliveryId);
      t.match(error, words, `${what}: ${error}`);
      t.notMatch(error, /^[\dA-F]{6,}:|127\.0\.0\.1/i, 'names no address');
    }
  }
});
