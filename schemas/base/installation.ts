import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The ending of the modules of this program: `.ts` in a checkout, `.js` in the npm package. */
export const MODULE_ENDING = extname(import.meta.url);

/** Whether this program was installed as an npm package. Otherwise it runs in a checkout of its source. */
export const isInstalled = MODULE_ENDING === '.js';

/** The folder of the checkout or of the installed package, with a slash at its end. */
export const ROOT_FOLDER = fileURLToPath(new URL('../../', import.meta.url));

/** How a shell in the folder of this program (or any folder, if it is installed) calls one of its two commands. */
export const commandOf = (name: 'lapel' | 'lapel-sim'): string => (isInstalled ? name : `bin/${name}.mjs`);

/** A version of Node that is tested: its major number, and the lowest minor number that has all that is needed. */
type NodeVersion = readonly [major: number, minor: number];

/** The Node that runs a checkout strips types and knows `using`. */
export const NODE_OF_CHECKOUT: readonly NodeVersion[] = [[24, 0]];
/** The package is plain JavaScript, so it runs on an older Node as well. 22.19: undici needs it. */
export const NODE_OF_PACKAGE: readonly NodeVersion[] = [
  [22, 19],
  [24, 0],
];

/** Says why this program cannot run on a version of Node, such as `20.20.2`; undefined when it can. */
export function refusalOf(
  version: string,
  fitting = isInstalled ? NODE_OF_PACKAGE : NODE_OF_CHECKOUT,
): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (fitting.some(([one, least]) => one === major && minor >= least)) return undefined;
  const names = fitting.map(([one, least]) => (least === 0 ? String(one) : `${one} (${one}.${least} or newer)`));
  return `needs Node ${names.join(' or ')}, but this is v${version}`;
}
