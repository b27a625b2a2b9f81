import type { Group } from '../line/command.ts';
import { mcp } from './mcp.ts';

export const ASSISTANT_GROUPS: readonly Group[] = [{ name: 'mcp', about: mcp.summary, commands: [mcp] }];
