import type { run } from '@lapel/device-sim/run';
import { ADDRESSES } from './service.ts';
import { NEIGHBOUR, RECEIVER } from './world-parts.ts';

type RunOptions = Parameters<typeof run>[0];

export const ADMIN_TOKEN = 'the administrator of a simulated world';
export const local = (scheme: string, port: number): string => `${scheme}://127.0.0.1:${port}`;

/** The customers of a world, with the ports of their receivers. */
const RECEIVERS = { world: RECEIVER, neighbour: NEIGHBOUR } as const;

/** The options of a run of the simulator in a world: of the customer who is judged, or of a neighbour. */
export const runOptions = (
  scenario: RunOptions['scenario'],
  customer: keyof typeof RECEIVERS = 'world',
): RunOptions => ({
  scenario,
  run: customer,
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
    developerId: customer,
    token: ADMIN_TOKEN,
    code: undefined,
    csr: false,
  } as never,
  saveFile: undefined,
  caFile: undefined,
  certificateFolder: undefined,
  application: undefined,
  authenticationKey: undefined,
  webhook: { host: '127.0.0.1', port: RECEIVERS[customer], publicUrl: undefined },
  // A run that starts the service also ends it. So the neighbour's run starts none.
  service: { commands: customer === 'world' ? ['the service of the world'] : [], faultCommand: undefined },
});
