import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '@lapel/schemas/contracts/settings';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const schemaOf = (name: string) =>
  new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
    JSON.parse(read(`test/operations/schemas/${name}.json`)) as object,
  );

/** The settings that the image sets. */
const IMAGE = Object.fromEntries(
  [...read('Dockerfile').matchAll(/\b(LAPEL_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);
const NAMES = new Set<string>(SETTINGS.map(({ name }) => name));
/** Files with secrets are on no machine that runs tests. */
const SECRET_FILES = /_FILE$/;

type Environment = Record<string, string>;

/** Throws when the service would refuse these settings beside those of the image. */
function check(environment: Environment): void {
  const own = Object.entries(environment).filter(([name]) => name.startsWith('LAPEL_') && !SECRET_FILES.test(name));
  readConfig({ env: { ...IMAGE, ...Object.fromEntries(own) } });
}

interface Compose {
  services: Record<
    string,
    { environment?: Environment; volumes?: string[]; ports?: string[]; read_only?: boolean; cap_drop?: string[] }
  >;
}
const composed = (path: string): Compose => parse(read(path), { merge: true }) as Compose;
const { services } = composed('compose.cluster.yaml');
const nodes = Object.keys(services).filter((name) => name.startsWith('node-'));

t.test('the files of Compose follow its specification, and their nodes have good settings', async (t) => {
  const isValid = schemaOf('compose');
  for (const path of ['compose.yaml', 'compose.cluster.yaml']) {
    t.ok(isValid(parse(read(path), { merge: true })), JSON.stringify(isValid.errors));
    for (const [name, service] of Object.entries(composed(path).services)) {
      if (!/^(lapel|node-\d)$/.test(name)) continue;
      check(service.environment ?? {});
      t.match(service, { read_only: true, cap_drop: ['ALL'] }, `${path}: ${name}`);
    }
  }
  t.equal(nodes.length, 3);
  t.notOk(isValid({ services: { lapel: { imgae: 'lapel' } } }), 'a wrong name is found');
});

t.test('the balancer knows every node, at every port', async (t) => {
  const balancer = read('deploy/haproxy.cfg');
  const ports = (services['balancer']?.ports ?? []).map((port) => port.split(':').at(-1));
  t.same(ports, ['8080', '8081', '1883']);
  for (const port of ports) {
    t.match(balancer, new RegExp(`bind :${port}\\n`));
    for (const [index, node] of nodes.entries())
      t.match(balancer, new RegExp(`server ${node} ${node}:${port} id ${index + 1}\\n`));
  }
  t.ok(services['balancer']?.volumes?.some((volume) => volume.startsWith('./deploy/haproxy.cfg:')));
});

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Environment;
  spec?: {
    replicas?: number;
    selector?: object;
    ports?: { targetPort: string }[];
    serviceName?: string;
    template?: { metadata: { labels: object }; spec: { containers: Container[]; enableServiceLinks: boolean } };
  };
}
interface Container {
  image: string;
  ports: { name: string; containerPort: number }[];
  readinessProbe: { httpGet: { path: string; port: string } };
}

t.test('the manifests for Kubernetes follow its schemas, know their parts, and have good settings', async (t) => {
  const isValid = schemaOf('kubernetes');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  for (const file of readdirSync(join(ROOT, 'deploy/kubernetes'))) {
    const manifests = parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((one) => one.toJS() as Manifest);
    for (const one of manifests)
      t.ok(isValid(one), `${file}: ${one.kind} ${one.metadata.name}: ${JSON.stringify(isValid.errors)}`);
    const named = (kind: string): Manifest[] => manifests.filter((one) => one.kind === kind);
    for (const { data = {} } of named('ConfigMap')) check(data);
    const [pods] = named('StatefulSet');
    const { template, serviceName } = pods?.spec ?? {};
    const [container] = template?.spec.containers ?? [];
    t.equal(container?.image, `lapel:${version}`);
    t.equal(template?.spec.enableServiceLinks, false, 'Kubernetes adds no variables that are no settings');
    const ports = container?.ports.map(({ name }) => name) ?? [];
    for (const { spec } of named('Service')) {
      t.same(spec?.selector, template?.metadata.labels);
      for (const { targetPort } of spec?.ports ?? []) t.ok(ports.includes(targetPort), targetPort);
    }
    t.ok(named('Service').some(({ metadata }) => metadata.name === serviceName));
    t.match(container?.readinessProbe.httpGet, { path: '/readyz', port: 'admin' });
  }
  const [service] = parseAllDocuments(read('deploy/kubernetes/one-node.yaml')).slice(1);
  t.notOk(isValid({ ...(service?.toJS() as object), spce: {} }), 'a wrong name is found');
});

const variablesIn = (text: string): string[] => [...text.matchAll(/\bLAPEL_\w+/g)].map(([name]) => name);

/** The variables that the command line reads. */
const ofCommand = new Set(
  readdirSync(join(ROOT, 'cli'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => variablesIn(read(join('cli', path)))),
);

t.test('every variable in the files of the deployment is a setting, or one of the command line', async (t) => {
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
  for (const path of [...files, 'Dockerfile', 'compose.yaml', 'compose.cluster.yaml', 'bin/ready.mjs']) {
    const isPipeline = /^deploy\/(?:github-action|gitlab)\//.test(path);
    const unknown = variablesIn(read(path)).filter((name) => !(isPipeline ? ofCommand : NAMES).has(name));
    t.same(unknown, path.startsWith('deploy/kubernetes/') ? ['LAPEL_PORT'] : [], path);
  }
  readConfig({ env: IMAGE });
  const active = [...read('deploy/debian/lapel.env').matchAll(/^#(LAPEL_\w+)=(.*)$/gm)];
  check(Object.fromEntries(active.map(([, name = '', value = '']) => [name, value])));
});
