import type { Docs } from '../docs/docs.ts';
import { createDocuments } from './documents.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { createMcp, type Mcp } from './mcp.ts';
import { TEXT, type Tool } from './tool.ts';
import { changeTags } from './tools/change-tags.ts';
import { changes } from './tools/changes.ts';
import { device } from './tools/devices.ts';
import { documentTools } from './tools/documents.ts';
import { commands, failures } from './tools/failures.ts';
import { findDevices } from './tools/find-devices.ts';
import { access, health } from './tools/health.ts';
import { redeliver } from './tools/redeliver.ts';
import { rollout, rollouts } from './tools/rollouts.ts';
import { sendCommand } from './tools/send-command.ts';
import { software } from './tools/software.ts';
import { approveRollout, pauseRollout, startRollout } from './tools/steer-rollout.ts';
import { delivery, events, webhooks } from './tools/webhooks.ts';
import { whyNoCommand } from './tools/why-no-command.ts';

/** The parts that both listeners give to their assistants. */
export type McpParts = Omit<Parameters<typeof createMcp>[0], 'tools' | 'instructions' | 'common' | 'same'> & {
  docs: Pick<Docs, 'find' | 'pages'>;
  /** The address of the site of the documents. */
  docsUrl(): string;
};

/** All tools of the application API. */
export const applicationTools = (ofDocuments: Parameters<typeof documentTools>[0]): readonly Tool[] => [
  access,
  health,
  findDevices,
  device,
  whyNoCommand,
  commands,
  failures,
  webhooks,
  delivery,
  events,
  rollouts,
  rollout,
  software,
  changes,
  ...documentTools(ofDocuments),
  changeTags,
  sendCommand,
  pauseRollout,
  approveRollout,
  startRollout,
  redeliver,
];

/** Serves the assistants of applications and of the people of developers. */
export const createApplicationMcp = ({ docs, docsUrl, ...parts }: McpParts): Mcp =>
  createMcp({
    ...parts,
    tools: applicationTools({ documents: createDocuments(docs), docsUrl }),
    instructions: INSTRUCTIONS,
    common: { applicationId: TEXT('Another application of the developer; only for tokens of people.', 128) },
  });
