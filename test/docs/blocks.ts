import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A block of code in a document. */
export interface Block {
  file: string;
  line: number;
  /** `sh` for commands; empty for what commands print, and for drawings. */
  language: string;
  text: string;
}

/** All blocks of code of a document, in their order. */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```/gms)].map(
    ({ 1: indent = '', 2: language = '', 3: code = '', index }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      language,
      text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

export const shellBlocksOf = (file: string): Block[] => blocksOf(file).filter(({ language }) => language === 'sh');

/** The documents whose commands a test runs, in this order, against a service that it starts as they say. */
export const RUN = {
  'docs/with-curl.md': 'test/docs/with-curl.test.ts',
  'docs/tutorial.md': 'test/docs/guides.test.ts',
  'docs/errors.md': 'test/docs/guides.test.ts',
  'docs/idempotency.md': 'test/docs/guides.test.ts',
  'docs/paging.md': 'test/docs/guides.test.ts',
  'docs/stream.md': 'test/docs/guides.test.ts',
  'docs/endpoints.md': 'test/docs/guides.test.ts',
  'docs/time-zones.md': 'test/docs/guides.test.ts',
  'docs/recovery.md': 'test/docs/guides.test.ts',
  'docs/application-developers.md': 'test/docs/guides.test.ts',
  'docs/rollouts.md': 'test/docs/guides.test.ts',
  'docs/signing.md': 'test/docs/guides.test.ts',
  'docs/configuration-files.md': 'test/docs/guides.test.ts',
  'docs/devices.md': 'test/docs/guides.test.ts',
} as const;

/**
 * The blocks of these documents that are not run, by the beginning of their text, with the reason. They are checked as
 * the blocks of all other documents: commands and options exist, calls are documented, bodies fit their schemas.
 */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'lapel rollout start --install': 'it follows a rollout for a day; test/cli/rollout.test.ts runs such a rollout',
  'mosquitto_pub -h lapel.example.com':
    'it needs certificates; the devices of the page do the same in test/docs/device.test.ts',
  'curl -s --cert patrol.pem':
    'it needs certificates; test/applications/certificates.test.ts gets and uses such tokens',
  'curl -s --cert device.pem': 'it needs certificates; claims.test.ts and renewals.test.ts in test/enrolment/ ask so',
  'gcc ': 'test/docs/device.test.ts compiles and starts the devices',
};

export const reasonOf = ({ text }: Block): string | undefined =>
  Object.entries(NOT_RUN).find(([beginning]) => text.startsWith(beginning))?.[1];

/** Documents whose commands are for an installed service, a cluster, a release, or fleets of thousands of devices. */
export const CHECKED: Readonly<Record<string, string>> = {
  'README.md': 'test/demo.test.ts runs the demo; npm run try -- package image debian installs a release',
  'CONTRIBUTING.md': 'the checks of this project, which take minutes',
  'docs/assistants.md': 'an assistant starts the command; test/mcp/bridge.test.ts does',
  'docs/pipelines.md': 'npm run try -- pipeline plays its jobs, and test/operations/pipeline.test.ts',
  'docs/device-java.md': 'test/device-java/camera.test.ts builds and starts the camera',
  'docs/benchmark.md': 'minutes of load; test/bench runs each peer once',
  'docs/operations.md':
    'installed packages, containers, databases of other machines: npm run try -- delivery runs them',
  'docs/qa.md': 'fleets for minutes; npm run try -- ci and the tests of device-sim/ run the parts',
  'docs/runbook.md': 'systemd, disks and certificates of an installed service',
  'client/README.md': 'npm run try -- package installs the client',
};
