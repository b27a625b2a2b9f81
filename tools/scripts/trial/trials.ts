import { missing } from '../../../test/installed.ts';
import { missingProxy, PROXIES, type ProxyName } from '../../../test/operations/proxy-files.ts';

/** A trial: too long for the tests, or in need of too much of a machine. */
export interface Trial {
  /** Its program. */
  file: string;
  /** What it shows. */
  about: string;
  /** Options of its program that it always has. */
  options?: readonly string[];
  /** For a trial that .ci/run carries out: the reason why this machine cannot, or false. */
  inCi?: () => string | false;
}

const someProxy = (): string | false =>
  (Object.keys(PROXIES) as ProxyName[]).map(missingProxy).find((reason) => reason !== false) ?? false;

/** All trials, by name. */
export const TRIALS: Readonly<Record<string, Trial>> = {
  alerts: { file: 'tools/scripts/try-alerts.ts', about: 'each alert fires in Prometheus when its fault is made' },
  breakages: {
    file: 'test/breakages/main.ts',
    about: 'the simulator finds the faults that are planted into copies of the service',
  },
  ci: { file: 'tools/scripts/try-ci.ts', about: 'the CI jobs of docs/qa.md, with the tools that they name' },
  console: { file: 'test/console/large-fleet.ts', about: 'the console with 100,000 devices, in a browser' },
  debian: { file: 'tools/scripts/try-debian.ts', about: 'the Debian package and its unit' },
  delivery: {
    file: 'tools/scripts/try-delivery.ts',
    about: 'everything from a checkout to an installed service that is upgraded',
  },
  image: { file: 'tools/scripts/try-image.ts', about: 'images of the service and of the simulator' },
  mutants: { file: 'test/mutants/main.ts', about: 'the tests find changes of single places' },
  objects: { file: 'tools/bench/objects.ts', about: 'the event loop while a gigabyte goes through the embedded store' },
  package: {
    file: 'tools/scripts/try-package.ts',
    about: 'npm packages: made twice with the same bytes, installed, used',
  },
  pipeline: {
    file: 'tools/scripts/try-pipeline.ts',
    about: 'a release from a pipeline: the action and the include of docs/pipelines.md, as their runners run them',
  },
  power: {
    file: 'test/device/try-power-cuts.ts',
    about:
      'a device of the library: 1,000 kills, 10,000 power cuts of a simulated disk, a simulated year of a bad network',
  },
  proxies: { file: 'tools/scripts/try-proxies.ts', about: 'nginx, HAProxy and Caddy in front', inCi: someProxy },
  recovery: {
    file: 'tools/scripts/try-recovery.ts',
    about: 'PostgreSQL: a point in time, standbys that take over',
    inCi: missing.postgres,
  },
  releases: {
    file: 'test/simulation/try-releases.ts',
    about: 'bad releases that install well are stopped, and good ones are not, in the simulated world',
  },
  soak: { file: 'tools/scripts/soak.mjs', about: 'crashes, fuzz and floods for as long as you like' },
  upgrade: { file: 'tools/scripts/try-upgrade.ts', about: 'upgrades from the former release, under load' },
  worlds: {
    file: 'test/simulation/main.ts',
    options: ['--count', '200'],
    about: '200 worlds of the whole service under faults, each from one number',
    inCi: () => false,
  },
  year: {
    file: 'test/simulation/main.ts',
    options: ['--months', '12'],
    about: 'a year of a thousand devices, in the simulated world',
  },
};
