import { NODE_OF_PACKAGE } from '@lapel/schemas/base/installation';

/** The versions of Node that the packages of a release run on, as `engines` of npm says it. */
export const NODE_RANGE = NODE_OF_PACKAGE.map(([major, minor]) => `^${major}.${minor}.0`).join(' || ');

/** A file in JSON of a package: its manifest, or that of a folder. */
export const jsonFile = (value: object): Buffer => Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
