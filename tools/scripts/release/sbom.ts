import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { BROWSER_PACKAGES, RUNTIME_PACKAGES } from './contents.ts';
import { closureOf, MANIFEST, ROOT, referenceOf } from './lockfile.ts';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  properties?: { name: string; value: string }[];
  externalReferences?: { type: string; url: string }[];
}

interface Bom {
  serialNumber: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** An identifier in the form of a random UUID (RFC 9562) that follows from a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The folders of the packages whose files are part of the package `lapel`. Those for browsers come without the packages
 * that they name, because only their files are copied.
 */
export const containedPackages = (): string[] =>
  [...new Set([...closureOf(RUNTIME_PACKAGES), ...BROWSER_PACKAGES.map((name) => `node_modules/${name}`)])].sort();

/**
 * The list of all packages whose files are part of the package `lapel`, in the format CycloneDX, from package-lock.json.
 * npm writes it for all packages, because its `--omit=dev` also leaves out packages that both the service and its tests
 * need. The time, the random number and addresses of downloads are left out, so that equal packages have equal lists.
 */
export function billOfMaterials(): Buffer {
  const npm = process.env['npm_execpath'];
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const;
  const text =
    npm === undefined ? execFileSync('npm', args, options) : execFileSync(process.execPath, [npm, ...args], options);
  const { serialNumber: _, ...bom } = JSON.parse(text) as Bom;
  const contained = new Set(containedPackages().map(referenceOf));
  const components = bom.components
    .filter((component) => contained.has(component['bom-ref']))
    .map(({ externalReferences = [], ...component }) => ({
      ...component,
      externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
    }));
  const refs = new Set(components.map((component) => component['bom-ref']));
  const { component } = bom.metadata;
  // npm names the project by its folder, and notes its own version and the time.
  const metadata = {
    tools: [{ vendor: 'npm', name: 'cli' }],
    component: { ...component, type: 'application', name: MANIFEST.name, properties: [] },
  };
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref) || !bom.components.some((component) => component['bom-ref'] === ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const body = { ...bom, metadata, components, dependencies };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return Buffer.from(`${JSON.stringify({ ...body, serialNumber }, undefined, 2)}\n`);
}
