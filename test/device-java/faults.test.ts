import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { createAuthority, skip as withoutOpenssl } from '../broker/authority.ts';
import { missing } from '../installed.ts';
import { runClass } from './java.ts';

const skip = missing.java() || withoutOpenssl;

t.test('a device in Java goes on when its surroundings fail', { skip }, async (t) => {
  const folder = t.testdir({ device: {} });
  const authority = createAuthority(folder, 'service');
  const { certFile, keyFile } = authority.sign('service');
  const deaf = spawn(process.execPath, [join(import.meta.dirname, 'deaf-service-target.ts'), certFile, keyFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => deaf.kill());
  const [port] = await once(deaf.stdout, 'data');
  const given = [join(folder, 'device'), authority.ca, String(port).trim()];
  const lines = (await runClass('Faults', given)).trim().split('\n');
  for (const { title, fault } of lines.map((line): { title: string; fault: string | null } => JSON.parse(line)))
    t.equal(fault, null, title);
});
