import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../src/config.ts';
import { createAuthority } from '../broker/authority.ts';
import { missing } from '../installed.ts';
import { runProgram } from '../run-program.ts';
import { exampleOf, missingProxy, PROXIES, PROXY_ENV, type ProxyName, settingsOf } from './proxy-files.ts';

for (const name of Object.keys(PROXIES) as ProxyName[]) {
  t.test(`${name} accepts the example for it`, { skip: missing.openssl() || missingProxy(name) }, async (t) => {
    const folder = t.testdir({});
    const { certFile: cert, keyFile: key } = createAuthority(folder, 'site').sign('server');
    const config = join(folder, PROXIES[name].file);
    writeFileSync(config, exampleOf(name, { folder, cert, key, ports: {} }));
    const [program = '', ...args] = PROXIES[name].check(config);
    const { status, stderr } = await runProgram(program, args, { env: { ...PROXY_ENV, HOME: folder } });
    t.equal(status, 0, stderr);
  });

  t.test(`the settings in the example for ${name} are good, and trust its addresses`, async (t) => {
    const files = name === 'haproxy' ? ['HTTP', 'ADMIN', 'OBJECTS'].map((of) => `LAPEL_${of}_TLS`) : [];
    const tls = [...files, ...(files.length > 0 ? ['LAPEL_TLS'] : [])];
    const pairs = tls.flatMap((setting) => [
      [`${setting}_CERT`, 'cert'],
      [`${setting}_KEY`, 'key'],
    ]);
    const { entrance } = readConfig({ env: { ...settingsOf(name), ...Object.fromEntries(pairs) } });
    t.ok(entrance.trusted?.has('127.0.0.1'));
    t.equal(entrance.proxied.size, { nginx: 1, haproxy: 4, caddy: 0 }[name]);
    t.ok(entrance.mqttUrls);
  });
}
