import { failures } from './administration/failures.ts';
import { changes, device, search } from './administration/find.ts';
import { access, endsSoon, health } from './administration/health.ts';
import { redeliver, webhooks } from './administration/webhooks.ts';
import type { McpParts } from './application-mcp.ts';
import { createDocuments } from './documents.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { createMcp, type Mcp } from './mcp.ts';
import type { Tool } from './tool.ts';
import { documentTools } from './tools/documents.ts';
import { commands } from './tools/failures.ts';
import { findDevices } from './tools/find-devices.ts';
import { rollout, rollouts } from './tools/rollouts.ts';
import { pauseRollout } from './tools/steer-rollout.ts';
import { whyNoCommand } from './tools/why-no-command.ts';

/** The operations of administration that answer the same as those of the application API. */
const SAME: Readonly<Record<string, string>> = {
  listOwnTransactions: 'listFleetTransactions',
  readOwnTransaction: 'readFleetTransaction',
  listOwnDevices: 'listFleetDevices',
  listRollouts: 'listFleetRollouts',
  readRollout: 'readFleetRollout',
  pauseRollout: 'pauseFleetRollout',
  readStatus: 'readFleetDeviceStatus',
};

const { rollout: _rollout, memberState: _state, ...filters } = findDevices.properties;
const ofAllCustomers: Tool = {
  ...findDevices,
  properties: filters,
  description:
    'Find and list devices of all customers by tags, connected or offline, firmware version, installed package and version, language, low battery, or not seen for days.',
};

/** All tools of administration. */
export const administrationTools = (ofDocuments: Parameters<typeof documentTools>[0]): readonly Tool[] => [
  access,
  health,
  endsSoon,
  search,
  ofAllCustomers,
  device,
  whyNoCommand,
  commands,
  failures,
  webhooks,
  rollouts,
  rollout,
  changes,
  ...documentTools(ofDocuments),
  { ...pauseRollout, writes: 'support' },
  redeliver,
];

/** Serves the assistants of the people who administer the service. */
export const createAdministrationMcp = ({ docs, docsUrl, ...parts }: McpParts): Mcp =>
  createMcp({
    ...parts,
    tools: administrationTools({ documents: createDocuments(docs), docsUrl }),
    instructions: INSTRUCTIONS,
    same: SAME,
  });
