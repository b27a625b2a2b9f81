import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { readConfig, SETTINGS } from '../../src/config.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Compose {
  services: Record<string, { environment?: Record<string, string>; volumes?: string[]; ports?: string[] }>;
}
const { services } = parse(read('compose.yaml'), { merge: true }) as Compose;

t.test('the nodes of compose.yaml have valid settings, and all that nodes need', async (t) => {
  const names = new Set<string>(SETTINGS.map(({ name }) => name));
  for (const node of ['node-1', 'node-2']) {
    const environment = services[node]?.environment ?? {};
    const own = Object.entries(environment).filter(([name]) => name.startsWith('LAPEL_'));
    for (const [name] of own) t.ok(names.has(name), name);
    const image = [...read('Dockerfile').matchAll(/\b(LAPEL_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
    const secrets = (value: string): string => value.replaceAll(/\$\{[^}]*\}/g, 'a secret of thirty-two characters');
    const env = Object.fromEntries([
      ...image,
      ...own.map(([name, value]) => [name, secrets(value).replaceAll(' ', '-')]),
    ]);
    t.ok(readConfig({ env }).databaseUrl, 'they are good settings');
  }
});

t.test('the balancer knows every node, at every port', async (t) => {
  const balancer = read('deploy/haproxy.cfg');
  const nodes = Object.keys(services).filter((name) => name.startsWith('node-'));
  const ports = (services['balancer']?.ports ?? []).map((port) => port.split(':').at(-1));
  t.same(ports, ['8080', '8081', '1883']);
  for (const port of ports) {
    t.match(balancer, new RegExp(`bind :${port}\\n`));
    for (const node of nodes) t.match(balancer, new RegExp(`server ${node} ${node}:${port}\\n`));
  }
  t.ok(services['balancer']?.volumes?.some((volume) => volume.startsWith('./deploy/haproxy.cfg:')));
});
