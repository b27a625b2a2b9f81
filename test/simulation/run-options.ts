import type { run } from '@lapel/device-sim/run';
import { ADDRESSES } from './service.ts';
import { RECEIVER } from './world-parts.ts';

type RunOptions = Parameters<typeof run>[0];

export const ADMIN_TOKEN = 'the administrator of a simulated world';
export const local = (scheme: string, port: number): string => `${scheme}://127.0.0.1:${port}`;

/** The options of a run of the simulator in a world. */
export const runOptions = (scenario: RunOptions['scenario']): RunOptions => ({
  scenario,
  run: 'world',
  shard: null,
  json: true,
  reportFolder: undefined,
  baseline: undefined,
  decisionsFile: undefined,
  recordFile: undefined,
  wait: 30_000,
  clean: false,
  cleanSessions: false,
  client: 'lean',
  stateFolder: undefined,
  downloadFolder: undefined,
  trustedKeys: [],
  mqtt: [local('mqtt', ADDRESSES.mqtt)],
  api: [local('http', ADDRESSES.api)],
  accounts: {
    kind: 'register',
    adminUrl: local('http', ADDRESSES.admin),
    developerId: 'world',
    token: ADMIN_TOKEN,
    code: undefined,
    csr: false,
  } as never,
  saveFile: undefined,
  caFile: undefined,
  certificateFolder: undefined,
  application: undefined,
  authenticationKey: undefined,
  webhook: { host: '127.0.0.1', port: RECEIVER, publicUrl: undefined },
  service: { commands: ['the service of the world'], faultCommand: undefined },
});
