import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import t from 'tap';
import { createAuthority, skip as withoutOpenssl } from '../broker/authority.ts';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

const skip = missing.java() || withoutOpenssl;
const CONNACK = Buffer.of(0x20, 2, 0, 0);

t.test('a device in Java goes on when its surroundings fail', { skip }, async (t) => {
  const folder = t.testdir({ device: {} });
  const authority = createAuthority(folder, 'service');
  const { certFile, keyFile } = authority.sign('service');
  const deaf = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (socket) => {
    t.teardown(() => socket.destroy());
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(CONNACK);
      socket.pause();
    });
  }).listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  t.teardown(() => deaf.close());
  const given = [join(folder, 'device'), authority.ca, String((deaf.address() as AddressInfo).port)];
  const lines = (await runClass('Faults', given)).trim().split('\n');
  for (const { title, fault } of lines.map((line): { title: string; fault: string | null } => JSON.parse(line)))
    t.equal(fault, null, title);
});
