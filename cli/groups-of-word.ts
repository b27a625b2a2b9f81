import type { Group } from './line/command.ts';

const device = async () => (await import('./device/device-group.ts')).DEVICE_GROUPS;
const rollout = async () => (await import('./rollout/rollout-group.ts')).ROLLOUT_GROUPS;
const release = async () => (await import('./release/release-group.ts')).RELEASE_GROUPS;
const webhook = async () => (await import('./webhook/webhook-groups.ts')).WEBHOOK_GROUPS;
const software = async () => (await import('./software/software-groups.ts')).SOFTWARE_GROUPS;
const files = async () => (await import('./files/files-groups.ts')).FILES_GROUPS;
const account = async () => (await import('./account/account-groups.ts')).ACCOUNT_GROUPS;
const assistant = async () => (await import('./assistant/assistant-group.ts')).ASSISTANT_GROUPS;
const admin = async () => (await import('./admin/admin-groups.ts')).ADMIN_GROUPS;

/** The rooms of commands, by the first words of these. */
const ROOMS = new Map<string, () => Promise<readonly Group[]>>(
  Object.entries({
    login: account,
    logout: account,
    profiles: account,
    token: account,
    device,
    rollout,
    release,
    settings: webhook,
    webhook,
    app: software,
    package: software,
    version: software,
    mcp: assistant,
    plan: files,
    apply: files,
    export: files,
    admin,
    keys: admin,
  }),
);

/**
 * The groups among which a command with this first word is. A command starts in half of the time when only its own room
 * is loaded.
 */
export const groupsOfWord = async (word: string | undefined): Promise<readonly Group[]> =>
  (await ROOMS.get(word ?? '')?.()) ?? (await import('./commands.ts')).GROUPS;
