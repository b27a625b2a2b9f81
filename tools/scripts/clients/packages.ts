import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeZip } from '@lapel/device-sim/files/make-apk';
import { MANIFEST, ROOT } from '../release/lockfile.ts';
import { goFiles } from './go.ts';
import { javaFiles } from './java.ts';
import { pythonFiles } from './python.ts';

const { version } = MANIFEST;
const GENERATED = { python: pythonFiles, java: javaFiles, go: goFiles };
export type ClientLanguage = keyof typeof GENERATED;

/** Java 11 has the client of HTTP. */
const JAVA_RELEASE = '11';
const JAR_HEAD = `Manifest-Version: 1.0\r\nAutomatic-Module-Name: lapel.client\r\nImplementation-Version: ${version}\r\n\r\n`;
const LICENSE = readFileSync(join(ROOT, 'LICENSE'));

/** The sources of a client: the parts in `clients/`, and those that are generated. */
export async function clientFiles(language: ClientLanguage): Promise<Map<string, Buffer>> {
  const folder = join(ROOT, 'clients', language);
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:py|java|go|mod|typed)$/.test(path))
    .map((path): [string, Buffer] => [path, readFileSync(join(folder, path))]);
  const generated = [...(await GENERATED[language]())].map(([path, text]): [string, Buffer] => [
    path,
    Buffer.from(text),
  ]);
  return new Map([...own, ...generated].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Writes the sources of a client into a folder. */
export async function writeClient(language: ClientLanguage, folder: string): Promise<string[]> {
  const files = await clientFiles(language);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return [...files.keys()];
}

const zipOf = (files: Iterable<readonly [string, Buffer]>): Buffer =>
  makeZip([...files].map(([name, bytes]) => ({ name, bytes })));

/** A wheel (PEP 427), which pip installs without any index. */
async function wheel(): Promise<[string, Buffer]> {
  const number = version.replace(/-([a-z]+)\.?/, '$1');
  const info = `lapel_client-${number}.dist-info`;
  const metadata = `Metadata-Version: 2.1
Name: lapel-client
Version: ${number}
Summary: The client of the REST API of Lapel, and the verification of its webhooks
License: Apache-2.0
Requires-Python: >=3.8
Provides-Extra: ed25519
Requires-Dist: cryptography; extra == 'ed25519'
`;
  const files = new Map([
    ...(await clientFiles('python')),
    [`${info}/LICENSE`, LICENSE],
    [`${info}/METADATA`, Buffer.from(metadata)],
    [`${info}/WHEEL`, Buffer.from('Wheel-Version: 1.0\nGenerator: lapel\nRoot-Is-Purelib: true\nTag: py3-none-any\n')],
  ]);
  const rows = [...files].map(
    ([path, content]) =>
      `${path},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}\n`,
  );
  files.set(`${info}/RECORD`, Buffer.from(`${rows.join('')}${info}/RECORD,,\n`));
  return [`lapel_client-${number}-py3-none-any.whl`, zipOf(files)];
}

const jar = (files: Iterable<readonly [string, Buffer]>): Buffer =>
  zipOf([['META-INF/MANIFEST.MF', Buffer.from(JAR_HEAD)], ['META-INF/LICENSE', LICENSE], ...files]);

/** The classes of the client, by their paths; undefined where there is no JDK. */
async function classes(): Promise<Map<string, Buffer> | undefined> {
  if (spawnSync('javac', ['--version']).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'lapel-java-'));
  try {
    const [sources, out] = [join(folder, 'src'), join(folder, 'out')];
    const paths = (await writeClient('java', sources)).map((path) => join(sources, path));
    execFileSync('javac', ['--release', JAVA_RELEASE, '-g:source,lines', '-encoding', 'UTF-8', '-d', out, ...paths]);
    const made = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.class'));
    return new Map(made.sort().map((path) => [path, readFileSync(join(out, path))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The packages of the clients in other languages than TypeScript. The jar of classes is left out where there is no JDK. */
export async function clientPackages(): Promise<[string, Buffer][]> {
  const made = await classes();
  const go = [...(await clientFiles('go'))].map(([path, content]): [string, Buffer] => [`lapel/${path}`, content]);
  return [
    await wheel(),
    ...(made ? [[`lapel-client-java-${version}.jar`, jar(made)] as [string, Buffer]] : []),
    [`lapel-client-java-${version}-sources.jar`, jar(await clientFiles('java'))],
    [`lapel-client-go-${version}.zip`, zipOf([['lapel/LICENSE', LICENSE], ...go])],
  ];
}
