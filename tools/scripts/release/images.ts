import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lockfile.ts';

/** The files that may name images of containers. */
const filesOf = (): string[] => [
  ...readdirSync(ROOT).filter((name) => name === 'Dockerfile' || /\.(ya?ml|md)$/.test(name)),
  ...['deploy', 'docs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ya?ml|md)$/.test(name))
      .map((name) => join(folder, name)),
  ),
];

/**
 * Images without a digest, each with the reason why that is right. A tag can lead to other bytes tomorrow, so an image
 * that is not listed needs its digest.
 */
const WITHOUT_DIGEST: Readonly<Record<string, string>> = {
  lapel: 'the image that the Dockerfile builds on the same machine',
  'lapel:0.1.0': 'the image that the Dockerfile builds, under the name that its reader pushes it to',
  'node:24-slim': 'it gets security updates under this name; NODE_IMAGE pins it where the image is built',
  'node:24': 'an example of a job that only runs the simulator',
  'haproxy:3.2': 'an example of a balancer, which gets security updates under this name',
  'postgres:17': 'an example of a database, which gets security updates under this name',
  'versity/versitygw:latest': 'an example of an object store on one machine; nobody runs it in production',
};

const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** The images that a file names, in a Dockerfile or in YAML. */
function imagesIn(text: string): string[] {
  const defaults = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]));
  const stages = new Set([...text.matchAll(/^FROM \S+ AS (\w+)$/gm)].map(([, name]) => name));
  const named = [
    ...[...text.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    ...[...text.matchAll(/^\s*(?:- )?image:\s*["']?([^\s"'#]+)/gm)].map(([, image = '']) => image),
  ];
  return named
    .filter((image) => !stages.has(image))
    .map((image) => defaults.get(/^\$\{(\w+)\}$/.exec(image)?.[1] ?? '') ?? image);
}

const contentOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The base of the images of the Dockerfile. */
export const baseImage = (): string => imagesIn(contentOf('Dockerfile'))[0]!;

/** What is wrong with the images that files name; nothing in an empty list. */
export function imageFaults(
  files: Readonly<Record<string, string>> = Object.fromEntries(filesOf().map((path) => [path, contentOf(path)])),
): string[] {
  const found = Object.entries(files).flatMap(([path, text]) => imagesIn(text).map((image) => ({ path, image })));
  const bare = found.filter(({ image }) => !DIGEST.test(image));
  const unknown = bare.filter(({ image }) => !Object.hasOwn(WITHOUT_DIGEST, image));
  const unused = Object.keys(WITHOUT_DIGEST).filter((name) => !bare.some(({ image }) => image === name));
  return [
    ...unknown.map(({ path, image }) => `${path}: ${image} has no digest`),
    ...unused.map((image) => `${image} is named nowhere, so it needs no reason`),
  ];
}
